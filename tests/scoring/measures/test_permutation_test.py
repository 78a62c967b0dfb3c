from fractions import Fraction
from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import norm

from catsofa.scoring.measures.seat.permutation_test import ACCURACY, _random_sums, p_value

Scores = NDArray[np.float64]


def test_every_split_is_counted_and_the_observed_one_among_them() -> None:
    """For X = {3, 1} and Y = {2, 0}, two of the six sums 4, 5, 3, 3, 1, 2 reach 4, so p = 2/6."""
    tail = p_value([3, 1], [2, 0])
    assert (tail.p, tail.how, tail.splits) == (2 / 6, "exact", 6)


def test_ties_count_as_reaching() -> None:
    """X = {1, 0}, Y = {1, 0}: four splits tie at 1 and one has 2, so p = 5/6; without the ties p would be 1/6."""
    assert p_value([1, 0], [1, 0]).p == 5 / 6


def test_a_sum_in_another_order_is_the_same_sum() -> None:
    """Sums that differ only by floating-point order tie, such as 0.1 + 0.2 + 0.3 in X and in Y.

    Of the 20 splits, 8 take each number once and tie; half of the other 12 lie above. p = (8 + 6) / 20.
    """
    assert p_value([0.1, 0.2, 0.3], [0.3, 0.1, 0.2]).p == 14 / 20


@given(st.lists(st.integers(-20, 20), min_size=2, max_size=10).filter(lambda scores: len(scores) % 2 == 0))
@settings(max_examples=60, deadline=None)
def test_meeting_in_the_middle_counts_what_enumeration_counts(scores: list[int]) -> None:
    """p equals the enumeration of all combinations in exact fractions, for scores with many ties."""
    n = len(scores) // 2
    tenths = [Fraction(score, 10) for score in scores]
    sums = [sum(chosen) for chosen in combinations(tenths, n)]
    assert p_value(scores[:n], scores[n:]).p == sum(s >= sum(tenths[:n]) for s in sums) / len(sums)
    assert p_value([s / 10 for s in scores[:n]], [s / 10 for s in scores[n:]]).p == p_value(scores[:n], scores[n:]).p


def test_twenty_a_side_are_still_counted() -> None:
    """All C(40, 20) = 137,846,528,820 splits are counted; only the best possible split reaches itself."""
    scores = np.sort(np.random.default_rng(3).normal(size=40))[::-1]
    tail = p_value(scores[:20], scores[20:])
    assert (tail.how, tail.splits) == ("exact", 137_846_528_820)
    assert tail.p == 1 / 137_846_528_820


def test_a_sampled_p_lies_within_its_sampling_error() -> None:
    """For 20 data sets, p of 100,000 splits lies within five standard errors of the exact p over all C(20, 10)."""
    rng = np.random.default_rng(1)
    for _ in range(20):
        x, y = rng.normal(0.5, 1, 10), rng.normal(0, 1, 10)
        exact = p_value(x, y).p
        sampled = p_value(x, y, exact_limit=100_000, seed=7)
        assert (sampled.how, sampled.splits) == ("sampled", 100_000)
        assert abs(sampled.p - exact) < 5 * np.sqrt(exact * (1 - exact) / 100_000) + 1e-5


def test_a_seed_decides_a_sample() -> None:
    """The same seed gives the same p, another seed gives another p; p is never below 1 / 100,000."""
    rng = np.random.default_rng(2)
    x, y = rng.normal(0.3, 1, 30), rng.normal(0, 1, 30)
    first, again, other = (p_value(x, y, seed=seed).p for seed in (1, 1, 2))
    assert first == again != other
    assert p_value(x + 100, y).p == 1e-5


def test_a_random_split_is_uniform() -> None:
    """Each of the C(6, 3) = 20 subsets of three numbers is drawn one time in twenty, and no other sum occurs."""
    powers = 2.0 ** np.arange(6)
    drawn = _random_sums(powers, 3, 200_000, np.random.default_rng(0))
    sums, counts = np.unique(drawn, return_counts=True)
    assert sorted(sums) == sorted(sum(chosen) for chosen in combinations(powers, 3))
    assert np.abs(counts - 10_000).max() < 5 * np.sqrt(10_000)


