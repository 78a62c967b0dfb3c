"""Compares one worker, two workers and two local threads: python -m benchmarks.cluster [--probes 6000] [--table].

The work is a grid of probes with a GPT-2 of 4 layers and width 256. Each way does the work of the command: read, score,
store in a run folder. Times are the wall clock of whole passes after a warm-up pass; the start of Ray and the loading
of models are measured separately. The ways alternate in each round, so that a busy machine disturbs all of them
equally. Each round gives its own ratio.
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
"""Probes per chunk, instead of some thousands, so that a short pass also divides evenly."""
ONE, TWO, HERE, BOTH = "1 worker", "2 workers", "local, 1 thread", "local, 2 threads"

Pass = Callable[[Path], Any]


@contextmanager
def local(model: Path, data: Path, threads: int) -> Iterator[Pass]:
    """Yields a pass in this process, with `threads` threads in each matrix product."""
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
    """Yields a pass with Ray workers of one thread each."""
    with Workers(partial(in_short_stretches, str(model)), Cluster(workers=workers)) as ready:
        while ready._coming:
            ready._welcome(60)

        def once(out: Path) -> None:
            with Run.begin(out, {}, {}) as run:
                score_all(RayScorer(ready), measure_of(Probe), read_as(data, Probe), run)

        yield once


def in_short_stretches(model: str) -> tuple[Loaded, Callable[[Any], Any]]:
    """Starts in a worker what the command starts there, but with shorter chunks."""
    loaded, work = start(model, "model", DEFAULT, None, {})
    return replace(loaded, records=STRETCH), work


WAYS: dict[str, Callable[[Path, Path], Any]] = {
    HERE: partial(local, threads=1),
    ONE: partial(spread, workers=1),
    TWO: partial(spread, workers=2),
    BOTH: partial(local, threads=2),
}


def measured(rounds: int, passes: int, model: Path, data: Path, folder: Path) -> dict[str, Any]:
    """Returns for each way the seconds of every pass by round, the CPU seconds of this process, and the start times."""
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
    """Returns the wall-clock seconds of one call."""
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def same(one: Path, other: Path, exact: bool) -> None:
    """Stops the benchmark if two ways give different scores."""
    for first, second in zip(read_scores(one), read_scores(other), strict=True):
        far = abs((first.score or 0) - (second.score or 0))
        if first.item != second.item or far > (0 if exact else 1e-4 * max(1, first.tokens)):
            raise SystemExit(f"{other.name} gives {second}, {one.name} gives {first}")


def summary(figures: dict[str, Any], probes: int) -> dict[str, Any]:
    """Returns medians, and the efficiency of two workers over one: for each round, and the median."""
    middle = {name: [statistics.median(passes) for passes in rounds] for name, rounds in figures["took"].items()}
    times = [one / two for one, two in zip(middle[ONE], middle[TWO], strict=True)]
    return {
        "probes": probes,
        "probes_per_s": {name: probes / statistics.median(rounds) for name, rounds in middle.items()},
        "seconds_to_start": {name: statistics.median(rounds) for name, rounds in figures["starting"].items()},
        "cpu_us_a_probe_of_the_process_that_hands_out": 1e6 * statistics.median(figures["around"][TWO]) / probes,
        "efficiency_1_to_2": statistics.median(times) / 2,
        "efficiency_of_rounds": [each / 2 for each in times],
        "workers_against_threads": statistics.median(
            both / two for both, two in zip(middle[BOTH], middle[TWO], strict=True)
        ),
    }


def table() -> list[str]:
    """Returns the stored result as the table of the documentation."""
    ((work, figures),) = kept("cluster").items()
    rounds = figures["efficiency_of_rounds"]
    speeds = [
        f"| {name} | {speed:,.0f} | {figures['seconds_to_start'][name]:.0f} |"
        for name, speed in figures["probes_per_s"].items()
    ]
    hands_out = figures["cpu_us_a_probe_of_the_process_that_hands_out"]
    return [
        f"| {work}, {figures['probes']:,} probes | probes/s | seconds to start |",
        "|---|---|---|",
        *speeds,
        f"| 2 workers, share of twice 1 worker | {figures['efficiency_1_to_2']:.2f} "
        f"({min(rounds):.2f} to {max(rounds):.2f}, {len(rounds)} rounds) | |",
        f"| 2 workers against 2 threads | {figures['workers_against_threads']:.1f}× | |",
        f"| the process that hands out | {hands_out:.0f} CPU µs a probe | |",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--probes", type=int, default=6_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--passes", type=int, default=2, help="in a round, whose median counts")
    parser.add_argument("--size", choices=sorted(shapes.SIZES), default="small")
    parser.add_argument("--table", action="store_true", help="print what was measured before, and measure nothing")
    options = parser.parse_args()
    if options.table:
        print("\n".join(table()))
        return
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as place, patch.object(on_this_machine, "MOST", STRETCH):
        folder = Path(place)
        model, data = shapes.gpt2(options.size, folder / "model"), folder / "probes.jsonl"
        predicates = texts.stereotypes(Path("/nowhere"), 700)
        jsonl.write(texts.grid(texts.identities(100), predicates)[: options.probes], data)
        figures = summary(measured(options.rounds, options.passes, model, data, folder), options.probes)
    machine.save("cluster", f"GPT-2, {options.size}", figures | {"rounds": options.rounds, "machine": machine.facts()})
    print("\n".join(table()))


if __name__ == "__main__":
    main()
