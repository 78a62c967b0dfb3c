"""Tests lint rules for sentences: blanks, contexts, spelling, changes between two sentences, and negation."""

import pytest
from helpers.lint_findings import fixes, found, messages
from helpers.records import a_cat, a_pair

from catsofa.validation.lint.contrast import changes


@pytest.mark.parametrize(
    ("context", "says"),
    [
        ("The zorb was BLANK.", []),
        ("The zorb was BLANK and BLANK.", ["the context has 2 BLANKs instead of 1"]),
    ],
)
def test_l1_wants_one_blank(context: str, says: list[str]) -> None:
    """An intrasentence context has exactly one BLANK."""
    assert messages("L1", a_cat(context)) == says


def test_l1_wants_no_blank_in_an_intersentence_context() -> None:
    """An intersentence context has no BLANK, because the next sentence fills none."""
    cat = a_cat("The zorb came in BLANK.", "He was late.", "He was early.", "Roses grow.", sentences=True)
    moved = a_cat("The zorb came in.", "He was late.", "He was early.", "Roses grow.")
    assert not messages("L1", cat, moved)
    other = type(cat)(
        **{f: getattr(cat, f) for f in ("bias_type", "target", "context", "candidates")}, kind="intersentence"
    )
    assert messages("L1", other) == ["the context has 1 BLANK instead of none"]


@pytest.mark.parametrize(
    ("context", "severity", "fix"),
    [
        ("The zorb BLANKed the gate.", "error", ""),
        ("Zorbs are known.BLANK", "error", "Zorbs are known. BLANK"),
        ("A zorb is BLANK.so they say", "error", "A zorb is BLANK. so they say"),
        ("BLANK zorbs sing.", "info", ""),
        ("It rained. BLANK zorbs sang.", "info", ""),
        ('The zorb said "BLANK".', None, ""),
        ("The zorb's BLANK's roses.", "error", ""),
    ],
)
def test_l2_wants_room_around_the_blank(context: str, severity: str | None, fix: str) -> None:
    """Letters at the BLANK have no fix, a missing space has one, and a BLANK at the start of a sentence is an info
    finding."""
    findings = found("L2", a_cat(context))
    if context.endswith("BLANK's roses."):
        assert not findings
    else:
        assert [(f.severity, f.fix) for f in findings] == ([(severity, fix)] if severity else [])


def test_l3_wants_the_sentences_to_be_the_filled_context() -> None:
    """Lost capitals are one finding whose fix has the context's spelling; a different sentence is an error."""
    lost = a_cat(
        "The Zorb was BLANK.", "The zorb was late.", "The zorb was early.", "The zorb was red.", sentences=True
    )
    assert messages("L3", lost) == ["3 of 3 sentences differ from their filled context in case"]
    assert fixes("L3", lost) == ["The Zorb was late."]
    other = a_cat("The zorb was BLANK.", "late", "A florin was early.", "red", sentences=True)
    assert {f.severity for f in found("L3", other)} == {"error"}
    spaced = a_cat(
        "The zorb was  BLANK.", "The zorb was late.", "The zorb was  early.", "The zorb was  red.", sentences=True
    )
    assert messages("L3", spaced) == ["1 of 3 sentences differ from their filled context in spacing or punctuation"]
    assert not found(
        "L3",
        a_cat("He is a BLANK.", "He is an actor.", "He is a baker.", "He is an hour.", sentences=True),
        a_cat(),
        a_cat("the zorb was BLANK.", "The zorb was x.", "The zorb was y.", "The zorb was z.", sentences=True),
    )


@pytest.mark.parametrize(
    ("target", "context", "named"),
    [
        ("zorb", "The zorbs were BLANK.", True),
        ("zorb", "The zorb's house was BLANK.", True),
        ("zorb", "The stranger was BLANK.", False),
        ("Norway", "Norwegian people are BLANK.", True),
        ("gentleman", "The gentlemen were BLANK.", True),
        ("lady", "Both ladies were BLANK.", True),
        ("chess player", "A chess-player is BLANK.", True),
        ("chess player", "A player of chess is BLANK.", False),
    ],
)
def test_l4_wants_the_target_named(target: str, context: str, named: bool) -> None:
    """The target may occur in the singular, plural or possessive, or as the name of its country or people."""
    assert bool(found("L4", a_cat(context, target=target))) is not named


