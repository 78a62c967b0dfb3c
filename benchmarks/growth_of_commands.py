"""Measures how commands grow with a data set: python -m benchmarks.growth_of_commands [--largest 200000].

Each command runs in its own process on a 16th, a quarter and all of the items. The figures are CPU seconds, peak
memory, and the exponent of the growth between the last two sizes, without the seconds of the command on 100 items.
"""

import argparse
import json
import random
import tempfile
from collections.abc import Iterator
from math import log
from pathlib import Path

from benchmarks import growth, machine, near_duplicates
from catsofa.data.files import jsonl
from catsofa.data.records import LABELS, Candidate, Cat, Pair

TERMS = 20
"""Items of one target term."""
SMALL = 100
"""The number of items whose seconds count as the start of a command."""


def cats(count: int) -> Iterator[Cat]:
    """Yields CATs with contexts of invented words; one context in fifty is a copy with one changed word."""
    rng = random.Random(1)
    for number, sentence in enumerate(near_duplicates.sentences(count)):
        target = f"zorb{number // TERMS}"
        context = f"The {target} of {sentence} is BLANK."
        fills = rng.sample(sentence.split(), 3)
        words = [
            Candidate(id=f"{number}-{label}", text=context.replace("BLANK", fill), label=label, fill=fill)
            for label, fill in zip(LABELS, fills, strict=True)
        ]
        yield Cat(
            id=str(number),
            kind="intrasentence",
            target=target,
            bias_type=f"kind {number % 4}",
            context=context,
            candidates=tuple(words),
        )


def pairs(count: int) -> Iterator[Pair]:
    """Yields pairs that differ in the group."""
    for number, sentence in enumerate(near_duplicates.sentences(count)):
        yield Pair(
            id=str(number),
            more=f"Zorbs {sentence}.",
            less=f"Quibs {sentence}.",
            bias_type=f"kind {number % 9}",
            direction="stereo",
        )


def commands(count: int, folder: Path, weights: Path) -> dict[str, list[str]]:
    """Writes the data of a size, and returns the commands by name."""
    items, texts, run = folder / f"cats-{count}.jsonl", folder / f"pairs-{count}.jsonl", folder / f"run-{count}"
    jsonl.write(cats(count), items)
    jsonl.write(pairs(count), texts)
    out = str(folder / f"out-{count}")
    return {
        "validate lint": ["validate", "lint", str(items), "--json"],
        "validate stats": ["validate", "stats", str(items), "--json"],
        "validate split": ["validate", "split", str(items), "--out", f"{out}-split"],
        "filter near-duplicates": ["filter", "near-duplicates", str(texts), "--model", "none", "--out", f"{out}.jsonl"],
        "convert": ["convert", str(items), f"{out}.json", "--to", "stereoset"],
        "score": ["score", str(weights), "--on", str(texts), "--out", str(run), "--json"],
        "report": ["report", str(run), "--out", f"{out}.html", "--items", f"{out}-items.html"],
    }


def main() -> None:
    """Prints and stores the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--largest", type=int, default=200_000)
    parser.add_argument("--only", nargs="+", help="commands to run (default: all)")
    options = parser.parse_args()
    sizes = [SMALL, options.largest // 16, options.largest // 4, options.largest]
    rows: dict[str, list[dict[str, float]]] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        weights = growth.model(folder / "model")
        for size in sizes:
            for command, words in commands(size, folder, weights).items():
                if not options.only or command in options.only:
                    figures = machine.rounded({"items": size, **growth.spent(words, folder)})
                    rows.setdefault(command, []).append(figures)
                    print(command, json.dumps(figures), flush=True)
    for command, figures in rows.items():
        start = figures[0]["cpu_s"]
        before, last = figures[-2]["cpu_s"] - start, figures[-1]["cpu_s"] - start
        exponent = log(last / before) / log(4) if min(before, last) > 0 else None
        machine.save("growth_of_commands", command, {"rows": figures, "exponent": exponent, "machine": machine.facts()})
        print(command, "exponent", exponent)


if __name__ == "__main__":
    main()
