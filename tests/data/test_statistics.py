import numpy as np
import pytest
from scipy.stats import spearmanr

from catsofa.data.statistics import draw_counts, draws, spearman


def test_spearman_by_hand() -> None:
    """rho = 1 - 6 * sum of d squared / (n(n squared - 1)) = 1 - 12 / 60. It is undefined where one side does not
    vary."""
    assert spearman([1.0, 2, 3, 4], [1.0, 3, 2, 4]) == pytest.approx(0.8)
    assert np.isnan(spearman([1.0, 1], [1.0, 2]))


def test_spearman_of_every_row_is_scipys() -> None:
    """Spearman's rho of each row equals scipy's to 1e-12, with and without ties."""
    rng = np.random.default_rng(0)
    one, other = rng.standard_normal((20, 50)), rng.integers(5, size=(20, 50)).astype(float)
    expected = [spearmanr(a, b).statistic for a, b in zip(one, other, strict=True)]
    np.testing.assert_allclose(spearman(one, other), expected, rtol=0, atol=1e-12)


def test_a_bootstrap_is_the_same_in_blocks_and_row_by_row() -> None:
    """The block size changes no resample, and the counts are those of the draws."""
    whole, blocks = np.random.default_rng(3), np.random.default_rng(3)
    drawn = draws(7, 50, whole)
    assert (np.concatenate([draws(7, rows, blocks) for rows in (1, 19, 30)]) == drawn).all()
    counts = draw_counts(7, 50, np.random.default_rng(3))
    assert counts.tolist() == [np.bincount(row, minlength=7).tolist() for row in drawn]
