"""Compares 10,000 resamples of target terms with a plain loop: python -m benchmarks.bootstrap [--loop N].

The set has the size of StereoSet's development set, 79 terms and 4,229 CATs, with random outcomes. The loop does the
work of evaluation scripts: draw terms, gather their CATs, count, average. Its time on N resamples is scaled up.
"""

import argparse
import json
import time
from collections import defaultdict
from collections.abc import Callable
from statistics import fmean, median
from typing import Any

import numpy as np

from benchmarks.machine import RESULTS
from catsofa.scoring.measures.cat_outcomes import Outcomes
from catsofa.scoring.measures.stereoset import MEASURES, icat, results
from catsofa.scoring.statistics.changes import paired_changes
from catsofa.scoring.statistics.intervals import RESAMPLES, intervals

FILE = RESULTS / "bootstrap.json"
TERMS, ITEMS = 79, 4229


def drawn(seed: int) -> Outcomes:
    """Returns random outcomes of a model with lms 90 and ss 60, in the shape of StereoSet dev."""
    rng = np.random.default_rng(seed)
    domains = np.repeat(["gender", "profession", "race", "religion"], [10, 30, 36, 3])
    term = rng.permutation(np.arange(ITEMS) % TERMS)
    won = rng.binomial(2, 0.9, ITEMS), rng.binomial(1, 0.6, ITEMS)
    counts = np.stack([won[0], np.full(ITEMS, 2), won[1], np.ones(ITEMS)], axis=1).astype(np.float64)
    return Outcomes(
        ids=np.array([f"c{n}" for n in range(ITEMS)]),
        kinds=np.where(np.arange(ITEMS) < 2106, "intrasentence", "intersentence"),
        domains=domains[term],
        terms=np.array([f"t{n}" for n in range(TERMS)])[term],
        counts=counts,
        prefers=counts[:, 2],
        complete=np.ones(ITEMS, dtype=bool),
        decided=np.ones((ITEMS, 2)),
        ties=np.zeros((ITEMS, 3), dtype=bool),
        unknown=np.zeros(ITEMS),
    )


def loop(outcomes: Outcomes, resamples: int) -> list[tuple[float, float, float]]:
    """Resamples with a plain Python loop over lists."""
    rng, by_term = np.random.default_rng(0), defaultdict(list)
    for term, (lms_won, _, ss_won, _) in zip(outcomes.terms, outcomes.counts.tolist(), strict=True):
        by_term[term].append((lms_won, ss_won))
    terms, values = list(by_term), []
    for _ in range(resamples):
        chosen = [by_term[terms[k]] for k in rng.integers(len(terms), size=len(terms))]
        lms = fmean(100 * sum(won for won, _ in items) / (2 * len(items)) for items in chosen)
        ss = fmean(100 * sum(won for _, won in items) / len(items) for items in chosen)
        values.append((lms, ss, icat(lms, ss)))
    return values


def seconds(work: Callable[[], Any], repeats: int) -> float:
    """Returns the median CPU seconds of a call."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return median(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--loop", type=int, default=500, help="resamples to time the loop on")
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    outcomes, other = drawn(1), drawn(2)
    columns, other_columns = outcomes.columns("terms"), other.columns("terms")
    ours = seconds(lambda: intervals(outcomes.columns("terms"), MEASURES), options.repeats)
    plain = seconds(lambda: loop(outcomes, options.loop), options.repeats) * RESAMPLES / options.loop
    figures = {
        "resamples": RESAMPLES,
        "terms": TERMS,
        "items": ITEMS,
        "loop_s": plain,
        "ours_s": ours,
        "times": plain / ours,
        "all_sets_s": seconds(lambda: results(outcomes), options.repeats),
        "changes_s": seconds(lambda: paired_changes(columns, other_columns, MEASURES), options.repeats),
    }
    FILE.parent.mkdir(parents=True, exist_ok=True)
    FILE.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
