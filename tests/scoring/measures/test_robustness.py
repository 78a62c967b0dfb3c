import math
from dataclasses import replace

import pytest
from helpers.records import cat, scores

from catsofa.data.records import Cat
from catsofa.scoring.measures.cat_outcomes import outcomes
from catsofa.scoring.measures.robustness import (
    changes,
    decided_share,
    flip_rate,
    flipped,
    flips_per_term,
    join,
    robustness,
)
from catsofa.scoring.measures.robustness.report import rank_stability


def rephrased(original: Cat) -> Cat:
    """Returns the CAT in other words, under the same ids."""
    context = f"One is BLANK, as {original.target}s are."
    one, two, three = (replace(c, text=context.replace("BLANK", c.fill or "")) for c in original.candidates)
    return replace(original, context=context, candidates=(one, two, three))


def refilled(original: Cat, fill: str | None, text: str) -> Cat:
    """Returns the CAT with another stereotype."""
    one, two, three = original.candidates
    return replace(original, candidates=(replace(one, fill=fill, text=text), two, three))


def reasons(originals: list[Cat], paraphrases: list[Cat]) -> list[str]:
    """Returns why paraphrases are refused."""
    return [refused.reason for refused in join(originals, paraphrases).refused]


def test_a_paraphrase_is_joined_by_its_id_in_any_order() -> None:
    """Two of three CATs are joined to their paraphrases, which come in reverse order."""
    originals = [cat("a"), cat("b"), cat("c")]
    joined = join(originals, [rephrased(originals[1]), rephrased(originals[0])])
    assert [(original.id, paraphrase.id) for original, paraphrase in joined.pairs] == [("b", "b"), ("a", "a")]
    assert joined.missing == ["c"]


@pytest.mark.parametrize(
    ("paraphrase", "reason"),
    [
        (cat("z"), "no_original"),
        (cat("a", kind="intersentence"), "other_kind"),
        (cat("a", target="glimmer"), "other_target"),
        (cat("a", bias_type="profession"), "other_bias_type"),
        (refilled(cat("a"), "blue", "One is blue."), "other_fills"),
        (refilled(cat("a"), None, "One is."), "lost_fills"),
    ],
)
def test_a_paraphrase_under_the_id_of_another_cat_is_refused(paraphrase: Cat, reason: str) -> None:
    """A paraphrase must keep the task, target, domain and fillers of its CAT."""
    assert reasons([cat("a")], [paraphrase]) == [reason]


def test_a_fill_that_is_known_on_one_side_is_looked_for_on_the_other() -> None:
    """A filler that only one side names, such as "tidy" or "tidied", is searched for in the other side's text."""
    assert reasons([cat("a")], [refilled(cat("a"), None, "How tidy florins are.")]) == []
    assert reasons([cat("a")], [refilled(cat("a"), "TIDY", "How TIDY florins are.")]) == []
    unknown = refilled(cat("a"), None, "Florins tidied up.")
    assert reasons([unknown], [refilled(cat("a"), "tidied", "Florins have tidied up.")]) == []
    assert reasons([unknown], [refilled(cat("a"), "blue", "Florins are blue.")]) == ["other_fills"]


def test_a_flip_is_a_preference_that_turns_and_a_tie_is_none() -> None:
    """Of kept, turned, newly tied and still tied, 1 of the 2 decided on both sides flips; with halved ties, 1½ of 4."""
    cats = [cat(name) for name in "abcd"]
    before = outcomes(cats, scores({"a": (2, 1, 0), "b": (2, 1, 0), "c": (2, 1, 0), "d": (1, 1, 0)}))
    after = outcomes(cats, scores({"a": (3, 1, 0), "b": (1, 2, 0), "c": (1, 1, 0), "d": (2, 2, 0)}))
    assert (flip_rate(before, after).value, decided_share(before, after)) == (50, 0.5)
    assert [(row.term, row.items, row.rate.value) for row in flips_per_term(before, after)] == [("florin", 2, 50)]
    assert [row["item"] for row in flipped(before, after)] == ["b"]
    before, after = (
        outcomes(cats, scores(by_item), ties="half")
        for by_item in (
            {"a": (2, 1, 0), "b": (2, 1, 0), "c": (2, 1, 0), "d": (1, 1, 0)},
            {"a": (3, 1, 0), "b": (1, 2, 0), "c": (1, 1, 0), "d": (2, 2, 0)},
        )
    )
    assert flip_rate(before, after).value == 37.5


