from pathlib import Path

import pytest

from catsofa.builders.cats import agreeing
from catsofa.builders.cats.templates import Template
from catsofa.builders.minimal_pairs import Swaps, bundled, from_sentences, from_templates, read_swaps
from catsofa.data.files import BadInput
from catsofa.data.languages import find
from catsofa.data.records import Pair, Refused


def row(target: str, other: str, stereotype: str) -> tuple[int, dict[str, str]]:
    """Returns a stereotype of one group, and the group that replaces it."""
    return 1, {"target": target, "other": other, "bias_type": "profession", "stereotype": stereotype}


TEMPLATES = [Template("{a target} is BLANK.", blank="adjective"), Template("The {target} is a BLANK.", blank="noun")]


def test_the_two_sentences_of_a_pair_differ_in_the_group_and_its_article_alone() -> None:
    """`more` states the stereotype about the target, `less` about the other group."""
    (pair,) = from_templates(TEMPLATES, [row("tailor", "umpire", "rude")])
    assert isinstance(pair, Pair)
    assert (pair.more, pair.less) == ("A tailor is rude.", "An umpire is rude.")
    assert (pair.direction, pair.source["row"], pair.source["frame"]) == ("stereo", 1, "statement")


FAULTS = [
    (row("tailor", "", "rude"), "empty_cell"),
    (row("tailor", "Tailor", "rude"), "same_groups"),
    (row("tailor", "she", "rude"), "groups_of_two_kinds"),
    (row("tailor", "baker", "slowly"), "no_template_fits"),
    (row("mother", "father", "kind to her children"), "gendered_pronoun"),
]


@pytest.mark.parametrize(("given", "reason"), FAULTS)
def test_a_row_that_makes_no_pair_is_refused_with_its_number(given: tuple[int, dict[str, str]], reason: str) -> None:
    """The refusal has the reason and the row number."""
    (refusal,) = from_templates(TEMPLATES, [given])
    assert isinstance(refusal, Refused)
    assert (refusal.reason, refusal.source["row"]) == (reason, 1)


def test_a_pair_comes_once() -> None:
    """A repeated pair is refused."""
    rows = [row("tailor", "umpire", "rude")] * 2
    assert [type(record) for record in from_templates(TEMPLATES, rows)] == [Pair, Refused]
    sentences = [(number, {"text": "She sings.", "bias_type": "gender"}) for number in (1, 2)]
    assert [type(record) for record in from_sentences(sentences, bundled())] == [Pair, Refused]


SWAPPED = [
    ("An actress came to her house.", "An actor came to his house."),
    ("He gave her a hat; she thanked him.", "She gave him a hat; he thanked her."),
    ("The hat is hers.", "The hat is his."),
    ("The hat is his.", "The hat is hers."),
    ("The hat is his because it fits.", "The hat is hers because it fits."),
    ("He liked his suit.", "She liked her suit."),
    ("She liked her father.", "He liked his mother."),
    ("Women's hats are red.", "Men's hats are red."),
]


@pytest.mark.parametrize(("text", "twin"), SWAPPED)
def test_women_and_men_are_swapped_with_their_pronouns(text: str, twin: str) -> None:
    """`her` becomes his or him, and `his` becomes her or hers, depending on the next word."""
    swapped = bundled().swap(text)
    assert swapped is not None
    assert swapped[0] == twin


def test_a_swap_fits_article_number_and_capital() -> None:
    """Only the group, its article and its number change; the longest phrase is swapped first."""
    swaps = Swaps((("Dravian", "Elloran"), ("old baker", "young tailor")))
    texts = ("A Dravian sings.", "Dravians sing.", "Old bakers sing to a Dravian.", "A Dravian-like song.")
    twins = [swaps.swap(text) for text in texts]
    assert [twin and twin[0] for twin in twins] == [
        *("An Elloran sings.", "Ellorans sing.", "Young tailors sing to an Elloran.", "A Dravian-like song.")
    ]


CASES = [
    ("SHE IS LOUD.", "HE IS LOUD."),
    ("The DRAVIAN flag fell.", "The ELLORAN flag fell."),
    ("bakers sing.", "tailors sing."),
    ("A baker sings.", "A tailor sings."),
]


@pytest.mark.parametrize(("text", "twin"), CASES)
def test_a_swapped_word_has_the_case_of_the_old_one_and_the_number_that_the_text_has(text: str, twin: str) -> None:
    """Case and number fit the text, also if the table has plural groups."""
    swapped = Swaps((("Dravian", "Elloran"), ("bakers", "tailors"), ("she", "he"))).swap(text)
    assert swapped is not None
    assert swapped[0] == twin


def test_a_sentence_that_cannot_be_swapped_is_refused() -> None:
    """A sentence with no group, both groups, an ambiguous pronoun, or a pronoun beside a name is refused."""
    named = ["Brenda sings as she works.", "He, Bill, sings.", "Mr. Zorb likes his hat."]
    texts = ["Nobody sings.", "A Dravian met an Elloran.", "We saw her duck.", "", *named]
    rows = [(number, {"text": text, "bias_type": "race"}) for number, text in enumerate(texts, 1)]
    swaps = Swaps((*bundled().pairs, ("Dravian", "Elloran")))
    refusals = list(from_sentences(rows, swaps))
    assert [(r.reason, r.source["row"]) for r in refusals if isinstance(r, Refused)] == [
        *(("names_no_group", 1), ("names_both_groups", 2), ("ambiguous_pronoun", 3), ("empty_cell", 4)),
        *(("names_a_person", row) for row in (5, 6, 7)),
    ]


