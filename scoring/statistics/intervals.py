"""Intervals: the bootstrap over clusters, for every measure that is made from sums of columns.

A cluster (a target term, a stereotype, a pair) is one row of sufficient statistics. Resampling clusters is then
a product of counts and rows, and any measure follows from the resampled sums.
"""

__all__ = ["Interval", "Measure", "intervals", "ratio", "wilson"]

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from math import inf, isnan, nan, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy import special

from catsofa.data.statistics import LEVEL, WIDE, draw_counts, remembered, score_limits, students, tail

Array = NDArray[np.float64]
Seed = int | np.random.Generator

RESAMPLES = 10_000
FEW = 8
"""Below this many clusters the resamples are too coarse for percentiles: see `limits`."""
ALIKE = 1e-12
"""A spread over resamples that is rounding, relative to the value."""
BLOCK = 250_000
"""Draws held in memory at once: so few stay in the cache, which is twice as fast as millions."""
FEWEST = 3
"""Up to so many clusters there are too few resamples to draw in the upper limit of a lesser number."""
ROUNDING = 1e-9
"""A range of percentages below which nothing but rounding sets them apart."""
HALVINGS = 12
"""Of the bracket in which that limit is looked for: to a four-thousandth of its width."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """A number made from sums of columns: the least of one or more smooth pieces.

    The pieces matter at a kink: icat = min(lms·ss, lms·(100−ss))/50 has one at ss = 50, where an interval made
    from icat itself misses the truth three times in ten, while the limits of its pieces hold it;
    `upper_limit_of_lesser` draws them in where they would hold it too often.
    """

    name: str
    pieces: Callable[[Array], Array]
    """Sums (…, columns) to pieces (…, pieces)."""
    ideal: float | None = None
    """The value of an ideal model: metrics have one, not a direction."""
    least: float = -inf
    most: float = inf

    def __call__(self, sums: Array) -> Array:
        """The measure of each row of sums."""
        least: Array = self.pieces(sums).min(axis=-1)
        return least


@dataclass(frozen=True, slots=True)
class Interval:
    """A value and the limits of its interval; the limits are NaN where the clusters allow none."""

    value: float
    low: float
    high: float

    def __post_init__(self) -> None:
        """Floats only: a limit that is cut at the integer 100 is 100.0 in JSON, as all others are."""
        for name in self.__slots__:
            object.__setattr__(self, name, float(getattr(self, name)))

    def __contains__(self, truth: float) -> bool:
        """Whether the interval holds a value."""
        return self.low <= truth <= self.high

    def __format__(self, spec: str) -> str:
        """The value and, where there are some, its limits, each formatted so: `62.1 [59.7, 64.6]`."""
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
"""A level to a value with its interval of this level."""


UNDEFINED = Interval(nan, nan, nan)
"""The interval of a measure of nothing."""


def ratio(won: int, of: int) -> Callable[[Array], Array]:
    """Pieces of a percentage: 100 · sum of column `won` / sum of column `of`, NaN where nothing was counted."""

    def pieces(sums: Array) -> Array:
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(100 * sums[..., won] / sums[..., of])[..., None]

    return pieces


def intervals(
    columns: Array,
    measures: Mapping[str, Measure],
    *,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
    seed: Seed = 0,
) -> dict[str, Interval]:
    """Each measure over the clusters (rows) with its bootstrap interval; all from the same resamples.

    Without a cluster every measure is undefined.
    """
    if not len(columns):
        return dict.fromkeys(measures, UNDEFINED)
    rng = np.random.default_rng(seed)
    total, sums = columns.sum(axis=0), resampled_sums(columns, resamples, rng)
    found = {}
    for name, measure in measures.items():
        here, there = measure.pieces(total), measure.pieces(sums)
        if resamples and len(here) == 2:
            found[name] = _of_lesser(here, there, len(columns), level, measure.most, rng)
        elif resamples and (measure.least, measure.most) == (0, 100):
            found[name] = _of_percentage(float(here[0]), there[:, 0], len(columns), level)
        else:
            low, high = limits(here[0], there[:, 0], len(columns), level)
            # np.maximum, since max(0, nan) is 0 and would make a missing limit look found
            between = float(np.maximum(low, measure.least)), float(np.minimum(high, measure.most))
            found[name] = Interval(float(here.min()), *between)
    return found


def _of_percentage(value: float, resampled: Array, clusters: int, level: float) -> Interval:
    """Student's t on the scale of log odds, where a percentage near its edge is not skewed.

    One that is 0, or 100, in every cluster has Wilson's limits over the clusters: resampling cannot move it, but ss 100
    in each of three terms is no proof that the next term has it too. One cluster has no limits.
    """
    if value in (0, 100) and clusters > 1:
        return Interval(value, *wilson(value, clusters, level))
    error = _spread(resampled, clusters)
    if not error > ALIKE * value:  # nor if one of them is NaN
        return Interval(value, nan, nan)
    share = value / 100
    reach = students(clusters, level) * error / 100 / (share * (1 - share))
    low, high = (100 * float(special.expit(special.logit(share) + side)) for side in (-reach, reach))
    return Interval(value, low, high)


def _of_lesser(
    here: Array, there: Array, clusters: int, level: float, most: float, rng: np.random.Generator
) -> Interval:
    """The lesser of two pieces whose mean is `most` or less: Student's t on the log odds of each, less at the kink."""
    value, drawn = float(here.min()), there[np.isfinite(there).all(axis=1)]
    shares = here / (2 * most)
    if clusters < 2 or not len(drawn) or not ((shares > 0) & (shares < 1)).all():
        return Interval(value, nan, nan)
    odds, scale = special.logit(shares), 2 * most * shares * (1 - shares)
    covariance = np.cov(drawn.T, ddof=0) / np.outer(scale, scale)
    errors = np.sqrt(np.diag(covariance) * clusters / (clusters - 1))
    if not (errors * scale > ALIKE * here).any():
        return Interval(value, nan, nan)
    reach = students(clusters, level) * errors
    low, high = float((odds - reach).min()), float((odds + reach).min())
    if clusters > FEWEST:
        around = odds + normal_draws(covariance, len(drawn), rng)
        high = upper_limit_of_lesser(odds, around, tail(clusters, level), high)
    return Interval(value, *(min(most, 2 * most * float(special.expit(limit))) for limit in (low, high)))


