from pathlib import Path

import pytest
from small_cats import cat, scores

from catsofa.data.formats import read_as
from catsofa.data.records import Cat
from catsofa.scoring.cat_outcomes import outcomes
from catsofa.scoring.comparison import compare
from catsofa.scoring.score_files import scores_of

CATS = [cat(f"{term}{n}", target=f"t{term}") for term in range(24) for n in range(3)]


def test_models_are_compared_with_the_first() -> None:
    """The second turns every preference, the third is the first: −100 and 0, disagreement 100 and 0."""
    one = outcomes(CATS, scores({c.id: (3.0, 2.0, 1.0) for c in CATS}))
    other = outcomes(CATS, scores({c.id: (2.0, 3.0, 1.0) for c in CATS}))
    found = compare({"one": one, "other": other, "same": one})
    ss = {d.model: d for d in found.differences if d.measure == "ss"}
    assert [ss[name].change.by.value for name in ("other", "same")] == [-100, 0]
    assert (ss["other"].first, ss["other"].other) == (100, 0)
    assert {name: of.value for name, of in found.disagreement.items()} == {"other": 100, "same": 0}
    assert ss["other"].holm == pytest.approx(6 * ss["other"].change.p)
    assert ss["same"].holm == 1


def test_models_are_compared_over_the_items_that_all_scored() -> None:
    """One candidate unscored by one model: that CAT leaves, and the coverage says so."""
    given = scores({c.id: (3.0, 2.0, 1.0) for c in CATS})
    found = compare({"one": outcomes(CATS, given), "other": outcomes(CATS, given | {"00/unrelated": None})})
    assert (found.items, found.coverage) == (71, 71 / 72)


def test_a_comparison_needs_two_models_and_the_same_cats() -> None:
    """One model, other CATs, no item in common: each an error."""
    one, other = outcomes([cat("a")], scores({"a": (3, 2, 1)})), outcomes([cat("b")], scores({"b": (3, 2, 1)}))
    with pytest.raises(ValueError, match="two models or more"):
        compare({"one": one})
    with pytest.raises(ValueError, match="the same CATs"):
        compare({"one": one, "other": other})
    with pytest.raises(ValueError, match="none of the 1 CATs is scored by every model"):
        compare({"one": one, "other": outcomes([cat("a")], {})})


def test_gpt2_large_is_a_better_model_and_more_stereotyping(shared: Path) -> None:
    """On StereoSet dev, released scores: lms +5.3, ss +4.8 and icat −4.1, all beyond chance after Holm."""
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
