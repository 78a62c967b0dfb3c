from pathlib import Path

import pytest

from catsofa.builders import identities, probes, stereotypes
from catsofa.builders.cats import Association, agreeing
from catsofa.builders.stereotypes.dictionary_parsing import dictionary_parser
from catsofa.data.languages import Refusal, find
from catsofa.data.languages.slots import variants
from catsofa.data.records import Cat, Identity, Probe, Refused, Statement, Stereotype, Term

GERMAN = [
    ("Schneider", "n", {"PLURAL": "Schneider"}, ["Schneider"]),
    ("Ärztin", "n", {}, ["Ärzte", "Ärztinnen"]),
    ("Deutscher", "n", {}, ["Deutsche"]),
    ("Dravier", "n", {"M_PL": "Dravier", "F_PL": "Dravierinnen"}, ["Dravier", "Dravierinnen"]),
    ("dunkel", "adj", {}, ["Dunkle Menschen"]),
    ("sauer", "adj", {}, ["Saure Menschen"]),
    ("hoch", "adj", {}, ["Hohe Menschen"]),
    ("makaber", "adj", {}, ["Makabre Menschen"]),
    ("rosa", "adj", {}, ["Rosa Menschen"]),
    ("queer", "adj", {}, ["Queere Menschen"]),
    ("italienisch", "adj", {}, ["Italienische Menschen"]),
    ("mit Heuschnupfen", "pp", {}, ["Menschen mit Heuschnupfen"]),
    ("Dravier", "n", {}, ["!no_gender"]),
]


def made_of(word: str, pos: str, extra: dict[str, str], language: str) -> list[str]:
    """Returns the identities of a term, or the reason of its refusal."""
    records = identities.build([Term(category="x", term=word, pos=pos, extra=extra, language=language)])
    return [f"!{one.reason}" if isinstance(one, Refused) else one.identity for one in records]


@pytest.mark.parametrize(("word", "pos", "extra", "expected"), GERMAN)
def test_german_identities(word: str, pos: str, extra: dict[str, str], expected: list[str]) -> None:
    """Adjectives inflect by rule. Nouns need written forms in the language's table or the lexicon."""
    assert made_of(word, pos, extra, "de") == expected


STATEMENTS = [
    ("Schneider können nicht kochen.", "Schneider", "können nicht kochen"),
    ("Alle Schneider trinken gern Tee", "Schneider", "trinken gern Tee"),
    ("Die Deutschen sind pünktlich", "Deutsche", "sind pünktlich"),
    ("Ein Schneider liest zu viel", "Schneider", "lesen zu viel"),
    ("Sie wandern zu viel", "Schneider", "wandern zu viel"),
    ("Die Zorbs sind faul", "", "!other_subject"),
    ("Schneider lügen", "", "!other_subject"),
    ("Eine Gefahr für alle", "", "!no_verb"),
    ("ist immer müde", "", "sind immer müde"),
    ("waren immer müde", "", "!past_tense"),
    ("arbeiteten zu viel", "", "!past_tense"),
    ("fällt immer auf", "", "!ambiguous_finite"),
    ("Gegen Regen hilft nichts", "", "!no_verb"),
    ("mögen uns nicht", "", "!first_or_second_person"),
    ("mögen Schneider", "Schneider", "!names_target"),
    ("Der Zorb trinkt viel", "Zorbs", "trinken viel"),
    ("werden immer lügen", "", "!future_or_conditional"),
    ("wird lügen und stehlen", "", "!future_or_conditional"),
    ("werden alles tun, um zu gewinnen", "", "!future_or_conditional"),
    ("werden nie pünktlich sein", "", "!future_or_conditional"),
    ("würden immer lügen", "", "!future_or_conditional"),
    ("werden oft betrogen", "", "werden oft betrogen"),
    ("werden überall gesehen", "", "werden überall gesehen"),
    ("werden schnell reich", "", "werden schnell reich"),
    ("werden reich und zufrieden", "", "werden reich und zufrieden"),
    ("sind schlechte Autobahnfahrer", "", "!unknown_agreement"),
    ("sind gute Opfer", "", "sind gute Opfer"),
    ("ist ein guter Koch", "", "sind gute Köche / Köchinnen"),
    ("ist kein guter Koch", "", "sind keine guten Köche / Köchinnen"),
    ("ist eine sehr gute und fleißige Studentin", "", "sind sehr gute und fleißige Studenten / Studentinnen"),
    ("ist ein reicher Arzt", "", "sind reiche Ärzte / Ärztinnen"),
    ("ist ein unverbesserlicher Angeber", "", "!unknown_agreement"),
    ("ist der Chef", "", "!unknown_agreement"),
    ("ist einer der Besten", "", "!agrees_with_subject"),
    ("ist wie ein Kind", "", "sind wie Kinder"),
    ("sind Mitglieder im Verein", "", "sind Mitglieder im Verein"),
    ("sind zu ihren Nachbarn freundlich", "", "sind zu ihren Nachbarn freundlich"),
    ("sind gute Autobahnfahrerinnen", "", "!unknown_agreement"),
    ("arbeiten als Kellnerinnen", "", "!agrees_with_subject"),
    ("sind lieber zu zweit als allein", "", "sind lieber zu zweit als allein"),
    ("helfen Ausländern", "", "!names_target"),
    ("helfen Rentnern", "Rentner", "!names_target"),
    ("erklärt alles", "", "erklären alles"),
    ("möchte reich sein", "", "möchten reich sein"),
    ("ist ein fauler Mensch", "", "sind faule Menschen"),
    ("ist eine gute Person", "", "sind gute Personen"),
    ("ist nach Hause gegangen", "", "!past_tense"),
    ("sind ungezogen", "", "sind ungezogen"),
    ("arbeiten als Putzfrauen", "", "!agrees_with_subject"),
    ("sind nach Süden gezogen", "", "!past_tense"),
    ("sind über die Grenze geflüchtet", "", "!past_tense"),
    ("sind spurlos verschwunden", "", "!past_tense"),
    ("haben einen Krieg angefangen", "", "!past_tense"),
    ("haben nichts dagegen", "", "haben nichts dagegen"),
    ("sind gut angezogen", "", "sind gut angezogen"),
    ("ist mit einer Schwedin verheiratet", "", "!names_target"),
    ("weiß nicht, was er will", "", "!singular_verb"),
    ("glaubt, dass sie besser ist", "", "!singular_verb"),
    ("ist jemand, der immer lügt", "", "!agrees_with_subject"),
    ("rät zum Sparen", "", "raten zum Sparen"),
    ("Der typische Schneider ist dick", "Schneider", "sind dick"),
    ("Typische Schneider stehen früh auf", "Schneider", "stehen früh auf"),
    ("Nicht alle Schneider sind dick", "Schneider", "!names_target"),
    ("sind Frühaufsteher", "", "sind Frühaufsteher / Frühaufsteherinnen"),
    ("ist ein ewiger Optimist", "", "sind ewige Optimisten / Optimistinnen"),
    ("ist eine echte Plaudertasche", "", "sind echte Plaudertaschen"),
    ("ist ein großes Vorbild", "", "sind große Vorbilder"),
    ("glaubt, dass Geld alles ist", "", "glauben, dass Geld alles ist"),
    ("ist ehrlich und loyal", "", "sind ehrlich und loyal"),
    ("ist ein wohlhabender Bäcker", "", "sind wohlhabende Bäcker / Bäckerinnen"),
    ("ist ein bisschen langsam", "", "sind ein bisschen langsam"),
    ("ist immer ein wenig eitel", "", "sind immer ein wenig eitel"),
    ("ist ein ausgezeichneter Reiter", "", "sind ausgezeichnete Reiter / Reiterinnen"),
]


