"""Measures the time to examine a benchmark by the number of models: python -m benchmarks.examine.

The set has the size of StereoSet's development set, 79 terms and 4,229 CATs in two tasks, with random preferences.
"""

import argparse
import json
import resource

import numpy as np

from benchmarks.bootstrap import ITEMS, drawn
from benchmarks.machine import RESULTS, cpu_seconds
from catsofa.scoring.examine import ItemMatrix, examine

FILE = RESULTS / "examine.json"
FEWEST = 12
"""The number of models in the warm-up call."""


def matrix(models: int) -> ItemMatrix:
    """Returns random preferences of `models` models on items with different chances."""
    outcomes, rng = drawn(1), np.random.default_rng(models)
    chance = 0.2 + 0.6 * rng.random((ITEMS, 1)) + np.linspace(-0.1, 0.1, models)
    return ItemMatrix(
        values=(rng.random((ITEMS, models)) < chance).astype(np.float64),
        models=tuple(f"m{number}" for number in range(models)),
        items=outcomes.ids,
        tasks=outcomes.kinds,
        domains=outcomes.domains,
        terms=outcomes.terms,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=int, nargs="*", default=[25, 50, 100])
    options = parser.parse_args()
    examine(matrix(FEWEST))
    figures = {
        "items": ITEMS,
        "cpu_s": {str(n): round(cpu_seconds(lambda n=n: examine(matrix(n))), 1) for n in options.models},
    }
    figures["peak_mib"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    FILE.parent.mkdir(parents=True, exist_ok=True)
    FILE.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
