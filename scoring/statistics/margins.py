"""Tests with a margin: whether a measure regresses by more than the margin, is not inferior, or is equivalent."""

from dataclasses import dataclass, replace
from math import sqrt

import numpy as np
from scipy import special

from catsofa.scoring.statistics.changes import Change, paired_tests
from catsofa.scoring.statistics.intervals import RESAMPLES, Array, Measure, Seed

LEVEL = 0.05
"""The level of each one-sided test; the interval beside two such tests has confidence level 1 - 2 · `LEVEL`."""


def nearness(measure: Measure) -> Measure:
    """Minus the distance of a measure to its ideal value, as a measure; it has a kink at an ideal inside the range."""
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
    """The margin tests of a measure on two results of the same clusters; each p is one-sided and uncorrected."""

    before: float
    after: float
    change: Change
    """The change of the measure, with the limits of all values that no test at `LEVEL` on either side rejects."""
    worse: float
    """The increase of the distance to the ideal value; negative if the measure is nearer."""
    margin: float
    same: bool
    """True if the two results are equal in every cluster."""
    p_worse: float
    """The p-value of an increase in distance of at most the margin: small if a regression is shown."""
    p_not_worse: float
    """The p-value of an increase in distance of the margin or more: small if non-inferiority is shown."""
    p_equivalent: float
    """The p-value of a change by the margin or more in either direction: small if equivalence is shown."""


def margin_test(
    columns: Array,
    other_columns: Array,
    measure: Measure,
    margin: float = 0.0,
    *,
    step: float = 0.0,
    resamples: int = RESAMPLES,
    seed: Seed = 0,
) -> MarginTest:
    """Test the change of a measure from `columns` to `other_columns`, whose rows are the same clusters.

    `step` is the average change of the measure by one item. If single items change, few may have changed by chance, and
    these alone show too little of how many others would. So a change below the margin is shown only if a true change of
    the margin would rarely show so few changed items (a score test, with a correction of half an item). Equivalence
    needs two one-sided tests (TOST: Schuirmann 1987).
    """
    near = nearness(measure)
    tests = paired_tests(columns, other_columns, {"moved": measure, "near": near}, resamples=resamples, seed=seed)
    before, after = (side.sum(axis=0) for side in (columns, other_columns))
    worse = float(near(before) - near(after))

    def missed(moved: float) -> float:
        """The p-value of a true change by the margin, if the items show a change of `moved`; 0 without a step."""
        spread = sqrt(margin * step)
        return float(special.ndtr((moved + step / 2 - margin) / spread)) if spread else 0.0

    same = bool(len(columns)) and np.array_equal(columns, other_columns)
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
