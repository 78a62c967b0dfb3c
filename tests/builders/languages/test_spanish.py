from collections.abc import Mapping
from pathlib import Path

import pytest
from helpers.commands import run_catsofa
from typer.testing import CliRunner

from catsofa.builders import association_tests, identities, minimal_pairs, probes, stereotypes
from catsofa.builders.cats import Association, agreeing
from catsofa.builders.languages.subjects import bundled
from catsofa.builders.stereotypes.dictionary_parsing import dictionary_parser
from catsofa.cli import app
from catsofa.data.languages import find
from catsofa.data.records import Cat, Identity, Pair, Probe, Refused, Statement, Stereotype, Term

SPANISH = find("es")
STATEMENTS = [
    ("Los panaderos son vagos", "panaderos", {"m": "son vagos", "f": "son vagas"}),
    ("El panadero es un mentiroso", "panadero", {"m": "son mentirosos", "f": "son mentirosas"}),
    ("La panadera no sabe conducir", "panadero", {"": "no saben conducir"}),
    ("La mayoría de los panaderos son unos pelmas", "panadero", "unknown_agreement"),
    ("son unos engreídos", "", {"m": "son unos engreídos", "f": "son unas engreídas"}),
    ("suelen ser tímidos", "", {"m": "suelen ser tímidos", "f": "suelen ser tímidas"}),
    ("siguen siendo vagos", "", {"m": "siguen siendo vagos", "f": "siguen siendo vagas"}),
    ("sigue siendo pobre", "", {"": "siguen siendo pobres"}),
    ("son una carga", "", {"": "son una carga"}),
    ("están obsesionadas con el pan", "", {"m": "están obsesionados con el pan", "f": "están obsesionadas con el pan"}),
    ("son zorbos", "", "unknown_agreement"),
    ("viven solos", "", "agrees_with_subject"),
    ("nos quitan el pan", "", "first_or_second_person"),
    ("hornearon pan", "", "past_tense"),
    ("odian a los franceses", "", "names_target"),
    ("cocina y limpia", "", "singular_verb"),
    ("les gusta la lluvia", "", "other_subject"),
    ("robarían pan", "", "future_or_conditional"),
    ("querían pan", "", "past_tense"),
    ("El zorb bebe mucho", "zorbs", {"": "beben mucho"}),
    ("Los zorbs son vagos", "", "other_subject"),
    ("La zorba es vaga", "", "other_subject"),
    ("La zorba no miente", "", "other_subject"),
    ("la odia mucho", "", {"": "la odian mucho"}),
    ("vago y tonto", "", "no_verb"),
    ("acaba con el pan", "", {"": "acaban con el pan"}),
    ("acababa con el pan", "", "past_tense"),
    ("envían pan", "", {"": "envían pan"}),
    ("varían mucho", "", {"": "varían mucho"}),
    ("vivían lejos", "", "past_tense"),
    ("insiste en ganar", "", {"": "insisten en ganar"}),
    ("son en general vagos", "", {"m": "son en general vagos", "f": "son en general vagas"}),
    ("son de pueblo y muy vagos", "", {"m": "son de pueblo y muy vagos", "f": "son de pueblo y muy vagas"}),
    ("es mal conductor", "", {"m": "son malos conductores", "f": "son malas conductoras"}),
    ("viven aislados", "", {"m": "viven aislados", "f": "viven aisladas"}),
    ("son amables con los vecinos y generosos", "", "agrees_with_subject"),
    ("son buenas en matemáticas y aplicadas", "", "agrees_with_subject"),
    ("llegan cansados a casa", "", {"m": "llegan cansados a casa", "f": "llegan cansadas a casa"}),
    ("se ponen nerviosas", "", {"m": "se ponen nerviosos", "f": "se ponen nerviosas"}),
    ("vuelven locas a sus padres", "", "agrees_with_subject"),
    ("se hacen los tontos", "", "agrees_with_subject"),
    ("trabajan de camareros", "", "agrees_with_subject"),
    ("piensan solo en ellas", "", "agrees_with_subject"),
    ("se llevan bien con todos", "", {"": "se llevan bien con todos"}),
    ("dicen cosas raras y feas", "", {"": "dicen cosas raras y feas"}),
    ("tienen buenas ideas", "", {"": "tienen buenas ideas"}),
    ("hacen amigos con rapidez", "", {"": "hacen amigos con rapidez"}),
    ("a veces llegan tarde", "", {"": "a veces llegan tarde"}),
    ("todavía vive en casa", "", {"": "todavía viven en casa"}),
    ("durante el verano viaja mucho", "", {"": "durante el verano viajan mucho"}),
    ("cada domingo van a misa", "", {"": "cada domingo van a misa"}),
    ("aunque trabajan mucho son pobres", "", "no_verb"),
    ("les cuesta levantarse", "", "other_subject"),
    ("les da miedo volar", "", "other_subject"),
    ("se les da bien bailar", "", "other_subject"),
    ("sienten frío", "", {"": "sienten frío"}),
    ("siguen las normas", "", {"": "siguen las normas"}),
    ("no son nada tímidas", "", {"m": "no son nada tímidos", "f": "no son nada tímidas"}),
    ("son buenas personas", "", {"": "son buenas personas"}),
    ("son pobre gente", "", {"": "son pobre gente"}),
    ("es un gran cocinero", "", {"m": "son grandes cocineros", "f": "son grandes cocineras"}),
    ("es una buena madre", "", "unknown_agreement"),
    ("cuida de los gatos", "", {"": "cuidan de los gatos"}),
    ("nada bien", "", {"": "nadan bien"}),
    ("Los zorbanos beben mucho", "zorbano", {"": "beben mucho"}),
    ("Los zorbeses beben mucho", "zorbés", {"": "beben mucho"}),
]  # fmt: skip


