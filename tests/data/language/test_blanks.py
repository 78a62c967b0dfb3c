import json
from pathlib import Path

import pytest

from catsofa.data.language.articles import article
from catsofa.data.language.blanks import check, fill, fill_of, slots


@pytest.mark.parametrize(
    ("context", "sentence", "words"),
    [
        ("The baker is BLANK.", "The baker is tired.", "tired"),
        ("the baker is BLANK", "The Baker is very tired of bread.", "very tired of bread"),
        ("The baker is BLANK.", "The baker is tired", "tired"),
        ("The baker is BLANK", "The baker is tired!", "tired"),
        ("The  baker is BLANK , mostly.", "The baker is tired , mostly", "tired"),
        ("BLANK bakers sing.", "Tired bakers sing.", "Tired"),
        ('They call the baker "BLANK".', 'They call the baker "tired".', "tired"),
        ("The baker moved to the BLANK", "The baker moved to the U.S.", "U.S."),
        ("The baker sold sometimes.BLANK", "The baker sold sometimes.bread", "bread"),
        ("A BLANK-aged baker sang.", "A middle-aged baker sang.", "middle"),
    ],
)
def test_the_fill_is_what_stands_in_place_of_the_blank(context: str, sentence: str, words: str) -> None:
    """Case, spacing and closing punctuation may differ, as in the released files. The fill is complete."""
    assert fill_of(context, sentence) == words


@pytest.mark.parametrize(
    ("context", "sentence"),
    [
        ("The baker BLANKed the bread.", "The baker toasted the bread."),
        ("Bakers live in BLANKS.", "Bakers live in houses."),
        ("The baker is BLANK and says BLANK.", "The baker is tired and says tired."),
        ("The baker is BLANK and not Blank", "The baker is tired and not tired"),
        ("The baker is BLANK.", "A baker is tired."),
        ("The baker is BLANK today.", "The baker is tired tonight."),
        ("The baker is tired.", "The baker is tired."),
        ("The baker is BLANK.", "The baker is ."),
        ("The baker is BLANK.", "The baker is very  tired."),
        ("", "The baker is tired."),
    ],
)
def test_a_fill_that_would_be_a_guess_is_none(context: str, sentence: str) -> None:
    """Letters joined to the BLANK, two BLANKs, another sentence, an empty fill or an ambiguous one give no fill."""
    assert fill_of(context, sentence) is None


def test_every_released_sentence_that_can_have_a_fill_has_the_word_at_the_blank(shared: Path) -> None:
    """The released code takes the word at BLANK's position; where the fill is one word, both agree.

    Without a fill are 3 of 2,106 clusters in dev (2 with two BLANKs, one with letters after it) and 9 of 6,391 in test.
    """
    for name, without in (("dev", 3), ("test_intrasentence", 9)):
        clusters = json.loads((shared / f"data/stereoset/{name}.json").read_text())["data"]["intrasentence"]
        filled = [
            (cluster["context"], sentence["sentence"], fill_of(cluster["context"], sentence["sentence"]))
            for cluster in clusters
            for sentence in cluster["sentences"]
        ]
        assert sum(words is None for _, _, words in filled) == 3 * without
        for context, sentence, words in filled:
            if words and "BLANK" in context.split():
                assert sentence.split()[context.split().index("BLANK")].strip(".!?,;") == words.strip(".!?,;")


def test_the_article_before_the_blank_may_follow_the_fill() -> None:
    """The article before the BLANK may change with the fill, as in "an honest answer" and "a kind answer"."""
    assert fill_of("She gave a BLANK answer.", "She gave an honest answer.") == "honest"
    assert fill_of("She gave an BLANK answer.", "She gave a kind answer.") == "kind"
    assert fill_of("A BLANK baker sang.", "An old baker sang.") == "old"
    assert fill_of("She gave the BLANK answer.", "She gave an honest answer.") is None


