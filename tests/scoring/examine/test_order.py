"""Tests item–rest correlations, halves, eigenvalues and the shuffled null against their definitions."""

import numpy as np
import pytest

from catsofa.scoring.examine.order import (
    deviations,
    eigenvalues,
    half_correlations,
    item_rest,
    shuffled,
    weighted_medians,
)

RNG = np.random.default_rng(7)
SCORES = (RNG.random((40, 8)) < np.linspace(0.3, 0.7, 8)).astype(float)


def by_hand(values: np.ndarray, item: int, others: np.ndarray) -> float:
    """Returns the correlation of an item with the mean of other rows, over the models that scored the item."""
    scored = np.isfinite(values[item])
    rest = np.nanmean(values[others] - np.nanmean(values[others], axis=1, keepdims=True), axis=0)
    return float(np.corrcoef(values[item][scored], rest[scored])[0, 1])


def test_an_item_is_correlated_with_the_mean_of_the_others() -> None:
    """The item–rest correlation equals numpy's corrcoef; an item on which all models agree has none."""
    values = np.concatenate([SCORES, np.ones((1, 8))])
    correlations = item_rest(*deviations(values))[:, 0]
    vary = [item for item in range(41) if np.ptp(values[item])]
    assert correlations[vary] == pytest.approx([by_hand(values, item, np.delete(np.arange(41), item)) for item in vary])
    assert np.isnan(correlations[40])


def test_no_copy_of_an_item_is_among_the_others() -> None:
    """Copies of an item are excluded from its rest: with item 0 drawn three times and item 1 never, the rest holds
    neither."""
    weights = np.ones((40, 1))
    weights[[0, 1]] = [[3], [0]]
    correlations = item_rest(*deviations(SCORES), weights)[:, 0]
    assert correlations[0] == pytest.approx(by_hand(SCORES, 0, np.arange(2, 40)))


def test_unscored_cells_leave_the_others_comparable() -> None:
    """With a tenth of 400 items missing, the result is within 0.05 of the correlation with the mean of the scored
    items."""
    values = (RNG.random((400, 8)) < np.linspace(0.2, 0.8, 8)).astype(float)
    values[RNG.random(values.shape) < 0.1] = np.nan
    correlations = item_rest(*deviations(values))[:, 0]
    vary = np.flatnonzero(np.isfinite(correlations))
    expected = np.array([by_hand(values, item, np.delete(np.arange(400), item)) for item in vary])
    assert np.abs(correlations[vary] - expected).max() < 0.05


def test_a_model_that_skipped_easy_items_is_held_against_the_others_on_the_rest() -> None:
    """A model that skipped the easy items is compared on the scored ones: three equal models have no deviation."""
    values = np.tile(np.arange(10.0)[:, None], (1, 3))
    values[:5, 0] = np.nan
    away, scored = deviations(values)
    assert not away.any()
    assert scored.sum(axis=0).tolist() == [5, 10, 10]


def test_shuffling_keeps_the_scores_of_each_item_and_what_is_missing() -> None:
    """Shuffling keeps the numbers of each row and the places of missing cells."""
    values = SCORES.copy()
    values[RNG.random(values.shape) < 0.2] = np.nan
    away, scored = deviations(values)
    mixed = shuffled(away, scored, np.random.default_rng(0))
    assert np.sort(mixed, axis=1) == pytest.approx(np.sort(away, axis=1))
    assert not mixed[scored == 0].any()
    assert not np.array_equal(mixed, away)


def test_eigenvalues_are_those_of_the_items_correlations() -> None:
    """Eigenvalues equal numpy's for the correlation matrix of the items that vary; their sum is the number of items."""
    varying = SCORES[np.ptp(SCORES, axis=1) > 0]
    expected = np.linalg.eigvalsh(np.corrcoef(varying))[::-1][:7]
    values = eigenvalues(*deviations(SCORES))
    assert values[:7] == pytest.approx(expected)
    assert values.sum() == pytest.approx(len(varying))


def test_halves_are_whole_terms() -> None:
    """Halves consist of whole terms: four terms of one order correlate 1 for any halves."""
    one = np.arange(6.0)
    correlations = half_correlations(np.stack([one, one + 1, one * 2, one]), np.arange(4), 10, 0)
    assert correlations == pytest.approx(np.ones(10))


def test_a_weighted_median_counts_copies() -> None:
    """1, 2, 3 with weights 1, 1, 3 have the median 3; NaN is ignored."""
    values = np.array([[1.0], [2.0], [3.0], [np.nan]])
    assert weighted_medians(values, np.array([[1.0], [1.0], [3.0], [9.0]])).tolist() == [3.0]
