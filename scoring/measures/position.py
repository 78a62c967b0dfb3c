"""Position: how far the place of an option decides which one a model chooses, and the preference that is left.

With p1 and p2 the shares of an option chosen where it stands first and second, the position effect is b = p1 − p2,
from −1 (always the second) to 1 (always the first). The preference is the share of the option among the choices that
position does not explain: p2 / (1 − b) for b ≥ 0, p1 / (1 + b) below.
"""

from collections.abc import Mapping
from math import isnan, nan

import numpy as np

from catsofa.scoring.measures.cat_outcomes import Outcomes
from catsofa.scoring.statistics.intervals import Array, Interval, Measure, Seed, intervals

FIRST, FIRST_OF, SECOND, SECOND_OF = range(4)
"""Columns: the option chosen where it stood first, of how many; the same where it stood second."""
WIDTH = 4
DECIDED = "decided by position"


def effect(sums: Array) -> Array:
    """b, of rows of sums."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(sums[..., FIRST] / sums[..., FIRST_OF] - sums[..., SECOND] / sums[..., SECOND_OF])


def preference(sums: Array) -> Array:
    """The preference in percent, of rows of sums; NaN where position explains every choice."""
    made_first, made_second = sums[..., FIRST_OF], sums[..., SECOND_OF]
    with np.errstate(invalid="ignore", divide="ignore"):
        first, second = sums[..., FIRST] / made_first, sums[..., SECOND] / made_second
        # 1 − b and 1 + b from what was not chosen, which is exactly 0 where all was: 99.99999999999999 is at no edge
        not_first = (made_first - sums[..., FIRST]) / made_first
        not_second = (made_second - sums[..., SECOND]) / made_second
        return np.asarray(100 * np.where(first >= second, second / (not_first + second), first / (not_second + first)))


def _icat(sums: Array) -> Array:
    """lms · ss / 50 and lms · (100 − ss) / 50 of the two preferences, whose lesser is icat."""
    lms, ss = preference(sums[..., :WIDTH]), preference(sums[..., WIDTH:])
    return np.stack([lms * ss / 50, lms * (100 - ss) / 50], axis=-1)


POSITION = Measure(name="position", pieces=lambda sums: effect(sums)[..., None], ideal=0, least=-1, most=1)
PREFERENCE = Measure(name="preference", pieces=lambda sums: preference(sums)[..., None], ideal=50, least=0, most=100)
ICAT = Measure(name="icat", pieces=_icat, ideal=100, least=0, most=100)
UNDEFINED = Interval(nan, nan, nan)


def columns(of: Outcomes, chosen: Mapping[str, Array], comparisons: slice, *, items: bool = False) -> Array:
    """For each target term how often the option was chosen first and second: shares, or counts over its items.

    `chosen` holds for each CAT, by its id, a row a comparison: whether the option was chosen first, and second; NaN
    where an answer could not be read.
    """
    every = np.array([chosen[item][comparisons] for item in of.ids])
    read = np.isfinite(every).all(axis=2)
    first, second = (np.where(read, every[..., side], 0.0).sum(axis=1) for side in (0, 1))
    made = read.sum(axis=1)
    _, sums = of.by_term(np.stack([first, made, second, made], axis=1))
    return sums if items else np.divide(sums, sums[:, [FIRST_OF]], out=np.zeros_like(sums), where=sums[:, [1]] > 0)


def measured(found: Array, *, resamples: int, seed: Seed) -> tuple[Interval, Interval]:
    """The position effect and the preference, with intervals over the rows; undefined where position decides all."""
    made = found[found[:, FIRST_OF] > 0]
    if not len(made):
        return UNDEFINED, UNDEFINED
    b = intervals(made, {"b": POSITION}, resamples=resamples, seed=seed)["b"]
    if decides(b):
        return b, UNDEFINED
    return b, intervals(made, {"preference": PREFERENCE}, resamples=resamples, seed=seed)["preference"]


def icat(lms: Array, ss: Array, *, resamples: int, seed: Seed) -> Interval:
    """icat of the two preferences, with its interval."""
    both = np.concatenate([lms, ss], axis=1)
    made = both[(both[:, [FIRST_OF, WIDTH + FIRST_OF]] > 0).any(axis=1)]
    return intervals(made, {"icat": ICAT}, resamples=resamples, seed=seed)["icat"]


def decides(b: Interval) -> bool:
    """Whether position may explain every choice: the interval of |b| reaches 1."""
    reached = [abs(b.value), *(abs(limit) for limit in (b.low, b.high) if not isnan(limit))]
    return isnan(b.value) or max(reached) >= 1
