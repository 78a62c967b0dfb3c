"""Changes of measures between two results of the same clusters: the interval and p come from one set of draws.

A draw keeps each cluster with probability 1/2. The changes within the draws are typical values of the true change
(Hartigan 1969): a value is refused where it lies among their outer 5 %. For a mean over clusters this inverts the
paired randomisation test, so that p is at most 0.05 exactly where the 95 % interval leaves 0 out.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import isnan, nan

import numpy as np
from numpy.typing import NDArray

from catsofa.data.statistics import LEVEL
from catsofa.scoring.intervals import (
    ALIKE,
    BLOCK,
    FEW,
    RESAMPLES,
    Array,
    Interval,
    Measure,
    Seed,
    normal_draws,
    resampled_sums,
)

NEAR = 1.3
"""Standard errors from the kink within which both results are taken to lie at it, where the clusters are not few."""
HALVINGS = 24
"""Of the bracket of a limit: to a hundred-thousandth of a point."""


@dataclass(frozen=True, slots=True)
class Change:
    """How far a measure moves, with its paired interval over clusters and the two-sided p of no change."""

    by: Interval
    p: float

    def to_dict(self) -> dict[str, float]:
        """The change, its limits and p by name."""
        return {**self.by.to_dict(), "p": self.p}


def paired_changes(
    columns: Array,
    others: Array,
    measures: Mapping[str, Measure],
    *,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
    seed: Seed = 0,
) -> dict[str, Change]:
    """The change of each measure from `columns` to `others`, whose rows are the same clusters."""
    if columns.shape != others.shape:
        raise ValueError(f"paired clusters must match row by row; found {columns.shape} and {others.shape}")
    both, rng = np.concatenate([columns, others], axis=1), np.random.default_rng(seed)
    few = len(both) < FEW
    halved, resampled = _halved_sums(both, resamples, rng), resampled_sums(both, resamples if few else 0, rng)
    changes = {}
    for name, measure in measures.items():
        value = _parts(both.sum(axis=0), measure)
        errors = _errors(value, _parts(halved, measure))
        if few and len(errors) and (np.ptp(errors, axis=0) > ALIKE * np.abs(value).max()).any():
            errors = _students(_errors(value, _parts(resampled, measure)), len(both), rng)
        changes[name] = _change(value, errors, measure.most - measure.least, level, 0.0 if few else NEAR)
    return changes


def _errors(value: Array, drawn: Array) -> Array:
    """How far draws miss a value; draws in which a part was not measured are left out."""
    return np.asarray(value - drawn[np.isfinite(drawn).all(axis=1)])


def _halved_sums(columns: Array, resamples: int, rng: np.random.Generator) -> Array:
    """Column sums of random sets of the clusters, none of them empty; of all sets where they are so few."""
    clusters = len(columns)
    if 2**clusters <= resamples:
        numbers = np.arange(1, 2**clusters)[:, None]
        return np.asarray(((numbers >> np.arange(clusters)) & 1).astype(np.float64) @ columns)
    block = max(1, BLOCK // clusters)
    parts: list[Array] = [np.empty((0, columns.shape[1]))]
    for start in range(0, (resamples + 1) // 2, block):
        kept = rng.integers(2, size=(min(block, (resamples + 1) // 2 - start), clusters), dtype=np.uint8)
        sums = kept.astype(np.float64) @ columns
        # the clusters left out are as random as those kept
        parts += [sums, columns.sum(axis=0) - sums]
    return np.concatenate(parts)[:resamples]


def _parts(sums: Array, measure: Measure) -> Array:
    """What a change is made of: its smooth part, and for a lesser of two how far each result lies from the kink.

    The lesser of a and b is (a + b)/2 - |a - b|/2. The change is the smooth part + |before| - |after|.
    """
    width = sums.shape[-1] // 2
    before, after = measure.pieces(sums[..., :width]), measure.pieces(sums[..., width:])
    smooth = after.mean(axis=-1) - before.mean(axis=-1)
    if before.shape[-1] == 1:
        return np.asarray(smooth[..., None])
    return np.stack([smooth, *((side[..., 0] - side[..., 1]) / 2 for side in (before, after))], axis=-1)


def _students(errors: Array, clusters: int, rng: np.random.Generator) -> Array:
    """As many errors from Student's t, in pairs of opposite sign, with the covariance of the bootstrap's."""
    free = clusters - 1
    covariance = np.atleast_2d(np.cov(errors.T, ddof=0)) * clusters / free
    drawn = normal_draws(covariance, len(errors), rng)
    half = np.sqrt(free / rng.chisquare(free, len(drawn) // 2))[:, None]
    return np.asarray(drawn * np.concatenate([half, half]))


def _change(value: Array, errors: Array, span: float, level: float, near: float) -> Change:
    """The change with its limits and p; without errors or a value there are none."""
    if isnan(value.sum()) or not len(errors):
        return Change(Interval(_total(value), nan, nan), nan)
    tested = _Tested(value, errors, near)
    by = tested.value
    spread = float(np.ptp(tested.errors_at(0.0)))
    if spread <= ALIKE * max(1.0, abs(by)):
        return Change(Interval(by, nan, nan), tested.p(0.0))
    low, high = (_limit(tested, outer, 1 - level) for outer in (-span, span))
    return Change(Interval(by, low, high), tested.p(0.0))


def _total(parts: Array) -> float:
    """The change that these parts make."""
    return float(parts[0] + (abs(parts[1]) - abs(parts[2]) if len(parts) > 1 else 0))


def _limit(tested: "_Tested", outer: float, refused: float) -> float:
    """The last value towards `outer` whose p is above `refused`; 0 is tried first, so that p and limits agree."""
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
    """A change whose possible true values are tested, each against how the observed one would err if it were true."""

    def __init__(self, value: Array, errors: Array, near: float) -> None:
        """The parts of a change, how they err, and within how many standard errors a kink is taken to be reached."""
        self.value = _total(value)
        self.smooth, self.folded = errors[:, 0], errors[:, 1:]
        self.places = value[1:]
        self.signs = np.array([1.0, -1.0])[: len(self.places)]
        covariance = np.atleast_2d(np.cov(errors.T, ddof=0))
        slopes = np.r_[1.0, self.signs * np.where(self.places < 0, -1.0, 1.0)]
        variance = float(slopes @ covariance @ slopes)
        self.shares = (covariance @ slopes)[1:] / variance if variance > 0 else np.zeros(len(self.places))
        self.reach = near * np.sqrt(np.diag(covariance)[1:])

    def errors_at(self, excess: float) -> NDArray[np.float64]:
        """How a change errs that is `excess` less than the observed one.

        The two results lie where they most likely do then, but no further than at the kink.
        """
        places = self.places - excess * self.shares
        places = np.where(places * self.places > 0, places, 0.0)
        if (np.abs(places) < self.reach).all():
            places = np.zeros_like(places)
        folds = np.abs(places + self.folded) - np.abs(places)
        return np.asarray(self.smooth + folds @ self.signs)

    def p(self, change: float) -> float:
        """Two-sided p of a value of the true change; never 0, since the observed one is one of the draws."""
        excess = self.value - change
        errors = self.errors_at(excess)
        # a tolerance, since the same change summed in another order differs in its last digits
        close = ALIKE * max(1.0, abs(self.value), abs(change))
        beyond = min(int(np.sum(errors >= excess - close)), int(np.sum(errors <= excess + close)))
        return min(1.0, 2 * (beyond + 1) / (len(errors) + 1))
