import math
import time

import numpy as np
import pytest
from helpers.simulated_terms import Model, Terms, simulated_changes

from catsofa.scoring.measures.stereoset import ICAT, MEASURES, SS
from catsofa.scoring.statistics.changes import paired_changes
from catsofa.scoring.statistics.intervals import Array, Measure, ratio

SHARE = Measure(name="share", pieces=ratio(0, 1), least=0, most=100)


def shares(values: list[float]) -> Array:
    """Returns terms with these shares."""
    return np.stack([np.array(values), np.ones(len(values))], axis=1)


def test_eight_terms_are_counted_out() -> None:
    """Eight terms rise: of 256 sets only the empty one has no rise, so p = 2/256; the limits are typical values.

    Terms rise by 1 to 8 points. 2.5 % of 256 is 6.4: with the empty set, six sets or fewer lie beyond a limit. The
    smallest means are 1, 1.5, 2, 2, 2 ({2}, {1, 3}, {1, 2, 3}) and 7/3 ({1, 2, 4}), the lower limit.
    """
    before, rise = np.full(8, 0.4), np.arange(1, 9) / 100
    change = paired_changes(shares(list(before)), shares(list(before + rise)), {"share": SHARE})["share"]
    assert change.p == 2 / 256
    assert (change.by.low, change.by.high) == pytest.approx((7 / 3, 9 - 7 / 3), abs=1e-4)


def test_few_terms_that_all_rise_alike_are_counted_out() -> None:
    """Three terms that all rise by 0.1 have no spread: two of eight exchanges change as much, so p = 2/8."""
    change = paired_changes(shares([0.4, 0.5, 0.6]), shares([0.5, 0.6, 0.7]), {"share": SHARE})["share"]
    assert change.p == 0.25
    assert math.isnan(change.by.low)


def test_a_change_that_cancels_has_p_one() -> None:
    """If half of the terms rise and half fall by as much, p is 1."""
    one, other = shares([0.4, 0.6] * 5), shares([0.6, 0.4] * 5)
    assert paired_changes(one, other, {"share": SHARE})["share"].p == 1


def test_many_clusters_are_sampled_and_p_is_never_zero() -> None:
    """For 20 terms that all rise, 99 sampled sets give 2/100, and 10,000 sets give 2/10,001."""
    one, other = shares([0.4] * 20), shares([0.6, 0.7] * 10)
    assert paired_changes(one, other, {"share": SHARE}, resamples=99)["share"].p == 0.02
    assert paired_changes(one, other, {"share": SHARE})["share"].p == 2 / 10_001


def test_few_clusters_have_students_interval() -> None:
    """Changes of 0, 10 and 20 have the interval 10 ± 4.3027 · 10/√3 = 10 ± 24.84, and t = 1.732 has p = 0.2254."""
    change = paired_changes(shares([0.4, 0.4, 0.4]), shares([0.4, 0.5, 0.6]), {"share": SHARE}, resamples=200_000)
    assert (change["share"].by.low, change["share"].by.high) == pytest.approx((10 - 24.84, 10 + 24.84), abs=0.5)
    assert change["share"].p == pytest.approx(0.2254, abs=0.005)


def test_limits_stay_within_what_a_change_can_be() -> None:
    """The limit of a change of percentages is never below −100."""
    changed = paired_changes(shares([0.8, 0.9, 1]), shares([0.1, 0.5, 0]), {"share": SHARE})["share"]
    assert changed.by.low == -100


def test_pairs_must_match_row_by_row() -> None:
    """Different numbers of clusters are refused."""
    with pytest.raises(ValueError, match="row by row"):
        paired_changes(np.ones((3, 2)), np.ones((2, 2)), {"share": SHARE})


def test_a_model_against_itself_does_not_change() -> None:
    """A model against itself has a change of 0 with p = 1 and no limits."""
    columns = np.random.default_rng(0).random((20, 4))
    change = paired_changes(columns, columns, MEASURES)["icat"]
    assert (change.by.value, change.p) == (0, 1)
    assert math.isnan(change.by.low)


def test_an_unscored_measure_has_no_p() -> None:
    """Without comparisons, neither the change nor p is defined."""
    nothing = np.zeros((9, 4))
    change = paired_changes(nothing, nothing, {"ss": SS})["ss"]
    assert math.isnan(change.p)
    assert math.isnan(change.by.value)


