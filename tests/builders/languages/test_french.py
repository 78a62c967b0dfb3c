import re
import warnings
from collections.abc import Mapping
from pathlib import Path

import pytest

from catsofa.builders import stereotypes
from catsofa.builders.cats import Association, agreeing
from catsofa.builders.stereotypes.dictionary_parsing import dictionary_parser
from catsofa.data import formats
from catsofa.data.languages import find
from catsofa.data.records import Cat, Statement, Stereotype

FRENCH = find("fr")
STATEMENTS = [
    ("Les boulangers sont paresseux", "boulangers", {"m": "sont paresseux", "f": "sont paresseuses"}),
    ("L'avocat est un menteur", "avocat", {"m": "sont des menteurs", "f": "sont des menteuses"}),
    ("Une boulangère ne sait pas conduire", "boulanger", {"": "ne savent pas conduire"}),
    ("revient tard", "", {"": "reviennent tard"}),
    ("maintient l'ordre", "", {"": "maintiennent l'ordre"}),
    ("consent à tout", "", {"": "consentent à tout"}),
    ("envient les riches", "", {"": "envient les riches"}),
    ("sont de mauvais conducteurs", "", {"m": "sont de mauvais conducteurs", "f": "sont de mauvaises conductrices"}),
    (
        "sont gâtés et gâchent le pain",
        "",
        {"m": "sont gâtés et gâchent le pain", "f": "sont gâtées et gâchent le pain"},
    ),
    ("peuvent être violents", "", {"m": "peuvent être violents", "f": "peuvent être violentes"}),
    ("mangent toutes les brioches", "", {"": "mangent toutes les brioches"}),
    ("vivent seuls", "", "agrees_with_subject"),
    ("ont volé le pain", "", "past_tense"),
    ("se mit à rire", "", "ambiguous_finite"),
    ("aime sa mère", "", "singular_verb"),
    ("sont zorbus", "", "unknown_agreement"),
    ("nous prennent le pain", "", "first_or_second_person"),
    ("Les zorbs sont paresseux", "", "other_subject"),
    ("L'avocat est un menteur", "", "other_subject"),
    ("les détestent", "", {"": "les détestent"}),
    ("n'aiment pas le froid", "", {"": "n'aiment pas le froid"}),
    ("dorment peu", "", {"": "dorment peu"}),
    ("vraiment tout", "", "no_verb"),
    ("rapidement se fâchent", "", "leading_adverb"),
    ("parfois arrivent en retard", "", "leading_adverb"),
    ("a du charme", "", {"": "ont du charme"}),
    ("n'ont plus du tout confiance", "", {"": "n'ont plus du tout confiance"}),
    ("ont pitié de tout le monde", "", {"": "ont pitié de tout le monde"}),
    ("ont beau travailler", "", {"": "ont beau travailler"}),
    ("ont grandi à la campagne", "", "past_tense"),
    ("ont dû partir", "", "past_tense"),
    ("se sont mariés jeunes", "", "past_tense"),
    ("sont arrivées en retard", "", "past_tense"),
    ("sont en général paresseux", "", {"m": "sont en général paresseux", "f": "sont en général paresseuses"}),
    ("sont bonnes en maths et travailleuses", "", "agrees_with_subject"),
    ("sont gentils avec les enfants et patients", "", "agrees_with_subject"),
    ("tombent souvent amoureux", "", {"m": "tombent souvent amoureux", "f": "tombent souvent amoureuses"}),
    ("rêvent d'être acteurs", "", {"m": "rêvent d'être acteurs", "f": "rêvent d'être actrices"}),
    ("travaillent comme serveurs", "", "agrees_with_subject"),
    ("ont l'air distraits", "", "agrees_with_subject"),
    ("disent ce qu'ils pensent", "", "agrees_with_subject"),
    ("veulent rester à la maison et lire", "", {"": "veulent rester à la maison et lire"}),
    ("sentent mauvais", "", {"": "sentent mauvais"}),
    ("est un bon cuisinier", "", {"m": "sont de bons cuisiniers", "f": "sont de bonnes cuisinières"}),
    ("est un vieil avare", "", {"m": "sont de vieux avares", "f": "sont de vieilles avares"}),
    ("sont plus économes que les autres", "", {"": "sont plus économes que les autres"}),
    ("juge les autres", "", {"": "jugent les autres"}),
    ("Le juge est sévère", "", "other_subject"),
    ("Les Zorbons boivent du cidre", "Zorbon", {"": "boivent du cidre"}),
    ("Les Zorbons boivent du cidre", "", "other_subject"),
]  # fmt: skip


