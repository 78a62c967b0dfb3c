"""The interval of a mean of variances, on the scale of logarithms.

A few large variances decide such a mean, and a sample often has none of them. The variances may be as unequal as
those of a log-normal population: the standard error is at least what that population's would be.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, isnan, log, nan, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy import special

from catsofa.data.statistics import LEVEL
from catsofa.scoring.statistics.intervals import ALIKE, Interval

Array = NDArray[np.float64]
FACTOR = 100.0
"""An interval is withheld if a limit is further from the value than by this factor: it would say nothing."""
FEW = 3.0
"""How far few variances are taken to hide their spread: that of n logarithms counts 1 + 3/(n - 1) times."""


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean of variances with what its interval is made from."""

    value: float
    count: int
    deviation: float = nan
    """Standard deviation of the variances."""
    logs: float = nan
    """Variance of their logarithms, NaN if one of them is 0."""
    noise: float = nan
    """The part of it that comes from the few values behind each variance (trigamma of half the degrees of freedom)."""
    few: float = nan
    """Squared coefficient of variation of a variance for that reason."""


def mean_of(variances: Array, counts: Array) -> Mean:
    """The mean of variances, each made from so many values; NaN is left out, one variance alone has no error."""
    kept = np.isfinite(variances)
    variances, free = variances[kept], counts[kept] - 1.0
    if not len(variances):
        return Mean(nan, 0)
    value = float(variances.mean())
    if len(variances) < 2 or not variances.std() > ALIKE * value:
        return Mean(value, len(variances))
    logs = float(np.log(variances).var(ddof=1)) if (variances > 0).all() else nan
    noise, few = float(special.polygamma(1, free / 2).mean()), float((2 / free).mean())
    return Mean(value, len(variances), float(variances.std(ddof=1)), logs, noise, few)


def interval(parts: Sequence[Mean], level: float = LEVEL) -> Interval:
    """The mean of independent means with Student's t on the log scale, its degrees of freedom Satterthwaite's."""
    value = float(np.mean([part.value for part in parts]))
    if isnan(value + sum(part.deviation for part in parts)):
        return Interval(value, nan, nan)
    squares = np.array([part.deviation**2 / part.count for part in parts])
    free = float(squares.sum() ** 2 / np.sum(squares**2 / [part.count - 1 for part in parts]))
    error = sqrt(max(float(squares.sum()), _lognormal(parts))) / len(parts)
    reach = float(special.stdtrit(free, (1 + level) / 2)) * error / value
    if reach > log(FACTOR):
        return Interval(value, nan, nan)
    return Interval(value, value * exp(-reach), value * exp(reach))


def _lognormal(parts: Sequence[Mean]) -> float:
    """The summed squared errors if the true variances were log-normal, with the spread that all parts show; or 0."""
    parts = [part for part in parts if not isnan(part.logs)]
    if not (free := sum(part.count - 1 for part in parts)):
        return 0.0
    logs = sum((part.count - 1) * (part.logs * (1 + FEW / free) - part.noise) for part in parts) / free
    # beyond 2 · log(FACTOR) the interval is withheld in any case
    unequal = float(np.expm1(min(max(logs, 0.0), 2 * log(FACTOR))))
    return sum(part.value**2 * unequal * (1 + part.few) / part.count for part in parts)