def test_the_change_of_icat_is_that_of_its_values() -> None:
    """From lms 99.75, ss 60 (icat 79.8) to lms 99.75, ss 45 (icat 89.775), icat changes by +9.975, within its
    limits."""
    before = np.array([[1, 1, 0.5, 1], [1, 1, 0.7, 1], [0.99, 1, 0.6, 1], [1, 1, 0.6, 1]])
    after = np.array([[1, 1, 0.45, 1], [1, 1, 0.4, 1], [0.99, 1, 0.5, 1], [1, 1, 0.45, 1]])
    change = paired_changes(before, after, {"icat": ICAT})["icat"].by
    assert change.value == pytest.approx(float(ICAT(after.sum(axis=0)) - ICAT(before.sum(axis=0))))
    assert change.value == pytest.approx(9.975)
    assert change.value in change


def test_a_set_as_large_as_stereosets_takes_less_than_a_second() -> None:
    """10,000 draws of 79 terms for three measures take less than a second."""
    rng = np.random.default_rng(0)
    one, other = (rng.random((79, 4)) * [1, 0, 1, 0] + [0, 1, 0, 1] for _ in range(2))
    start = time.perf_counter()
    paired_changes(one, other, MEASURES)
    assert time.perf_counter() - start < 1


def test_p_and_the_interval_of_a_row_never_disagree() -> None:
    """p <= 0.05 exactly if the 95 % interval excludes 0, for 3 to 79 terms, at icat's kink and beside it."""
    leaves, measures = 0, 0
    for count, ss in ((3, 0.5), (5, 0.56), (10, 0.5), (10, 0.56), (30, 0.53), (79, 0.515)):
        simulated = simulated_changes(Terms(count), Model(0.5), Model(ss), sets=25, resamples=500, seed=count)
        for change in (one[name] for one in simulated for name in one):
            assert (change.p <= 0.05) == (0 not in change.by)
            leaves, measures = leaves + (change.p <= 0.05), measures + 1
    assert 0.02 < leaves / measures < 0.3


def shared_terms(lms: Array | float, ss: Array) -> Array:
    """Returns terms with these shares of lms and ss."""
    ones = np.ones(len(ss))
    return np.stack([ones * lms, ones, ss, ones], axis=1)


def test_a_result_that_crossed_the_kink_by_chance_is_no_evidence() -> None:
    """With ss 63 before and 51 after, each term 30 points up or down in both, equal icat is not refuted.

    The sides may be those of ss 57 and 45 ± 7.5. Their distances from 50 sum to 14 with a standard error of 15:
    z = 0.93, p = 0.35. The fall of ss by 12 in every term is no evidence for icat (a test of the observed sides gives
    p < 0.001).
    """
    shifts = 0.3 * np.array([1, -1] * 8)
    sides = shared_terms(0.9, 0.63 + shifts), shared_terms(0.9, 0.51 + shifts)
    changes = paired_changes(*sides, {"icat": ICAT, "ss": SS})
    assert changes["ss"].p < 0.001
    assert changes["icat"].p == pytest.approx(0.35, abs=0.05)
    assert 0 in changes["icat"].by


def test_the_test_of_icat_keeps_its_size_at_equal_icat_on_either_side_of_50() -> None:
    """For ss 53 against 47 and 79 terms, p <= 0.05 in 2 to 8.5 % of 300 sets (exchange of the models gave 15 %)."""
    simulated = simulated_changes(Terms(79), Model(0.53), Model(0.47), sets=300, resamples=300, seed=1)
    assert 2 <= 100 * float(np.mean([change["icat"].p <= 0.05 for change in simulated])) <= 8.5


EQUAL = [
    (Terms(79), Model(0.53), Model(0.47)),
    (Terms(30), Model(0.6), Model(0.4)),
    (Terms(79), Model(0.6), Model(0.4)),
    (Terms(79), Model(0.515), Model(0.485)),
    (Terms(79), Model(0.53), Model(0.53)),
    (Terms(30, (5, 40)), Model(0.6), Model(0.6)),
    (Terms(79), Model(0.6), Model(0.6)),
    (Terms(30, (5, 40), 0.02), Model(0.97, 0.95), Model(0.97, 0.95)),
    (Terms(10), Model(0.6), Model(0.6)),
]
"""Pairs of models with equal true icat."""