@pytest.mark.parametrize(("statement", "target", "expected"), STATEMENTS)
def test_spanish_predicates(statement: str, target: str, expected: Mapping[str, str] | str) -> None:
    """Verbs become plural, and adjectives after a copula agree. Forms that no table or rule confirms are refused."""
    (record,) = stereotypes.build([Statement(statement=statement, target=target, language="es")], dictionary_parser)
    if isinstance(record, Stereotype):
        assert (record.forms or {"": record.text}) == expected
    else:
        assert record.reason == expected


def test_spanish_probes_agree_with_their_identity() -> None:
    """Each gender of a term is a separate identity with its article, and predicates agree with it."""
    bakers = list(identities.build([Term(category="x", term="panadero", pos="n", language="es")]))
    (vague,) = stereotypes.build([Statement(statement="Son vagos", category="x", language="es")], dictionary_parser)
    assert isinstance(vague, Stereotype)
    records = probes.build([one for one in bakers if isinstance(one, Identity)], [vague])
    assert [one.text for one in records if isinstance(one, Probe)] == [
        "Los panaderos son vagos",
        "Las panaderas son vagas",
    ]


def test_a_person_noun_without_written_forms_is_refused() -> None:
    """No rule builds a plural or a feminine of an unknown noun, such as "abogadoes" or "zorba"."""
    (refusal,) = identities.build([Term(category="x", term="zorbo", pos="n", language="es")])
    assert isinstance(refusal, Refused)
    assert refusal.reason == "no_gender"


def cats_of(target: str, words: tuple[str, str, str]) -> list[Cat | Refused]:
    """Returns the CATs of an association in the Spanish statements."""
    stereotype, anti, unrelated = words
    association = Association(target, "x", {"stereotype": stereotype, "anti-stereotype": anti, "unrelated": unrelated})
    return list(agreeing.build(SPANISH, agreeing.templates_of(SPANISH, None, ()), [association]))


def test_a_noun_of_one_gender_keeps_it_and_a_misfit_is_named() -> None:
    """`la víctima` is feminine for all people. The refusal names the one of three words that fits no template."""
    contexts = {cat.context for cat in cats_of("víctima", ("vago", "trabajador", "triangular")) if isinstance(cat, Cat)}
    assert "La víctima de al lado es BLANK." in contexts
    assert not any("l víctima" in context or "os víctimas" in context for context in contexts)
    (refusal,) = cats_of("panadero", ("vago", "trabajador", "disciplina"))
    assert isinstance(refusal, Refused)
    assert (refusal.reason, refusal.source["failed"]) == ("no_template_fits", {"unrelated": "disciplina"})