@pytest.mark.parametrize(
    ("text", "fix"),
    [
        ("The zorb is a honest baker.", "The zorb is an honest baker."),
        ("An zorb is late.", "A zorb is late."),
        ("It is an university, a hour away.", "It is a university, an hour away."),
        ("The the zorb is late.", "The zorb is late."),
        ("A European zorb, an MBA and a herb.", None),
        ("We hired a/an honest zorb.", None),
        ("He had had enough.", None),
    ],
)
def test_l6_mends_articles_and_doubled_words(text: str, fix: str | None) -> None:
    """The article follows the sound. If both are possible, or neither is meant, there is no finding."""
    assert fixes("L6", a_pair(text, "x")) == ([fix] if fix else [])


def test_l6_hears_disagreement() -> None:
    """A pronoun with the wrong verb form is a finding, except where another word requires that form."""
    assert messages("L6", a_pair("They is late.", "She don't sing.")) == [
        "'They is' does not agree",
        '"She don\'t" does not agree',
    ]
    assert not found("L6", a_pair("If she were late, who would wait?", "I saw him and they do too."))


def test_l6_spells_with_frequencies() -> None:
    """A rare lower-case word is unknown; names and possessives are ignored."""
    common = {"the", "zorb", "is", "very", "lazy"}
    says = messages(
        "L6", a_pair("The zorb's very lasy. Qwxz!", "The zorb is lazy."), frequency=lambda w: 5.0 * (w in common)
    )
    assert says == ["unknown words: lasy"]


@pytest.mark.parametrize(
    ("more", "less", "expected"),
    [
        ("Zorbs are late.", "Florins are late.", [("zorbs", "florins")]),
        ("Zorbs are late.", "Florins are not late.", [("zorbs", "florins"), ("", "not")]),
        ("A zorb is late.", "An elf is late.", [("a zorb", "an elf")]),
        ("Jon lost his hat, he said.", "Ann lost her hat, she said.", [("jon", "ann")]),
        ("The king loved his wife.", "The queen loved her husband.", [("king", "queen")]),
        ("Zorbs like zorbs.", "Elves like elves.", [("zorbs", "elves")]),
        ("Zorbs follow elves.", "Elves follow zorbs.", [("zorbs", "elves")]),
        ("A zorb smells of perfumes.", "A florin smells of perfume.", [("zorb", "florin")]),
        ("Zorbs are late.", "zorbs are late!", []),
    ],
)
def test_a_change_is_counted_once(more: str, less: str, expected: list[tuple[str, str]]) -> None:
    """A repeated change, an exchange, an agreeing pronoun and another form of a word are no second change."""
    assert changes(a_pair(more, less)) == expected
    assert bool(found("L7", a_pair(more, less))) == (len(expected) > 1)


def test_l5_compares_lengths() -> None:
    """Fills may differ by two words; a next sentence may be twice as long."""
    assert not found("L5", a_cat(stereotype="late", anti="early in the"))
    assert messages("L5", a_cat(stereotype="late", anti="early in the morning")) == ["the options have 1 and 4 words"]
    short, long = "He was late today.", "He came so early that nobody else had come."
    assert messages("L5", a_cat("The zorb came.", short, long, "Roses grow.")) == ["the options have 4 and 9 words"]
    assert not found("L5", a_cat("The zorb came.", short, "He came early to us today.", "Roses grow."))
    assert found("L5", a_pair("Zorbs are late.", "People who come from Florin are late."))


@pytest.mark.parametrize(
    ("stereotype", "anti", "severity"),
    [
        ("Zorbs bake bread.", "Zorbs do not bake bread.", "warning"),
        ("Zorbs can't bake.", "Zorbs can bake.", "warning"),
        ("He is never late.", "He is late.", "warning"),
        ("Zorbs bake bread.", "Zorbs burn bread.", None),
        ("Zorbs do not bake.", "Zorbs never bake.", None),
    ],
)
def test_l8_finds_mere_negation(stereotype: str, anti: str, severity: str | None) -> None:
    """The same words with and without "not" are a finding; a lexical opposite is not."""
    findings = found("L8", a_cat("There they are.", stereotype, anti, "Roses grow."))
    assert [f.severity for f in findings] == ([severity] if severity else [])
    assert bool(found("L8", a_pair(stereotype, anti))) is bool(severity)


def test_l8_tells_of_negating_prefixes() -> None:
    """`unkind` for `kind` is an info finding."""
    assert [f.severity for f in found("L8", a_cat(stereotype="unkind", anti="kind"))] == ["info"]
