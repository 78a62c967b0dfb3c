import pytest

from catsofa.data.language.articles import article
from catsofa.data.language.contexts import check, fill, slots

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
    # beyond the design's list
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
    """The fills of design/linguistics 5.2, and the cases beside them that the rules invite."""
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
    """Every other shape is a named fault, and filling it is refused."""
    assert check(context) == fault
    with pytest.raises(ValueError, match="BLANK"):
        fill(context, "late")


def test_empty_words_are_refused() -> None:
    """A BLANK filled with nothing is another sentence."""
    with pytest.raises(ValueError, match="no words"):
        fill("He is BLANK.", "  ")


def test_slots_are_spans_of_the_context() -> None:
    """The span covers the brackets, so that cutting it out leaves clean text."""
    context = "a [BLANK] and BLANK"
    assert [context[start:end] for start, end in slots(context)] == ["[BLANK]", "BLANK"]


AN = """honest hour heir honorable hourly herbal herb MIT SUV FBI MRI HIV LED NBA NFL IRS RAF SOS EU X-ray F-16
8-year-old 80 FAQ 800 8th 11 11th 18 18-year-old 11,000 1800s LGBT LGBTQ+ L-shaped umpire unimportant uninteresting
Italian eleven unassuming unemployed ugly unkind NGO SAT heirless uneducated"""
A = """European Ukrainian unique university useful one-eyed once-famous united unionised ubiquitous euphoric eulogy
usual UFO UK US USA UN historic humble NASA NATO FIFA 1 10 110 100 1,100 7 unanimous uniform
U-turn ouija Uighur Eurasian utilitarian UNESCO Eucharistic unit yearly youthful year-old Ugandan"""


def test_the_article_follows_the_sound() -> None:
    """Silent h, said letters, eights and elevens take an; a said y or w takes a."""
    assert [w for w in AN.split() if article(w) != "an"] == []
    assert [w for w in A.split() if article(w) != "a"] == []
