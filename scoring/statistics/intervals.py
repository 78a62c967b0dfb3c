"""Confidence intervals by the cluster bootstrap, for every measure that is a function of column sums.

A cluster (a target term, a stereotype, a pair) is one row of sufficient statistics. Resampling clusters is a product
of counts and rows, and every measure is computed from the resampled sums.
"""

__all__ = ["Interval", "Measure", "intervals", "ratio", "wilson"]

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf, isnan, nan, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy import special

from catsofa.data.statistics import LEVEL, WIDE, draw_sums, remembered, score_limits, students, tail

Array = NDArray[np.float64]
Seed = int | np.random.Generator

RESAMPLES = 10_000
FEW = 8
"""Below this many clusters, resamples are too coarse for percentiles: see `limits`."""
ALIKE = 1e-12
"""Standard deviations over resamples up to this share of the value are rounding."""
BLOCK = 250_000
"""Draws in memory at once: so few fit in the CPU cache, which is twice as fast as millions."""
FEWEST = 3
"""With at most this many clusters, resamples are too few to tighten the upper limit of a minimum."""
ROUNDING = 1e-9
"""Ranges of percentages below this value are rounding."""
HALVINGS = 12
"""Bisections in the search for that upper limit: to a four-thousandth of the bracket's width."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """A function of column sums: the minimum of one or more smooth pieces.

    The pieces matter at a kink: icat = min(lms·ss, lms·(100−ss))/50 has a kink at ss = 50. There, an interval made
    from icat itself misses the true value three times in ten, while the limits of its pieces contain it.
    `upper_limit_of_lesser` tightens these limits where they would contain it too often.
    """

    name: str
    pieces: Callable[[Array], Array]
    """A function from sums (…, columns) to pieces (…, pieces)."""
    ideal: float | None = None
    """The value of an ideal model; metrics have an ideal value instead of a direction."""
    least: float = -inf
    most: float = inf

    def __call__(self, sums: Array) -> Array:
        """The measure of each row of sums."""
        least: Array = self.pieces(sums).min(axis=-1)
        return least


@dataclass(frozen=True, slots=True)
class Interval:
    """A value and the limits of its interval; the limits are NaN if the clusters allow no interval."""

    value: float
    low: float
    high: float

    def __post_init__(self) -> None:
        """Convert all fields to float: a limit cut at the integer 100 is then 100.0 in JSON, like other limits."""
        for name in self.__slots__:
            object.__setattr__(self, name, float(getattr(self, name)))

    def __contains__(self, truth: float) -> bool:
        """Returns True if the interval contains a value."""
        return self.low <= truth <= self.high

    def __format__(self, spec: str) -> str:
        """The value and, if defined, its limits, each in the format `spec`: `62.1 [59.7, 64.6]`."""
        value = format(self.value, spec)
        return value if isnan(self.low) else f"{value} [{self.low:{spec}}, {self.high:{spec}}]"

    def to_dict(self) -> dict[str, float]:
        """The value and its limits by name."""
        return {"value": self.value, **self.limits()}

    def limits(self) -> dict[str, float]:
        """The limits by name."""
        return {"low": self.low, "high": self.high}

    def row(self, name: str) -> dict[str, float]:
        """The value under a name, and its limits under the name with `_low` and `_high`."""
        return {name: self.value, f"{name}_low": self.low, f"{name}_high": self.high}


Limits = Callable[[float], Interval]
"""A function from a confidence level to a value with its interval."""


UNDEFINED = Interval(nan, nan, nan)
"""The interval of a measure without data."""


def ratio(won: int, total: int) -> Callable[[Array], Array]:
    """Pieces of a percentage: 100 · sum of column `won` / sum of column `total`; NaN if the denominator is 0."""

    def pieces(sums: Array) -> Array:
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(100 * sums[..., won] / sums[..., total])[..., None]

    return pieces


def intervals(
    columns: Array,
    measures: Mapping[str, Measure],
    *,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
    seed: Seed = 0,
) -> dict[str, Interval]:
    """Each measure over the clusters (rows) with its bootstrap interval; all use the same resamples.

    Without clusters, every measure is undefined.
    """
    if not len(columns):
        return dict.fromkeys(measures, UNDEFINED)
    rng = np.random.default_rng(seed)
    total, sums = columns.sum(axis=0), resampled_sums(columns, resamples, rng)
    by_measure = {}
    for name, measure in measures.items():
        observed, resampled = measure.pieces(total), measure.pieces(sums)
        if resamples and len(observed) == 2:
            by_measure[name] = _of_lesser(observed, resampled, len(columns), level, measure.most, rng)
        elif resamples and (measure.least, measure.most) == (0, 100):
            by_measure[name] = _of_percentage(float(observed[0]), resampled[:, 0], len(columns), level)
        else:
            low, high = limits(observed[0], resampled[:, 0], len(columns), level)
            # np.maximum keeps NaN; max(0, nan) is 0 and would hide a missing limit
            between = float(np.maximum(low, measure.least)), float(np.minimum(high, measure.most))
            by_measure[name] = Interval(float(observed.min()), *between)
    return by_measure


def _of_percentage(value: float, resampled: Array, clusters: int, level: float) -> Interval:
    """The Student's t interval of a percentage on the scale of log odds, where values near 0 or 100 are not skewed.

    A percentage of 0 or 100 in every cluster has Wilson's limits over the clusters. Resampling cannot move it, but ss
    100 in each of three terms does not prove ss 100 for the next term. One cluster has no limits.
    """
    if value in (0, 100) and clusters > 1:
        return Interval(value, *wilson(value, clusters, level))
    error = _spread(resampled, clusters)
    if not error > ALIKE * value:  # also if one of them is NaN
        return Interval(value, nan, nan)
    share = value / 100
    reach = students(clusters, level) * error / 100 / (share * (1 - share))
    low, high = (100 * float(special.expit(special.logit(share) + side)) for side in (-reach, reach))
    return Interval(value, low, high)


def _of_lesser(
    observed: Array, resampled: Array, clusters: int, level: float, most: float, rng: np.random.Generator
) -> Interval:
    """The interval of the minimum of two pieces with a mean of at most `most`.

    Student's t on the log odds of each piece gives the limits; near the kink, the upper limit is tightened.
    """
    value, drawn = float(observed.min()), resampled[np.isfinite(resampled).all(axis=1)]
    shares = observed / (2 * most)
    if clusters < 2 or not len(drawn) or not ((shares > 0) & (shares < 1)).all():
        return Interval(value, nan, nan)
    odds, scale = special.logit(shares), 2 * most * shares * (1 - shares)
    covariance = np.cov(drawn.T, ddof=0) / np.outer(scale, scale)
    errors = np.sqrt(np.diag(covariance) * clusters / (clusters - 1))
    if not (errors * scale > ALIKE * observed).any():
        return Interval(value, nan, nan)
    reach = students(clusters, level) * errors
    low, high = float((odds - reach).min()), float((odds + reach).min())
    if clusters > FEWEST:
        around = odds + normal_draws(covariance, len(drawn), rng)
        high = upper_limit_of_lesser(odds, around, tail(clusters, level), high)
    return Interval(value, *(min(most, 2 * most * float(special.expit(limit))) for limit in (low, high)))


def upper_limit_of_lesser(values: Array, resampled: Array, tail: float, highest: float) -> float:
    """The upper limit of the minimum of two numbers, either of which may truly be smaller; at most `highest`.

    If the two are far apart, this is the upper limit of the smaller one. If they are near, an interval from the limits
    of both never misses a minimum below it, so it covers the true value more often than its level. The limit is then
    the greatest value that the test does not reject.

    `resampled` has a row per resample; `tail` is the allowed miss rate on either side. If the test rejects a value m,
    intervals miss a true m in two kinds of cases: both lower limits are above m, or the minimum is at most the observed
    one. The test rejects m if these cases together are at most 2 · tail of all.
    """
    away = (resampled - values)[np.isfinite(resampled).all(axis=1)]
    less = int(values.argmin())
    a, b, away_a, away_b = values[1 - less], values[less], away[:, 1 - less], away[:, less]
    spread = float(away_b.var())
    if not spread > 0:
        return highest
    slope = float(np.mean(away_a * away_b) - away_a.mean() * away_b.mean()) / spread
    reach_a, reach_b = np.quantile(away_a, tail), np.quantile(away_b, tail)

    def missed(m: float) -> float:
        """Share of cases that miss a true minimum m if m is rejected; the other number is at its likeliest value."""
        # mirrored, since percentile limits reverse the direction of the errors
        one, other = max(m, a + slope * (m - b)) - away_a, m - away_b
        below = (one + reach_a > m) & (other + reach_b > m)
        return float(np.mean(below | (np.minimum(one, other) <= b)))

    accepted, refused = float(b), highest
    if missed(refused) >= 2 * tail:
        return highest
    for _ in range(HALVINGS):
        middle = (accepted + refused) / 2
        accepted, refused = (middle, refused) if missed(middle) > 2 * tail else (accepted, middle)
    return refused


def normal_draws(covariance: Array, rows: int, rng: np.random.Generator) -> Array:
    """`rows` normal draws (one more if odd) with mean 0 and this covariance, in pairs of opposite sign."""
    variances, axes = np.linalg.eigh(covariance)
    half = (rng.standard_normal(((rows + 1) // 2, len(variances))) * np.sqrt(np.maximum(variances, 0))) @ axes.T
    return np.concatenate([half, -half])


def interval_of_range(value: float, errors: Array, clusters: int, items: float, percents: float = 1.0) -> Interval:
    """The interval of the range of some numbers over `items` items, from their estimated range `value`.

    `percents` is the factor from the unit of the numbers to percent.

    `errors` has a row per resample: the estimates minus those of the sample. The estimated range differs from the true
    range by at most the range of the errors. So the interval reaches the 95 % quantile of that range on either side,
    widened like Student's t, and contains the true range in at least 95 % of cases. If at most one item of the sample
    changes between two percentages, resampling shows too little of how many others would. So the interval always
    contains Wilson's limits for such a share of the items.
    """
    whole = errors[np.isfinite(errors).all(axis=1)]
    if clusters < 2 or not len(whole):
        return Interval(value, nan, nan)
    value = 0.0 if value < ROUNDING else value * percents
    reach = reach_of(np.ptp(whole, axis=1), clusters) * percents
    low, high = wilson(min(100.0, value), items)
    parts = value, max(0.0, min(value - reach, low)), max(value, min(100.0, max(value + reach, high)))
    return Interval(*(part / percents for part in parts))


def reach_of(errors: Array, clusters: int) -> float:
    """The 95 % quantile of the sizes of errors over resamples, widened like Student's t."""
    wider = students(clusters) / WIDE * sqrt(clusters / (clusters - 1))
    return float(np.quantile(errors, LEVEL)) * wider


