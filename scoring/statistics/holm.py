"""Holm's correction for a family of tests."""

__all__ = ["holm"]

from collections.abc import Sequence
from math import isnan, nan


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's adjusted p-values, in the given order; NaN means no test and stays NaN.

    The k-th smallest of n is multiplied by n + 1 − k; adjusted values are made non-decreasing and are at most 1.
    """
    order = sorted((k for k, p in enumerate(p_values) if not isnan(p)), key=lambda k: p_values[k])
    adjusted, least = [nan] * len(p_values), 0.0
    for rank, k in enumerate(order):
        least = max(least, min(1.0, (len(order) - rank) * p_values[k]))
        adjusted[k] = least
    return adjusted
