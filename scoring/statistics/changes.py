"""Paired changes of measures between two results of the same clusters: interval and p-value from the same draws.

A draw keeps each cluster with probability 1/2. The changes within the draws are typical values of the true change
(Hartigan 1969): the test rejects a value among their outer 5 %. For a mean over clusters this inverts the paired
randomisation test, so p is at most 0.05 exactly if the 95 % interval excludes 0.
"""

__all__ = ["Change", "paired_changes"]

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from math import isnan, nan, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy import special

from catsofa.data.statistics import LEVEL, remembered, weighted_sums
from catsofa.scoring.statistics.intervals import (
    ALIKE,
    BLOCK,
    FEW,
    RESAMPLES,
    UNDEFINED,
    Array,
    Interval,
    Measure,
    Seed,
    normal_draws,
    resampled_sums,
)

SIDES = np.array([[1.0, 1.0, -1.0], [1.0, 1.0, 1.0], [1.0, -1.0, -1.0], [1.0, -1.0, 1.0]])
"""Coefficients of the parts in the four linear changes; a row per combination of the two results' sides of the kink."""
REACH = 1.75
"""If both results are closer to the kink than this many standard errors of crossing, they are placed at the kink."""
FURTHER = 0.5
"""Otherwise they are placed this many of these standard errors further away; both constants keep the test's size."""
NO_LIMITS = "all target terms or pairs change by the same amount, or only one counts, so their spread is unknown"
"""The reason why a change may have no interval."""
CLOSE = 1e-9
"""Differences of studentised changes up to this value are rounding."""
HALVINGS = 24
"""Bisections in the search for a limit: to a hundred-thousandth of a point."""


@dataclass(frozen=True, slots=True)
class Change:
    """The change of a measure, with its paired interval over clusters and the two-sided p-value of no change."""

    by: Interval
    p: float

    @property
    def unlimited(self) -> bool:
        """True if the change has a value but no interval: see `NO_LIMITS`."""
        return not isnan(self.by.value) and isnan(self.by.low)

    def to_dict(self) -> dict[str, float]:
        """The change, its limits and p by name."""
        return {**self.by.to_dict(), "p": self.p}


NO_CHANGE = Change(UNDEFINED, nan)


def paired_changes(
    columns: Array,
    other_columns: Array,
    measures: Mapping[str, Measure],
    *,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
    seed: Seed = 0,
) -> dict[str, Change]:
    """The change of each measure from `columns` to `other_columns`, over the same clusters (rows); NaN if undefined."""
    tests = paired_tests(columns, other_columns, measures, resamples=resamples, seed=seed)
    return {name: test.change(level) for name, test in tests.items()}


@dataclass(frozen=True, slots=True)
class PairedTest:
    """Tests any true value of a measure's change between two results of the same clusters."""

    value: Array
    """The parts of the change; NaN if the change is undefined."""
    errors: Array
    """The errors of each part over the draws."""
    span: float
    """The largest possible change of the measure."""
    clusters: int
    lost: int = 0
    """The number of draws in which a part is undefined; `errors` lacks them."""

    def change(self, level: float = LEVEL) -> Change:
        """The change with its limits and the two-sided p-value of no change; NaN without errors or a value."""
        if not self.tested:
            return Change(Interval(_total(self.value), nan, nan), nan)
        tested = self._with_errors()
        estimate = tested.value
        if tested.alike:
            return Change(Interval(estimate, nan, nan), tested.p(0.0))
        low, high = (_limit(tested, outer, 1 - level) for outer in (-self.span, self.span))
        if high - low <= self.span * 2.0 ** (2 - HALVINGS):
            low = high = nan
        return Change(Interval(estimate, low, high), tested.p(0.0))

    def p(self, value: float) -> float:
        """The two-sided p-value of a true change of `value`; NaN without a test."""
        return self._with_errors().p(value) if self.tested else nan

    def p_at_least(self, value: float) -> float:
        """The one-sided p-value of a true change of `value` or more: small if the change is shown to be less."""
        return self._tail(value, 0)

    def p_at_most(self, value: float) -> float:
        """The one-sided p-value of a true change of `value` or less: small if the change is shown to be more."""
        return self._tail(value, 1)

    def _tail(self, value: float, side: int) -> float:
        """The greater p-value of the draws and Student's t, since draws from few clusters vary too little."""
        if not self.tested:
            return nan
        tested = self._with_errors()
        return max(tested.tails(value)[side], tested.students(value)[side])

    def _with_errors(self) -> "_Tested":
        """The change and its errors, ready to test values."""
        return _Tested(self.value, self.errors, self.clusters, self.lost)

    @property
    def tested(self) -> bool:
        """True if the change has a value and draws give its error."""
        return not isnan(self.value.sum()) and len(self.errors) > 0


