import math

import numpy as np
import pytest

from catsofa.scoring.intervals import Measure, ratio
from catsofa.scoring.significance import holm, paired_randomisation
from catsofa.scoring.stereoset import SS

SHARE = Measure(name="share", pieces=ratio(0, 1))


def columns(shares: list[float]) -> np.ndarray:
    """Terms with these shares."""
    return np.stack([np.array(shares), np.ones(len(shares))], axis=1)


def test_few_clusters_are_counted_out() -> None:
    """Three terms that all rise by 0.1: of 8 exchanges two (all, none) change as much, p = 2/8."""
    assert paired_randomisation(columns([0.4, 0.5, 0.6]), columns([0.5, 0.6, 0.7]), SHARE) == 0.25


def test_a_change_that_cancels_is_no_surprise() -> None:
    """One term up, one down by as much: every exchange changes at least as much, p = 1."""
    assert paired_randomisation(columns([0.4, 0.6]), columns([0.6, 0.4]), SHARE) == 1


def test_many_clusters_are_sampled_and_p_is_never_zero() -> None:
    """20 terms that all rise: 2 of 2^20 exchanges; 99 sampled ones give 1/100."""
    one, other = columns([0.4] * 20), columns([0.6] * 20)
    assert paired_randomisation(one, other, SHARE, sampled=99) == 0.01
    assert paired_randomisation(one, other, SHARE) == 1e-4


def test_two_alike_differ_with_p_one() -> None:
    """No change is as large as any."""
    assert paired_randomisation(columns([0.4] * 20), columns([0.4] * 20), SHARE, sampled=99) == 1


def test_p_is_uniform_where_nothing_changes() -> None:
    """500 pairs of models that differ by chance: about 5 % have p ≤ 0.05 (error 1 point)."""
    rng, hits = np.random.default_rng(3), 0
    for _ in range(500):
        one, other = (columns(list(rng.normal(0.5, 0.1, 20))) for _ in range(2))
        hits += paired_randomisation(one, other, SHARE, sampled=199, seed=rng) <= 0.05
    assert 3 <= hits / 5 <= 7.5


def test_an_unscored_measure_has_no_p() -> None:
    """Where nothing was compared there is nothing to test."""
    nothing = np.zeros((3, 4))
    assert math.isnan(paired_randomisation(nothing, nothing, SS))


def test_pairs_must_match_row_by_row() -> None:
    """Another number of clusters is no pairing."""
    with pytest.raises(ValueError, match="must match row by row"):
        paired_randomisation(columns([0.4]), columns([0.4, 0.5]), SHARE)


def test_holm() -> None:
    """0.01, 0.04, 0.03 and 0.005 of four: 0.005·4, 0.01·3, 0.03·2, and 0.04·1 raised to the 0.06 before it."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_holm_stops_at_one_and_passes_over_what_is_no_test() -> None:
    """NaN is not counted in the family; 0.6 of two is 1."""
    found = holm([0.6, math.nan, 0.02])
    assert found[0] == pytest.approx(0.6)
    assert math.isnan(found[1])
    assert found[2] == pytest.approx(0.04)
    assert holm([0.9, 0.8]) == [1, 1]
    assert holm([]) == []


def test_holm_agrees_with_statsmodels() -> None:
    """An implementation that is not ours, on 20 random families."""
    from statsmodels.stats.multitest import multipletests

    rng = np.random.default_rng(0)
    for _ in range(20):
        p = rng.random(rng.integers(1, 12)) ** 3
        assert holm(list(p)) == pytest.approx(list(multipletests(p, method="holm")[1]))