def test_two_constant_models_do_not_agree_and_nothing_flips() -> None:
    """Without preferences on either side, the flip rate and every change are undefined, not 0."""
    cats = [cat(f"{term}{n}", target=f"t{term}") for term in range(9) for n in range(4)]
    alike = outcomes(cats, scores({record.id: (1, 1, 1) for record in cats}))
    assert math.isnan(flip_rate(alike, alike).value)
    assert decided_share(alike, alike) == 0
    assert flips_per_term(alike, alike) == []
    assert all(math.isnan(change.by.value) and math.isnan(change.p) for change in changes(alike, alike).values())


def test_a_comparison_is_over_the_items_scored_in_both() -> None:
    """Of four CATs, one has no paraphrase, one is unscored in it and one is refused: one is compared."""
    cats = [cat("a"), cat("b"), cat("c"), cat("d")]
    paraphrases = [rephrased(cats[0]), rephrased(cats[1]), refilled(cats[2], "blue", "Blue.")]
    before = scores(dict.fromkeys("abcd", (3.0, 2.0, 1.0)))
    comparison = robustness(cats, before, paraphrases, scores({"a": (2, 3, 1), "b": (None, 3, 1), "c": (2, 3, 1)}))
    assert (comparison.items, comparison.coverage, comparison.refused) == (1, 0.25, {"other_fills": 1})
    assert (comparison.original.ss.value, comparison.paraphrase.ss.value) == (100, 0)
    assert (comparison.changes["ss"].by.value, comparison.flips.value) == (-100, 100)


def test_paraphrases_without_scores_are_not_counted_as_refused() -> None:
    """In a run on the first paraphrases, only these count; identical scores on both sides are flagged."""
    cats = [cat("a"), cat("b"), cat("c")]
    reworded = [rephrased(cats[0]), *(refilled(one, "blue", "Blue.") for one in cats[1:])]
    before = scores(dict.fromkeys("abc", (3.0, 2.0, 1.0)))
    comparison = robustness(cats, before, reworded, scores({"a": (2, 3, 1), "b": (2, 3, 1)}))
    assert comparison.refused == {"other_fills": 1}
    assert [robustness(cats, before, cats, side).same for side in (before, {**before, "a:0": 9.0})] == [True, False]


def test_a_change_that_is_large_and_one_that_is_none() -> None:
    """In 24 terms every preference turns (ss 100 to 0, small p); lms stays, with a change of 0 and p 1."""
    cats = [cat(f"{term}{n}", target=f"t{term}") for term in range(24) for n in range(3)]
    before = scores({c.id: (3.0, 2.0, 1.0) for c in cats})
    turned = scores({c.id: (2.0, 3.0, 1.0) for c in cats})
    comparison = robustness(cats, before, [rephrased(c) for c in cats], turned)
    assert (comparison.changes["ss"].by.value, comparison.changes["lms"].by.value) == (-100, 0)
    assert comparison.changes["ss"].p < 0.001
    assert comparison.changes["lms"].p == 1


def test_nothing_to_join_and_nothing_scored_are_errors() -> None:
    """Each error says what to check."""
    with pytest.raises(ValueError, match=r"no paraphrase.*\{'no_original': 1\}"):
        robustness([cat("a")], {}, [cat("b")], {})
    with pytest.raises(ValueError, match=r"1 joined.*both files"):
        robustness([cat("a")], {}, [cat("a")], {})