def paired_tests(
    columns: Array, other_columns: Array, measures: Mapping[str, Measure], *, resamples: int = RESAMPLES, seed: Seed = 0
) -> dict[str, PairedTest]:
    """The test of each measure's change from `columns` to `other_columns`, whose rows are the same clusters."""
    if columns.shape != other_columns.shape:
        raise ValueError(f"paired clusters must match row by row; found {columns.shape} and {other_columns.shape}")
    if not len(columns):
        nothing = PairedTest(np.array([nan]), np.empty((0, 1)), 0.0, 0)
        return dict.fromkeys(measures, nothing)
    both, rng = np.concatenate([columns, other_columns], axis=1), np.random.default_rng(seed)
    few = len(both) < FEW
    halved, resampled = _halved_sums(both, resamples, rng), resampled_sums(both, resamples if few else 0, rng)
    tests = {}
    for name, measure in measures.items():
        value = _parts(both.sum(axis=0), measure)
        errors = _errors(value, _parts(halved, measure))
        lost = len(halved) - len(errors)
        if few and len(errors) and (np.ptp(errors, axis=0) > ALIKE * np.abs(value).max()).any():
            errors = _students(_errors(value, _parts(resampled, measure)), len(both), rng)
        tests[name] = PairedTest(value, errors, measure.most - measure.least, len(both), lost)
    return tests


def _errors(value: Array, drawn: Array) -> Array:
    """The differences between a value and its draws; draws with an undefined part are left out."""
    finite = np.isfinite(drawn)
    return np.asarray(value - (drawn if finite.all() else drawn[finite.all(axis=1)]))


def _halves(rng: np.random.Generator, size: tuple[int, int]) -> NDArray[np.uint8]:
    """For each row, a random 0 or 1 per cluster with equal probability: whether the draw keeps the cluster."""
    return rng.integers(2, size=size, dtype=np.uint8)


