"""Tests margins (one-sided tests of the increase in a measure's distance from its ideal) by hand and in simulations."""

import numpy as np
import pytest

from catsofa.scoring.measures.crows_pairs import METRIC
from catsofa.scoring.measures.robustness import FLIPS
from catsofa.scoring.measures.stereoset import LMS, SS
from catsofa.scoring.statistics.intervals import Array, Measure, ratio
from catsofa.scoring.statistics.margins import margin_test, nearness

SHARE = Measure(name="share", pieces=ratio(0, 1), ideal=100, least=0, most=100)


def shares(values: list[float] | Array) -> Array:
    """Returns clusters with these shares."""
    return np.stack([np.array(values), np.ones(len(values))], axis=1)


def test_near_is_how_far_a_measure_is_from_its_ideal() -> None:
    """lms 90, ss 40, ss 60 and a flip rate of 10 are all 10 away from their ideal."""
    assert nearness(LMS)(np.array([9.0, 10, 0, 0])) == -10
    assert [float(nearness(SS)(np.array([0, 0, won, 10.0]))) for won in (4, 5, 6)] == pytest.approx([-10, 0, -10])
    assert nearness(FLIPS)(np.array([1.0, 10])) == -10
    with pytest.raises(ValueError, match="no ideal"):
        nearness(Measure(name="x", pieces=ratio(0, 1)))


def test_eight_clusters_that_all_fall_are_counted_out() -> None:
    """Eight shares fall by 1 to 8 points: of 255 sets none is further, so p = 1/256; Student's t has a smaller p.

    The mean fall is 4.5, its standard error √6/√8 = 0.866, and t is 5.196. At a margin of 4.5, half of the sets lie
    beyond.
    """
    before, fall = np.full(8, 0.9), np.arange(1, 9) / 100
    result = margin_test(shares(before), shares(before - fall), SHARE)
    assert (result.before, result.after, result.worse) == pytest.approx((90, 85.5, 4.5))
    assert result.p_worse == 1 / 256
    assert result.p_not_worse == 1
    at_margin = margin_test(shares(before), shares(before - fall), SHARE, 4.5)
    assert at_margin.p_worse == pytest.approx(0.5, abs=0.05)


def test_equivalence_is_two_one_sided_tests() -> None:
    """Twenty shares that move by ±1 point in turn are equivalent within 2 points, with the p of the worse side."""
    before, after = shares(np.full(20, 0.9)), shares(np.full(20, 0.9) + np.tile([0.01, -0.01], 10))
    result = margin_test(before, after, SHARE, 2)
    assert result.p_equivalent == result.p_not_worse < 0.001
    assert margin_test(before, after, SHARE, 0.1).p_equivalent > 0.3


def test_items_that_never_turned_say_little_where_there_are_few() -> None:
    """If none of n pairs changes, a true share of 5 % has probability 0.95^n, so equivalence needs about 70 pairs."""
    for n, shown in ((20, False), (40, False), (100, True)):
        same = shares(np.tile([0.0, 1.0], n // 2))
        result = margin_test(same, same, SHARE, 5, step=100 / n)
        assert result.same
        assert result.p_worse == 1
        assert (result.p_not_worse <= 0.05, result.p_equivalent <= 0.05) == (shown, shown), 0.95**n


def test_a_preference_on_the_other_side_of_50_is_no_change_for_the_worse() -> None:
    """53 and 47 are equally far from 50, so nothing is worse, but a move of 6 points is not equivalent."""
    rng = np.random.default_rng(0)
    noise = rng.normal(0, 0.05, (2, 60))
    before, after = (
        shares(np.clip(mean + each - each.mean(), 0, 1)) for mean, each in zip((0.53, 0.47), noise, strict=True)
    )
    result = margin_test(before, after, METRIC, 1)
    assert result.worse == pytest.approx(0, abs=1e-9)
    assert result.change.by.value == pytest.approx(-6)
    assert result.p_worse > 0.5
    assert result.p_equivalent > 0.9


def world(
    before: float, after: float, turn: float, size: tuple[int, int], rng: np.random.Generator
) -> tuple[Array, Array]:
    """Returns the shares of two models over terms with equally many items; the true shares have a deviation of 0.1.

    The second model redraws a share `turn` of the items. Then items change in one direction until the mean has moved.
    """
    terms = size[0]
    weight = before * (1 - before) / 0.01 - 1
    true = rng.beta(before * weight, (1 - before) * weight, terms)[:, None]
    one = rng.random(size) < true
    other = np.where(rng.random(size) < turn, rng.random(size) < true, one)
    moves = abs(after - before) / (1 - before if after > before else before)
    other = np.where(rng.random(size) < moves, after > before, other)
    return tuple(shares(side.mean(axis=1)) for side in (one, other))  # type: ignore[return-value]


WORLDS = [(0.6, 0.62), (0.48, 0.54), (0.9, 0.92)]
"""True shares before and after: in each pair the second is 2 points further from 50."""


@pytest.mark.slow
@pytest.mark.parametrize("turn", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("size", [(6, 20), (12, 20), (79, 26)])
def test_at_the_margin_neither_verdict_comes_too_often(size: tuple[int, int], turn: float) -> None:
    """With a true loss equal to the margin of 2 points, regression, non-inferiority and equivalence are each shown in
    at most 5 % of sets. Three standard errors of 600 sets are 2.7 points."""
    rng, sets = np.random.default_rng(size), 200
    for_each = np.zeros(3)
    for before, after in WORLDS:
        for seed in range(sets):
            sides = world(before, after, turn, size, rng)
            result = margin_test(*sides, METRIC, 2, step=100 / (size[0] * size[1]), resamples=400, seed=seed)
            for_each += [p <= 0.05 for p in (result.p_worse, result.p_not_worse, result.p_equivalent)]
    assert (for_each / (sets * len(WORLDS)) <= 0.05 + 0.027).all(), for_each


@pytest.mark.slow
def test_a_planted_regression_is_found_and_equal_models_are_shown_equivalent() -> None:
    """With 79 terms of 26 items, a rise of ss by 4 points is detected. Two draws of 3 % of the items are equivalent
    within 2 points."""
    rng, sets, size = np.random.default_rng(5), 60, (79, 26)
    regressed = [margin_test(*world(0.6, 0.64, 0.3, size, rng), METRIC, 0, resamples=400) for _ in range(sets)]
    assert np.mean([one.p_worse <= 0.05 for one in regressed]) > 0.9
    step = 100 / (79 * 26)
    equal = [margin_test(*world(0.6, 0.6, 0.06, size, rng), METRIC, 2, step=step, resamples=400) for _ in range(sets)]
    assert np.mean([one.p_equivalent <= 0.05 for one in equal]) > 0.9
    assert np.mean([one.p_worse <= 0.05 for one in equal]) == 0


@pytest.mark.parametrize(
    ("before", "after", "worse", "least"),
    [([0.0, 0.2, 0.1, 0.1, 0.1, 0.1], [0.1] * 6, 0.0, 0.45), ([0.8, 0.2], [0.2, 0.2], 30.0, 0.2)],
)
def test_few_terms_show_no_more_than_students_t_on_either_side_of_50(
    before: list[float], after: list[float], worse: float, least: float
) -> None:
    """ss 10 twice is not worse. Two terms, one of which falls, have t = 1 with one degree of freedom: p = 0.25."""
    result = margin_test(shares(before), shares(after), METRIC)
    assert result.worse == pytest.approx(worse)
    assert result.p_worse >= least
