import pytest

from catsofa.builders import identities, probes, stereotypes
from catsofa.builders.languages import subject_rule
from catsofa.builders.stereotypes.dictionary_parsing import dictionary_parser
from catsofa.data.records import Identity, Probe, Refused, Statement, Stereotype, Term

GERMAN = [
    ("Schneider", "n", {"PLURAL": "Schneider"}, "Schneider"),
    ("Ärztin", "n", {"PLURAL": "Ärztinnen"}, "Ärztinnen"),
    ("dunkel", "adj", {}, "Dunkle Menschen"),
    ("sauer", "adj", {}, "Saure Menschen"),
    ("italienisch", "adj", {}, "Italienische Menschen"),
    ("mit Heuschnupfen", "pp", {}, "Menschen mit Heuschnupfen"),
]


@pytest.mark.parametrize(("word", "pos", "extra", "identity"), GERMAN)
def test_german_identities_by_a_lexicon_with_plurals(word: str, pos: str, extra: dict[str, str], identity: str) -> None:
    """The worked example of another language: adjectives inflect, nouns bring their plural."""
    (made,) = identities.build([Term(category="x", term=word, pos=pos, extra=extra, language="de")])
    assert isinstance(made, Identity)
    assert (made.identity, made.language) == (identity, "de")


STATEMENTS = [
    ("Schneider können nicht kochen.", "Schneider", "können nicht kochen"),
    ("Alle Schneider trinken gern Tee", "Schneider", "trinken gern Tee"),
    ("Sie wandern zu viel", "Schneider", "wandern zu viel"),
    ("waren immer müde", "", "!past_tense"),
    ("arbeiteten zu viel", "", "!past_tense"),
    ("ist immer müde", "", "!singular_verb"),
    ("Gegen Regen hilft nichts", "", "!no_verb"),
    ("mögen uns nicht", "", "!first_or_second_person"),
    ("mögen Schneider", "Schneider", "!names_target"),
]


@pytest.mark.parametrize(("statement", "target", "expected"), STATEMENTS)
def test_german_statements_by_closed_lists(statement: str, target: str, expected: str) -> None:
    """Capitals stay, since German nouns have them; a verb is refused rather than guessed."""
    (made,) = stereotypes.build([Statement(statement=statement, target=target, language="de")], dictionary_parser)
    assert (f"!{made.reason}" if isinstance(made, Refused) else made.text) == expected


def test_german_probes_read_as_german() -> None:
    """The grid knows no language."""
    (identity,) = identities.build([Term(category="x", term="blind", pos="adj", language="de")])
    (made,) = stereotypes.build([Statement(statement="kochen gut", category="x", language="de")], dictionary_parser)
    assert isinstance(identity, Identity)
    assert isinstance(made, Stereotype)
    (probe,) = probes.build([identity], [made])
    assert isinstance(probe, Probe)
    assert probe.text == "Blinde Menschen kochen gut"


def test_a_language_without_rules_is_named() -> None:
    """And where to add it."""
    with pytest.raises(ValueError, match=r"'tlh'; there are en, de \(see builders/languages/__init__.py\)"):
        subject_rule("tlh")