def _halved_sums(columns: Array, resamples: int, rng: np.random.Generator) -> Array:
    """Column sums over random sets of clusters; over all nonempty sets if 2^clusters <= `resamples`."""
    clusters = len(columns)
    if 2**clusters <= resamples:
        numbers = np.arange(1, 2**clusters)[:, None]
        return np.asarray(((numbers >> np.arange(clusters)) & 1).astype(np.float64) @ columns)
    block = max(1, BLOCK // clusters)
    parts: list[Array] = [np.empty((0, columns.shape[1]))]
    for start in range(0, (resamples + 1) // 2, block):
        size = min(block, (resamples + 1) // 2 - start), clusters
        halves = remembered(("halves", size), rng, partial(_halves, rng, size))
        sums = weighted_sums(halves, columns)
        # the omitted clusters are a random set too
        parts += [sums, columns.sum(axis=0) - sums]
    return np.concatenate(parts)[:resamples]


def _parts(sums: Array, measure: Measure) -> Array:
    """The parts of a change: its smooth part and, for a minimum of two pieces, the distance of each result to the kink.

    The minimum of a and b is (a + b)/2 - |a - b|/2. The change is the smooth part + |before| - |after|.
    """
    width = sums.shape[-1] // 2
    before, after = measure.pieces(sums[..., :width]), measure.pieces(sums[..., width:])
    if before.shape[-1] == 1:
        return np.asarray(after - before)
    smooth = after.mean(axis=-1) - before.mean(axis=-1)
    return np.stack([smooth, *((side[..., 0] - side[..., 1]) / 2 for side in (before, after))], axis=-1)


def _students(errors: Array, clusters: int, rng: np.random.Generator) -> Array:
    """Draw as many errors from Student's t, in pairs of opposite sign, with the covariance of the bootstrap errors."""
    free = clusters - 1
    covariance = np.atleast_2d(np.cov(errors.T, ddof=0)) * clusters / free
    drawn = normal_draws(covariance, len(errors), rng)
    half = np.sqrt(free / rng.chisquare(free, len(drawn) // 2))[:, None]
    return np.asarray(drawn * np.concatenate([half, half]))


def _total(parts: Array) -> float:
    """The change that these parts sum to."""
    return float(parts[0] + (abs(parts[1]) - abs(parts[2]) if len(parts) > 1 else 0))


def _limit(tested: "_Tested", outer: float, refused: float) -> float:
    """The last value towards `outer` with a p-value above `refused`; 0 is tried first, so that p and limits agree."""
    inner = tested.value
    if inner * outer < 0:
        inner, outer = (inner, 0.0) if tested.p(0.0) <= refused else (0.0, outer)
    if tested.p(outer) > refused:
        return outer
    for _ in range(HALVINGS):
        middle = (inner + outer) / 2
        inner, outer = (middle, outer) if tested.p(middle) > refused else (inner, middle)
    return inner


class _Tested:
    """Tests possible true values of a change: compares the observed change with its errors under each value.

    Each of the two results lies on one side of its kink, so a minimum of two pieces has four linear changes. The change
    is the maximum (over the sides of the first result) of the minima (over the sides of the second). Each linear change
    is divided by its own standard error. Otherwise only the error of the observed sides would count; this error is too
    small if clusters move both results alike and a result has crossed its kink by chance.
    """

    def __init__(self, value: Array, errors: Array, clusters: int, lost: int = 0) -> None:
        """Take the parts of a change and their errors over draws; compute the linear changes and their scales."""
        self.value, self.clusters = _total(value), clusters
        self.places, self.slopes = value[1:], SIDES if len(value) > 1 else np.ones((1, 1))
        covariance = np.atleast_2d(np.cov(errors.T, ddof=0)) @ self.slopes.T
        least = ALIKE * max(1.0, abs(self.value))
        self.scales = np.maximum(np.sqrt(np.maximum((self.slopes.T * covariance).sum(axis=0), 0)), least)
        self.shares = covariance[1:] / self.scales**2
        self.linear = self.slopes @ value
        self.errors = errors @ self.slopes.T / self.scales
        # the linear change that decides whether the change exceeds 0 does not vary
        self.alike = bool(self.scales[self._nearest(self.linear)] <= least)
        # clusters that lack a part vary in nothing and are no evidence: draws of these alone could show any change
        self.least_p = (lost + 1) / (lost + len(errors) + 1) if self.alike else 0.0

    def _nearest(self, excesses: Array) -> int:
        """The index of the linear change that decides whether a change exceeds a value; at ties, the observed sides."""
        studentised = excesses / self.scales
        away = np.abs(studentised - _greater_of_lesser(studentised))
        if not len(self.places):
            return int(away.argmin())
        agreed = self.slopes[:, 1] * self.places[0] - self.slopes[:, 2] * self.places[1]
        return int(np.where(away <= away.min() + CLOSE, agreed, -np.inf).argmax())

    def p(self, change: float) -> float:
        """The two-sided p-value of a true change."""
        return min(1.0, 2 * min(self.tails(change)))

    def tails(self, change: float) -> tuple[float, float]:
        """The one-sided p-values of a true change of `change` or more, and of `change` or less.

        Neither is ever 0, since the observed change counts as one of the draws.
        """
        excesses = self.linear - change
        places = self._places(excesses)
        offsets = self.slopes[:, 1:] @ places - _total(np.r_[0.0, places])
        drawn = _greater_of_lesser(self.errors + offsets / self.scales)
        observed = float(_greater_of_lesser(excesses / self.scales))
        # a tolerance, since another order of summation changes the last digits
        beyond = np.sum(drawn <= observed + CLOSE), np.sum(drawn >= observed - CLOSE)
        low, high = ((int(count) + 1) / (len(drawn) + 1) for count in beyond)
        if self.clusters < FEW and len(self.places):
            # few clusters do not show the side of a result, so the test must reject each linear change by itself
            alone = excesses / self.scales
            below = np.mean(self.errors <= alone + CLOSE, axis=0), np.mean(self.errors < alone - CLOSE, axis=0)
            low = max(low, float(_greater_of_lesser(below[0])))
            high = max(high, 1 - float(_greater_of_lesser(below[1])))
        return max(low, self.least_p), max(high, self.least_p)

    def students(self, change: float) -> tuple[float, float]:
        """The p-values of `tails` by Student's t on each linear change; 0 for few clusters: their draws use t."""
        if self.clusters < FEW:
            return 0.0, 0.0
        studentised = (self.linear - change) / self.scales * sqrt(1 - 1 / self.clusters)
        low = float(special.stdtr(self.clusters - 1, _greater_of_lesser(studentised)))
        return low, 1 - low

    def _places(self, excesses: Array) -> Array:
        """The most likely distances of the two results to the kink under a true change; none crosses the kink.

        With few clusters these are returned as they are. Otherwise both are 0 if both results are within `REACH`, or
        else a little larger than most likely: the test would be too strict for results nearer than it assumes.
        """
        side = self._nearest(excesses)
        places = self.places - excesses[side] * self.shares[:, side]
        signs = np.array([1.0, -1.0])[: len(places)] * self.slopes[side, 1:]
        places = np.where(places * signs > 0, places, 0.0)
        if self.clusters < FEW or not len(places):
            return np.asarray(places)
        # the linear changes with one result on its other side: the bits of side (0 to 3) are (first, second)
        crossed = self.scales[[side ^ 2, side ^ 1]] / 2
        if (np.abs(places) < REACH * crossed).all():
            return np.zeros(2)
        return np.asarray(places + FURTHER * crossed * signs)


def _greater_of_lesser(changes: Array) -> Array:
    """The maximum (sides of the first result) of the minima (sides of the second); a single change is unchanged."""
    if changes.shape[-1] < len(SIDES):
        return np.asarray(changes[..., 0])
    a, b, c, d = np.moveaxis(changes, -1, 0)  # numpy is slow along an axis of two
    return np.asarray(np.maximum(np.minimum(a, b), np.minimum(c, d)))
