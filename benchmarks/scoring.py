"""Compares the speed of scoring with a plain loop and other tools: python -m benchmarks.scoring [--work NAME] [--wall].

Models have random weights and a real shape and vocabulary. All ways score texts with the same model in the same run and
precision, on one thread and alternately. Times are medians of CPU seconds. Scores are compared text by text; a way that
differs by more than rounding stops the run. Slow ways score a sample of the texts. A rate counts the tokens that the
loop forwards for the same texts, so that a sample of long texts favours no way. The mean work of a sample is within
5 % of the mean work of the set. Times exclude loading the model; `setup_s` is the one-time preparation of the engine.

Other tools run in their own environment: --peers PYTHON, with lm_eval, evaluate, minicons and transformers before 5.
Without this option they are left out.
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
"""Nats per token by which a way of catsofa may differ; other tools sum in float32, in their own order."""
CLOSE_OTHERS = 1e-4
"""The same for other tools and the loop; torch's medium precision sums in its own order."""
MATMUL = ("highest", "medium")
"""torch's settings for float32 products; another tool gets the faster setting."""
WALL = ", wall clock of all cores"
CLOCK = time.process_time
"""The clock of CPU seconds; --wall replaces it with the wall clock and uses all cores."""
PARTS = {"fp32": "float32", "plain": "float32", "bf16": "bfloat16"}


