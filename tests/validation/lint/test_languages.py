"""Tests lint of records in other languages: rules that support them, and rules that report that they do not."""

from dataclasses import replace
from pathlib import Path

import pytest
from helpers.lint_findings import found, messages
from helpers.records import a_pair

from catsofa.data.files import toml_files
from catsofa.data.records import Candidate, Cat, Pair, Probe
from catsofa.validation.lint import as_json, lint
from catsofa.validation.lint.rule import Given


def a_cat_in(language: str, context: str, target: str, *fills: str) -> Cat:
    """Returns a CAT in a language."""
    one, two, three = (
        Candidate(text=context.replace("BLANK", fill), label=label, fill=fill)
        for fill, label in zip(fills, ("stereotype", "anti-stereotype", "unrelated"), strict=True)
    )
    return Cat(
        kind="intrasentence", bias_type="profession", target=target, context=context, candidates=(one, two, three),
        language=language,
    )  # fmt: skip


SPANISH = a_cat_in("es", "Los jueces son BLANK.", "juez", "amables", "severos", "verdes")
CHINESE = a_cat_in("zh", "大多数医生都很BLANK。", "医生", "懒", "勤劳", "高")


def test_rules_that_read_english_say_that_they_were_not_applied() -> None:
    """The report names the rule, the language, the records and the reason. A rule counts as run only if it read a
    record."""
    finnish = replace(SPANISH, id="", language="fi")
    report = lint([finnish], select=["L10", "L12", "L2"])
    assert report.ran == ["L2"]
    assert [str(one) for one in report.not_applied] == [
        "L10 was not applied to 1 record in 'fi': no folder of the language",
        "L12 was not applied to 1 record in 'fi': no [facts] in a folder of the language",
    ]
    assert as_json(report)["not_applied"][0]["language"] == "fi"


def test_a_set_in_two_languages_is_read_in_both() -> None:
    """English records are checked by English patterns, Spanish ones by Spanish patterns; those without a folder are
    counted."""
    english = a_pair("There are 5,000 bakers.", "There are few bakers.")
    spanish = replace(english, id="", more="Hay 5,000 panaderos.", less="Hay pocos panaderos.", language="es")
    finnish = replace(spanish, id="", language="fi")
    report = lint([english, replace(spanish, more="Hay 5 % panaderos."), finnish], select=["L12"])
    assert [finding.item for finding in report.findings] == [english.id, spanish.id]
    assert [(one.language, one.records) for one in report.not_applied] == [("fi", 1)]


def test_english_sets_have_nothing_that_was_not_applied() -> None:
    """The report of an English set has no field `not_applied`."""
    assert "not_applied" not in as_json(lint([a_pair("Bakers sing.", "Tailors sing.")]))


def test_l2_knows_that_chinese_writes_no_spaces() -> None:
    """A BLANK beside a Chinese character is not glued; one beside a Latin letter is."""
    assert not found("L2", CHINESE)
    assert found("L2", replace(CHINESE, context="大多数医生都很xBLANK。"))


def test_l4_finds_a_target_in_any_form_of_its_tables() -> None:
    """`jueces` names "juez". A target in no table gives only an info finding if its spelling is missing."""
    assert not found("L4", SPANISH)
    assert not found("L4", CHINESE)
    assert messages("L4", replace(SPANISH, target="panadero")) == ["the context does not name the target 'panadero'"]
    (doubt,) = found("L4", replace(SPANISH, target="zorbo"))
    assert doubt.severity == "info"
    assert "no table has its other forms in 'es'" in doubt.message


@pytest.mark.parametrize(
    ("more", "less", "changes"),
    [
        ("Las panaderas son vagas.", "Los médicos son vagos.", 1),
        ("Los panaderos cantan nunca.", "Los médicos cantan siempre.", 2),
        ("El panadero canta y los médicos lloran.", "El médico canta y los panaderos lloran.", 1),
    ],
)
def test_l7_counts_words_that_agree_as_part_of_a_change(more: str, less: str, changes: int) -> None:
    """Gender and number that follow another change are not a second one; neither is an exchange of two words."""
    pair = Pair(more=more, less=less, direction="stereo", bias_type="profession", language="es")
    assert len(found("L7", pair)) == (changes > 1)


