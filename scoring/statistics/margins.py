"""Margins: whether a measure moves away from its ideal value by more than a margin, or not, or hardly moves at all."""

from dataclasses import dataclass, replace
from math import sqrt

import numpy as np
from scipy import special

from catsofa.scoring.statistics.changes import Change, paired_tests
from catsofa.scoring.statistics.intervals import RESAMPLES, Array, Measure, Seed

LEVEL = 0.05
"""Of each one-sided test; the interval beside two of them has twice as much outside."""


def nearness(measure: Measure) -> Measure:
    """How near a measure is to its ideal value: minus their distance, which has a kink where the ideal lies inside."""
    if measure.ideal is None:
        raise ValueError(f"the measure {measure.name!r} has no ideal value, so that no change of it is for the worse")
    ideal, reach = measure.ideal, measure.most - measure.least

    def pieces(sums: Array) -> Array:
        away = measure.pieces(sums) - ideal
        if ideal >= measure.most:
            return away
        return -away if ideal <= measure.least else np.concatenate([away, -away], axis=-1)

    return replace(measure, name=f"nearness of {measure.name}", pieces=pieces, ideal=0, least=-reach, most=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class MarginTest:
    """What two results of the same clusters say of a measure and a margin; each p is one-sided and not corrected."""

    before: float
    after: float
    change: Change
    """How far the measure moves, with the limits between which each value is left open at `LEVEL` on either side."""
    worse: float
    """How much further the measure is from its ideal value; below 0 where it is nearer."""
    margin: float
    same: bool
    """Whether the two results are equal in every cluster."""
    p_worse: float
    """Of a measure that is further from its ideal by the margin at most: small where a regression is shown."""
    p_not_worse: float
    """Of a measure that is further by the margin or more: small where it is shown not to be inferior."""
    p_equivalent: float
    """Of a measure that moves by the margin or more, either way: small where the two are shown to be equivalent."""


def margin_test(
    columns: Array,
    others: Array,
    measure: Measure,
    margin: float = 0.0,
    *,
    step: float = 0.0,
    resamples: int = RESAMPLES,
    seed: Seed = 0,
) -> MarginTest:
    """Test how far a measure moves from `columns` to `others`, whose rows are the same clusters.

    `step` is how far one item moves the measure, on average. Where items turn one by one, few of many may have turned
    by chance, and the turned ones alone say too little of how many others would: a measure is shown to move by less
    than the margin only where so many items would have been missed too seldom (a score test, with half an item).
    Equivalence takes two one-sided tests (TOST: Schuirmann 1987).
    """
    near = nearness(measure)
    tests = paired_tests(columns, others, {"moved": measure, "near": near}, resamples=resamples, seed=seed)
    before, after = (side.sum(axis=0) for side in (columns, others))
    worse = float(near(before) - near(after))

    def missed(moved: float) -> float:
        """The p of a move by the margin, of which items have made so much."""
        spread = sqrt(margin * step)
        return float(special.ndtr((moved + step / 2 - margin) / spread)) if spread else 0.0

    same = bool(len(columns)) and np.array_equal(columns, others)
    moved, nearer = tests["moved"], tests["near"]
    change = moved.change(1 - 2 * LEVEL)
    return MarginTest(
        before=float(measure(before)),
        after=float(measure(after)),
        change=change,
        worse=worse,
        margin=margin,
        same=same,
        p_worse=1.0 if same else nearer.p_at_least(-margin),
        p_not_worse=max(nearer.p_at_most(-margin), missed(worse)),
        p_equivalent=max(moved.p_at_least(margin), moved.p_at_most(-margin), missed(abs(change.by.value))),
    )
