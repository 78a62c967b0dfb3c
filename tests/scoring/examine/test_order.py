"""Item–rest correlations, halves, eigenvalues and the shuffled null against their definitions."""

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
    """The correlation of an item with the mean of other rows, over the models that scored it."""
    kept = np.isfinite(values[item])
    rest = np.nanmean(values[others] - np.nanmean(values[others], axis=1, keepdims=True), axis=0)
    return float(np.corrcoef(values[item][kept], rest[kept])[0, 1])


def test_an_item_is_correlated_with_the_mean_of_the_others() -> None:
    """numpy's corrcoef, item by item; an item on which all agree has none."""
    values = np.concatenate([SCORES, np.ones((1, 8))])
    found = item_rest(*deviations(values))[:, 0]
    vary = [at for at in range(41) if np.ptp(values[at])]
    assert found[vary] == pytest.approx([by_hand(values, at, np.delete(np.arange(41), at)) for at in vary])
    assert np.isnan(found[40])


def test_no_copy_of_an_item_is_among_the_others() -> None:
    """Item 0 drawn three times, item 1 never: item 0 is correlated with what is neither."""
    weights = np.ones((40, 1))
    weights[[0, 1]] = [[3], [0]]
    found = item_rest(*deviations(SCORES), weights)[:, 0]
    assert found[0] == pytest.approx(by_hand(SCORES, 0, np.arange(2, 40)))


def test_unscored_cells_leave_the_others_comparable() -> None:
    """A tenth missing of 400 items: within 0.05 of the correlation with the mean over what each model scored."""
    values = (RNG.random((400, 8)) < np.linspace(0.2, 0.8, 8)).astype(float)
    values[RNG.random(values.shape) < 0.1] = np.nan
    found = item_rest(*deviations(values))[:, 0]
    vary = np.flatnonzero(np.isfinite(found))
    expected = np.array([by_hand(values, at, np.delete(np.arange(400), at)) for at in vary])
    assert np.abs(found[vary] - expected).max() < 0.05


def test_a_model_that_skipped_easy_items_is_held_against_the_others_on_the_rest() -> None:
    """Three models alike: that with half of the items unscored has no other deviation."""
    values = np.tile(np.arange(10.0)[:, None], (1, 3))
    values[:5, 0] = np.nan
    away, scored = deviations(values)
    assert not away.any()
    assert scored.sum(axis=0).tolist() == [5, 10, 10]


def test_shuffling_keeps_the_scores_of_each_item_and_what_is_missing() -> None:
    """Each row has the same numbers in other places, and NaN where it was."""
    values = SCORES.copy()
    values[RNG.random(values.shape) < 0.2] = np.nan
    away, scored = deviations(values)
    mixed = shuffled(away, scored, np.random.default_rng(0))
    assert np.sort(mixed, axis=1) == pytest.approx(np.sort(away, axis=1))
    assert not mixed[scored == 0].any()
    assert not np.array_equal(mixed, away)


def test_eigenvalues_are_those_of_the_items_correlations() -> None:
    """numpy's eigenvalues of the correlation matrix of the items that vary; their sum is the number of items."""
    kept = SCORES[np.ptp(SCORES, axis=1) > 0]
    expected = np.linalg.eigvalsh(np.corrcoef(kept))[::-1][:7]
    found = eigenvalues(*deviations(SCORES))
    assert found[:7] == pytest.approx(expected)
    assert found.sum() == pytest.approx(len(kept))


def test_halves_are_whole_terms() -> None:
    """Four terms of one order correlate 1, however they are halved."""
    one = np.arange(6.0)
    found = half_correlations(np.stack([one, one + 1, one * 2, one]), np.arange(4), 10, 0)
    assert found == pytest.approx(np.ones(10))


def test_a_weighted_median_counts_copies() -> None:
    """1, 2, 3 counted 1, 1, 3 times: 3; NaN counts nothing."""
    values = np.array([[1.0], [2.0], [3.0], [np.nan]])
    assert weighted_medians(values, np.array([[1.0], [1.0], [3.0], [9.0]])).tolist() == [3.0]
