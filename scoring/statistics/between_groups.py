"""Tests whether rates differ between groups of items when the items come in clusters."""

from math import nan

import numpy as np
from numpy.typing import NDArray

from catsofa.scoring.statistics.intervals import Array

PERMUTATIONS = 2_000
"""The number of permutations for a p-value."""


def different(
    happened: Array, items: NDArray[np.str_], clusters: NDArray[np.str_], names: NDArray[np.str_], *, seed: int
) -> float:
    """The p-value of equal rates in all groups, by a permutation test over clusters.

    If each cluster is in one group, the test permutes clusters between groups. If clusters contain several groups, it
    permutes the groups within each cluster. If the groups are the clusters, it permutes items. The p-value is NaN for a
    single group, or if no group has a second cluster.
    """
    units = items if (clusters == names).all() else clusters
    _, first, places = np.unique(np.char.add(np.char.add(units, "\t"), names), return_index=True, return_inverse=True)
    rates = np.bincount(places, happened) / np.bincount(places)
    _, blocks, sizes = np.unique(units[first], return_inverse=True, return_counts=True)
    if crossed := bool((sizes > 1).any()):
        mask = sizes[blocks] > 1
        rates = (rates - np.bincount(blocks, rates)[blocks] / sizes[blocks])[mask]
        first, blocks = first[mask], blocks[mask]
    kinds, groups = np.unique(names[first], return_inverse=True)
    if len(kinds) < 2 or len(kinds) == len(first):
        return nan
    counts = np.bincount(groups)

    def spread(values: Array) -> float:
        return float(((np.bincount(groups, values) / counts - values.mean()) ** 2 * counts).sum())

    rng, observed = np.random.default_rng(seed), spread(rates)
    ordered = np.argsort(blocks, kind="stable")

    def permuted() -> Array:
        if not crossed:
            return rng.permutation(rates)
        mixed = np.empty_like(rates)
        mixed[ordered] = rates[np.lexsort((rng.random(len(rates)), blocks))]
        return mixed

    reached = sum(spread(permuted()) >= observed - 1e-12 for _ in range(PERMUTATIONS))
    return float((reached + 1) / (PERMUTATIONS + 1))
