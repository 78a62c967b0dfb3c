"""Rank correlations of two measures over models, with confidence intervals for few models."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import permutations
from math import atanh, factorial, inf, isfinite, nan, prod, sqrt

import numpy as np
from scipy import special

from catsofa.data import statistics
from catsofa.scoring.statistics.intervals import ALIKE, UNDEFINED, Interval

LEAST = 3
"""The minimum number of models for a rank correlation."""
EXACT = 8
"""The maximum number of models for an exact p-value of Spearman's rho over all permutations."""
MOST_EXACT = 33
"""The maximum number of models for an exact p-value of Kendall's tau in every case."""


@dataclass(frozen=True, slots=True)
class Correlation:
    """A rank correlation with its limits over models, two-sided p-value, and number of models."""

    value: Interval
    p: float
    models: int


def spearman(one: Mapping[str, float], other: Mapping[str, float]) -> Correlation:
    """Spearman's rho over models matched by name; its variance on Fisher's scale is Bonett and Wright's (2000)."""
    x, y = _both(one, other)
    if len(x) < LEAST or len(set(x)) == 1 or len(set(y)) == 1:
        return _none(len(x))
    rho = float(statistics.spearman(x, y))
    if len(x) <= EXACT:
        orders = statistics.spearman(list(permutations(x)), y)
        p = float(np.mean(np.abs(orders) >= abs(rho) - 1e-9))
    else:
        p = max(_students_p(rho, len(x) - 2), 2 / factorial(len(x)))
    return Correlation(_limits(rho, (1 + rho * rho / 2), len(x) - 3), p, len(x))


def _students_p(rho: float, free: int) -> float:
    """The two-sided p-value of a correlation as in scipy.stats.spearmanr, whose import takes half a second."""
    if abs(rho) >= 1:
        return 0.0
    return float(2 * special.stdtr(free, -abs(rho) * sqrt(free / (1 - rho * rho))))


def kendall(one: Mapping[str, float], other: Mapping[str, float]) -> Correlation:
    """Kendall's tau-b over models matched by name; its variance on Fisher's scale is Fieller's (1957)."""
    x, y = _both(one, other)
    if len(x) < LEAST or len(set(x)) == 1 or len(set(y)) == 1:
        return _none(len(x))
    above, over = (np.sign(np.subtract.outer(values, values)) for values in (x, y))
    agreed = float((above * over).sum()) / 2
    tau = agreed / sqrt((above**2).sum() / 2 * (over**2).sum() / 2)
    return Correlation(_limits(tau, 0.437, len(x) - 4), _kendalls_p(agreed, x, y), len(x))


def _kendalls_p(agreed: float, x: list[float], y: list[float]) -> float:
    """The two-sided p-value as in scipy.stats.kendalltau, whose import takes half a second.

    It is over all orders, or normal with ties or many models.
    """
    count, ties = len(x), [np.array([*Counter(values).values()]) for values in (x, y)]
    pairs = count * (count - 1) // 2
    fewer = (pairs - round(abs(agreed))) // 2
    if all(sizes.max() == 1 for sizes in ties) and (count <= MOST_EXACT or fewer <= 1):
        shares = np.ones(1)  # of the orders with 0, 1, ... pairs in the other order
        for size in range(2, count + 1):
            shares = np.convolve(shares, np.full(size, 1 / size))
        return min(1.0, 2 * float(shares[: fewer + 1].sum()))
    tied = [float((sizes * (sizes - 1)).sum()) for sizes in ties]
    triples = [float((sizes * (sizes - 1) * (sizes - 2)).sum()) for sizes in ties]
    spread = [float((sizes * (sizes - 1) * (2 * sizes + 5)).sum()) for sizes in ties]
    variance = (2 * pairs * (2 * count + 5) - sum(spread)) / 18
    variance += prod(triples) / (18 * pairs * (count - 2)) + prod(tied) / (4 * pairs)
    return float(2 * special.ndtr(-abs(agreed) / sqrt(variance)))


def _both(one: Mapping[str, float], other: Mapping[str, float]) -> tuple[list[float], list[float]]:
    """The ranks of the models with a finite value in both."""
    names = [name for name in one if isfinite(one[name]) and isfinite(other.get(name, inf))]
    return _places([one[name] for name in names]), _places([other[name] for name in names])


def _places(values: list[float]) -> list[float]:
    """The rank of each value, from 0; values that differ only by rounding share a rank."""
    order = np.argsort(values)
    in_order = np.array(values)[order]
    apart = np.diff(in_order) > ALIKE * np.abs(in_order).max(initial=0)
    places = np.zeros(len(values))
    places[order[1:]] = np.cumsum(apart)
    return [float(place) for place in places]


def _none(models: int) -> Correlation:
    """The undefined correlation, for too few models or for equal values of all models."""
    return Correlation(UNDEFINED, nan, models)


def _limits(value: float, variance: float, divisor: int) -> Interval:
    """A correlation with limits from Fisher's z; identical or reversed orders have no limits."""
    if divisor < 1 or not isfinite(value) or abs(value) >= 1 - 1e-12:
        return Interval(value, nan, nan)
    half = statistics.WIDE * sqrt(variance / divisor)
    low, high = np.tanh([atanh(value) - half, atanh(value) + half])
    return Interval(value, float(low), float(high))
