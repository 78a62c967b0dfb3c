"""Margins: one-sided tests of how much further from its ideal a measure is, by hand and over simulated worlds."""

import numpy as np
import pytest

from catsofa.scoring.measures.crows_pairs import METRIC
from catsofa.scoring.measures.robustness import FLIPS
from catsofa.scoring.measures.stereoset import LMS, SS
from catsofa.scoring.statistics.intervals import Array, Measure, ratio
from catsofa.scoring.statistics.margins import margin_test, nearness

SHARE = Measure(name="share", pieces=ratio(0, 1), ideal=100, least=0, most=100)


def shares(values: list[float] | Array) -> Array:
    """Clusters with these shares."""
    return np.stack([np.array(values), np.ones(len(values))], axis=1)


def test_near_is_how_far_a_measure_is_from_its_ideal() -> None:
    """lms 90 is 10 away, ss 40 and 60 are 10 away, a flip rate of 10 is."""
    assert nearness(LMS)(np.array([9.0, 10, 0, 0])) == -10
    assert [float(nearness(SS)(np.array([0, 0, won, 10.0]))) for won in (4, 5, 6)] == pytest.approx([-10, 0, -10])
    assert nearness(FLIPS)(np.array([1.0, 10])) == -10
    with pytest.raises(ValueError, match="no ideal"):
        nearness(Measure(name="x", pieces=ratio(0, 1)))


def test_eight_clusters_that_all_fall_are_counted_out() -> None:
    """Eight shares fall by 1 to 8 points: of 255 sets none is further, so p = 1/256; Student's t of 5.196 is less.

    The mean fall is 4.5, its standard error √6/√8 = 0.866. At a margin of 4.5 half of the sets lie beyond.
    """
    before, fall = np.full(8, 0.9), np.arange(1, 9) / 100
    found = margin_test(shares(before), shares(before - fall), SHARE)
    assert (found.before, found.after, found.worse) == pytest.approx((90, 85.5, 4.5))
    assert found.p_worse == 1 / 256
    assert found.p_not_worse == 1
    at = margin_test(shares(before), shares(before - fall), SHARE, 4.5)
    assert at.p_worse == pytest.approx(0.5, abs=0.05)


def test_equivalence_is_two_one_sided_tests() -> None:
    """Twenty shares that move by ±1 point in turn: within 2 points, and the p is that of the worse side."""
    before, after = shares(np.full(20, 0.9)), shares(np.full(20, 0.9) + np.tile([0.01, -0.01], 10))
    found = margin_test(before, after, SHARE, 2)
    assert found.p_equivalent == found.p_not_worse < 0.001
    assert margin_test(before, after, SHARE, 0.1).p_equivalent > 0.3


def test_items_that_never_turned_say_little_where_there_are_few() -> None:
    """Of n pairs none turned: a true share of 5 % would do so with 0.95^n, and equivalence needs about 70 pairs."""
    for n, shown in ((20, False), (40, False), (100, True)):
        same = shares(np.tile([0.0, 1.0], n // 2))
        found = margin_test(same, same, SHARE, 5, step=100 / n)
        assert found.same
        assert found.p_worse == 1
        assert (found.p_not_worse <= 0.05, found.p_equivalent <= 0.05) == (shown, shown), 0.95**n


def test_a_preference_on_the_other_side_of_50_is_no_change_for_the_worse() -> None:
    """53 and 47 are as far from 50; a move of 6 points is not equivalent."""
    rng = np.random.default_rng(0)
    noise = rng.normal(0, 0.05, (2, 60))
    before, after = (
        shares(np.clip(at + each - each.mean(), 0, 1)) for at, each in zip((0.53, 0.47), noise, strict=True)
    )
    found = margin_test(before, after, METRIC, 1)
    assert found.worse == pytest.approx(0, abs=1e-9)
    assert found.change.by.value == pytest.approx(-6)
    assert found.p_worse > 0.5
    assert found.p_equivalent > 0.9


def world(
    before: float, after: float, turn: float, size: tuple[int, int], rng: np.random.Generator
) -> tuple[Array, Array]:
    """Terms whose true shares have a standard deviation of 0.1, and as many items each, of two models.

    The second model draws a share `turn` of the items anew; then items turn one way until the mean has moved.
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
"""True shares before and after: in each the second is further from 50 by 2 points."""


@pytest.mark.slow
@pytest.mark.parametrize("turn", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("size", [(6, 20), (12, 20), (79, 26)])
def test_at_the_margin_neither_verdict_comes_too_often(size: tuple[int, int], turn: float) -> None:
    """True loss = margin = 2 points: regression, non-inferiority and equivalence are each shown in 5 % of sets at most.

    Three standard errors of 600 sets are 2.7 points.
    """
    rng, sets = np.random.default_rng(size), 200
    for_each = np.zeros(3)
    for before, after in WORLDS:
        for seed in range(sets):
            sides = world(before, after, turn, size, rng)
            found = margin_test(*sides, METRIC, 2, step=100 / (size[0] * size[1]), resamples=400, seed=seed)
            for_each += [p <= 0.05 for p in (found.p_worse, found.p_not_worse, found.p_equivalent)]
    assert (for_each / (sets * len(WORLDS)) <= 0.05 + 0.027).all(), for_each


@pytest.mark.slow
def test_a_planted_regression_is_found_and_equal_models_are_shown_equivalent() -> None:
    """79 terms of 26 items: a rise of ss by 4 points is found; two draws of 3 % of the items are within 2 points."""
    rng, sets, size = np.random.default_rng(5), 60, (79, 26)
    found = [margin_test(*world(0.6, 0.64, 0.3, size, rng), METRIC, 0, resamples=400) for _ in range(sets)]
    assert np.mean([one.p_worse <= 0.05 for one in found]) > 0.9
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
    """ss 10 twice is no change for the worse; two terms, of which one falls, have t = 1 with one degree: p = 0.25."""
    found = margin_test(shares(before), shares(after), METRIC)
    assert found.worse == pytest.approx(worse)
    assert found.p_worse >= least
