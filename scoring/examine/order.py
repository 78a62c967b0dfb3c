"""Order of the models by each item: item–rest correlations, split halves, and their null distributions."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from catsofa.data.statistics import Array
from catsofa.scoring.statistics.intervals import ALIKE

LEAST = 4
"""Fewest models for which a correlation over models says more than its sign."""


def deviations(values: Array) -> tuple[Array, Array]:
    """Returns each score minus its item's mean over the models that scored it, and a 0/1 mask of scored cells.

    Unscored cells have deviation 0. A model that left out easy items is thus compared with the others on the items that
    it scored.
    """
    scored = np.isfinite(values)
    counts = np.maximum(scored.sum(axis=1, keepdims=True), 1)
    filled = np.where(scored, values, 0.0)
    return np.where(scored, filled - filled.sum(axis=1, keepdims=True) / counts, 0.0), scored.astype(np.float64)


def item_rest(away: Array, scored: Array, weights: Array | None = None) -> Array:
    """Returns each item's correlation, over models, with the mean of the other items.

    The result has one column for each column of weights. A weight counts how often an item was drawn; the mean excludes
    all copies of the item. NaN where fewer than `LEAST` models scored the item, or where they do not differ.
    """
    drawn = np.ones((len(away), 1)) if weights is None else weights
    sums, counts = drawn.T @ away, drawn.T @ scored
    share = drawn.sum(axis=0)[:, None] / np.maximum(counts, 1)  # a sum over half of the items counts twice
    rest = share * sums
    across, own = away @ rest.T, (away**2).sum(axis=1)[:, None]
    if scored.all():
        product, total, squares = across - drawn * own, 0.0, (rest**2).sum(axis=1) - 2 * drawn * across + drawn**2 * own
    else:
        product = across - drawn * (away**2 @ share.T)
        total = scored @ rest.T - drawn * (away @ share.T)
        squares = scored @ (rest**2).T - 2 * drawn * (away @ (share * rest).T) + drawn**2 * (away**2 @ (share**2).T)
    models = scored.sum(axis=1)[:, None]
    rest_squares = squares - total**2 / np.maximum(models, 1)
    defined = (models >= LEAST) & (own > ALIKE) & (rest_squares > ALIKE * np.maximum(squares, 1))
    with np.errstate(invalid="ignore", divide="ignore"):
        r = np.where(defined, product / np.sqrt(own * rest_squares), np.nan)
    # rounding must not turn a correlation of 0 negative
    return np.asarray(np.where(np.abs(r) <= ALIKE, 0.0, r))


def shuffled(away: Array, scored: Array, rng: np.random.Generator) -> Array:
    """Returns the deviations with the models shuffled within each item, among those that scored it."""
    if scored.all():
        return rng.permuted(away, axis=1)
    order = np.argsort(rng.random(away.shape) + 2 * (scored == 0), axis=1)
    places = np.argsort(scored == 0, axis=1, kind="stable")
    mixed = np.zeros_like(away)
    np.put_along_axis(mixed, places, np.take_along_axis(away, order, axis=1), axis=1)
    return mixed


def weighted_medians(values: Array, weights: Array) -> Array:
    """Returns the weighted median of each column, without NaN values; NaN if no weight remains."""
    weights = np.where(np.isfinite(values), weights, 0.0)
    order = np.argsort(values, axis=0)
    heights = np.cumsum(np.take_along_axis(weights, order, axis=0), axis=0)
    places = (heights < heights[-1] / 2).sum(axis=0)
    medians = np.take_along_axis(
        values, np.take_along_axis(order, np.minimum(places, len(values) - 1)[None], axis=0), axis=0
    )
    return np.asarray(np.where(heights[-1] > 0, medians[0], np.nan))


def half_correlations(values: Array, groups: NDArray[np.int64], splits: int, seed: int) -> Array:
    """Returns the Spearman–Brown reliability of the models' means for `splits` random halves of the terms."""
    away, scored = deviations(values)
    terms = int(groups.max()) + 1
    sums, counts = (_by_group(part, groups, terms) for part in (away, scored))
    rng = np.random.default_rng(seed)
    halves = rng.permuted(np.tile(np.arange(terms) < terms // 2, (splits, 1)), axis=1).astype(np.float64)
    of_half, in_half = halves @ sums, halves @ counts
    with np.errstate(invalid="ignore", divide="ignore"):
        one, other = of_half / in_half, (sums.sum(axis=0) - of_half) / (counts.sum(axis=0) - in_half)
        r = correlations(one, other)
        return np.asarray(2 * r / (1 + r))


def _by_group(rows: Array, groups: NDArray[np.int64], count: int) -> Array:
    """Returns the sum of the rows of each group."""
    return np.stack([np.bincount(groups, weights=column, minlength=count) for column in rows.T], axis=1)


def correlations(one: Array, other: Array) -> Array:
    """Returns Pearson's r of each pair of rows; NaN where a row does not vary beyond rounding."""
    a, b = (side - side.mean(axis=-1, keepdims=True) for side in (one, other))
    a, b = (np.where(np.abs(side).max(axis=-1, keepdims=True, initial=0) > ALIKE, side, 0.0) for side in (a, b))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((a * b).sum(axis=-1) / np.sqrt((a * a).sum(axis=-1) * (b * b).sum(axis=-1)))


def eigenvalues(away: Array, scored: Array) -> Array:
    """Returns the eigenvalues of the items' correlations over models, largest first.

    The result has one eigenvalue for each model. With complete scores they sum to the number of items that vary. A
    missing score counts as the item's mean.
    """
    spread = np.sqrt((away**2).sum(axis=1) / np.maximum(scored.sum(axis=1), 1))
    standard = away[spread > ALIKE] / spread[spread > ALIKE][:, None]
    return np.asarray(np.linalg.eigvalsh(standard.T @ standard / away.shape[1])[::-1])


def nulls(away: Array, scored: Array, permutations: int, rng: np.random.Generator) -> Iterator[tuple[Array, Array]]:
    """Yields the item–rest correlations and eigenvalues of the same items under shuffled models."""
    for _ in range(permutations):
        mixed = shuffled(away, scored, rng)
        yield item_rest(mixed, scored)[:, 0], eigenvalues(mixed, scored)
