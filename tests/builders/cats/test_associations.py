"""Tests of CATs from associations: refusals, unrelated words, matching, continuations."""

from pathlib import Path

import pytest
from helpers.builders.invented_cats import made, said

from catsofa.builders.cats import (
    Association,
    Matching,
    Unrelated,
    bundled_words,
    fits,
    intersentence,
    intrasentence,
    read_associations,
)
from catsofa.builders.cats.fills import readings
from catsofa.builders.cats.templates import Template, bundled
from catsofa.data import formats
from catsofa.data.files import BadInput
from catsofa.data.language.word_numbers import read_zipf
from catsofa.data.records import Cat, Refused


def test_a_cat_keeps_its_context_its_fills_and_where_it_comes_from() -> None:
    """The fill is stored with the CAT, so it need not be searched in the sentence."""
    (cat,) = intrasentence([Template("The {target} is BLANK.")], [said("tailor", "kind", "rude", "edible")])
    assert isinstance(cat, Cat)
    assert (cat.context, cat["unrelated"].fill) == ("The tailor is BLANK.", "edible")
    assert cat.source["template"] == "The {target} is BLANK."


FAULTS = [
    (said("tailor", "kind", "", "edible"), "empty_candidate"),
    (said("tailor", "kind", "Kind", "edible"), "same_candidates"),
    (said("she", "kind", "rude", "edible", bias_type="gender"), "no_template_fits"),
    (said("tailor", "snobs", "rude", "edible"), "wrong_number"),
]


def test_an_empty_candidate_is_refused_where_a_template_asks_for_a_part_of_speech() -> None:
    """Empty words are refused before their part of speech is looked up."""
    template = Template("The {target} is BLANK.", blank="adjective")
    assert made(template, said("tailor", "kind", "", "edible")) == ["empty_candidate"]


@pytest.mark.parametrize(("association", "reason"), FAULTS)
def test_an_association_that_makes_no_cat_is_refused(association: Association, reason: str) -> None:
    """The refusal has a reason. A plural after "a" is refused if the template has no part of speech."""
    assert made(Template("The {target} is a BLANK."), association) == [reason]


def test_one_bad_row_is_refused_with_its_number_and_the_build_goes_on(tmp_path: Path) -> None:
    """A row with missing cells, and words that differ only in a number that the template sets, are refused."""
    path = tmp_path / "pairs.csv"
    head = "target,bias_type,stereotype,anti-stereotype,unrelated\n"
    path.write_text(
        f"{head}nurse,profession,snob,snobs,hour\nbaker,profession,kind\ntailor,profession,snob,hero,hour\n"
    )
    template = Template("The {target} is a BLANK.", blank="noun")
    bad, short, cat = intrasentence([template], read_associations(path))
    assert isinstance(bad, Refused)
    assert (bad.reason, bad.source["row"]) == ("same_candidates", 1)
    assert isinstance(short, Refused)
    assert (short.reason, short.source["row"], short.source["line"]) == ("faulty_row", 2, 3)
    assert isinstance(cat, Cat)
    assert cat["stereotype"].text == "The tailor is a snob."


def test_the_word_that_fits_no_template_is_named() -> None:
    """The refusal names the word that prevents the template with the most fitting words, or the target."""
    templates = [
        Template("The {target} is BLANK.", blank="adjective"),
        Template("The {target} is a BLANK.", blank="noun"),
    ]
    (word,) = intrasentence(templates, [said("tailor", "kind", "rude", "spoon")])
    (target,) = intrasentence(templates, [said("she", "kind", "rude", "wooden")])
    assert isinstance(word, Refused)
    assert (word.reason, word.source["failed"]) == ("no_template_fits", {"unrelated": "spoon"})
    assert isinstance(target, Refused)
    assert (target.reason, target.source["failed"]) == ("no_template_fits", {"target": "she"})


def test_cats_that_share_a_candidate_are_read_back(tmp_path: Path) -> None:
    """Two CATs of one context may have the same unrelated word, with different candidate ids."""
    shared = [said("tailor", "honest", "rude", "wooden"), said("tailor", "brave", "timid", "wooden")]
    built = list(intrasentence([Template("The {target} is BLANK.", blank="adjective")], shared))
    formats.named("jsonl").write(built, tmp_path / "cats.jsonl")
    read_back = list(formats.read(tmp_path / "cats.jsonl"))
    assert read_back == built
    assert len({candidate.id for cat in read_back for candidate in cat.candidates}) == 6


