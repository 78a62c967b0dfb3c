"""Tests what a language's folder defines: names of groups, words that separate texts, near-duplicates."""

import pytest

from catsofa.data.language.near_duplicates import near_duplicates
from catsofa.data.language.same_meaning import core
from catsofa.data.languages.texts import agree, language_of, most_spoken, names, names_of, set_apart, tokens
from catsofa.data.records import Probe, Term


@pytest.mark.parametrize(
    ("text", "term", "code", "named"),
    [
        ("Los jueces cantan.", "juez", "es", True),
        ("Los juegos cantan.", "juez", "es", False),
        ("Man hilft den Bäckern gern.", "Bäcker", "de", True),
        ("L'avocat chante.", "avocat", "fr", True),
        ("隔壁的医生很高", "医生", "zh", True),
        ("隔壁的老师很高", "医生", "zh", False),
        ("Tailors sing.", "tailor", "en", True),
    ],
)
def test_a_group_is_named_in_a_form_of_its_language(text: str, term: str, code: str, named: bool) -> None:
    """Number, gender and case come from the tables. In scripts without spaces, a name may occur anywhere."""
    assert names(text, term, code) is named


def test_a_word_that_no_table_has_is_looked_for_as_it_is_written() -> None:
    """A word in no table has only its written form; no rule of another language applies."""
    assert names_of("Zorb", "es") == {"zorb"}
    assert names_of("Zorb", "nl") == {"zorb"}


@pytest.mark.parametrize(
    ("one", "other", "code", "apart"),
    [
        ("Los panaderos no cantan", "Los panaderos cantan", "es", True),
        ("La mayoría de los panaderos cantan", "Los panaderos cantan", "es", True),
        ("El panadero canta", "Los panaderos cantan", "es", False),
        ("Die Bäcker sind faul", "Die Bäckerinnen sind faul", "de", True),
        ("Les juges sont compréhensifs", "Les juges sont compréhensives", "fr", True),
        ("Les juges n'aiment pas le pain", "Les juges aiment le pain", "fr", True),
        ("医生很高", "医生不高", "zh", True),
        ("不少医生很高", "医生很高", "zh", True),
        ("医生每天走3公里", "医生每天走5公里", "zh", True),
    ],
)
def test_negation_quantity_people_and_figures_set_texts_apart(one: str, other: str, code: str, apart: bool) -> None:
    """A text that denies the other, or is about more or other people, is a different text."""
    assert set_apart(one, other, code) is apart


@pytest.mark.parametrize(
    ("one", "other", "code", "agrees"),
    [
        ("los", "las", "es", True),
        ("trabaja", "trabajan", "es", True),
        ("beaux", "belles", "fr", True),
        ("alter", "alte", "de", True),
        ("keine", "eine", "de", False),
        ("médico", "enfermero", "es", False),
    ],
)
def test_words_agree_by_the_tables_and_rules(one: str, other: str, code: str, agrees: bool) -> None:
    """Forms of one word have the same meaning; a negation has another."""
    assert agree(one, other, code) is agrees


LONG = "vive en la casa grande de la calle vieja, al lado del mercado y de la plaza"


def test_near_duplicates_in_other_languages() -> None:
    """Long texts are compared by letters, unless the language's lists separate them; short texts are compared by
    words."""
    texts = [
        f"El panadero {LONG}.",
        f"El panadero {LONG}",
        f"El panadero no {LONG}.",
        "cantan mucho",
        "¡Cantan mucho!",
        "cantan muchos",
    ]
    places = [(pair.first, pair.second) for pair in near_duplicates(texts, languages=["es"] * len(texts))]
    assert places == [(0, 1), (3, 4)]


def test_short_chinese_texts_are_alike_by_their_characters() -> None:
    """A clause without spaces is not one long word."""
    texts = ["医生都很高", "医生都很高。", "医生都不高"]
    assert [(p.first, p.second) for p in near_duplicates(texts, languages=["zh"] * 3)] == [(0, 1)]


def test_texts_of_two_languages_are_never_near_duplicates() -> None:
    """The same letters can have another meaning in another language."""
    assert not list(near_duplicates(["gift", "gift"], languages=["en", "de"]))


def test_english_fillers_count_in_other_languages() -> None:
    """`also` is a filler in English and a content word in German."""
    assert core("also faul", "de") != core("faul", "de")
    assert core("Faul!", "de") == core("faul", "de")


def test_the_language_of_a_record() -> None:
    """A region is dropped. A probe has its language in `extra`. A set has the language of most records."""
    probe = Probe(category="c", identity="Los panaderos", stereotype="cantan", extra={"language": "es"})
    term = Term(category="c", term="panadero", language="es-MX")
    assert [language_of(probe), language_of(term), language_of(Term(category="c", term="baker"))] == ["es", "es", "en"]
    assert most_spoken([probe, term, Term(category="c", term="baker")]) == "es"
    assert most_spoken([]) == "en"


def test_an_elided_word_is_a_word_of_its_own() -> None:
    """l'avocat is split into l' and avocat; Chinese is split by character."""
    assert list(tokens("L’avocat chante.", "fr")) == ["l'", "avocat", "chante"]
    assert list(tokens("医生，高", "zh")) == ["医", "生", "高"]