def limits(value: Array, resampled: Array, clusters: int, level: float = LEVEL) -> tuple[Array, Array]:
    """The lower and upper limit of each statistic, from its resamples (first axis).

    These are percentiles, with tails widened so that a mean over n clusters has the Student's t interval (Hesterberg
    2015). Below `FEW` clusters: Student's t with the bootstrap standard error. NaN if all resamples are equal.
    """
    if clusters < 2 or not len(resampled):
        return np.full_like(value, nan), np.full_like(value, nan)
    wide = students(clusters, level)
    error = np.nanstd(resampled, axis=0) * sqrt(clusters / (clusters - 1))
    if clusters < FEW:
        low, high = value - wide * error, value + wide * error
    else:
        beyond = tail(clusters, level)
        quantile = np.nanquantile if np.isnan(resampled).any() else np.quantile
        low, high = quantile(resampled, [beyond, 1 - beyond], axis=0)
    alike = error <= ALIKE * np.abs(value)
    return np.where(alike, nan, low), np.where(alike, nan, high)


def resampled_sums(columns: Array, resamples: int, seed: Seed) -> Array:
    """Column sums of `resamples` bootstrap samples: each draws, with replacement, as many clusters as the data has."""
    rng, clusters = np.random.default_rng(seed), len(columns)
    if not clusters:
        raise ValueError("no clusters to resample; nothing was scored")
    return remembered(("sums", resamples, columns.shape), rng, lambda: _summed(columns, resamples, rng), columns)


def _summed(columns: Array, resamples: int, rng: np.random.Generator) -> Array:
    """The sums of `resampled_sums`, computed in blocks."""
    clusters = len(columns)
    block = max(1, BLOCK // clusters)
    parts: list[Array] = [np.empty((0, columns.shape[1]))]
    for start in range(0, resamples, block):
        rows = min(block, resamples - start)
        parts.append(draw_sums(columns, rows, rng))
    return np.concatenate(parts)


def _spread(resampled: Array, clusters: int) -> float:
    """The standard deviation over resamples, corrected for the number of clusters; NaN for one cluster."""
    return float(np.nanstd(resampled)) * sqrt(clusters / (clusters - 1)) if clusters > 1 else nan


def wilson(share: float, n: float, level: float = LEVEL) -> tuple[float, float]:
    """Wilson's score limits, in percent, of a percentage `share` of `n` items; (NaN, NaN) for no items."""
    if not n:
        return nan, nan
    low, high = score_limits(share / 100, n, float(special.ndtri((1 + level) / 2)))
    return 100 * low, 100 * high