@pytest.mark.slow
@pytest.mark.parametrize(("terms", "before", "after"), EQUAL)
def test_p_has_the_size_it_says(terms: Terms, before: Model, after: Model) -> None:
    """In 1,500 simulated sets (4,000 for ten terms), p <= 0.05 in 3 to 6.5 % if icat is equal. The same holds for lms
    and ss."""
    sets = 4000 if terms.count == 10 else 1500
    simulated = simulated_changes(terms, before, after, sets=sets, resamples=1024, seed=3)
    for name in MEASURES if before == after else ("lms", "icat"):
        size = 100 * float(np.mean([change[name].p <= 0.05 for change in simulated]))
        assert 3 <= size <= 6.5, name


@pytest.mark.slow
@pytest.mark.parametrize("terms", [Terms(10, (5, 30)), Terms(30, (5, 40)), Terms(79)])
def test_two_models_at_the_peak_rarely_have_a_small_p(terms: Terms) -> None:
    """With ss exactly 50 in both models, p <= 0.05 in 0.7 to 4 % of sets. A test that is valid beside the peak cannot
    reach 5 % here."""
    simulated = simulated_changes(terms, Model(0.5), Model(0.5), sets=1000, resamples=600, seed=4)
    assert 0.7 <= 100 * float(np.mean([change["icat"].p <= 0.05 for change in simulated])) <= 4


MOVES = [
    (Terms(79), Model(0.5), Model(0.62)),
    (Terms(79), Model(0.5), Model(0.53)),
    (Terms(79), Model(0.5), Model(0.515)),
    (Terms(79), Model(0.52), Model(0.48)),
    (Terms(79), Model(0.51), Model(0.55)),
    (Terms(79), Model(0.6), Model(0.66)),
    (Terms(30), Model(0.5), Model(0.54)),
    (Terms(10), Model(0.5), Model(0.55)),
    (Terms(30, (5, 40), 0.03), Model(0.97), Model(0.8)),
    (Terms(3, (20, 30)), Model(0.6), Model(0.5)),
    (Terms(5, (20, 30)), Model(0.55), Model(0.45)),
]
"""Pairs of models whose numbers differ."""


@pytest.mark.slow
@pytest.mark.parametrize(("terms", "before", "after"), MOVES)
def test_paired_intervals_hold_the_change(terms: Terms, before: Model, after: Model) -> None:
    """In 1,000 simulated sets, 93 to 98 % of the intervals of each change cover it (error 0.7); up to 99 % with fewer
    than 8 terms."""
    simulated = simulated_changes(terms, before, after, sets=1000, resamples=600, seed=5)
    for name, start in before.truth().items():
        held = 100 * float(np.mean([after.truth()[name] - start in change[name].by for change in simulated]))
        assert 93 <= held <= (99 if terms.count < 8 else 98), name


SHARED = [
    (8, 0.56, 0.44, 0.08, 1),
    (16, 0.56, 0.44, 0.08, 1),
    (40, 0.53, 0.47, 0.08, 1),
    (12, 0.6, 0.4, 0.15, 1),
    (10, 0.6, 0.4, 0.15, 0.95),
    (10, 0.56, 0.56, 0.08, 0.95),
    (40, 0.56, 0.44, 0.08, 0.5),
    (40, 0.53, 0.53, 0.08, 0.5),
    (79, 0.515, 0.485, 0.1, 0.95),
    (79, 0.53, 0.47, 0.1, 0.5),
    (79, 0.53, 0.47, 0.1, 0.95),
]
"""Terms, ss before and after (equal true icat), spread of the terms, and correlation of their shifts."""


@pytest.mark.slow
@pytest.mark.parametrize(("count", "before", "after", "spread", "correlation"), SHARED)
def test_p_of_icat_has_its_size_where_models_share_term_effects(
    count: int, before: float, after: float, spread: float, correlation: float
) -> None:
    """With equal icat and the same terms high in both models, p <= 0.05 in 3 to 7 % of 2,000 sets. The error is 0.5; an
    earlier version had 6 to 16 %."""
    rng, small = np.random.default_rng(7), 0
    for number in range(2000):
        items, own = rng.integers(8, 40, count), rng.normal(0, spread, (2, count))
        shifts = (own[0], correlation * own[0] + math.sqrt(1 - correlation**2) * own[1])
        lms = [rng.binomial(2 * items, 0.9) / (2 * items) for _ in range(2)]
        true = [np.clip(side + shift, 0, 1) for side, shift in zip((before, after), shifts, strict=True)]
        sides = [shared_terms(lms[side], rng.binomial(items, true[side]) / items) for side in range(2)]
        small += paired_changes(*sides, {"icat": ICAT}, resamples=400, seed=number)["icat"].p <= 0.05
    assert 3 <= small / 20 <= 7
