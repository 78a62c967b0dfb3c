import math

import numpy as np
import pytest
from helpers.records import cat, scores

from catsofa.scoring.choices import Rule, Ties
from catsofa.scoring.measures.cat_outcomes import Outcomes, outcomes
from catsofa.scoring.measures.stereoset import measures
from catsofa.scoring.statistics.intervals import Array


def three(of: Outcomes) -> tuple[float, ...]:
    """Returns lms, ss and icat of outcomes, averaged over terms."""
    results = measures(of, resamples=0)
    return results.lms.value, results.ss.value, results.icat.value


def test_lms_counts_both_meaningful_candidates_and_ss_the_stereotype() -> None:
    """CATs with scores 3, 1, 2 and 2, 3, 1 win 2 + 1 of 4 comparisons and 1 of 2 preferences."""
    by_item = scores({"a": (3.0, 1.0, 2.0), "b": (2.0, 3.0, 1.0)})
    assert three(outcomes([cat("a"), cat("b")], by_item)) == (75, 50, 75)


def test_a_term_counts_once_however_many_cats_it_has() -> None:
    """Term one has 3 stereotyped CATs (100), term two 1 CAT that is not (0): ss is 50 over terms, 75 over items."""
    cats = [cat("a"), cat("b"), cat("c"), cat("d", target="glimmer")]
    by_item = scores({"a": (3, 2, 1), "b": (3, 2, 1), "c": (3, 2, 1), "d": (2, 3, 1)})
    results = measures(outcomes(cats, by_item))
    assert (results.macro["ss"], results.micro["ss"]) == (50, 75)
    assert results.macro["icat"] == 100
    assert results.micro["icat"] == 50


NOTHING = (math.nan, math.nan, math.nan)


@pytest.mark.parametrize(
    ("ties", "expected", "coverage"),
    [("excluded", NOTHING, 0), ("half", (50, 50, 50), 1), ("against", (0, 0, 0), 1)],
)
def test_a_model_that_scores_everything_alike(ties: Ties, expected: tuple[float, ...], coverage: float) -> None:
    """If all scores are equal, the measures are NaN; halved ties give 50, and the released code's strict > gives 0."""
    decisions = outcomes([cat("a")], scores({"a": (1, 1, 1)}), ties=ties)
    assert three(decisions) == pytest.approx(expected, nan_ok=True)
    results = measures(decisions)
    assert (results.coverage, results.lms_coverage, results.ss_coverage) == (coverage, coverage, coverage)
    assert (results.ties, results.ties_unrelated, results.ties_all) == (1, 1, 1)


def test_an_unscored_candidate_takes_its_comparisons_away_and_adds_none() -> None:
    """Without an unrelated score, lms has no comparison, ss has one; without a stereotype score, lms has one of two."""
    decisions = outcomes([cat("a"), cat("b")], scores({"a": (2, 1, None), "b": (None, 2, 1)}))
    assert decisions.counts.tolist() == [[0, 0, 1, 1], [1, 1, 0, 0]]
    assert decisions.complete.tolist() == [False, False]
    results = measures(decisions)
    assert (results.lms.value, results.ss.value, results.coverage) == (100, 100, 0)


@pytest.mark.parametrize("unscored", [None, math.nan, math.inf, -math.inf])
def test_what_is_no_number_is_unscored(unscored: float | None) -> None:
    """None, NaN and the infinities are unscored, and never give 50."""
    results = measures(outcomes([cat("a")], scores({"a": (unscored, unscored, unscored)})))
    assert math.isnan(results.lms.value)
    assert math.isnan(results.ss.value)
    assert math.isnan(results.icat.value)
    assert results.coverage == 0


def test_a_term_without_scores_is_left_out_of_the_mean() -> None:
    """Of two terms, one is unscored: the mean is that of the other, the coverage is a half, both are counted."""
    whole = measures(outcomes([cat("a"), cat("b", target="glimmer")], scores({"a": (3, 2, 1)})))
    assert (whole.lms.value, whole.ss.value, whole.terms, whole.items, whole.coverage) == (100, 100, 2, 2, 0.5)


def test_the_best_of_three() -> None:
    """The best are stereotype, anti-stereotype and unrelated: lms is 2 of 3; ss is 1 of the 2 that are meaningful."""
    by_item = scores({"a": (3, 2, 1), "b": (2, 3, 1), "c": (2, 1, 3)})
    decisions = outcomes([cat(name) for name in "abc"], by_item, rule="argmax")
    assert three(decisions)[0] == pytest.approx(200 / 3)
    assert three(decisions)[1] == 50


def test_the_best_of_three_with_a_tie() -> None:
    """If all are equal, each counts a third, and lms is 66.7; the study's code takes the first candidate listed."""
    alike = scores({"a": (1, 1, 1)})
    assert three(outcomes([cat("a")], alike, rule="argmax")) == pytest.approx(NOTHING, nan_ok=True)
    assert three(outcomes([cat("a")], alike, rule="argmax", ties="half"))[:2] == pytest.approx((200 / 3, 50))
    assert three(outcomes([cat("a")], alike, rule="argmax", ties="against"))[:2] == (100, 100)