def test_the_normal_fit_has_the_moments_of_all_splits() -> None:
    """Over the 20 splits of six numbers the statistic has mean 0 and the standard deviation of the closed form."""
    scores = np.array([0.9, 0.4, 0.1, -0.2, 0.3, -0.7])
    statistics = [2 * sum(chosen) - scores.sum() for chosen in combinations(scores, 3)]
    assert np.mean(statistics) == pytest.approx(0, abs=1e-12)
    expected = norm.sf(2 * scores[:3].sum() - scores.sum(), scale=np.std(statistics))
    tail = p_value(scores[:3], scores[3:], method="parametric")
    assert (tail.how, tail.splits) == ("parametric", 0)
    assert tail.p == pytest.approx(expected, rel=1e-12)


def _shapes(rng: np.random.Generator, count: int) -> dict[str, Scores]:
    """Returns scores of many shapes: skewed, heavy-tailed, clustered, and with each value twice."""
    return {
        "normal": rng.normal(size=count),
        "skewed": rng.exponential(size=count),
        "heavy tails": rng.standard_t(3, size=count),
        "two clusters": np.r_[rng.normal(0, 0.05, count // 2), rng.normal(1, 0.05, count - count // 2)],
        "twelve clusters": rng.integers(0, 12, size=count) + rng.normal(size=count) * 0.1,
        "each twice": np.repeat(rng.normal(size=count // 2), 2),
    }


@pytest.mark.parametrize("seed", range(3))
def test_the_characteristic_function_gives_the_exact_p(seed: int) -> None:
    """With 21 scores a side, all C(42, 21) splits are counted: the computed p is within 1e-5 of the exact p."""
    rng = np.random.default_rng(seed)
    for name, scores in _shapes(rng, 42).items():
        shuffled = rng.permutation(scores)
        x, y = shuffled[:21], shuffled[21:]
        exact = p_value(x, y, exact_limit=comb(42, 21))
        computed = p_value(x, y, method="characteristic")
        assert (exact.how, computed.how) == ("exact", "characteristic"), name
        assert abs(computed.p - exact.p) < 1e-5, name


def test_sixty_a_side_agree_with_counting_their_sums() -> None:
    """Sums of whole numbers can be counted for any n; blurring a grid of a thousand steps changes p by at most 1e-3."""
    n, rng = 60, np.random.default_rng(8)
    grid = rng.integers(0, 1000, size=2 * n)
    grid[:n] += 60
    ways = np.zeros((n + 1, int(grid.sum()) + 1))
    ways[0, 0] = 1
    for k, value in enumerate(grid):
        # division by 2 at each step keeps the counts finite
        ways[1 : k + 2, value:] += ways[: k + 1, : ways.shape[1] - value].copy()[:n]
        ways /= 2
    counted = ways[n, grid[:n].sum() :].sum() / ways[n].sum()
    smooth = grid + rng.uniform(-1e-3, 1e-3, size=2 * n)
    assert p_value(smooth[:n], smooth[n:], method="characteristic").p == pytest.approx(counted, abs=1e-3)


def test_scores_on_a_grid_are_sampled_instead() -> None:
    """Whole numbers, few distinct values and very narrow clusters make ties, which only counting handles."""
    rng = np.random.default_rng(5)
    clusters = rng.integers(0, 3, size=60) + rng.normal(size=60) * 1e-4
    for scores in (rng.permutation(60) * 1.0, rng.integers(0, 2, 60) * 0.5, clusters):
        assert p_value(scores[:30], scores[30:], method="characteristic").how == "sampled"


def test_a_computed_tail_is_never_below_its_own_error() -> None:
    """Nineteen standard deviations out, the integral is periodic: p is the smallest that the accuracy allows, or 1."""
    rng = np.random.default_rng(6)
    x, y = rng.normal(4, 1, 350), rng.normal(0, 1, 350)
    assert p_value(x, y, method="characteristic").p == ACCURACY
    assert p_value(y, x, method="characteristic").p == 1.0


def test_few_targets_are_counted_whatever_else_is_asked() -> None:
    """`characteristic` replaces sampling, not counting."""
    assert p_value([3, 1], [2, 0], method="characteristic").how == "exact"


@pytest.mark.parametrize(("x", "y"), [([1, 2], [3]), ([], []), ([1, float("nan")], [1, 2])])
def test_sets_of_different_size_and_missing_numbers_are_refused(x: list[float], y: list[float]) -> None:
    """X and Y must have the same size, and every score must be finite."""
    with pytest.raises(ValueError, match=r"as many|finite"):
        p_value(x, y)
