"""Tests the claims of docs/measures/intervals.md about terms so rare that a set contains none of them."""

import numpy as np
import pytest

from catsofa.scoring.measures.stereoset import MEASURES
from catsofa.scoring.statistics.changes import paired_changes
from catsofa.scoring.statistics.intervals import Array, intervals

SETS = 300


def columns(ss: Array, items: int, rng: np.random.Generator) -> Array:
    """Returns, per term, the shares of comparisons won for lms (95 %) and for ss."""
    one = np.ones(len(ss))
    lms = rng.binomial(2 * items, 0.95, len(ss)) / (2 * items)
    return np.stack([lms, one, rng.binomial(items, ss) / items, one], axis=1)


@pytest.mark.slow
@pytest.mark.parametrize(("terms", "least", "most"), [(10, 68, 82), (30, 68, 82), (79, 89, 97)])
def test_terms_too_rare_for_a_set_leave_ss_outside_its_interval(terms: int, least: float, most: float) -> None:
    """95 % of the terms have ss 97 and 5 % have ss 2; the intervals of few terms cover the mean of 92.25 too rarely."""
    rng, held = np.random.default_rng(2), 0
    for seed in range(SETS):
        ss = np.where(rng.random(terms) < 0.05, 0.02, 0.97)
        held += 92.25 in intervals(columns(ss, 17, rng), MEASURES, resamples=1000, seed=seed)["ss"]
    assert least <= 100 * held / SETS <= most


@pytest.mark.slow
@pytest.mark.parametrize(("terms", "least", "most"), [(10, 20, 36), (79, 4, 14)])
def test_changes_in_terms_too_rare_for_a_set_are_found_where_there_is_none(
    terms: int, least: float, most: float
) -> None:
    """ss rises by 2 in 95 % of the terms and falls by 38 in 5 %, so its mean is equal; p <= 0.05 is too frequent."""
    rng, significant = np.random.default_rng(3), 0
    for seed in range(SETS):
        before = columns(np.full(terms, 0.6), 500, rng)
        after = columns(np.where(rng.random(terms) < 0.05, 0.22, 0.62), 500, rng)
        significant += paired_changes(before, after, MEASURES, resamples=1000, seed=seed)["ss"].p <= 0.05
    assert least <= 100 * significant / SETS <= most