def test_the_best_of_three_needs_all_three() -> None:
    """If one candidate is unscored, the best candidate is unknown."""
    decisions = outcomes([cat("a")], scores({"a": (2, 1, None)}), rule="argmax")
    assert not decisions.counts.any()


def test_a_preference_is_kept_whatever_the_rule() -> None:
    """A preference is 1 or 0; it is NaN for a tie that is not halved and if a candidate is unscored."""
    by_item = scores({"a": (2, 1, 3), "b": (1, 1, 3), "c": (1, 2, 3), "d": (None, 2, 3)})
    for rule in ("pairwise", "argmax"):
        for ties, tie in (("excluded", math.nan), ("half", 0.5)):
            decisions = outcomes([cat(name) for name in "abcd"], by_item, rule=rule, ties=ties)
            assert decisions.prefers.tolist() == pytest.approx([1, tie, 0, math.nan], nan_ok=True)


def test_a_tied_comparison_is_left_out_and_lowers_the_coverage_of_its_measure_alone() -> None:
    """a is decided; in b, stereotype = anti; in c, stereotype = unrelated; in d, all tie: lms is 5 of 5 decided."""
    by_item = scores({"a": (3, 2, 1), "b": (2, 2, 1), "c": (1, 2, 1), "d": (1, 1, 1)})
    decisions = outcomes([cat(name) for name in "abcd"], by_item)
    assert decisions.counts.tolist() == [[2, 2, 1, 1], [2, 2, 0, 0], [1, 1, 0, 1], [0, 0, 0, 0]]
    results = measures(decisions)
    assert (results.lms.value, results.ss.value) == (100, 50)
    assert (results.coverage, results.lms_coverage, results.ss_coverage) == (0.25, 5 / 8, 0.5)
    assert (results.ties, results.ties_unrelated, results.ties_all) == (2, 2, 1)


def test_the_interval_of_ss_is_of_the_terms_that_decide_something() -> None:
    """Three terms with a preference among thirty give the interval of three terms, not of thirty."""
    orders = [(3, 2, 1), (2, 3, 1), (3, 2, 1), (3, 2, 1)]
    some = [cat(f"{term}{n}", target=f"t{term}") for term in range(3) for n in range(4)]
    by_item = {f"{term}{n}": orders[n - term % 2] for term in range(3) for n in range(4)}
    tied = [cat(f"x{term}", target=f"x{term}") for term in range(27)]
    alone = measures(outcomes(some, scores(by_item)))
    both = measures(outcomes([*some, *tied], scores(by_item | {record.id: (2, 2, 1) for record in tied})))
    assert both.ss == alone.ss
    assert (both.terms, both.ss_terms) == (30, 3)


def spread(values: Array) -> list[Array]:
    """Returns scores of the same order on other scales: logits, probabilities near 1, and scores far from 0."""
    return [values, 1 / (1 + np.exp(-(values + 13))), values - 2e6, 1e-9 * values - 7, np.exp(values)]


@pytest.mark.parametrize("rule", ["pairwise", "argmax"])
@pytest.mark.parametrize("ties", ["excluded", "half", "against"])
def test_only_the_order_of_scores_counts(rule: Rule, ties: Ties) -> None:
    """Scores on any scale that keeps their order and their equality give the same comparisons and the same ties."""
    values = np.random.default_rng(3).normal(size=(300, 3)).round(2)
    cats = [cat(f"c{number}") for number in range(len(values))]
    results = [
        outcomes(
            cats, scores({record.id: tuple(row) for record, row in zip(cats, rows, strict=True)}), rule=rule, ties=ties
        )
        for rows in spread(values)
    ]
    for other in results[1:]:
        assert np.array_equal(results[0].counts, other.counts)
        assert np.array_equal(results[0].ties, other.ties)
        assert np.array_equal(results[0].prefers, other.prefers, equal_nan=True)
    assert 0 < results[0].ties[:, 0].sum() == (values[:, 0] == values[:, 1]).sum()


def test_a_paper_s_rule_compares_to_the_last_bit() -> None:
    """The released codes do not round: the higher score wins by any margin."""
    decisions = outcomes([cat("a")], scores({"a": (-7.0, -7.0 * (1 + 1e-7), -9.0)}), ties="against")
    assert decisions.counts.tolist() == [[2, 2, 1, 1]]


def test_the_best_of_three_with_a_tie_that_decides_one_measure() -> None:
    """If the meaningful candidates tie above the unrelated, lms is decided and ss is not; other ties decide nothing."""
    by_item = scores({"a": (2, 2, 1), "b": (2, 1, 2)})
    decisions = outcomes([cat("a"), cat("b")], by_item, rule="argmax")
    assert decisions.counts.tolist() == [[1, 1, 0, 0], [0, 0, 0, 0]]
    assert decisions.decided.tolist() == [[1, 0], [0, 0]]
