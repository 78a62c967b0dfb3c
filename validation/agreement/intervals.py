"""95 % confidence intervals of agreement, over items or over the units (CATs) that items belong to."""

from collections.abc import Callable, Iterator
from math import nan

import numpy as np

from catsofa.data.judging.ratings import Floats
from catsofa.data.statistics import LEVEL, score_limits, students

Statistics = Callable[[Floats], Floats]
"""A function from summed rows (sets, sums) to statistics (sets, statistics)."""
Limits = tuple[float, float]

FEWEST = 30
"""Minimum units for an interval; with fewer, the interval would miss the true value too often."""
EDGE = 1 - 1e-6
"""Kappas are clipped to this absolute value on Fisher's scale."""
STEP = 1e-5
"""Relative step of the numerical derivatives."""
BLOCK = 100
"""Resamples held in memory at once."""


def share_limits(won: Floats, out_of: Floats) -> Limits:
    """Limits of the share sum(won) / sum(out_of), both with one value per unit.

    Wilson's score interval with Student's t and an effective sample size: the number of independent binary answers
    with the same variance over units (Korn and Graubard 1998), or the number of units if all have the same share.
    """
    units, total = len(won), float(out_of.sum())
    if units < 2 or not total:
        return nan, nan
    share = float(won.sum()) / total
    error = float(np.sum((won - share * out_of) ** 2)) / total**2 * units / (units - 1)
    share = round(share) if min(share, 1 - share) < 1e-12 else share
    effective = units if share in (0, 1) or error < 1e-15 else share * (1 - share) / error
    return score_limits(share, effective, students(units))


def kappa_limits(totals: Floats, statistics: Statistics, resamples: int, seed: int) -> tuple[Limits, Limits]:
    """Limits of kappa and alpha, the first two statistics, from one row of sums per unit.

    On Fisher's scale (atanh), the hull of two intervals: Student's t around the jackknife's bias-corrected value,
    which is valid if few units disagree, and the bootstrap-t, which is valid if a label is rare.
    """
    whole = totals.sum(axis=0, keepdims=True)
    values, without = statistics(whole)[0, :2], statistics(whole - totals)[:, :2]
    if np.isnan(values).any() or np.isnan(without).any():
        return (nan, nan), (nan, nan)
    if (totals[:, 1] > totals[:, 0] - 1e-12).all():
        # disagreement is at most Wilson's limit of the share, divided by chance disagreement
        labels = (totals.shape[1] - 4) // 2
        shares = totals[:, 3 : 3 + labels].sum(axis=0) / totals[:, 0].sum()
        low, _ = share_limits(totals[:, 1], totals[:, 0])
        least = 1 - (1 - low) / (1 - float(np.sum(shares**2)))
        return (least, 1.0), (least, 1.0)
    units = len(totals)
    own = _errors(np.ones((1, units)), totals, statistics)[0] / (1 - np.minimum(values**2, EDGE**2))
    if (own < 1e-12).any():
        return (nan, nan), (nan, nan)  # if all units are alike, the variance of others is unknown
    corrected = values - (units - 1) * (without.mean(axis=0) - values)
    middle, corrected = _fisher(values), _fisher(corrected)
    studentised = np.concatenate(list(_studentised(middle, totals, statistics, resamples, seed)))
    both = []
    for kind in range(2):
        draws = studentised[np.isfinite(studentised[:, kind]), kind]
        ends = np.quantile(draws, [(1 - LEVEL) / 2, (1 + LEVEL) / 2]) if len(draws) else np.zeros(2)
        reach = students(units) * own[kind]
        low = min(corrected[kind] - reach, middle[kind] - ends[1] * own[kind])
        high = max(corrected[kind] + reach, middle[kind] - ends[0] * own[kind])
        both.append((float(np.tanh(low)), float(np.tanh(high))))
    return both[0], both[1]


def _studentised(middle: Floats, totals: Floats, statistics: Statistics, resamples: int, seed: int) -> Iterator[Floats]:
    """Studentised differences of kappa and alpha between resampled units and the observed ones."""
    rng, units = np.random.default_rng(seed), len(totals)
    for start in range(0, resamples, BLOCK):
        # drawn as in earlier versions, to keep their intervals; data.statistics.draw_counts has the same distribution
        weights = rng.multinomial(units, np.full(units, 1 / units), size=min(BLOCK, resamples - start)).astype(float)
        drawn = statistics(weights @ totals)[:, :2]
        with np.errstate(invalid="ignore", divide="ignore"):
            errors = _errors(weights, totals, statistics) / (1 - np.minimum(drawn**2, EDGE**2))
            yield (_fisher(drawn) - middle) / errors


def _errors(weights: Floats, totals: Floats, statistics: Statistics) -> Floats:
    """Standard errors of kappa and alpha of weighted units, by the delta method: (sets, 2)."""
    sums, units = weights @ totals, len(totals)
    slopes = np.empty((2, *sums.shape))
    for column in range(sums.shape[1]):
        step = np.zeros_like(sums)
        step[:, column] = STEP * np.maximum(sums[:, column], STEP)
        change = statistics(sums + step)[:, :2] - statistics(sums - step)[:, :2]
        slopes[:, :, column] = (change / (2 * step[:, column, None])).T
    moved = slopes @ totals.T
    away = moved - (weights * moved).sum(axis=2, keepdims=True) / units
    return np.asarray(np.sqrt((weights * away**2).sum(axis=2) * units / (units - 1)).T)


def _fisher(values: Floats) -> Floats:
    """The values on Fisher's scale (atanh)."""
    return np.arctanh(np.clip(values, -EDGE, EDGE))