def test_an_unrelated_word_of_another_part_of_speech_is_chosen_anew() -> None:
    """A pool replaces an unfitting unrelated word; the source keeps the given word."""
    pool = Unrelated(["teapot", "wooden"])
    template = Template("The {target} is BLANK.", blank="adjective")
    (cat,) = intrasentence([template], [said("tailor", "kind", "rude", "spoon")], unrelated=pool)
    assert isinstance(cat, Cat)
    assert (cat["unrelated"].fill, cat.source["unrelated_given"]) == ("wooden", "spoon")
    (record,) = intrasentence([template], [said("tailor", "kind", "rude", "striped")], unrelated=pool)
    assert isinstance(record, Cat)
    assert (record["unrelated"].fill, "unrelated_given" in record.source) == ("striped", False)
    (filled,) = intrasentence([template], [said("tailor", "kind", "rude", "")], unrelated=pool)
    assert filled.source["unrelated_given"] == ""


TWICE = [("thief", "saint", "lamp"), ("a thief", "a saint", "a lamp")]


def test_a_cat_that_an_earlier_row_made_is_refused() -> None:
    """A repeated CAT is refused as a duplicate."""
    rows = [said("zorb", *words) for words in TWICE]
    outcomes = list(intrasentence([Template("The {target} is a BLANK.", blank="noun")], rows))
    assert [one.reason if isinstance(one, Refused) else one.context for one in outcomes] == [
        *("The zorb is a BLANK.", "duplicate")
    ]


def test_the_candidates_match_where_asked() -> None:
    """Candidates match in part of speech by the dictionary, and in frequency by the user's table."""
    template, mixed = Template("The {target} is BLANK."), said("tailor", "kind", "slowly", "wooden")
    (strict,) = intrasentence([template], [mixed], matching=Matching(part_of_speech=True))
    assert isinstance(strict, Refused)
    assert strict.reason == "part_of_speech_differs"
    zipf = {"kind": 5.5, "rude": 4.2, "edible": 3.4, "odd": 4.9}
    reasons = [
        next(iter(intrasentence([template], [said("tailor", *words)], matching=Matching(frequency=zipf))))
        for words in (("kind", "rude", "edible"), ("kind", "odd", "wooden"), ("kind", "odd", "rude"))
    ]
    assert [r.reason if isinstance(r, Refused) else "kept" for r in reasons] == [
        *("frequency_differs", "unknown_frequency"),
        "frequency_differs",
    ]
    wide = Matching(frequency=zipf, gap=1.5)
    assert isinstance(
        next(iter(intrasentence([template], [said("tailor", "kind", "odd", "rude")], matching=wide))), Cat
    )


def test_a_chosen_word_depends_on_no_other_association() -> None:
    """Reordered or repeated rows give the same CATs; another seed gives other words."""
    template = Template("The {target} is BLANK.", blank="adjective")
    rows = [said(name, "kind", "rude", "") for name in ("tailor", "baker", "miller", "smith", "cook", "weaver")]

    def built(some: list[Association], seed: int = 0) -> set[str]:
        records = intrasentence([template], some, unrelated=Unrelated(bundled_words(), seed))
        return {cat.id for cat in records if isinstance(cat, Cat)}

    assert built(rows) == built([*rows[::-1], *rows])
    assert len(built(rows) & built(rows[1:])) == len(rows) - 1
    assert built(rows) != built(rows, seed=1)


def test_an_unrelated_word_is_chosen_of_the_same_part_and_as_frequent() -> None:
    """(5.0 + 4.0) / 2 = 4.5, so `round` is closest. `teapot` is no adjective, and `kind` is already used."""
    zipf = {"kind": 5.0, "rude": 4.0, "edible": 3.0, "round": 4.6, "teapot": 4.5}
    pool = Unrelated(["teapot", "edible", "round", "kind"], frequency=zipf)
    assert pool(said("tailor", "kind", "rude", "")) == "round"
    assert Unrelated(["teapot"])(said("tailor", "kind", "rude", "")) is None
    (cat,) = intrasentence([Template("The {target} is BLANK.")], [said("tailor", "kind", "rude", "")], unrelated=pool)
    assert isinstance(cat, Cat)
    assert cat["unrelated"].fill == "round"