FILLS = [
    ("The tailor is a BLANK person.", "arrogant", "The tailor is an arrogant person."),
    ("He met an BLANK tailor.", "humble", "He met a humble tailor."),
    ("A BLANK tailor works here.", "honest", "An honest tailor works here."),
    ("BLANK tailors are rare.", "honest", "Honest tailors are rare."),
    ("[BLANK] is the manager.", "she", "She is the manager."),
    ("The tailor was BLANK.", "Italian", "The tailor was Italian."),
    ("a BLANK student", "European", "a European student"),
    ("an BLANK student", "8-year-old", "an 8-year-old student"),
    ("a BLANK engineer", "MIT", "an MIT engineer"),
    ("a BLANK hour", "long", "a long hour"),
    ("a [BLANK] nurse", "hourly", "an hourly nurse"),
    ('He said: "BLANK people lie."', "old", 'He said: "Old people lie."'),
    ("It ended. BLANK people left.", "old", "It ended. Old people left."),
    ("the BLANK-minded boss", "open", "the open-minded boss"),
    # not in the design's list
    ('He is the so-called "BLANK" one.', "odd", 'He is the so-called "odd" one.'),
    ('They call him, "BLANK", a fool.', "odd", 'They call him, "odd", a fool.'),
    ("Mr. BLANK is here.", "Brown", "Mr. Brown is here."),
    ("Dr. BLANK people came.", "old", "Dr. old people came."),
    ("He was... BLANK", "late", "He was... late"),
    ('A "BLANK" tailor', "odd", 'An "odd" tailor'),
    ("He took vitamin A BLANK times.", "eight", "He took vitamin A eight times."),
    ("BLANK-minded bosses", "open", "Open-minded bosses"),
    ("  BLANK", " many   words ", "  Many words"),
    ("It was a BLANK.", "iPhone", "It was an iPhone."),
]


@pytest.mark.parametrize(("context", "words", "filled"), FILLS)
def test_a_fill_changes_the_article_and_the_capital_and_nothing_else(context: str, words: str, filled: str) -> None:
    """The fills of design/linguistics 5.2 and further cases of its rules are correct."""
    assert fill(context, words) == filled


FAULTS = [
    ("no slot", "no_blank"),
    ("the blank page", "no_blank"),
    ("", "no_blank"),
    ("BLANK and BLANK", "several_blanks"),
    ("[BLANK] and BLANK", "several_blanks"),
    ("He is BLANKing.", "glued_blank"),
    ("[BLANK]ness", "glued_blank"),
    ("sometimesBLANK", "glued_blank"),
    ("It is _____.", "malformed_blank"),
    ("<BLANK>", "malformed_blank"),
    ("[blank] is here", "malformed_blank"),
    ("He is [BLANK", "malformed_blank"),
]


@pytest.mark.parametrize(("context", "fault"), FAULTS)
def test_a_context_has_exactly_one_free_standing_blank(context: str, fault: str) -> None:
    """Every other form has a named fault and cannot be filled."""
    assert check(context) == fault
    with pytest.raises(ValueError, match="BLANK"):
        fill(context, "late")


def test_empty_words_are_refused() -> None:
    """A BLANK cannot be filled with empty words."""
    with pytest.raises(ValueError, match="no words"):
        fill("He is BLANK.", "  ")


def test_slots_are_spans_of_the_context() -> None:
    """A slot's span includes the brackets."""
    context = "a [BLANK] and BLANK"
    assert [context[start:end] for start, end in slots(context)] == ["[BLANK]", "BLANK"]


AN = """honest hour heir honorable hourly herbal herb MIT SUV FBI MRI HIV LED NBA NFL IRS RAF SOS EU X-ray F-16
8-year-old 80 FAQ 800 8th 11 11th 18 18-year-old 11,000 1800s LGBT LGBTQ+ L-shaped umpire unimportant uninteresting
Italian eleven unassuming unemployed ugly unkind NGO SAT heirless uneducated"""
A = """European Ukrainian unique university useful one-eyed once-famous united unionised ubiquitous euphoric eulogy
usual UFO UK US USA UN historic humble NASA NATO FIFA 1 10 110 100 1,100 7 unanimous uniform
U-turn ouija Uighur Eurasian utilitarian UNESCO Eucharistic unit yearly youthful year-old Ugandan"""


def test_the_article_follows_the_sound() -> None:
    """Silent h, letters read aloud, eights and elevens take "an"; a spoken y or w takes "a"."""
    assert [w for w in AN.split() if article(w) != "an"] == []
    assert [w for w in A.split() if article(w) != "a"] == []