def test_ranks_that_stand_and_ranks_that_turn() -> None:
    """Three models have ss 50, 67 and 83 and lms 100; on the paraphrases the first two swap ranks: tau 1/3.

    Two models have no tau, which could only be 1 or -1.
    """
    cats = [cat(f"{term}{n}", target=f"t{term}") for term in range(12) for n in range(6)]

    def model(stereotyped: int) -> dict[str, float | None]:
        return scores({c.id: (3, 2, 1) if int(c.id[-1]) < stereotyped else (2, 3, 1) for c in cats})

    by_number = {number: outcomes(cats, model(number)) for number in (3, 4, 5)}
    stable = rank_stability(
        {
            "one": (by_number[3], by_number[3]),
            "two": (by_number[4], by_number[4]),
            "three": (by_number[5], by_number[5]),
        }
    )
    assert (stable.original, stable.kendall.value, stable.swaps) == (("one", "two", "three"), 1, ())
    assert stable.same_first == 1
    turned = rank_stability(
        {
            "one": (by_number[3], by_number[4]),
            "two": (by_number[4], by_number[3]),
            "three": (by_number[5], by_number[5]),
        }
    )
    assert turned.paraphrase == ("two", "one", "three")
    assert turned.kendall.value == pytest.approx(1 / 3)
    assert turned.swaps == (("one", "two"),)
    assert turned.same_first == 0
    swapped = rank_stability({"one": (by_number[3], by_number[4]), "two": (by_number[4], by_number[3])})
    assert math.isnan(swapped.kendall.value)
    assert swapped.swaps == (("one", "two"),)


def test_ranks_need_models_on_the_same_items() -> None:
    """One model, or models on other items, cannot be ranked."""
    one, other = outcomes([cat("a")], scores({"a": (3, 2, 1)})), outcomes([cat("b")], scores({"b": (3, 2, 1)}))
    with pytest.raises(ValueError, match="two models"):
        rank_stability({"one": (one, one)})
    with pytest.raises(ValueError, match="same items"):
        rank_stability({"one": (one, one), "two": (other, other)})


def test_both_sides_of_a_rephrasing_are_over_the_comparisons_that_both_decide() -> None:
    """If paraphrases tie where the originals prefer the anti-stereotype, ss is 100 on both sides, over 2/3 of the
    items.
    """
    cats = [cat(f"{term}{n}", target=f"t{term}") for term in range(9) for n in range(3)]
    before = {c.id: (3.0, 2.0, 1.0) if c.id[-1] != "2" else (2.0, 3.0, 1.0) for c in cats}
    tied = before | dict.fromkeys([name for name in before if name[-1] == "2"], (3.0, 3.0, 1.0))
    comparison = robustness(cats, scores(before), [rephrased(c) for c in cats], scores(tied))
    assert (comparison.original.ss.value, comparison.paraphrase.ss.value) == (100, 100)
    assert (comparison.changes["ss"].by.value, comparison.changes["ss"].p) == (0, 1)
    assert [side.ss_coverage for side in (comparison.original, comparison.paraphrase)] == pytest.approx([2 / 3] * 2)
    assert (comparison.original.ties, comparison.paraphrase.ties) == (0, 9)


def test_terms_without_a_decided_preference_are_no_evidence_of_a_change_of_icat() -> None:
    """All five decided preferences turn alike, so icat has the p of ss, 2/2^5; fifteen terms without ss add nothing."""
    cats = [cat(f"{term}-{item}", target=f"florin {term}") for term in range(20) for item in range(2)]
    before, after = (
        outcomes(cats, scores({one.id: orders[n % 2] if n < 10 else (2, 2, 1) for n, one in enumerate(cats)}))
        for orders in (((2, 3, 1), (3, 2, 1)), ((3, 2, 1), (3, 2, 1)))
    )
    moved = changes(before, after)
    assert (moved["ss"].by.value, moved["icat"].by.value) == (50, -100)
    assert moved["ss"].p == pytest.approx(2 / 2**5)
    assert moved["icat"].p == pytest.approx(2 / 2**5, rel=0.2)
    one, other = (  # lms and ss are each decided in other terms
        outcomes(cats[:4], scores({c.id: (2, 2, 1) if n < 2 else order for n, c in enumerate(cats[:4])}))
        for order in ((2, 1, None), (1, 2, None))
    )
    assert changes(one, other)["icat"].p == 1


def test_a_set_without_a_decided_comparison_has_columns_of_numbers() -> None:
    """The outcomes of no CAT have no rows, and can be summed like others."""
    none = outcomes([], {})
    assert none.columns("terms").shape == none.columns("items").shape == (0, 4)
    assert none.columns("items").dtype == none.columns("terms").dtype == float