def test_continuations_make_intersentence_cats() -> None:
    """A context needs no BLANK; a repeated CAT is a duplicate."""
    story = said("tailor", "He was kind.", "He was rude.", "Bread rises.", context="The tailor came in.")
    blank = said("tailor", "He was kind.", "He was rude.", "Bread rises.", context="The BLANK tailor came in.")
    bare = said("tailor", "He was kind.", "He was rude.", "Bread rises.")
    cats = list(intersentence([story, blank, bare, story]))
    assert isinstance(cats[0], Cat)
    assert (cats[0].kind, cats[0].context, cats[0]["unrelated"].text) == (
        "intersentence",
        "The tailor came in.",
        "Bread rises.",
    )
    assert [r.reason for r in cats if isinstance(r, Refused)] == ["blank_in_context", "no_context", "duplicate"]


CONTINUED = [
    ("The tailor came in.", "He was kind.", "He was kind!", "same_candidates"),
    ("The baker came in.", "He was kind.", "He was rude.", "target_not_in_context"),
    ("The tailor came, and", "he was kind.", "he was rude.", "incomplete_context"),
    ("Two tailors came in.", "They were", "They were rude.", "incomplete_continuation"),
]


@pytest.mark.parametrize(("context", "stereotype", "anti", "reason"), CONTINUED)
def test_contexts_and_continuations_are_checked(context: str, stereotype: str, anti: str, reason: str) -> None:
    """A context has the target, all sentences are complete, and two differ in more than punctuation."""
    (refusal,) = intersentence([said("tailor", stereotype, anti, "Bread rises.", context=context)])
    assert isinstance(refusal, Refused)
    assert refusal.reason == reason


def test_associations_and_frequencies_are_read_from_files(tmp_path: Path) -> None:
    """Associations come from a CSV with the label names as columns; frequencies are a word, a tab and a number per
    line."""
    (tmp_path / "a.csv").write_text(
        "target,bias_type,stereotype,anti-stereotype,unrelated\ntailor,profession,kind,rude,\n"
    )
    (association,) = read_associations(tmp_path / "a.csv")
    assert (association.target, association.words["unrelated"], association.source) == ("tailor", "", {"row": 1})
    (tmp_path / "zipf.tsv").write_text("Kind\t5.5\nrude\t4.2\n")
    assert read_zipf(tmp_path / "zipf.tsv") == {"kind": 5.5, "rude": 4.2}
    (tmp_path / "zipf.tsv").write_text("kind 5.5\n")
    with pytest.raises(BadInput, match=r"word.*tab.*number"):
        read_zipf(tmp_path / "zipf.tsv")


@pytest.mark.slow
def test_at_most_a_quarter_of_stereosets_associations_fits_no_template(shared: Path) -> None:
    """With StereoSet's contexts and the bundled pool, each refusal names what failed."""
    cats = [
        cat for cat in formats.read_as(shared / "data/stereoset/dev.json", Cat) if all(c.fill for c in cat.candidates)
    ]
    pairings = [
        Association(cat.target, cat.bias_type, {c.label: c.fill or "" for c in cat.candidates}, cat.context)
        for cat in cats[::7]
        if cat.kind == "intrasentence"
    ]
    unrelated = Unrelated(bundled_words())
    records = list(intrasentence(bundled(), pairings, unrelated=unrelated))
    misfits = [r for r in records if isinstance(r, Refused) and r.reason == "no_template_fits"]
    assert len(misfits) <= len(pairings) / 4
    assert all(misfit.source["failed"] for misfit in misfits)


@pytest.mark.parametrize(
    ("context", "words", "called"),
    [
        ("The chemist generally works in the BLANK.", ("laboratory", "bathroom", "screwdriver"), False),
        ("The chemist is a BLANK.", ("machine", "pillow", "river"), True),
        ("The chemist laughed at the BLANK.", ("baker", "teacher", "river"), True),
        ("", ("machine", "pillow", "river"), True),
    ],
)
def test_people_are_called_a_thing_only_if_the_writer_called_them_so(
    context: str, words: tuple[str, str, str], called: bool
) -> None:
    """`in the BLANK` says nothing of the chemist, so no template says that the chemist is a laboratory."""
    template = next(one for one in bundled() if one.takes == "person" and one.blank == "noun")
    assert fits(template, said("chemist", *words, context=context)) is called


def test_a_capital_that_a_writer_gave_a_common_word_does_not_stay() -> None:
    """A fill that began a sentence, or was written with a capital, is lower case inside a sentence; names keep it."""
    assert readings("Starving")["adjective"].words == "starving"
    assert readings("Wars", "The people in Zorbia have BLANK.")["noun"].words == "war"
    assert not any(fill.words == "german" for fill in readings("German").values())