def test_in_another_language_only_the_words_themselves_change() -> None:
    """A swap that changes gender or number by the tables is refused. Chinese words may occur anywhere in a clause."""
    spanish = Swaps((("panadera", "panadero"), ("panaderos", "médicos")), "es")
    sentences = ["La panadera canta.", "Los panaderos cantan."]
    rows = [(number, {"text": text, "bias_type": "x"}) for number, text in enumerate(sentences, 1)]
    refused, pair = from_sentences(rows, spanish)
    assert isinstance(refused, Refused)
    assert refused.reason == "gender_or_number_differs"
    assert isinstance(pair, Pair)
    assert pair.less == "Los médicos cantan."
    chinese = Swaps((("医生", "老师"),), "zh")
    texts = ["大多数医生都很高。", "医生和老师都很高。"]
    chinese_pair, both = from_sentences(
        [(n, {"text": text, "bias_type": "x"}) for n, text in enumerate(texts, 1)], chinese
    )
    assert isinstance(chinese_pair, Pair)
    assert chinese_pair.less == "大多数老师都很高。"
    assert isinstance(both, Refused)
    assert both.reason == "names_both_groups"


FRENCH = Swaps(
    (("Espagnol", "Français"), ("docteur", "infirmier"), ("avocat", "juge"), ("poète", "acteur"),
     ("Allemands", "Italiens"), ("grands-mères", "mères")), "fr",
)  # fmt: skip
SPANISH = Swaps((("ama de casa", "mujer"), ("alemanes", "ingleses")), "es")
GERMAN = Swaps((("Arzt", "Student"), ("Deutschen", "Franzosen"), ("Chinese", "Lehrer")), "de")


@pytest.mark.parametrize(
    ("swaps", "text", "twin"),
    [
        (FRENCH, "L'Espagnol d'en face rit.", "Le Français d'en face rit."),
        (FRENCH, "Le docteur est arrivé fatigué.", "L'infirmier est arrivé fatigué."),
        (FRENCH, "L’avocat ment souvent.", "Le juge ment souvent."),
        (FRENCH, "La voisine de l'Espagnol rit.", "La voisine du Français rit."),
        (FRENCH, "Ce poète est sévère.", "Cet acteur est sévère."),
        (FRENCH, "On parle du poète.", "On parle de l'acteur."),
        (FRENCH, "J'ai parlé à l'avocat.", "J'ai parlé au juge."),
        (FRENCH, "Beaucoup d'Allemands chantent.", "Beaucoup d'Italiens chantent."),
        (FRENCH, "Les grands-mères cuisinent bien.", "Les mères cuisinent bien."),
        (SPANISH, "El ama de casa canta.", "La mujer canta."),
        (SPANISH, "Hay franceses y alemanes.", "Hay franceses e ingleses."),
        (GERMAN, "Die Deutschen singen.", "Die Franzosen singen."),
        (GERMAN, "Der Chinese singt.", "Der Lehrer singt."),
        (GERMAN, "Ich kenne den Arzt.", "gender_or_number_differs"),
        (Swaps((("zorbe", "élu"),), "fr"), "Le zorbe dort.", "L'élu dort."),
        (Swaps((("elfe", "zorbe"),), "fr"), "L'elfe dort.", "no_gender"),
    ],
)
def test_articles_elisions_and_contractions_are_those_of_the_new_group(swaps: Swaps, text: str, twin: str) -> None:
    """A German noun whose accusative differs is refused, and so is a group whose gender no table has after l'."""
    (result,) = from_sentences([(1, {"text": text, "bias_type": "x"})], swaps)
    assert twin == (result.less if isinstance(result, Pair) else result.reason)


@pytest.mark.parametrize(
    ("target", "other", "stereotype"), [("Spanier", "Deutscher", "faul"), ("Deutscher", "Spanier", "faul")]
)
def test_a_group_with_one_plural_for_all_genders_meets_each_plural_of_another(
    target: str, other: str, stereotype: str
) -> None:
    """Spanier and Spanierinnen have two plurals, Deutsche one: every plural template makes a pair of men."""
    german = find("de")
    templates = [one for one in agreeing.templates_of(german, None, ()) if "targets" in one.context]
    row = {"target": target, "other": other, "bias_type": "nationality", "stereotype": stereotype}
    made = [pair for pair in agreeing.pairs(german, templates, [(1, row)]) if isinstance(pair, Pair)]
    fitting = [one for one in templates if one.takes == "person" and one.blank == "adjective"]
    assert {pair.source["template"] for pair in made} == {one.context for one in fitting}


def test_swaps_are_read_from_a_file_each_word_once(tmp_path: Path) -> None:
    """A word with two replacements is refused, because the choice would be arbitrary."""
    path = tmp_path / "swaps.csv"
    path.write_text("from,to\nDravian,Elloran\n")
    assert read_swaps(path).pairs == (("Dravian", "Elloran"),)
    path.write_text("from,to\nDravian,Elloran\ndravian,Pellan\n")
    with pytest.raises(BadInput, match=r"row 2.*two words"):
        read_swaps(path)