@pytest.mark.parametrize(("statement", "target", "expected"), STATEMENTS)
def test_french_predicates(statement: str, target: str, expected: Mapping[str, str] | str) -> None:
    """Verbs become plural, and adjectives and nouns after a copula agree. A possible past tense is refused."""
    (record,) = stereotypes.build([Statement(statement=statement, target=target, language="fr")], dictionary_parser)
    if isinstance(record, Stereotype):
        assert (record.forms or {"": record.text}) == expected
    else:
        assert record.reason == expected


def test_french_cats_contract_and_elide() -> None:
    """Prepositions and articles contract inside the braces; an aspirated h prevents elision."""
    words = {"stereotype": "paresseux", "anti-stereotype": "travailleur", "unrelated": "triangulaire"}
    templates = agreeing.templates_of(FRENCH, None, ["statement", "dialogue"])
    sentences = {
        cat.context: cat.candidates[0].text
        for target in ("avocat", "Hongrois")
        for cat in agreeing.build(FRENCH, templates, [Association(target, "x", words)])
        if isinstance(cat, Cat)
    }
    assert sentences["L'avocate d'à côté est BLANK."] == "L'avocate d'à côté est paresseuse."
    assert sentences["La plupart des avocats sont BLANK."] == "La plupart des avocats sont paresseux."
    assert "Le Hongrois d'à côté est BLANK." in sentences
    assert any("à l'avocat," in context for context in sentences)
    assert any("au Hongrois," in context for context in sentences)


def test_elision_agrees_with_the_sentences_of_french_crows_pairs(shared: Path) -> None:
    """4,042 articles and prepositions are written as the rules join them. `de le` before a verb is excluded."""
    pairs = formats.read(shared / "data/crows_multilingual/crows_french.csv")
    with warnings.catch_warnings(action="ignore"):
        sentences = [text.replace("’", "'") for pair in pairs for text in (pair.more, pair.less)]
    pattern = re.compile(r"(?<![\w'-])([Ll]'|[Ll]e |[Ll]a |[Dd]'|[Dd]e )(\w[\w-]*)")
    matches = [each for text in sentences for each in pattern.findall(text)]
    apart = {"l'": "le", "d'": "de"}
    wrong = [
        prefix + word
        for prefix, word in ((first.lower(), word) for first, word in matches)
        if FRENCH.join([apart.get(prefix, prefix.strip()), word]) != prefix + word and word not in ("le", "les")
    ]
    assert len(matches) > 4000
    assert wrong == []


def test_the_cats_of_both_genders_have_candidates_of_their_own() -> None:
    """A candidate that is the same in both genders is in two CATs with two ids."""
    association = Association(
        "médecin", "profession", {"stereotype": "arrogant", "anti-stereotype": "attentif", "unrelated": "bizarre"}
    )
    (template,) = (
        one for one in agreeing.templates_of(FRENCH, None, ()) if one.context.startswith("{le targets} de ce quartier")
    )
    built = [cat for cat in agreeing.build(FRENCH, [template], [association]) if isinstance(cat, Cat)]
    assert len({cat.context for cat in built}) == 1
    assert [cat["unrelated"].fill for cat in built] == ["bizarres", "bizarres"]
    assert len({candidate.id for cat in built for candidate in cat.candidates}) == 6
