"""A ratio over items for a model, alone or against reference models that have not seen the data."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import hypot, sqrt

import numpy as np
from scipy import special

from catsofa.data.percentages import quantity
from catsofa.data.statistics import Array, students
from catsofa.scoring.contamination.result import Test
from catsofa.scoring.statistics.intervals import RESAMPLES, Interval, Measure, intervals, ratio, resampled_sums

FEWEST = 3
"""Fewest references that show how much models that have not seen the data differ from each other."""


def against(
    name: str,
    unit: str,
    clusters: Sequence[str],
    model: Array,
    references: Sequence[Array],
    counts: Mapping[str, int],
    *,
    share: bool,
    seed: int,
) -> Test:
    """Tests a ratio of two columns with a row for each item; an item with a NaN in any model is excluded everywhere.

    A `share` of tokens is between 0 and 100. The p-value is one-sided: how often would one more model like the
    references have a ratio so far above their mean? The test is Student's t. Its error combines the spread of the
    references with the largest paired standard error over clusters.
    """
    sides = [model, *references]
    complete = np.logical_and.reduce([np.isfinite(side).all(axis=1) for side in sides])
    counts = {**counts, "scored": int(complete.sum())}
    if not complete.any():
        return Test(name=name, unit=unit, counts=counts, reason="no item could be scored")
    groups, which = np.unique(np.array(clusters)[complete], return_inverse=True)
    sums = [np.zeros((len(groups), 2)) for _ in sides]
    for total, side in zip(sums, sides, strict=True):
        np.add.at(total, which, side[complete])
    if share:
        counts |= dict(zip(("reproduced", "tokens"), map(int, sums[0].sum(axis=0)), strict=True))
    counts |= {"clusters": len(groups), "references": len(references)}
    limits = {"least": 0.0, "most": 100.0} if share else {}
    measure = Measure(name=name, pieces=ratio(0, 1), **limits)
    own, *others = (intervals(one, {name: measure}, seed=seed)[name] for one in sums)
    test = Test(name=name, unit=unit, value=own, references=others, counts=counts)
    if len(references) < FEWEST:
        summary = f"described only: {quantity(len(references), 'reference')}"
        why = f"{summary}, and it takes {FEWEST} to say how far models that have not seen the data differ by themselves"
        return replace(test, reason=why)
    values = np.array([other.value for other in others])
    change = own.value - float(values.mean())
    draws = measure(np.stack([resampled_sums(one, RESAMPLES, seed) for one in sums]))  # one seed: the same clusters
    over_items = float((draws[0] - draws[1:]).std(axis=1).max()) * sqrt(len(groups) / max(1, len(groups) - 1))
    error = hypot(float(values.std(ddof=1)) * sqrt(1 + 1 / len(values)), over_items)
    if not error > 0 or len(groups) < 2:
        return replace(test, reason="all models have the same numbers, or only one cluster counts")
    reach = students(len(values)) * error
    p = float(special.stdtr(len(values) - 1, -change / error))
    return replace(test, p=p, change=Interval(change, change - reach, change + reach))
