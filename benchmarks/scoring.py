"""How fast texts are scored, against a plain loop and other tools: python -m benchmarks.scoring [--work NAME] [--wall].

Random weights of a real shape and vocabulary. Every way scores texts by the same model in the same run and the same
precision, on one thread, the ways taken in turn; CPU seconds, medians; scores are compared text by text, and a way that
differs by more than rounding stops the run. Slow ways are timed on a sample of the texts. A rate counts the tokens
that the loop forwards for the same texts, so that a sample of long texts favours nobody; its mean work lies within 5 %
of that of the set. Loading a model is not timed for anybody; what the engine prepares once a model is `setup_s`.

Other tools run in an environment of their own: --peers PYTHON, one that has lm_eval, evaluate, minicons and
transformers before 5; without it they are left out.
"""

import argparse
import gc
import json
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from transformers import AutoTokenizer  # noqa: TID253  # a benchmark of models has nothing else to do

from benchmarks import loops, machine, shapes
from benchmarks.works import Work, sample, works
from catsofa.scoring import models
from catsofa.scoring.likelihood import cpu_kernels
from catsofa.scoring.likelihood.backend import Backend
from catsofa.scoring.models.model import Kind

CLOSE = {"fp32": 1e-5, "plain": 1e-5, "bf16": 0.1}
"""Nats a token that a way of catsofa may lie from the loop; other tools sum in float32, in orders of their own."""
CLOSE_OTHERS = 1e-4
"""Other tools and the loop; torch's medium precision sums in an order of its own."""
MATMUL = ("highest", "medium")
"""torch's settings for products in float32, of which another tool gets the faster one."""
WALL = ", wall clock of all cores"
CLOCK = time.process_time
"""CPU seconds; --wall puts the clock on the wall here, and all cores to work."""
PARTS = {"fp32": "float32", "plain": "float32", "bf16": "bfloat16"}


class Peer:
    """Another tool in a process of its own, asked a line at a time."""

    def __init__(self, python: str) -> None:
        command = [python, str(Path(__file__).with_name("peer.py"))]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __call__(self, **request: Any) -> dict[str, Any]:
        """CPU seconds and scores."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        if not (line := self._process.stdout.readline()):
            raise RuntimeError(f"the process of {request['way']} ended")
        found: dict[str, Any] = json.loads(line)
        return found


Timed = Callable[[], tuple[float, list[float]]]
"""CPU seconds and scores."""


def ours(work: Work, folder: Path, part: str) -> tuple[Timed, Backend, float]:
    """One way of catsofa, what it works with, and the CPU seconds that this took to prepare."""
    model = models.load(str(folder), device="cpu", dtype=PARTS[part])
    begun = CLOCK()
    # with plain products what is left is the algorithm's doing
    with patch.object(cpu_kernels, "speed_up", lambda _: False) if part == "plain" else patch.dict({}):
        backend = Backend(model)
        work.ours(backend, work.units[:1])
    setup = CLOCK() - begun

    def timed() -> tuple[float, list[float]]:
        backend.tally = type(backend.tally)()
        begun = CLOCK()
        scores = work.ours(backend, work.units)
        taken = CLOCK() - begun
        return taken, [np.nan if score.score is None else score.score for score in scores]

    return timed, backend, setup


class Others:
    """The loop and the other tool, in one precision: what they score, and how fast."""

    def __init__(
        self, work: Work, folder: Path, kind: Kind, places: Mapping[str, list[int]], peer: Peer | None
    ) -> None:
        self.work, self.folder, self.kind, self.places, self.peer = work, folder, kind, places, peer
        self.settings: dict[str, dict[str, Any]] = {}

    def loop(self, dtype: str) -> Timed:
        """The loop on its sample."""
        model, units = (
            loops.alone(str(self.folder), self.kind, dtype),
            [self.work.units[k] for k in self.places["loop"]],
        )

        def scored() -> list[float]:
            return loops.score(
                model, [each for u in units for each in self.work.rows(model.tokenizer, u)], self.work.reduce
            )

        return lambda: _clock(scored)

    def tool(self, dtype: str) -> Timed:
        """The other tool on its sample, by the fastest of its batch sizes and of torch's settings of precision."""
        assert self.peer
        assert self.work.peer
        said = [text for k in self.places[self.work.peer] for text in self.work.texts(self.work.units[k])]
        request = {"way": self.work.peer, "model": str(self.folder), "texts": said, "dtype": dtype}
        settings = [
            {"batch": size, "matmul": matmul}
            for size in self.work.batches
            for matmul in (MATMUL if dtype == "float32" else MATMUL[:1])
        ]
        tried = [self.peer(**request, **setting) for setting in settings]
        best = int(np.argmin([found["seconds"] for found in tried]))
        self.settings[dtype] = settings[best] | {"version": tried[best]["version"]}

        def timed() -> tuple[float, list[float]]:
            assert self.peer
            found = self.peer(**request, **settings[best])
            return found["seconds"], found["scores"]

        return timed