@pytest.mark.parametrize(("statement", "target", "expected"), STATEMENTS)
def test_german_statements(statement: str, target: str, expected: str) -> None:
    """A singular verb becomes plural, and capitals stay. An unknown verb is refused, not guessed."""
    (record,) = stereotypes.build([Statement(statement=statement, target=target, language="de")], dictionary_parser)
    if isinstance(record, Stereotype) and record.forms:
        *_, other = record.forms.values()
        assert f"{record.text} / {other.split()[-1]}" == expected
    else:
        assert (f"!{record.reason}" if isinstance(record, Refused) else record.text) == expected


@pytest.mark.parametrize(
    ("statement", "prescriptive"),
    [("verdienen ihr Geld mit Betrug", False), ("verdienen sehr gut", False), ("verdienen Respekt", True)],
)
def test_earning_money_is_no_prescription(statement: str, prescriptive: bool) -> None:
    """A verb that means both to earn and to deserve is a prescription only in the second sense."""
    (record,) = stereotypes.build([Statement(statement=statement, language="de")], dictionary_parser)
    assert isinstance(record, Stereotype)
    assert ("prescriptive" in record.notes) == prescriptive


PAST = (
    "verdienten lebten wohnten spielten liebten verkauften hassten lachten kochten reisten dankten putzten "
    "kannten sangen schwammen begannen vergaßen gewannen stritten wünschten hörten schauten öffneten schrien "
    "empfahlen sang stritt hielt"
)
PRESENT = (
    "arbeiten warten halten verhalten retten bieten streiten achten verachten beobachten fürchten unterrichten "
    "verzichten gestalten spalten gelten antworten behaupten ernten kosten leisten vergewissern texten "
    "verhaften bedeuten erwarten wissen gelangen spannen kneten möchten heften trösten bewerten"
)


@pytest.mark.parametrize("verb", PAST.split())
def test_a_past_is_refused(verb: str) -> None:
    """Weak verbs by their consonant before -ten, strong verbs by a list."""
    assert find("de").reading(verb) == "past_tense"


@pytest.mark.parametrize("verb", PRESENT.split())
def test_a_present_in_ten_is_no_past(verb: str) -> None:
    """Verbs whose stem ends in t keep their present."""
    (record,) = stereotypes.build([Statement(statement=f"{verb} gern", language="de")], dictionary_parser)
    assert not isinstance(record, Refused)