def test_spanish_cats_agree_in_context_and_fills() -> None:
    """A template is filled once per gender; article, adjective and fill agree."""
    cats = [cat for cat in cats_of("panadero", ("vago", "trabajador", "triangular")) if isinstance(cat, Cat)]
    by_context = {cat.context: cat.candidates[1].text for cat in cats}
    assert by_context["La mayoría de los panaderos son BLANK."] == "La mayoría de los panaderos son trabajadores."
    assert by_context["La panadera de al lado es BLANK."] == "La panadera de al lado es trabajadora."
    assert {cat.target for cat in cats} == {"panadero", "panadera"}
    assert all(cat.source["language_status"] == "draft" for cat in cats)


@pytest.mark.parametrize(
    ("target", "words", "reason"),
    [
        ("zorbo", ("vago", "lento", "oval"), "no_gender"),
        ("panadero", ("vago", "zorbo", "oval"), "unknown_word"),
        ("panadero", ("vago", "ladrón", "disciplina"), "no_template_fits"),
    ],
)
def test_words_that_no_table_has_are_refused_by_name(target: str, words: tuple[str, str, str], reason: str) -> None:
    """A target without forms and a word of unknown part of speech give no CAT."""
    (refusal,) = cats_of(target, words)
    assert isinstance(refusal, Refused)
    assert refusal.reason == reason


@pytest.mark.parametrize(
    ("target", "words", "failed"),
    [
        ("gitano", ("vago", "trabajador", ""), {"unrelated": ""}),
        ("zorb", ("vago", "trabajador", "oval"), {"target": "zorb"}),
    ],
)
def test_the_refusal_of_a_cat_names_the_cell_at_fault(
    target: str, words: tuple[str, str, str], failed: dict[str, str]
) -> None:
    """An empty cell is not reported as a fault of the target."""
    (refusal,) = cats_of(target, words)
    assert isinstance(refusal, Refused)
    assert refusal.source["failed"] == failed


@pytest.mark.parametrize(
    ("cells", "reason", "failed"),
    [
        (("mujer", "zorb", "vago"), "no_gender", {"other": "zorb"}),
        (("mujer", "madre", "blorgio x"), "unknown_word", {"stereotype": "blorgio x"}),
    ],
)
def test_the_refusal_of_a_pair_names_the_cell_at_fault(
    cells: tuple[str, str, str], reason: str, failed: dict[str, str]
) -> None:
    """The refusal names one of the groups or the stereotype."""
    target, other, words = cells
    row = {"target": target, "other": other, "bias_type": "gender", "stereotype": words}
    (refusal,) = agreeing.pairs(SPANISH, agreeing.templates_of(SPANISH, None, ()), [(1, row)])
    assert isinstance(refusal, Refused)
    assert (refusal.reason, refusal.source["failed"]) == (reason, failed)


def test_a_kind_of_target_is_not_read_in_spanish() -> None:
    """The language's tables give the kind of a word, so a given kind is refused, not ignored."""
    words = {"stereotype": "vago", "anti-stereotype": "trabajador", "unrelated": "oval"}
    association = Association("panadero", "profession", words, target_kind="name")
    (refusal,) = agreeing.build(SPANISH, agreeing.templates_of(SPANISH, None, ()), [association])
    assert isinstance(refusal, Refused)
    assert (refusal.reason, refusal.source["failed"]) == ("target_kind_is_for_english", {"target_kind": "name"})


@pytest.mark.parametrize(
    ("target", "other", "words", "reason"),
    [
        ("panadero", "panadera", "vago", "same_groups"),
        ("pintor", "panadero", "amigo de panaderas", "names_group"),
    ],
)
def test_a_pair_has_two_groups_and_its_stereotype_names_neither(
    target: str, other: str, words: str, reason: str
) -> None:
    """The stereotype must not name a group in any form of the tables."""
    row = {"target": target, "other": other, "bias_type": "profession", "stereotype": words}
    (refusal,) = agreeing.pairs(SPANISH, agreeing.templates_of(SPANISH, None, ()), [(1, row)])
    assert isinstance(refusal, Refused)
    assert refusal.reason == reason


def test_groups_without_a_gender_in_common_make_no_pair() -> None:
    """Groups without a common gender are refused with a reason."""
    row = {"target": "mujer", "other": "hombre", "bias_type": "gender", "stereotype": "vago"}
    (refusal,) = agreeing.pairs(SPANISH, agreeing.templates_of(SPANISH, None, ()), [(1, row)])
    assert isinstance(refusal, Refused)
    assert refusal.reason == "genders_differ"