def upper_limit_of_lesser(values: Array, resampled: Array, tail: float, highest: float) -> float:
    """The upper limit of the lesser of two numbers, of which either may be the lesser in truth; at most `highest`.

    Where the two are far apart it is the upper limit of the one that is less. Where they are near, an interval made
    from the limits of both never errs below, and would hold the truth more often than it says; the limit is then the
    greatest value that is not refused.

    `resampled` has a row for each resample, `tail` is what an interval may miss on either side. A value m is refused
    if, were it true, intervals would miss it in more than 2 · tail of cases: those whose lower limits both lie above
    m, and those whose lesser number is at most the observed one.
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
        """How often m would be missed: the lesser number is m, the other what it most likely is then."""
        # mirrored, since percentiles are limits of what would be missed the other way round
        one, other = max(m, a + slope * (m - b)) - away_a, m - away_b
        below = (one + reach_a > m) & (other + reach_b > m)
        return float(np.mean(below | (np.minimum(one, other) <= b)))

    kept, refused = float(b), highest
    if missed(refused) >= 2 * tail:
        return highest
    for _ in range(HALVINGS):
        middle = (kept + refused) / 2
        kept, refused = (middle, refused) if missed(middle) > 2 * tail else (kept, middle)
    return refused


def normal_draws(covariance: Array, rows: int, rng: np.random.Generator) -> Array:
    """Normal draws with mean 0 and this covariance, in pairs of opposite sign: `rows` of them, or one more."""
    variances, axes = np.linalg.eigh(covariance)
    half = (rng.standard_normal(((rows + 1) // 2, len(variances))) * np.sqrt(np.maximum(variances, 0))) @ axes.T
    return np.concatenate([half, -half])


def interval_of_range(value: float, errors: Array, clusters: int, items: float, percents: float = 1.0) -> Interval:
    """The interval of the range of some numbers over so many items, from their estimated range.

    One of the numbers is so many `percents`.

    `errors` has a row for each resample: the estimates less those of the sample. The estimated range differs from the
    true one by the range of the errors at most. So the interval reaches their range's 95 % quantile either way, widened
    as Student's t is, and holds the true range in 95 % of cases or more. Where no item of a sample, or one, turns
    between two percentages, resampling shows too little of how many others would: the interval never lies within
    Wilson's limits, which a share of items of this size has.
    """
    whole = errors[np.isfinite(errors).all(axis=1)]
    if clusters < 2 or not len(whole):
        return Interval(value, nan, nan)
    value = 0.0 if value < ROUNDING else value * percents
    reach = reach_of(np.ptp(whole, axis=1), clusters) * percents
    low, high = wilson(min(100.0, value), items)
    found = value, max(0.0, min(value - reach, low)), max(value, min(100.0, max(value + reach, high)))
    return Interval(*(of / percents for of in found))


def reach_of(errors: Array, clusters: int) -> float:
    """The 95 % quantile of how large errors are in resamples, widened as Student's t is."""
    wider = students(clusters) / WIDE * sqrt(clusters / (clusters - 1))
    return float(np.quantile(errors, LEVEL)) * wider


def limits(value: Array, resampled: Array, clusters: int, level: float = LEVEL) -> tuple[Array, Array]:
    """Lower and upper limit of each statistic, from its resamples (first axis).

    Percentiles, their tails widened so that a mean over n clusters has the interval of Student's t (Hesterberg
    2015); below `FEW` clusters Student's t with the bootstrap's standard error. NaN where every resample is alike.
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
    """Column sums of `resamples` draws of as many clusters as there are, with replacement."""
    rng, clusters = np.random.default_rng(seed), len(columns)
    if not clusters:
        raise ValueError("no clusters to resample; nothing was scored")
    what = "sums", resamples, columns.shape, blake2b(columns.tobytes()).digest()
    return remembered(what, rng, lambda: _summed(columns, resamples, rng))


def _summed(columns: Array, resamples: int, rng: np.random.Generator) -> Array:
    """The same, drawn in blocks."""
    clusters = len(columns)
    block = max(1, BLOCK // clusters)
    parts: list[Array] = [np.empty((0, columns.shape[1]))]
    for start in range(0, resamples, block):
        rows = min(block, resamples - start)
        parts.append(draw_counts(clusters, rows, rng) @ columns)
    return np.concatenate(parts)


def _spread(resampled: Array, clusters: int) -> float:
    """Standard deviation over resamples, corrected for the few clusters that are drawn from."""
    return float(np.nanstd(resampled)) * sqrt(clusters / (clusters - 1)) if clusters > 1 else nan


def wilson(share: float, n: float, level: float = LEVEL) -> tuple[float, float]:
    """Wilson's score limits, in percent, of a percentage `share` of `n` items; (NaN, NaN) of none."""
    if not n:
        return nan, nan
    low, high = score_limits(share / 100, n, float(special.ndtri((1 + level) / 2)))
    return 100 * low, 100 * high