TEMPLATES = [
    ("{der targets} {ist|sind} faul.", "Türke", ["Die Türken sind faul.", "Die Türkinnen sind faul."]),
    ("Man hilft {der targets@dat} gern.", "Arzt", ["Man hilft den Ärzten gern.", "Man hilft den Ärztinnen gern."]),
    ("{ein alt target} lacht.", "Arzt", ["Ein alter Arzt lacht.", "Eine alte Ärztin lacht."]),
    ("Er sah {ein blind target@acc}?", "Student", ["Er sah einen blinden Studenten?", "Er sah eine blinde Studentin?"]),
    ("Er wohnt mit {dunkel targets@dat}.", "Kind", ["Er wohnt mit dunklen Kindern."]),
    ("{kein targets} {darf|dürfen} rauchen.", "Frau", ["Keine Frauen dürfen rauchen."]),
    ("{der meist targets} schlafen.", "Deutscher", ["Die meisten Deutschen schlafen."]),
    ("{der target} schläft.", "Deutscher", ["Der Deutsche schläft.", "Die Deutsche schläft."]),
    ("{ein target} schläft.", "Deutscher", ["Ein Deutscher schläft.", "Eine Deutsche schläft."]),
]  # fmt: skip


@pytest.mark.parametrize(("template", "term", "expected"), TEMPLATES)
def test_slots_agree_in_gender_number_and_case(template: str, term: str, expected: list[str]) -> None:
    """Words inside the braces agree with the target. A template is filled once per gender that it shows."""
    german = find("de")
    noun = german.noun(term)
    assert not isinstance(noun, Refusal)
    assert [text for _, text in variants(template, german, noun)] == expected


@pytest.mark.parametrize(
    ("target", "place"), [("Schweiz", "der Schweiz"), ("die USA", ""), ("USA", "den USA"), ("Polen", "Polen")]
)
def test_places_have_their_article(target: str, place: str) -> None:
    """A place with an article is a dative phrase, since templates use it behind `aus`."""
    german = find("de")
    templates = [one for one in agreeing.templates_of(german, None, ()) if one.takes == "place"]
    words = {"stereotype": "faul", "anti-stereotype": "klug", "unrelated": "oval"}
    records = list(agreeing.build(german, templates, [Association(target, "nationality", words)]))
    contexts = [record.context for record in records if isinstance(record, Cat)]
    assert contexts == ([f"Die Leute aus {place} sind BLANK."] if place else [])


def test_predicates_follow_the_gender_of_their_identity() -> None:
    """A noun for people after a copula has a form per gender, and a probe uses its identity's gender."""
    records = identities.build([Term(category="x", term="Arzt", pos="n", language="de")])
    doctors = [one for one in records if isinstance(one, Identity)]
    statement = Statement(statement="Sie sind Lügner", category="x", language="de")
    (stereotype,) = stereotypes.build([statement], dictionary_parser)
    assert isinstance(stereotype, Stereotype)
    texts = [one.text for one in probes.build(doctors, [stereotype]) if isinstance(one, Probe)]
    assert texts == ["Ärzte sind Lügner", "Ärztinnen sind Lügnerinnen"]


def test_identities_and_stereotypes_of_two_languages_make_no_probe() -> None:
    """A German predicate is not combined with an English subject."""
    english = Identity(category="x", identity="Bakers", form="noun")
    german = Stereotype(text="kochen gut", category="x", language="de")
    (record,) = probes.build([english], [german])
    assert isinstance(record, Refused)


def test_an_unknown_language_is_refused_with_those_that_there_are() -> None:
    """The error lists the available languages; English morphology is never applied."""
    terms = identities.build([Term(category="x", term="zorb", pos="n", language="tlh")])
    statements = stereotypes.build([Statement(statement="zorbs sing", language="tlh")], dictionary_parser)
    for built in (terms, statements):
        with pytest.raises(ValueError, match=r"'tlh'.*de, en"):
            list(built)


def test_a_language_is_a_folder_of_data(tmp_path: Path) -> None:
    """A path to a folder is accepted as a language without a known code."""
    facts = ['code = "xx"', 'name = "X"', 'status = "draft"', "spaces = true", 'numbers = ["sg", "pl"]']
    (tmp_path / "language.toml").write_text("\n".join([*facts, "[subject]", 'noun = "{targets}"']))
    (tmp_path / "terms.csv").write_text("term,category,pos,sg,pl\nzorb,x,n,zorb,zorbim\n")
    language = find(str(tmp_path))
    (identity,) = identities.build([Term(category="x", term="zorb", pos="n")], language=language)
    assert isinstance(identity, Identity)
    assert (identity.identity, identity.language) == ("Zorbim", "xx")


def test_a_language_without_a_part_is_refused_by_its_name(tmp_path: Path) -> None:
    """The error names the missing part and the language."""
    (tmp_path / "language.toml").write_text('code = "xx"\nname = "X"\nstatus = "draft"\nspaces = true\n')
    with pytest.raises(ValueError, match=r"'xx'.*\[subject\]"):
        list(identities.build([Term(category="x", term="zorb", pos="n")], language=find(str(tmp_path))))
