"""From one worker to two, and to both cores of this process: python -m benchmarks.cluster [--probes 6000] [--table].

A grid of probes by a GPT-2 of 4 layers, 256 wide, each way as the command does it: read, score, keep in a run folder.
Wall clock of whole passes after one that warms up; starting Ray and loading models are told apart. The ways are taken
in turn, round after round, so that a busy machine disturbs them alike; each round gives its own ratio.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch  # noqa: TID253  # a benchmark of models has nothing else to do

from benchmarks import machine, shapes, texts
from benchmarks.tables import kept
from catsofa.data.files import jsonl
from catsofa.data.formats import read_as
from catsofa.data.records import Probe
from catsofa.data.runs.ray_cluster import Cluster, Workers
from catsofa.scoring import models
from catsofa.scoring.executors import local as on_this_machine
from catsofa.scoring.executors.local import LocalScorer, about
from catsofa.scoring.executors.ray_workers import Loaded, RayScorer, start
from catsofa.scoring.likelihood.backend import Backend
from catsofa.scoring.measures.registry import measure_of
from catsofa.scoring.protocols import DEFAULT
from catsofa.scoring.run.session import score_all
from catsofa.scoring.run.store import Run, read_scores

STRETCH = 512
"""Probes at a time, instead of some thousands: a short pass must divide evenly too."""
ONE, TWO, HERE, BOTH = "1 worker", "2 workers", "local, 1 thread", "local, 2 threads"

Pass = Callable[[Path], Any]


@contextmanager
def local(model: Path, data: Path, threads: int) -> Iterator[Pass]:
    """This process, with so many threads within each product."""
    torch.set_num_threads(threads)
    backend = Backend(models.load(str(model)))

    def once(out: Path) -> None:
        with Run.begin(out, {}, {}) as run:
            score_all(
                LocalScorer(backend, DEFAULT, about=about(backend.model)), measure_of(Probe), read_as(data, Probe), run
            )

    yield once
    torch.set_num_threads(1)


@contextmanager
def spread(model: Path, data: Path, workers: int) -> Iterator[Pass]:
    """Ray's workers, one thread each."""
    with Workers(partial(in_short_stretches, str(model)), Cluster(workers=workers)) as ready:
        while ready._coming:
            ready._welcome(60)

        def once(out: Path) -> None:
            with Run.begin(out, {}, {}) as run:
                score_all(RayScorer(ready), measure_of(Probe), read_as(data, Probe), run)

        yield once


def in_short_stretches(model: str) -> tuple[Loaded, Callable[[Any], Any]]:
    """In a worker: what the command starts there, with shorter stretches."""
    known, work = start(model, "model", DEFAULT, None, {})
    return replace(known, records=STRETCH), work


WAYS: dict[str, Callable[[Path, Path], Any]] = {
    HERE: partial(local, threads=1),
    ONE: partial(spread, workers=1),
    TWO: partial(spread, workers=2),
    BOTH: partial(local, threads=2),
}


def measured(rounds: int, passes: int, model: Path, data: Path, folder: Path) -> dict[str, Any]:
    """Seconds of every pass by way, those of each round together, and what starting took."""
    took: dict[str, list[list[float]]] = {name: [] for name in WAYS}
    around: dict[str, list[float]] = {name: [] for name in WAYS}
    starting: dict[str, list[float]] = {name: [] for name in WAYS}
    for number in range(rounds):
        for name, way in WAYS.items():
            begun = time.perf_counter()
            with way(model, data) as once:
                starting[name].append(time.perf_counter() - begun)
                once(folder / f"warm {name} {number}")
                before = time.process_time()
                took[name].append([seconds(partial(once, folder / f"{name} {number} {n}")) for n in range(passes)])
                around[name].append((time.process_time() - before) / passes)
    for name in WAYS:
        same(folder / f"{HERE} 0 0", folder / f"{name} 0 0", exact=name != BOTH)
    return {"took": took, "around": around, "starting": starting}


def seconds(work: Callable[[], Any]) -> float:
    """Of one call, by the clock."""
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def same(one: Path, other: Path, exact: bool) -> None:
    """Stop if two ways do not give the same scores."""
    for here, there in zip(read_scores(one), read_scores(other), strict=True):
        far = abs((here.score or 0) - (there.score or 0))
        if here.item != there.item or far > (0 if exact else 1e-4 * max(1, here.tokens)):
            raise SystemExit(f"{other.name} gives {there}, {one.name} gives {here}")


def summary(found: dict[str, Any], probes: int) -> dict[str, Any]:
    """Medians, and the efficiency of two workers over one: of each round, and its median."""
    middle = {name: [statistics.median(passes) for passes in rounds] for name, rounds in found["took"].items()}
    times = [one / two for one, two in zip(middle[ONE], middle[TWO], strict=True)]
    return {
        "probes": probes,
        "probes_per_s": {name: probes / statistics.median(rounds) for name, rounds in middle.items()},
        "seconds_to_start": {name: statistics.median(rounds) for name, rounds in found["starting"].items()},
        "cpu_us_a_probe_of_the_process_that_hands_out": 1e6 * statistics.median(found["around"][TWO]) / probes,
        "efficiency_1_to_2": statistics.median(times) / 2,
        "efficiency_of_rounds": [each / 2 for each in times],
        "workers_against_threads": statistics.median(
            both / two for both, two in zip(middle[BOTH], middle[TWO], strict=True)
        ),
    }


def table() -> list[str]:
    """The kept result as the documentation shows it."""
    ((work, found),) = kept("cluster").items()
    rounds = found["efficiency_of_rounds"]
    speeds = [
        f"| {name} | {speed:,.0f} | {found['seconds_to_start'][name]:.0f} |"
        for name, speed in found["probes_per_s"].items()
    ]
    hands_out = found["cpu_us_a_probe_of_the_process_that_hands_out"]
    return [
        f"| {work}, {found['probes']:,} probes | probes/s | seconds to start |",
        "|---|---|---|",
        *speeds,
        f"| 2 workers, share of twice 1 worker | {found['efficiency_1_to_2']:.2f} "
        f"({min(rounds):.2f} to {max(rounds):.2f}, {len(rounds)} rounds) | |",
        f"| 2 workers against 2 threads | {found['workers_against_threads']:.1f}× | |",
        f"| the process that hands out | {hands_out:.0f} CPU µs a probe | |",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--probes", type=int, default=6_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--passes", type=int, default=2, help="in a round, whose median counts")
    parser.add_argument("--size", choices=sorted(shapes.SIZES), default="small")
    parser.add_argument("--table", action="store_true", help="print what was measured before, and measure nothing")
    asked = parser.parse_args()
    if asked.table:
        print("\n".join(table()))
        return
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as place, patch.object(on_this_machine, "MOST", STRETCH):
        folder = Path(place)
        model, data = shapes.gpt2(asked.size, folder / "model"), folder / "probes.jsonl"
        predicates = texts.stereotypes(Path("/nowhere"), 700)
        jsonl.write(texts.grid(texts.identities(100), predicates)[: asked.probes], data)
        found = summary(measured(asked.rounds, asked.passes, model, data, folder), asked.probes)
    machine.save("cluster", f"GPT-2, {asked.size}", found | {"rounds": asked.rounds, "machine": machine.facts()})
    print("\n".join(table()))


if __name__ == "__main__":
    main()
