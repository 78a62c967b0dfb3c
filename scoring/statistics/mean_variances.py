"""The confidence interval of a mean of variances, on the log scale.

A few large variances determine such a mean, and a sample often lacks them. The variances may be as unequal as those
of a log-normal population, so the standard error is at least that of such a population.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress
from math import isnan, log, nan, sqrt

import numpy as np
from scipy import special

from catsofa.data.statistics import LEVEL, Array
from catsofa.scoring.statistics.intervals import ALIKE, Interval

FACTOR = 100.0
"""An interval is withheld as uninformative if a limit differs from the value by more than this factor."""
FEW = 3.0
"""Correction for few variances, which hide their spread: that of n logarithms is multiplied by 1 + 3/(n - 1)."""
UNEVEN = 0.05
"""Below this p-value, a part has a larger spread than the others and keeps its own."""


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean of variances, with the statistics that its interval needs."""

    value: float
    count: int
    deviation: float = nan
    """Standard deviation of the variances."""
    logs: float = nan
    """Variance of the logarithms of the variances; NaN if a variance is 0."""
    noise: float = nan
    """The share of `logs` due to the few values behind each variance (trigamma of half the degrees of freedom)."""
    few: float = nan
    """Squared coefficient of variation of a variance due to these few values."""
    names: frozenset[str] = frozenset()
    """The names of the variances; means with some names in common are not independent."""


def mean_of(variances: Array, counts: Array, names: Sequence[str] = ()) -> Mean:
    """The mean of variances, each from `counts` values; NaN is left out, and a single variance has no error."""
    finite = np.isfinite(variances)
    variances, free, held = variances[finite], counts[finite] - 1.0, frozenset(compress(names, finite))
    if not len(variances):
        return Mean(nan, 0)
    value = float(variances.mean())
    if len(variances) < 2 or not variances.std() > ALIKE * value:
        return Mean(value, len(variances), names=held)
    logs = float(np.log(variances).var(ddof=1)) if (variances > 0).all() else nan
    noise, few = float(special.polygamma(1, free / 2).mean()), float((2 / free).mean())
    return Mean(value, len(variances), float(variances.std(ddof=1)), logs, noise, few, held)


def interval(parts: Sequence[Mean], level: float = LEVEL) -> Interval:
    """The interval of the mean of means: Student's t on the log scale of each, joined by MOVER.

    See Zou and Donner (2008) for MOVER. The degrees of freedom are Satterthwaite's. Both take means as correlated in
    the share of their common names.
    """
    value = float(np.mean([part.value for part in parts]))
    if isnan(value + sum(part.deviation for part in parts)):
        return Interval(value, nan, nan)
    values, counts = np.array([(part.value, part.count) for part in parts]).T
    sample = np.array([part.deviation**2 / part.count for part in parts])
    squares = np.maximum(sample, _lognormal(parts))
    together = _together(parts)
    free = _freedom(squares, counts - 1, together)
    reach = float(special.stdtrit(free, (1 + level) / 2)) * np.sqrt(squares) / np.where(values > 0, values, 1)
    # beyond 2 · log(FACTOR · number of parts), the interval of the mean is always withheld
    further = values * np.expm1(np.minimum(reach, 2 * log(FACTOR * len(parts))))
    nearer = values * -np.expm1(-reach)
    below, above = (float(np.sqrt(one @ together @ one)) / len(parts) for one in (nearer, further))
    low, high = value - below, value + above
    if high > FACTOR * value or low * FACTOR < value:
        return Interval(value, nan, nan)
    return Interval(value, low, high)


def _together(parts: Sequence[Mean]) -> Array:
    """The correlations of means: 1 for the same names, as one stereotype has nearly one variance in every category."""
    overlaps = [
        [len(one.names & other.names) / sqrt(max(len(one.names) * len(other.names), 1)) for other in parts]
        for one in parts
    ]
    correlations: Array = np.maximum(np.array(overlaps), np.eye(len(parts)))
    return correlations


def _freedom(squares: Array, free: Array, together: Array) -> float:
    """Satterthwaite's degrees of freedom of a sum of correlated means with these squared errors."""
    errors = np.sqrt(squares)
    moved = (together @ errors) * errors / np.sqrt(free)
    return float((errors @ together @ errors) ** 2 / (moved @ together**2 @ moved))


def _lognormal(parts: Sequence[Mean]) -> Array:
    """The squared error of each part under log-normal true variances; 0 for a part with a variance of 0.

    Parts share one spread, which is less noisy than their own, unless an F test finds a larger spread in a part.
    """
    usable = [place for place, part in enumerate(parts) if not isnan(part.logs)]
    uneven: list[int] = []
    while len(usable) > 1:
        chances = [_chance(parts[place], [parts[other] for other in usable if other != place]) for place in usable]
        if min(chances) > UNEVEN:
            break
        uneven.append(usable.pop(int(np.argmin(chances))))
    shared = _spread([parts[place] for place in usable])
    spreads = [_spread([part]) if place in uneven else shared for place, part in enumerate(parts)]
    # beyond 2 · log(FACTOR), the interval is always withheld
    unequal = np.expm1(np.clip(spreads, 0, 2 * log(FACTOR)))
    each = [part.value**2 * (1 + part.few) / part.count for part in parts]
    return np.where([isnan(part.logs) for part in parts], 0.0, np.array(each) * unequal)


def _chance(part: Mean, rest: Sequence[Mean]) -> float:
    """The p-value of a larger spread in a part than in others (F test)."""
    free = np.array([other.count - 1 for other in rest])
    theirs = float(free @ [other.logs for other in rest] / free.sum())
    return float(special.fdtrc(part.count - 1, free.sum(), part.logs / theirs))


def _spread(parts: Sequence[Mean]) -> float:
    """The shared variance of the logarithms of the true variances of parts."""
    free = sum(part.count - 1 for part in parts)
    if not free:
        return 0.0
    names = frozenset[str]().union(*(part.names for part in parts))
    few = FEW / min(free, max(len(names) - 1, 1)) if names else FEW / free
    return sum((part.count - 1) * (part.logs * (1 + few) - part.noise) for part in parts) / free
