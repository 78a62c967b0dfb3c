import math
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.records import cat, scores

from catsofa.data.formats import read_as
from catsofa.data.records import Candidate, Cat
from catsofa.scoring.compare.baselines import smoothed
from catsofa.scoring.compare.controls import attribute_only, frequency_gap, target_swapped
from catsofa.scoring.measures.robustness import join, robustness


def after(context: str) -> Cat:
    """Returns an intersentence CAT about a baker."""
    texts = {"stereotype": "He rose early.", "anti-stereotype": "He rose late.", "unrelated": "Ink is blue."}
    one, two, three = (Candidate(id=label, label=label, text=text) for label, text in texts.items())
    return Cat(
        id="n",
        kind="intersentence",
        bias_type="profession",
        target="baker",
        context=context,
        candidates=(one, two, three),
    )


def test_without_context_the_words_filled_in_stand_alone() -> None:
    """Ids stay, the context is BLANK alone, and candidates are their fills, or the sentence that followed."""
    (plain, follows), refused = attribute_only([cat("a"), after("A baker came.")])
    assert (plain.id, plain.context, [c.text for c in plain.candidates]) == (
        "a",
        "BLANK",
        ["tidy", "untidy", "seventeen"],
    )
    assert plain.candidates[0].id == "a/stereotype"
    assert (follows.kind, follows.candidates[0].fill) == ("intrasentence", "He rose early.")
    assert refused == []


def test_an_unknown_fill_cannot_stand_alone() -> None:
    """A CAT with an unknown fill is refused with the reason."""
    unknown = cat("a")
    one, two, three = (Candidate(id=c.id, label=c.label, text=c.text) for c in unknown.candidates)
    broken = Cat(
        id="a", kind="intrasentence", bias_type="p", target="florin", context="BLANKed", candidates=(one, two, three)
    )
    assert [refused.reason for refused in attribute_only([broken])[1]] == ["fill_unknown"]


def test_a_target_gives_way_to_one_with_the_same_article() -> None:
    """The article follows the sound: a unizorb may become a florin, but not an elmling."""
    cats = [cat("a", target="unizorb"), cat("b", target="elmling"), cat("c")]
    swapped, refused = target_swapped(cats)
    assert [c.extra["swapped_for"] for c in swapped] == ["florin", "unizorb"]
    assert [(r.id, r.reason) for r in refused] == [("b", "no_other_target")]


def test_another_target_of_the_domain_takes_the_place() -> None:
    """Context and sentences name the other target; the ids, the counted target and the fills stay."""
    cats = [cat("a"), cat("b", target="glimmer"), cat("c", target="elm", bias_type="trees")]
    swapped, refused = target_swapped(cats)
    assert [(c.id, c.target, c.context) for c in swapped] == [
        ("a", "florin", "Every glimmer is BLANK."),
        ("b", "glimmer", "Every florin is BLANK."),
    ]
    assert swapped[0].candidates[0].text == "Every glimmer is tidy."
    assert swapped[0].extra["swapped_for"] == "glimmer"
    assert [(one.id, one.reason) for one in refused] == [("c", "no_other_target")]


def test_the_article_before_the_target_stays_right() -> None:
    """A target after "an" is replaced by one with a vowel, or the CAT is refused."""
    cats = [cat("a", target="elf"), cat("b", target="florin"), cat("c", target="imp")]
    swapped, refused = target_swapped(cats)
    assert [c.context for c in swapped] == ["Every imp is BLANK.", "Every elf is BLANK."]
    assert [one.id for one in refused] == ["b"]


def test_a_capital_opens_the_sentence_and_parts_of_words_are_left_alone() -> None:
    """At the start "Baker" becomes "Tailor"; "bakery" does not change; a CAT without its target is refused."""
    other = cat("a", target="tailor", bias_type="profession")
    swapped, _ = target_swapped([after("Baker by trade, he ran a bakery as a baker can."), other])
    assert swapped[0].context == "Tailor by trade, he ran a bakery as a tailor can."
    refused = target_swapped([after("He ran a bakery."), other])[1]
    assert [(one.id, one.reason) for one in refused] == [("n", "target_not_in_context")]


def test_a_plural_gives_way_to_a_plural_that_somebody_uses() -> None:
    """The plural "Bakers" becomes "Tailors", which occurs in the data; "Roadses" does not occur, so it is not used."""
    bakers, roads = after("Bakers came with a baker."), cat("b", target="roads", bias_type="profession")
    refused = target_swapped([bakers, roads])[1]
    assert [(one.id, one.reason) for one in refused] == [("n", "no_other_target")]
    tailors = replace(after("The tailors left."), target="tailor", id="t")
    swapped, refused = target_swapped([bakers, roads, tailors])
    assert [one.context for one in swapped if one.id in "nt"] == ["Tailors came with a tailor.", "The bakers left."]
    assert refused == []


def test_a_control_is_compared_as_a_paraphrase_is() -> None:
    """The context decides one preference of two, so half of them flip without it."""
    cats = [cat("a"), cat("b", target="glimmer")]
    full = scores({"a": (3, 2, 1), "b": (3, 2, 1)})
    alone = scores({"a": (3, 2, 1), "b": (2, 3, 1)})
    assert robustness(cats, full, cats, alone).flips.value == 50


def test_every_control_can_be_joined_with_its_cat() -> None:
    """Each control joins its CAT, also a following sentence that is now scored as another task."""
    cats = [cat("a"), cat("b", target="glimmer"), after("A baker came.")]
    for controls in (attribute_only(cats)[0], target_swapped(cats)[0]):
        assert [control.id for _, control in join(cats, controls).pairs] == [control.id for control in controls]


def test_the_frequency_gap_by_hand() -> None:
    """Tidy 7 times and untidy once give log 8/2 = 1.386 nats, and the stereotype is always the more frequent word."""
    result = frequency_gap([cat("a"), cat("b", target="glimmer")], smoothed({"tidy": 7, "untidy": 1}))
    assert result.gap.value == pytest.approx(math.log(4))
    assert (result.more_frequent.value, result.items) == (100, 2)
    alike = frequency_gap([cat("a")], lambda word: 0.0)
    assert math.isnan(alike.more_frequent.value)
    assert alike.ties == 1, "words as frequent as one another are no preference"


def test_no_words_to_compare_is_an_error() -> None:
    """An empty list of CATs is an error."""
    with pytest.raises(ValueError, match=r"no CAT.*frequency"):
        frequency_gap([], lambda word: 0.0)


def test_stereosets_words_have_no_frequency_gap(shared: Path) -> None:
    """On the development set with wordfreq, the interval of the gap contains 0 and that of the share contains 50."""
    from wordfreq import word_frequency

    cats = [c for c in read_as(shared / "data/stereoset/dev.json", Cat) if c.kind == "intrasentence"]
    result = frequency_gap(cats, lambda word: math.log(word_frequency(word, "en", minimum=1e-9)))
    assert result.items == 2106
    assert 0 in result.gap
    assert 50 in result.more_frequent


def test_controls_of_stereoset(shared: Path) -> None:
    """4,226 of 4,229 CATs can lose their context, and 4,217 can have another target; the rest have a reason.

    The twelve CATs without another target name theirs by another word (Ethiopian, Sierra Leone, gentlement).
    """
    cats = list(read_as(shared / "data/stereoset/dev.json", Cat))
    alone, unknown = attribute_only(cats)
    swapped, unnamed = target_swapped(cats)
    assert (len(alone), len(unknown)) == (4226, 3)
    assert (len(swapped), len(unnamed)) == (4217, 12)
    assert {one.reason for one in unnamed} == {"target_not_in_context"}