class Peer:
    """Another tool in its own process, with one request per line."""

    def __init__(self, python: str) -> None:
        command = [python, str(Path(__file__).with_name("peer.py"))]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __call__(self, **request: Any) -> dict[str, Any]:
        """Returns the CPU seconds and the scores of a request."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        if not (line := self._process.stdout.readline()):
            raise RuntimeError(f"the process of {request['way']} ended")
        reply: dict[str, Any] = json.loads(line)
        return reply


Timed = Callable[[], tuple[float, list[float]]]
"""A function that scores a set and returns CPU seconds and scores."""


def ours(work: Work, folder: Path, part: str) -> tuple[Timed, Backend, float]:
    """Returns one way of catsofa, its backend, and the CPU seconds of the preparation."""
    model = models.load(str(folder), device="cpu", dtype=PARTS[part])
    begun = CLOCK()
    # with plain products, only the algorithm makes a difference
    with patch.object(cpu_kernels, "speed_up", return_value=False) if part == "plain" else patch.dict({}):
        backend = Backend(model)
        work.ours(backend, work.units[:1])
    setup = CLOCK() - begun

    def timed() -> tuple[float, list[float]]:
        backend.tally = type(backend.tally)()
        begun = CLOCK()
        scores = work.ours(backend, work.units)
        spent = CLOCK() - begun
        return spent, [np.nan if score.score is None else score.score for score in scores]

    return timed, backend, setup


class Others:
    """Makes the timed functions of the loop and of the other tool, for each precision."""

    def __init__(
        self, work: Work, folder: Path, kind: Kind, places: Mapping[str, list[int]], peer: Peer | None
    ) -> None:
        self.work, self.folder, self.kind, self.places, self.peer = work, folder, kind, places, peer
        self.settings: dict[str, dict[str, Any]] = {}

    def loop(self, dtype: str) -> Timed:
        """Returns the loop on its sample."""
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
        """Returns the other tool on its sample, with the fastest batch size and torch precision setting."""
        assert self.peer
        assert self.work.peer
        texts = [text for k in self.places[self.work.peer] for text in self.work.texts(self.work.units[k])]
        request = {"way": self.work.peer, "model": str(self.folder), "texts": texts, "dtype": dtype}
        settings = [
            {"batch": size, "matmul": matmul}
            for size in self.work.batches
            for matmul in (MATMUL if dtype == "float32" else MATMUL[:1])
        ]
        tried = [self.peer(**request, **setting) for setting in settings]
        best = int(np.argmin([reply["seconds"] for reply in tried]))
        self.settings[dtype] = settings[best] | {"version": tried[best]["version"]}

        def timed() -> tuple[float, list[float]]:
            assert self.peer
            reply = self.peer(**request, **settings[best])
            return reply["seconds"], reply["scores"]

        return timed


def measure(work: Work, folder: Path, repeats: int, peer: Peer | None, parts: Sequence[str]) -> dict[str, Any]:
    """Times the work by all ways alternately and returns the figures."""
    backends, setup, ways, places = {}, {}, dict[str, Timed](), dict[str, list[int]]()
    work, shares = drawn(work, folder)
    for part in parts:
        ways[part], backends[part], setup[part] = ours(work, folder, part)
    model = backends[parts[0]].model
    tokens = work.tokens(model.tokenizer, work.units)
    places |= {part: list(range(len(work.units))) for part in parts}
    places |= {"loop": sample(tokens, work.loop_units)} if work.loop_units else {}
    places |= {work.peer: sample(tokens, work.peer_units)} if peer and work.peer else {}
    competitors = Others(work, folder, model.kind, places, peer)
    for dtype in dict.fromkeys(PARTS[part] for part in parts):
        if "loop" in places:
            ways[named("loop", dtype)] = competitors.loop(dtype)
        if work.peer in places:
            ways[named(work.peer, dtype)] = competitors.tool(dtype)
    # freeze loaded objects, so that no way pays for collecting them again
    gc.collect()
    gc.freeze()
    seconds: dict[str, list[float]] = {way: [] for way in ways}
    scores: dict[str, list[float]] = {}
    for _ in range(repeats):
        for way, timed in ways.items():
            spent, scores[way] = timed()
            seconds[way].append(spent)
    units = {way: places[way.partition(",")[0]] for way in ways}
    figures = compared(work, units, tokens, seconds, scores)
    tally = backends[parts[0]].tally
    states = {"forwarded": tally.forwarded, "asked": tally.scored, "padding": tally.padding, "rows": tally.rows}
    # each queried token of a row needs its own state, but the three fillers of one mask share a state
    needed = tally.forwarded if model.kind == "causal" else tally.rows
    least = shapes.flops(model.module, tally.forwarded, needed)
    speeds = {part: least / statistics.median(seconds[part]) / 1e9 for part in parts}
    return {
        **figures,
        "units": {way: len(chosen) for way, chosen in units.items()},
        "sample_of_set": shares,
        "settings": competitors.settings,
        "tally": states,
        "least_gflop": least / 1e9,
        "gflops": speeds,
        "setup_s": setup,
    }


def drawn(work: Work, folder: Path) -> tuple[Work, dict[str, int]]:
    """Returns the work on a sample of its set, if it has a `count`, and the sizes of both."""
    if work.count is None:
        return work, {}
    tokens = work.tokens(AutoTokenizer.from_pretrained(folder), work.units)
    chosen = sample(tokens, work.count)
    return replace(work, units=[work.units[k] for k in chosen]), {"sample": len(chosen), "set": len(work.units)}


def named(way: str, dtype: str) -> str:
    """Returns the name of a way with its precision."""
    return way if dtype == "float32" else f"{way}, {dtype}"


def _clock(work: Callable[[], list[float]]) -> tuple[float, list[float]]:
    begun = CLOCK()
    result = work()
    return CLOCK() - begun, result


def compared(
    work: Work,
    places: Mapping[str, list[int]],
    tokens: Sequence[int],
    seconds: Mapping[str, list[float]],
    scores: Mapping[str, list[float]],
) -> dict[str, Any]:
    """Returns rates, ratios in the same precision, and differences; different scores raise ValueError."""
    medians = {way: statistics.median(spent) for way, spent in seconds.items()}
    rates = {way: len(chosen) * work.each / medians[way] for way, chosen in places.items()}
    speeds = {way: sum(tokens[k] for k in chosen) / medians[way] for way, chosen in places.items()}
    exact = np.array(scores["fp32"]).reshape(-1, work.each)
    apart = {}
    for way, values in scores.items():
        lengths = 40.0 if work.reduce is sum or work.peer == "minicons" else 1.0  # sums, not means
        off = float(np.nanmax(np.abs(np.array(values).reshape(-1, work.each) - exact[places[way]])))
        if not off <= lengths * (CLOSE["bf16"] if way.endswith("bfloat16") else CLOSE.get(way, CLOSE_OTHERS)):
            raise ValueError(f"{work.name}: {way} is {off} from ours")
        apart[way] = off
    tools = {way.partition(",")[0] for way in speeds if way not in PARTS}
    times = {
        other: {part: speeds[part] / speeds[named(other, dtype)] for part, dtype in PARTS.items() if part in speeds}
        for other in sorted(tools)
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
    options = parser.parse_args()
    import torch

    torch.set_num_threads((os.cpu_count() or 1) if options.wall else 1)
    if options.wall:
        globals()["CLOCK"] = time.perf_counter
    peer = Peer(options.peers) if options.peers else None
    for work in works(shapes.SHARED, options.scale):
        if options.work not in work.name:
            continue
        parts = options.parts.split(",")
        peaks = {part: machine.peak(PARTS[part], clock=CLOCK) for part in ("fp32", "bf16") if part in parts}
        with tempfile.TemporaryDirectory() as name:
            folder = work.shape(work.size, Path(name))
            figures = measure(work, folder, options.repeats, peer, parts)
        top = {part: max(speeds.values()) for part, speeds in peaks.items()}
        shares = {part: 100 * speed / top.get(part, top["fp32"]) for part, speed in figures["gflops"].items()}
        figures |= {
            "peak_gflops": peaks,
            "percent_of_peak": shares,
            "machine": machine.facts(),
            "repeats": options.repeats,
        }
        print(work.name, json.dumps(machine.rounded(figures), indent=1), flush=True)
        if options.save:
            machine.save("scoring", work.name + (WALL if options.wall else ""), figures)


if __name__ == "__main__":
    main()
