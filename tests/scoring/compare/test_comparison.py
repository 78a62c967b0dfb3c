from pathlib import Path

import pytest
from helpers.records import cat, scores

from catsofa.data.formats import read_as
from catsofa.data.records import Cat
from catsofa.scoring.choices import Ties
from catsofa.scoring.compare import compare
from catsofa.scoring.measures.cat_outcomes import outcomes
from catsofa.scoring.run.score_files import scores_of

CATS = [cat(f"{term}{n}", target=f"t{term}") for term in range(24) for n in range(3)]


def test_models_are_compared_with_the_first() -> None:
    """The second model reverses every preference, the third is the first: −100 and 0, disagreement 100 and 0."""
    one = outcomes(CATS, scores({c.id: (3.0, 2.0, 1.0) for c in CATS}))
    other = outcomes(CATS, scores({c.id: (2.0, 3.0, 1.0) for c in CATS}))
    comparison = compare({"one": one, "other": other, "same": one})
    ss = {d.model: d for d in comparison.differences if d.measure == "ss"}
    assert [ss[name].change.by.value for name in ("other", "same")] == [-100, 0]
    assert (ss["other"].first, ss["other"].other) == (100, 0)
    assert {name: share.value for name, share in comparison.disagreement.items()} == {"other": 100, "same": 0}
    assert ss["other"].holm == pytest.approx(6 * ss["other"].change.p)
    assert ss["same"].holm == 1


def test_models_are_compared_over_the_items_that_all_scored() -> None:
    """A CAT with a candidate that one model leaves unscored is left out, and the coverage shows it."""
    values = scores({c.id: (3.0, 2.0, 1.0) for c in CATS})
    comparison = compare({"one": outcomes(CATS, values), "other": outcomes(CATS, values | {"00/unrelated": None})})
    assert (comparison.items, comparison.coverage) == (71, 71 / 72)


def test_a_comparison_needs_two_models_and_the_same_cats() -> None:
    """One model alone, other CATs, and no common item are errors."""
    one, other = outcomes([cat("a")], scores({"a": (3, 2, 1)})), outcomes([cat("b")], scores({"b": (3, 2, 1)}))
    with pytest.raises(ValueError, match="two models"):
        compare({"one": one})
    with pytest.raises(ValueError, match="same CATs"):
        compare({"one": one, "other": other})
    with pytest.raises(ValueError, match=r"1 CATs.*every model"):
        compare({"one": one, "other": outcomes([cat("a")], {})})


def test_gpt2_large_is_a_better_model_and_more_stereotyping(shared: Path) -> None:
    """On StereoSet dev with released scores: lms +5.3, ss +4.8 and icat −4.1, all significant after Holm."""
    cats = list(read_as(shared / "data/stereoset/dev.json", Cat))
    folder = shared / "data/stereoset/released_predictions"
    found = compare(
        {
            name: outcomes(cats, scores_of(folder / f"predictions_{name}_ModelNSP_GPT2LM.json"), ties="against")
            for name in ("gpt2", "gpt2-large")
        }
    )
    assert {d.measure: round(d.change.by.value, 1) for d in found.differences} == {"lms": 5.3, "ss": 4.8, "icat": -4.1}
    assert all(d.holm < 0.05 and 0 not in d.change.by for d in found.differences)


def test_a_change_is_over_the_comparisons_that_both_decide() -> None:
    """The other model equals the first, but ties where the first prefers the anti-stereotype; 24 terms of 3 CATs.

    By hand: of three preferences a term, two are for the stereotype, and the other model decides only these two. Over
    them ss is 100 for both models: the change is 0, p 1, on 2/3 of the items. The lms of the other model loses the
    first CAT of a term, whose anti-stereotype ties with the unrelated candidate.
    """
    values = {c.id: (3.0, 2.0, 1.0) if c.id[-1] != "2" else (2.0, 3.0, 1.0) for c in CATS}
    tied = values | dict.fromkeys([name for name in values if name[-1] == "2"], (3.0, 3.0, 1.0))
    tied |= dict.fromkeys([name for name in values if name[-1] == "0"], (3.0, 1.0, 1.0))
    one, other = outcomes(CATS, scores(values)), outcomes(CATS, scores(tied))
    for sides in ((one, other), (other, one)):
        gains = {d.measure: d for d in compare(dict(zip("ab", sides, strict=True))).differences}
        assert [(gains[name].change.by.value, gains[name].change.p) for name in ("lms", "ss", "icat")] == [(0, 1)] * 3
        assert (gains["ss"].first, gains["ss"].other) == (100, 100)
        assert [gains[name].decided for name in ("lms", "ss", "icat")] == pytest.approx([2 / 3, 2 / 3, 1 / 3])


@pytest.mark.parametrize("ties", ["half", "against"])
def test_where_ties_count_nothing_is_left_out(ties: Ties) -> None:
    """If ties count as half or as lost, 2.5 or 2 of three are for the stereotype, and all items count."""
    values = {c.id: (3.0, 2.0, 1.0) if c.id[-1] != "2" else (2.0, 3.0, 1.0) for c in CATS}
    tied = values | dict.fromkeys([name for name in values if name[-1] == "2"], (3.0, 3.0, 1.0))
    models = {name: outcomes(CATS, scores(triples), ties=ties) for name, triples in (("a", values), ("b", tied))}
    (ss,) = (d for d in compare(models).differences if d.measure == "ss")
    assert (ss.first, ss.other, ss.decided) == pytest.approx((200 / 3, 250 / 3 if ties == "half" else 200 / 3, 1))


def test_a_model_at_chance_is_named_beside_the_comparison() -> None:
    """A warning names a model whose lms of 50 may be chance, as in `score`; for the best of three, chance is 66.7."""
    one = scores({c.id: (3.0, 2.0, 1.0) for c in CATS})
    other = scores({c.id: (3.0, 1.0, 2.0) if n % 2 else (2.0, 3.0, 4.0) for n, c in enumerate(CATS)})
    sides = {name: outcomes(CATS, values) for name, values in {"one": one, "guesses": other}.items()}
    (warning,) = (line for line in compare(sides, resamples=100).warnings if "chance" in line)
    assert warning.startswith("guesses, intrasentence: lms 2")
    sides = {name: outcomes(CATS, values, rule="argmax") for name, values in {"one": one, "guesses": other}.items()}
    (warning,) = (line for line in compare(sides, rule="argmax", resamples=100).warnings if "chance" in line)
    assert "(66.7)" in warning
