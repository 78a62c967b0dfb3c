"""Tests: paired randomisation over clusters, and Holm's correction for a family of them."""

from collections.abc import Iterator, Sequence
from math import isnan, nan

import numpy as np

from catsofa.scoring.intervals import BLOCK, Array, Measure, Seed

SAMPLED = 9_999
EXACT_CLUSTERS = 14
"""Up to this many clusters every one of the 2^n exchanges is tried."""


def paired_randomisation(
    columns: Array, others: Array, measure: Measure, *, sampled: int = SAMPLED, seed: Seed = 0
) -> float:
    """Two-sided p of the change from `columns` to `others`, whose rows are the same clusters.

    Under the null hypothesis the two results of a cluster could be exchanged. Every pattern of exchanges is
    tried where there are few clusters; else a sample, in which the observed pattern counts, so that p is never 0.
    """
    if columns.shape != others.shape:
        raise ValueError(f"paired clusters must match row by row; found {columns.shape} and {others.shape}")
    after, both = others.sum(axis=0), columns.sum(axis=0) + others.sum(axis=0)
    observed = abs(float(measure(after) - measure(both - after)))
    if isnan(observed):
        return nan
    hits = tried = 0
    for exchanged in _exchanges(len(columns), sampled, seed):
        sums = after + exchanged @ (columns - others)
        changes = np.abs(measure(sums) - measure(both - sums))
        # a tolerance, since the same change summed in another order differs in its last digits
        hits += int(np.sum(changes >= observed - 1e-9 * max(1.0, observed)))
        tried += len(exchanged)
    sampled_too = len(columns) > EXACT_CLUSTERS
    return (hits + sampled_too) / (tried + sampled_too)


def _exchanges(clusters: int, sampled: int, seed: Seed) -> Iterator[Array]:
    """Blocks of rows of zeros and ones, one for each cluster: whether its two results change places."""
    if clusters <= EXACT_CLUSTERS:
        numbers = np.arange(2**clusters)[:, None]
        yield ((numbers >> np.arange(clusters)) & 1).astype(np.float64)
        return
    rng, block = np.random.default_rng(seed), max(1, BLOCK // clusters)
    for start in range(0, sampled, block):
        yield rng.integers(2, size=(min(block, sampled - start), clusters)).astype(np.float64)


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's adjusted p-values, in the order given; NaN is no test and stays NaN.

    The k-th smallest of n is multiplied by n + 1 − k; an adjusted p is never below that of a smaller one.
    """
    order = sorted((k for k, p in enumerate(p_values) if not isnan(p)), key=lambda k: p_values[k])
    adjusted, least = [nan] * len(p_values), 0.0
    for rank, k in enumerate(order):
        least = max(least, min(1.0, (len(order) - rank) * p_values[k]))
        adjusted[k] = least
    return adjusted
