"""Measures the speed and the memory of writing and reading millions of probes: python -m benchmarks.formats."""

import argparse
import json
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import islice
from multiprocessing import get_context
from pathlib import Path

from benchmarks.machine import RESULTS
from catsofa.data import formats
from catsofa.data.files import jsonl
from catsofa.data.formats import sofa
from catsofa.data.records import Probe

FILE = RESULTS / "formats.json"
IDENTITIES = 408  # as many as SoFa has


def probes(count: int) -> Iterator[Probe]:
    """Yields `count` probes about invented peoples, as from a builder."""
    for number in islice(range(count), count):
        stereotype, identity = divmod(number, IDENTITIES)
        yield Probe(
            category=("nationality", "religion", "gender", "disability")[identity % 4],
            identity=f"people of the {identity}th island",
            stereotype=f"are fond of the tea that is called number {stereotype}",
        )


def make(folder: Path, count: int) -> int:
    return sum(1 for _ in probes(count))


def write_jsonl(folder: Path, count: int) -> int:
    return jsonl.write(probes(count), folder / "probes.jsonl")


def read_jsonl(folder: Path, count: int) -> int:
    return sum(1 for _ in jsonl.read(folder / "probes.jsonl", Probe))


def jsonl_to_sofa(folder: Path, count: int) -> int:
    return formats.convert(folder / "probes.jsonl", folder / "probes.csv", target_format="sofa").records


def read_sofa(folder: Path, count: int) -> int:
    return sum(1 for _ in sofa.read(folder / "probes.csv"))


def sofa_to_jsonl(folder: Path, count: int) -> int:
    return formats.convert(folder / "probes.csv", folder / "back.jsonl").records


STAGES: tuple[Callable[[Path, int], int], ...] = (
    make,
    write_jsonl,
    read_jsonl,
    jsonl_to_sofa,
    read_sofa,
    sofa_to_jsonl,
)


def measured(stage: Callable[[Path, int], int], folder: Path, count: int) -> dict[str, float | str]:
    """Measures a stage in its own process, so that the peak memory is that of the stage."""
    with get_context("spawn").Pool(1) as pool:
        seconds, cpu_seconds, peak = pool.apply(_run, (stage, folder, count))
    return {
        "stage": stage.__name__,
        "seconds": seconds,
        "cpu_seconds": cpu_seconds,
        "per_cpu_second": count / cpu_seconds,
        "peak_mib": peak,
    }


def _run(stage: Callable[[Path, int], int], folder: Path, count: int) -> tuple[float, float, float]:
    start, cpu_start = time.perf_counter(), time.process_time()
    done = stage(folder, count)
    seconds, cpu_seconds = time.perf_counter() - start, time.process_time() - cpu_start
    if done != count:
        raise ValueError(f"{stage.__name__} handled {done:,} of {count:,} probes")
    unit = 1 if sys.platform == "darwin" else 1024
    return seconds, cpu_seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--probes", type=int, default=1_500_000)
    count = parser.parse_args().probes
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for stage in STAGES:
            rows.append(row := measured(stage, folder, count))
            print(
                f"{row['stage']:15} {row['seconds']:7.1f} s {row['cpu_seconds']:7.1f} CPU-s "
                f"{row['per_cpu_second']:10,.0f} a CPU-s {row['peak_mib']:7.0f} MiB"
            )
        first, back = folder / "probes.jsonl", folder / "back.jsonl"
        same = first.read_bytes() == back.read_bytes()
        sizes = {file.name: file.stat().st_size for file in (first, folder / "probes.csv")}
    print(f"JSONL, SoFa CSV and JSONL again: {'equal' if same else 'NOT EQUAL'}; {sizes}")
    FILE.write_text(json.dumps({"probes": count, "equal": same, "bytes": sizes, "stages": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
