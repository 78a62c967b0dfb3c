"""Compares whole commands as a user runs them: python -m benchmarks.commands --lm-eval PROGRAM [--items 0 200].

`catsofa score MODEL --on DATA --out RUN` is compared with `lm_eval --model hf … --tasks …` on the task that `catsofa
share harness` writes from the same CATs. These are the intrasentence CATs of StereoSet, or a sample of them, scored by
a GPT-2 of real size. Times are the CPU seconds of each command from start to end (start-up, loading, scoring,
reporting), as medians of alternating runs. lm_eval uses the fastest of its batch sizes. Each command has one thread.
Their results in float32 must be equal. catsofa begins with an empty cache; `again` is the same command once more, which
finds the hash of the weights and the sample in float32 in the cache.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import machine, shapes, texts
from benchmarks.works import sample
from catsofa.data.files import jsonl
from catsofa.share import harness

BATCHES = (8, 16)
DTYPES = ("float32", "bfloat16")
MEASURES = ("lms", "ss", "icat")
WITHIN = 0.3
"""Points by which a measure of the two commands may differ in float32, since rounding decides a few items. In bfloat16
rounding decides many items, since the weights are random. So the measures are stored but not compared."""


@dataclass(frozen=True)
class Ran:
    """The CPU seconds of a command, and its printed measures."""

    seconds: float
    measures: dict[str, float]


def run(command: list[str], environment: dict[str, str]) -> tuple[float, str]:
    """Returns the CPU seconds of a command with its children, and its output; an error ends the benchmark."""
    before = os.times()
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    after = os.times()
    if done.returncode:
        raise RuntimeError(f"{command[0]} ended with {done.returncode}:\n{done.stderr[-2000:]}")
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    return spent, done.stdout


def ours(model: Path, data: Path, dtype: str, out: Path, environment: dict[str, str]) -> Ran:
    """Runs `catsofa score`."""
    options = ["--on", str(data), "--protocol", "stereoset-acl", "--dtype", dtype, "--out", str(out), "--json"]
    seconds, output = run([sys.executable, "-m", "catsofa", "score", str(model), *options], environment)
    overall = json.loads(output)["results"]["overall"]
    return Ran(seconds, {name: float(overall[name]) for name in MEASURES})


def theirs(
    lm_eval: str, model: Path, task: Path, name: str, setting: tuple[str, int], out: Path, environment: dict[str, str]
) -> Ran:
    """Runs lm_eval."""
    dtype, batch = setting
    options = ["--model_args", f"pretrained={model},dtype={dtype}", "--device", "cpu", "--batch_size", str(batch)]
    where = ["--tasks", name, "--include_path", str(task), "--output_path", str(out)]
    seconds, _ = run([lm_eval, "--model", "hf", *options, *where], environment)
    results = json.loads(max(out.rglob("results_*.json")).read_text(encoding="utf-8"))["results"][name]
    return Ran(seconds, {measure: float(results[f"{measure},none"]) for measure in MEASURES})


def measured(lm_eval: str, items: int, size: str, repeats: int, folder: Path) -> dict[str, Any]:
    """Measures both commands alternately on `items` CATs, in each precision."""
    cats = texts.cats(shapes.SHARED, 10**6)
    if items:
        words = [len(candidate.text.split()) for cat in cats for candidate in cat.candidates]
        cats = [cats[number] for number in sample(np.add.reduceat(words, range(0, len(words), 3)).tolist(), items)]
    data, task = folder / "cats.jsonl", folder / "task"
    jsonl.write(cats, data)
    harness.write(cats, task, "speed")
    model = shapes.gpt2(size, folder / "model")
    environment = os.environ | {"OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "HF_HOME": str(folder / "home")}
    outs = iter(range(10**6))
    figures: dict[str, Any] = {"items": len(cats), "texts": 3 * len(cats)}
    for dtype in DTYPES:

        def other(batch: int, dtype: str = dtype) -> Ran:
            out = folder / f"out{next(outs)}"
            return theirs(lm_eval, model, task, "catsofa_speed", (dtype, batch), out, environment)

        tried = {batch: other(batch).seconds for batch in BATCHES}
        best = min(tried, key=lambda batch: tried[batch])
        runs: dict[str, list[Ran]] = {"catsofa": [], "again": [], "lm_eval": []}
        for _ in range(repeats):
            cached = environment | {"XDG_CACHE_HOME": str(folder / f"cache{next(outs)}")}
            for way in ("catsofa", "again"):
                runs[way].append(ours(model, data, dtype, folder / f"run{next(outs)}", cached))
            runs["lm_eval"].append(other(best))
        if dtype == "float32":
            compare(runs)
        seconds = {way: [ran.seconds for ran in entries] for way, entries in runs.items()}
        medians = {way: statistics.median(values) for way, values in seconds.items()}
        figures[dtype] = {
            "batch": best,
            "tried": tried,
            "seconds": seconds,
            "times": medians["lm_eval"] / medians["catsofa"],
            "again": medians["again"],
            "measures": {way: entries[0].measures for way, entries in runs.items()},
        }
    return figures


def compare(runs: dict[str, list[Ran]]) -> None:
    """Raises ValueError if the measures of the two commands differ by more than rounding."""
    one, other = (runs[way][0].measures for way in ("catsofa", "lm_eval"))
    apart = {name: abs(one[name] - other[name]) for name in MEASURES}
    if max(apart.values()) > WITHIN:
        raise ValueError(f"the two commands differ by {apart}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lm-eval", default=".venv-harness/bin/lm_eval", help="the program")
    parser.add_argument("--items", type=int, nargs="+", default=[200, 0], help="CATs of a sample; 0 is the whole set")
    parser.add_argument("--size", choices=shapes.SIZES, default="base")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--save", action="store_true", help="keep the figures in results/commands.json")
    options = parser.parse_args()
    for items in options.items:
        with tempfile.TemporaryDirectory() as name:
            figures = measured(options.lm_eval, items, options.size, options.repeats, Path(name))
        figures |= {"machine": machine.facts(), "repeats": options.repeats}
        part = f"GPT-2 size, {figures['texts']:,} texts"
        print(part, json.dumps(machine.rounded(figures), indent=1), flush=True)
        if options.save:
            machine.save("commands", part, figures)


if __name__ == "__main__":
    main()