def measure(work: Work, folder: Path, repeats: int, peer: Peer | None, parts: Sequence[str]) -> dict[str, Any]:
    """The work by every way in turn."""
    backends, setup, ways, places = {}, {}, dict[str, Timed](), dict[str, list[int]]()
    work, shares = drawn(work, folder)
    for part in parts:
        ways[part], backends[part], setup[part] = ours(work, folder, part)
    model = backends[parts[0]].model
    tokens = work.tokens(model.tokenizer, work.units)
    places |= {part: list(range(len(work.units))) for part in parts}
    places |= {"loop": sample(tokens, work.loop_units)} if work.loop_units else {}
    places |= {work.peer: sample(tokens, work.peer_units)} if peer and work.peer else {}
    others = Others(work, folder, model.kind, places, peer)
    for dtype in dict.fromkeys(PARTS[part] for part in parts):
        if "loop" in places:
            ways[named("loop", dtype)] = others.loop(dtype)
        if work.peer in places:
            ways[named(work.peer, dtype)] = others.tool(dtype)
    # what was loaded is no rubbish: collecting it again and again is neither way's work
    gc.collect()
    gc.freeze()
    seconds: dict[str, list[float]] = {way: [] for way in ways}
    scores: dict[str, list[float]] = {}
    for _ in range(repeats):
        for way, timed in ways.items():
            taken, scores[way] = timed()
            seconds[way].append(taken)
    units = {way: places[way.partition(",")[0]] for way in ways}
    found = compared(work, units, tokens, seconds, scores)
    tally = backends[parts[0]].tally
    states = {"forwarded": tally.forwarded, "asked": tally.scored, "padding": tally.padding, "rows": tally.rows}
    # each asked token of a row needs a state of its own, but the three fillers of one mask share theirs
    needed = tally.forwarded if model.kind == "causal" else tally.rows
    least = shapes.flops(model.module, tally.forwarded, needed)
    speeds = {part: least / statistics.median(seconds[part]) / 1e9 for part in parts}
    return {
        **found,
        "units": {way: len(at) for way, at in units.items()},
        "sample_of_set": shares,
        "settings": others.settings,
        "tally": states,
        "least_gflop": least / 1e9,
        "gflops": speeds,
        "setup_s": setup,
    }


def drawn(work: Work, folder: Path) -> tuple[Work, dict[str, int]]:
    """The work on a sample of its set, where it is one, and the sizes of both."""
    if work.count is None:
        return work, {}
    tokens = work.tokens(AutoTokenizer.from_pretrained(folder), work.units)
    at = sample(tokens, work.count)
    return replace(work, units=[work.units[k] for k in at]), {"sample": len(at), "set": len(work.units)}


def named(way: str, dtype: str) -> str:
    """A way and its precision."""
    return way if dtype == "float32" else f"{way}, {dtype}"


def _clock(work: Callable[[], list[float]]) -> tuple[float, list[float]]:
    begun = CLOCK()
    found = work()
    return CLOCK() - begun, found


def compared(
    work: Work,
    places: Mapping[str, list[int]],
    tokens: Sequence[int],
    seconds: Mapping[str, list[float]],
    scores: Mapping[str, list[float]],
) -> dict[str, Any]:
    """Rates, ratios in the same precision, and differences; scores that are not the same end the run."""
    medians = {way: statistics.median(taken) for way, taken in seconds.items()}
    rates = {way: len(at) * work.each / medians[way] for way, at in places.items()}
    speeds = {way: sum(tokens[k] for k in at) / medians[way] for way, at in places.items()}
    exact = np.array(scores["fp32"]).reshape(-1, work.each)
    apart = {}
    for way, found in scores.items():
        lengths = 40.0 if work.reduce is sum or work.peer == "minicons" else 1.0  # sums, not means
        off = float(np.nanmax(np.abs(np.array(found).reshape(-1, work.each) - exact[places[way]])))
        if not off <= lengths * (CLOSE["bf16"] if way.endswith("bfloat16") else CLOSE.get(way, CLOSE_OTHERS)):
            raise ValueError(f"{work.name}: {way} is {off} from ours")
        apart[way] = off
    others = {way.partition(",")[0] for way in speeds if way not in PARTS}
    times = {
        other: {part: speeds[part] / speeds[named(other, dtype)] for part, dtype in PARTS.items() if part in speeds}
        for other in sorted(others)
    }
    return {
        "scores_a_cpu_second": rates,
        "loop_tokens_a_cpu_second": speeds,
        "times": times,
        "furthest_from_fp32": apart,
        "seconds": dict(seconds),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", default="", help="works whose name contains this")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--scale", type=float, default=1.0, help="shrinks every work")
    parser.add_argument(
        "--parts", default="fp32,plain,bf16", help="ways of catsofa: plain is fp32 without packed products"
    )
    parser.add_argument("--peers", help="the Python of an environment with the other tools")
    parser.add_argument("--wall", action="store_true", help="wall clock of all cores, against the loop on all cores")
    parser.add_argument("--save", action="store_true", help="keep the figures in results/scoring.json")
    asked = parser.parse_args()
    import torch

    torch.set_num_threads((os.cpu_count() or 1) if asked.wall else 1)
    if asked.wall:
        globals()["CLOCK"] = time.perf_counter
    peer = Peer(asked.peers) if asked.peers else None
    for work in works(shapes.SHARED, asked.scale):
        if asked.work not in work.name:
            continue
        parts = asked.parts.split(",")
        peaks = {part: machine.peak(PARTS[part], clock=CLOCK) for part in ("fp32", "bf16") if part in parts}
        with tempfile.TemporaryDirectory() as name:
            folder = work.shape(work.size, Path(name))
            found = measure(work, folder, asked.repeats, peer, parts)
        top = {part: max(of.values()) for part, of in peaks.items()}
        shares = {part: 100 * speed / top.get(part, top["fp32"]) for part, speed in found["gflops"].items()}
        found |= {"peak_gflops": peaks, "percent_of_peak": shares, "machine": machine.facts(), "repeats": asked.repeats}
        print(work.name, json.dumps(machine.rounded(found), indent=1), flush=True)
        if asked.save:
            machine.save("scoring", work.name + (WALL if asked.wall else ""), found)


if __name__ == "__main__":
    main()