@pytest.mark.parametrize(
    ("cat", "says"),
    [
        (a_cat_in("es", "Los jueces BLANK.", "juez", "cantan", "no cantan", "llueven"), "negation alone"),
        (a_cat_in("fr", "Les juges BLANK.", "juge", "chantent", "ne chantent pas", "pleuvent"), "negation alone"),
        (a_cat_in("de", "Richter sind BLANK.", "Richter", "freundlich", "unfreundlich", "grün"), "negating prefix"),
        (a_cat_in("zh", "医生都BLANK。", "医生", "礼貌", "不礼貌", "绿"), "negation alone"),
    ],
)
def test_l8_knows_the_negations_of_a_language(cat: Cat, says: str) -> None:
    """Negations come from the language's folder; a language without one is not checked."""
    (message,) = messages("L8", cat)
    assert says in message
    assert not found("L8", replace(cat, language="nl"))


def test_frequencies_are_of_one_language() -> None:
    """Words of other languages are not looked up in the frequencies."""
    probes = [
        Probe(category="c", identity="Los jueces", stereotype="cantan bien", extra={"language": "es"}),
        Probe(category="c", identity="Bakers", stereotype="qwertz"),
    ]
    tools = Given(frequency=lambda word: 0.0, frequency_language="es")
    report = lint(probes, tools, select=["L6"])
    assert [finding.message for finding in report.findings] == ["unknown words: jueces, cantan, bien"]
    assert [one.why for one in report.not_applied if one.language == "en"] == [
        "no spelling: the frequencies are of 'es'"
    ]


def test_l11_finds_an_offensive_word_where_no_spaces_are_written() -> None:
    """In a language without spaces, an offensive word may occur anywhere in a clause."""
    assert found("L11", CHINESE, offensive=frozenset({"懒"}))


GOLD = toml_files.read(Path(__file__).parent / "gold_languages.toml", "a gold list")


@pytest.mark.parametrize("code", GOLD)
@pytest.mark.parametrize("expected", ["yes", "no"])
def test_facts_kinds_of_groups_and_parts_of_probes_are_data_of_a_language(code: str, expected: str) -> None:
    """L12, L10 and L23 find exactly the marked cases of each language's gold list."""
    gold = GOLD[code]
    for sentence in gold["facts"][expected]:
        assert bool(found("L12", a_pair(sentence, "x", language=code))) is (expected == "yes"), sentence
    for more, less in gold["contrasts"][expected]:
        assert bool(found("L10", a_pair(more, less, language=code))) is (expected == "yes"), more
    for part in gold["parts"][expected]:
        identity, stereotype = part.split(" | ")
        probe = Probe(category="x", identity=identity, stereotype=stereotype, extra={"language": code})
        assert bool(found("L23", probe)) is (expected == "yes"), part


def test_a_place_is_no_group_in_spanish() -> None:
    """A CAT about a country is a finding; one about its people is not."""
    place, people = (a_cat_in("es", f"Dicen que {t} es BLANK.", t, "a", "b", "c") for t in ("España", "el español"))
    assert messages("L10", place) == ["the target 'España' of 1 CAT is a place, not a group of people"]
    assert not found("L10", people)


def test_a_place_is_found_in_the_item_of_its_language() -> None:
    """A finding names a CAT whose target is a place in the language of this CAT."""
    english = a_cat_in("en", "They say that España is BLANK.", "España", "a", "b", "c")
    spanish = a_cat_in("es", "Dicen que España es BLANK.", "España", "a", "b", "c")
    assert [finding.item for finding in found("L10", english, spanish)] == [spanish.id]
