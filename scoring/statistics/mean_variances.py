"""The interval of a mean of variances, on the scale of logarithms.

A few large variances decide such a mean, and a sample often has none of them. The variances may be as unequal as
those of a log-normal population: the standard error is at least what that population's would be.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan, log, nan

import numpy as np
from scipy import special

from catsofa.data.statistics import LEVEL, Array
from catsofa.scoring.statistics.intervals import ALIKE, Interval

FACTOR = 100.0
"""An interval is withheld if a limit is further from the value than by this factor: it would say nothing."""
FEW = 3.0
"""How far few variances are taken to hide their spread: that of n logarithms counts 1 + 3/(n - 1) times."""
UNEVEN = 0.05
"""The p-value below which a part is more spread than the others, and keeps its own spread."""


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
    """The mean of independent means: Student's t on the log scale of each, joined by MOVER (Zou and Donner 2008).

    The degrees of freedom are Satterthwaite's.
    """
    value = float(np.mean([part.value for part in parts]))
    if isnan(value + sum(part.deviation for part in parts)):
        return Interval(value, nan, nan)
    values, counts = np.array([(part.value, part.count) for part in parts]).T
    sample = np.array([part.deviation**2 / part.count for part in parts])
    squares = np.maximum(sample, _lognormal(parts))
    free = float(squares.sum() ** 2 / np.sum(squares**2 / (counts - 1)))
    reach = float(special.stdtrit(free, (1 + level) / 2)) * np.sqrt(squares) / np.where(values > 0, values, 1)
    # beyond twice log(FACTOR) for each part, the interval of the mean is withheld in any case
    further = values * np.expm1(np.minimum(reach, 2 * log(FACTOR * len(parts))))
    nearer = values * -np.expm1(-reach)
    below, above = (float(np.hypot.reduce(one)) / len(parts) for one in (nearer, further))
    low, high = value - below, value + above
    if high > FACTOR * value or low * FACTOR < value:
        return Interval(value, nan, nan)
    return Interval(value, low, high)


def _lognormal(parts: Sequence[Mean]) -> Array:
    """The squared error of each part if its true variances were log-normal; 0 where one of them is 0.

    Parts share one spread, less noisy than their own, unless a part is spread more than the others are (an F test).
    """
    known = [at for at, part in enumerate(parts) if not isnan(part.logs)]
    uneven: list[int] = []
    while len(known) > 1:
        chances = [_chance(parts[at], [parts[other] for other in known if other != at]) for at in known]
        if min(chances) > UNEVEN:
            break
        uneven.append(known.pop(int(np.argmin(chances))))
    shared = _spread([parts[at] for at in known])
    spreads = [_spread([part]) if at in uneven else shared for at, part in enumerate(parts)]
    # beyond 2 · log(FACTOR) the interval is withheld in any case
    unequal = np.expm1(np.clip(spreads, 0, 2 * log(FACTOR)))
    each = [part.value**2 * (1 + part.few) / part.count for part in parts]
    return np.where([isnan(part.logs) for part in parts], 0.0, np.array(each) * unequal)


def _chance(part: Mean, others: Sequence[Mean]) -> float:
    """The probability that a part is so much more spread than others of the same true spread."""
    free = np.array([other.count - 1 for other in others])
    theirs = float(free @ [other.logs for other in others] / free.sum())
    return float(special.fdtrc(part.count - 1, free.sum(), part.logs / theirs))


def _spread(parts: Sequence[Mean]) -> float:
    """The variance of the logarithms of the true variances that parts share."""
    free = sum(part.count - 1 for part in parts)
    return sum((part.count - 1) * (part.logs * (1 + FEW / free) - part.noise) for part in parts) / free if free else 0.0