def test_a_predicate_that_prescribes_is_noted_in_spanish_too() -> None:
    """The patterns of the language's folder mark prescriptive predicates."""
    (stereotype,) = stereotypes.build([Statement(statement="Deben cocinar", language="es")], dictionary_parser)
    assert isinstance(stereotype, Stereotype)
    assert stereotypes.PRESCRIPTIVE in stereotype.notes


def test_spanish_minimal_pairs_share_a_gender() -> None:
    """Two groups are compared in the same gender, and the rest of the sentence is the same."""
    row = {"target": "panadero", "other": "pintor", "bias_type": "x", "stereotype": "vago"}
    records = agreeing.pairs(SPANISH, agreeing.templates_of(SPANISH, None, ()), [(1, row)])
    sentences = {(pair.more, pair.less) for pair in records if isinstance(pair, Pair)}
    assert ("La panadera de al lado es vaga.", "La pintora de al lado es vaga.") in sentences
    assert not [1 for more, less in sentences if more.startswith("La ") and less.startswith("El ")]


def test_spanish_association_tests() -> None:
    """Words occur in Spanish sentences, with the article of their gender and the plural of their table."""
    tests = {t.id: t for t in association_tests.build(association_tests.bundled("", SPANISH), language=SPANISH)}
    assert {"Esto es una rosa.", "Son rosas.", "El clavel está aquí."} <= {*tests["sent-weat1"].x.items}
    assert "Ahí están las hermanas." in tests["sent-weat8"].b.items


def test_bundled_terms_are_identities_without_exception() -> None:
    """Every term of the Spanish tables has its forms."""
    records = list(identities.build(bundled(SPANISH)))
    assert len(records) > 300
    assert not [one for one in records if isinstance(one, Refused) and one.reason != "duplicate"]


def test_commands_take_a_language(tmp_path: Path) -> None:
    """--language takes a code or a folder. An unknown one gives one sentence and exit code 2."""
    table = tmp_path / "pares.csv"
    table.write_text("target,bias_type,stereotype,anti-stereotype,unrelated\npanadero,x,vago,trabajador,oval\n")
    common = ["build", "cats", "--associations", str(table), "--out", str(tmp_path / "cats.jsonl"), "--language"]
    for language in ("es", str(SPANISH.folder)):
        assert CliRunner().invoke(app, [*common, language]).exit_code == 0
    refused = run_catsofa(*common, "tlh")
    assert refused.returncode == 2
    assert "'tlh'" in refused.stderr
    assert "Traceback" not in refused.stderr


def test_swaps_in_other_languages_take_the_listed_words_alone(tmp_path: Path) -> None:
    """Only the listed words are swapped: no plural is derived, and no article changes."""
    table = tmp_path / "swaps.csv"
    table.write_text("from,to\npanadero,pintor\n")
    swaps = minimal_pairs.read_swaps(table, "es")
    assert swaps.table == {"panadero": "pintor"}
    rows = [(1, {"text": "Ayuda a panadero y panaderos", "bias_type": "x"})]
    (pair,) = minimal_pairs.from_sentences(rows, swaps)
    assert isinstance(pair, Pair)
    assert (pair.less, pair.language) == ("Ayuda a pintor y panaderos", "es")


def test_a_row_given_twice_is_refused_as_a_duplicate() -> None:
    """Each pair is returned once, and each repetition is refused."""
    row = {"target": "vecino", "other": "amigo", "bias_type": "x", "stereotype": "aburrido"}
    templates = agreeing.templates_of(SPANISH, None, ())
    once = list(agreeing.pairs(SPANISH, templates, [(1, row)]))
    twice = list(agreeing.pairs(SPANISH, templates, [(1, row), (2, row)]))
    assert twice[: len(once)] == once
    assert [one.reason for one in twice[len(once) :] if isinstance(one, Refused)] == ["duplicate"] * len(once)


def test_a_frame_that_does_not_exist_is_an_error() -> None:
    """An unknown frame is an error, as in English."""
    with pytest.raises(ValueError, match=r"frame 'prsent'.*statement"):
        agreeing.templates_of(SPANISH, None, ["prsent"])


@pytest.mark.parametrize(("code", "target", "place"), [("fr", "Espagne", "l'Espagne"), ("es", "Francia", "Francia")])
def test_a_place_is_known_without_its_article(code: str, target: str, place: str) -> None:
    """The term is stored without the article that the sentence has."""
    assert getattr(agreeing.target_of(target, find(code)), "term", None) == place
