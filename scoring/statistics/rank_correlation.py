"""Rank correlations over models: whether two measures put the same models first, and how sure so few models are."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import permutations
from math import atanh, factorial, inf, isfinite, nan, sqrt

import numpy as np
from scipy import special

from catsofa.data import statistics
from catsofa.scoring.statistics.intervals import ALIKE, UNDEFINED, Interval

LEAST = 3
"""Models from which an order can agree or not."""
EXACT = 8
"""Models up to which every order is tried."""


@dataclass(frozen=True, slots=True)
class Correlation:
    """A rank correlation with its limits over models, two-sided p, and the number of models."""

    value: Interval
    p: float
    models: int


def spearman(one: Mapping[str, float], other: Mapping[str, float]) -> Correlation:
    """Spearman's rho of models joined by name; its variance on Fisher's scale is Bonett and Wright's (2000)."""
    here, there = _both(one, other)
    if len(here) < LEAST or len(set(here)) == 1 or len(set(there)) == 1:
        return _none(len(here))
    rho = float(statistics.spearman(here, there))
    if len(here) <= EXACT:
        orders = statistics.spearman(list(permutations(here)), there)
        p = float(np.mean(np.abs(orders) >= abs(rho) - 1e-9))
    else:
        p = max(_students_p(rho, len(here) - 2), 2 / factorial(len(here)))
    return Correlation(_limits(rho, (1 + rho * rho / 2), len(here) - 3), p, len(here))


def _students_p(rho: float, free: int) -> float:
    """Two-sided p of a correlation, as scipy.stats.spearmanr has it, whose import takes half a second."""
    if abs(rho) >= 1:
        return 0.0
    return float(2 * special.stdtr(free, -abs(rho) * sqrt(free / (1 - rho * rho))))


def kendall(one: Mapping[str, float], other: Mapping[str, float]) -> Correlation:
    """Kendall's tau-b of models joined by name; its variance on Fisher's scale is Fieller's (1957)."""
    here, there = _both(one, other)
    if len(here) < LEAST or len(set(here)) == 1 or len(set(there)) == 1:
        return _none(len(here))
    from scipy import stats

    found = stats.kendalltau(here, there)
    return Correlation(_limits(float(found.statistic), 0.437, len(here) - 4), float(found.pvalue), len(here))


def _both(one: Mapping[str, float], other: Mapping[str, float]) -> tuple[list[float], list[float]]:
    """The places of the models that both have scored."""
    names = [name for name in one if isfinite(one[name]) and isfinite(other.get(name, inf))]
    return _places([one[name] for name in names]), _places([other[name] for name in names])


def _places(values: list[float]) -> list[float]:
    """The place of each value in their order; values that rounding alone sets apart share one."""
    order = np.argsort(values)
    in_order = np.array(values)[order]
    apart = np.diff(in_order) > ALIKE * np.abs(in_order).max(initial=0)
    places = np.zeros(len(values))
    places[order[1:]] = np.cumsum(apart)
    return [float(place) for place in places]


def _none(models: int) -> Correlation:
    """No correlation of too few models, or where all are alike."""
    return Correlation(UNDEFINED, nan, models)


def _limits(value: float, variance: float, of: int) -> Interval:
    """A correlation with limits from Fisher's z; an order that is wholly the same or reversed has none."""
    if of < 1 or not isfinite(value) or abs(value) >= 1 - 1e-12:
        return Interval(value, nan, nan)
    half = statistics.WIDE * sqrt(variance / of)
    low, high = np.tanh([atanh(value) - half, atanh(value) + half])
    return Interval(value, float(low), float(high))
