import re
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest

from catsofa.builders.cats import (
    Association,
    Matching,
    Unrelated,
    bundled_words,
    intersentence,
    intrasentence,
    read_associations,
    wrong_number,
)
from catsofa.builders.cats.templates import FRAMES, Template, TermKind, bundled, kind_of_term, read
from catsofa.data import formats
from catsofa.data.files import BadInput
from catsofa.data.language.word_numbers import read_zipf
from catsofa.data.languages.texts import names
from catsofa.data.records import Cat, Refused


def said(target: str, *words: str, bias_type: str = "profession", context: str = "") -> Association:
    """Returns an association of a target with stereotype, anti-stereotype and unrelated words."""
    stereotype, anti, unrelated = words
    return Association(
        target, bias_type, {"stereotype": stereotype, "anti-stereotype": anti, "unrelated": unrelated}, context
    )


def made(template: Template, association: Association) -> list[str]:
    """Returns the candidates of one association in one template, or the reason of its refusal."""
    (cat,) = intrasentence([template], [association])
    return [candidate.text for candidate in cat.candidates] if isinstance(cat, Cat) else [cat.reason]


TEMPLATES = [
    ("{a target} {is|are} a BLANK person.", "adjective", "tailor", ("honest", "arrogant", "wooden"),
     ["A tailor is an honest person.", "A tailor is an arrogant person.", "A tailor is a wooden person."]),
    ("Most {targets} {is|are} BLANK.", "noun", "thief", ("snob", "hero", "hour"),
     ["Most thieves are snobs.", "Most thieves are heroes.", "Most thieves are hours."]),
    ("The {target} was a BLANK.", "noun", "umpires", ("snob", "thief", "umbrella"),
     ["The umpire was a snob.", "The umpire was a thief.", "The umpire was an umbrella."]),
    ("{targets} BLANK.", "verb", "tailor", ("gossips all day", "study", "evaporate"),
     ["Tailors gossip all day.", "Tailors study.", "Tailors evaporate."]),
    ("The {target} next door BLANK.", "verb", "tailor", ("gossip all day", "study", "evaporate"),
     ["The tailor next door gossips all day.", "The tailor next door studies.", "The tailor next door evaporates."]),
    ("BLANK {targets} are rare.", "adjective", "tailor", ("honest", "rude", "wooden"),
     ["Honest tailors are rare.", "Rude tailors are rare.", "Wooden tailors are rare."]),
]  # fmt: skip


@pytest.mark.parametrize(("context", "blank", "target", "words", "texts"), TEMPLATES)
def test_article_number_verb_and_capital_follow_target_and_words(
    context: str, blank: str, target: str, words: tuple[str, str, str], texts: list[str]
) -> None:
    """The template defines what its slots take; the rest of it does not change."""
    assert made(Template(context, blank=blank), said(target, *words)) == texts


def test_a_place_takes_its_article_and_an_adjective_its_noun() -> None:
    """The kind of a target term decides which templates fit it."""
    assert [kind_of_term(term, "race") for term in ("Netherlands", "Ethiopian", "African Americans")] == [
        *("place", "adjective"),
        "person",
    ]
    assert [kind_of_term("she", "gender"), kind_of_term("Bible", "religion"), kind_of_term("tailor")] == [
        *("pronoun", "thing"),
        "person",
    ]
    texts = [
        candidate.text
        for cat in intrasentence(bundled(), [said("Netherlands", "flat", "steep", "edible", bias_type="race")])
        if isinstance(cat, Cat)
        for candidate in cat.candidates
    ]
    assert texts[0] == "People from the Netherlands are flat."
    assert made(
        Template("{a target} student was BLANK.", takes="adjective"), said("Ethiopian", "kind", "rude", "edible")
    ) == [f"An Ethiopian student was {word}." for word in ("kind", "rude", "edible")]


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


@pytest.mark.parametrize(
    ("place", "sentence"),
    [
        ("Christmas Island", "Most people on Christmas Island are tidy."),
        ("Cocos Islands", "Most people in the Cocos Islands are tidy."),
        ("the Isle of Man", "Most people on the Isle of Man are tidy."),
        ("Trinidad & Tobago", "Most people in Trinidad & Tobago are tidy."),
        ("Republic of Zorbia", "Most people in the Republic of Zorbia are tidy."),
        ("Montserrat", "Most people in Montserrat are tidy."),
        ("Solomon Islands", "Most people in the Solomon Islands are tidy."),
    ],
)
def test_places_take_their_preposition_and_article(place: str, sentence: str) -> None:
    """A single island takes "on". Plural and joined names are places, and no sentence says "a Cocos Island"."""
    assert kind_of_term(place) == "place"
    words = ("tidy", "messy", "wooden")
    assert made(Template("Most people in {target} are BLANK.", takes="place"), said(place, *words))[0] == sentence


def test_pronouns_and_things_are_targets() -> None:
    """A pronoun takes the subject form, and "they" a plural verb. A thing takes its article."""
    template = Template("{target} {is a|are} BLANK.", takes="pronoun", blank="noun")
    words = ("snob", "hero", "hour")
    assert made(template, said("himself", *words))[0] == "He is a snob."
    assert made(template, said("them", *words))[0] == "They are snobs."
    thing = Template("Many say that {target} {is|are} BLANK.", takes="thing", blank="adjective")
    words = ("long", "short", "wooden")
    sentences = [made(thing, said(target, *words, bias_type="religion"))[0] for target in ("Bible", "Islam")]
    assert sentences == ["Many say that the Bible is long.", "Many say that Islam is long."]


KINDS = [
    ("Zorrin,name", "Zorrin from the office is honest."),
    ("xe,pronoun", "Everyone says that xe is honest."),
    ("violin,thing", "Many people say that the violin is honest."),
    ("violins,thing", "Many people say that the violins are honest."),
    ("Zorbia,place", "People from Zorbia are honest."),
    ("Zorbian,adjective", "My Zorbian neighbours are honest."),
    ("Zorrian,", "The Zorrian next door is honest."),
]


@pytest.mark.parametrize(("cells", "text"), KINDS)
def test_a_file_may_say_what_a_target_is(tmp_path: Path, cells: str, text: str) -> None:
    """`target_kind` gives the kind of invented names, new pronouns and user-defined things."""
    path = tmp_path / "pairs.csv"
    path.write_text(
        f"target,target_kind,bias_type,stereotype,anti-stereotype,unrelated\n{cells},pastime,honest,rude,wooden\n"
    )
    first = next(iter(intrasentence(bundled(), read_associations(path))))
    assert isinstance(first, Cat)
    assert first["stereotype"].text == text


def test_an_unknown_kind_of_target_is_refused_with_its_row(tmp_path: Path) -> None:
    """An unknown kind is refused, so that a typing error does not turn a thing into a person."""
    path = tmp_path / "pairs.csv"
    path.write_text(
        "target,target_kind,bias_type,stereotype,anti-stereotype,unrelated\nviolin,thign,pastime,old,new,rude\n"
    )
    (refusal,) = read_associations(path)
    assert isinstance(refusal, Refused)
    assert (refusal.reason, refusal.source) == ("unknown_target_kind", {"row": 1, "failed": {"target_kind": "thign"}})


@pytest.mark.parametrize("bias_type", ["race", "nationality", "gender"])
@pytest.mark.parametrize(
    "target", ["Bali", "London", "Elizabeth", "Milan", "Brian", "Paris", "Zorbistan", "Queen Elizabeth"]
)
def test_a_name_that_no_list_knows_is_refused(target: str, bias_type: str) -> None:
    """An unknown name may be a place or a first name, so it is refused; no sentence says "a Bali"."""
    (refusal,) = intrasentence(bundled(), [said(target, "kind", "rude", "wooden", bias_type=bias_type)])
    assert isinstance(refusal, Refused)
    assert (refusal.reason, refusal.source["failed"]) == ("unknown_target_kind", {"target": target})


PEOPLE = [
    "Kurds",
    "Sikh",
    "Londoner",
    "New Yorkers",
    "CEO",
    "Pelloran",
    "West Virginian",
    "the Roma",
    "Baptist minister",
]


@pytest.mark.parametrize("target", [*PEOPLE, "Jehovah's Witness", "People from Bali", "iPhone user", "FBI agent"])
def test_a_name_of_people_is_known_by_list_ending_or_noun(target: str) -> None:
    """Peoples, faiths, inhabitants and phrases with a common noun are people."""
    assert kind_of_term(target, "nationality") == "person"


def test_a_target_with_a_form_of_its_own_takes_it() -> None:
    """`police` becomes "police officers", "mother-in-law" "mothers-in-law", and "iPhone" keeps its small letter."""
    one, many = Template("The {target} is BLANK."), Template("{targets} are BLANK.")
    assert one.about("police") == "The police officer is BLANK."
    assert [many.about(term) for term in ("mother-in-law", "iPhone user")] == [
        *("Mothers-in-law are BLANK.", "iPhone users are BLANK."),
    ]


TWICE = [("thief", "saint", "lamp"), ("a thief", "a saint", "a lamp")]

PHRASES = [
    ("the Dravian", "The Dravian sings.", "Dravians sing."),
    ("people from Zorbia", "The person from Zorbia sings.", "People from Zorbia sing."),
    ("women with hats", "The woman with hats sings.", "Women with hats sing."),
    ("the elderly", "The elderly person sings.", "Elderly people sing."),
]


@pytest.mark.parametrize(("term", "one", "many"), PHRASES)
def test_a_phrase_as_target_takes_its_number_at_its_head_and_one_article(term: str, one: str, many: str) -> None:
    """A group may have an article, be plural, or have words after its noun; its head takes the number."""
    templates = Template("The {target} sings. BLANK."), Template("{targets} sing. BLANK.")
    assert [template.about(term).removesuffix(" BLANK.") for template in templates] == [one, many]


@pytest.mark.parametrize(("term", "one"), [("the homeless", "A homeless person"), ("the elite", "An elite")])
def test_a_group_that_an_adjective_names_is_people_with_it(term: str, one: str) -> None:
    """Lint finds the target in the context. A noun after the article gets no "person"."""
    context = Template("{a target} is BLANK.").about(term)
    assert context == f"{one} is BLANK."
    assert names(context, term, "en")


def test_a_cat_that_an_earlier_row_made_is_refused() -> None:
    """A repeated CAT is refused as a duplicate."""
    rows = [said("zorb", *words) for words in TWICE]
    outcomes = list(intrasentence([Template("The {target} is a BLANK.", blank="noun")], rows))
    assert [one.reason if isinstance(one, Refused) else one.context for one in outcomes] == [
        *("The zorb is a BLANK.", "duplicate")
    ]


def test_a_phrase_stands_in_no_template_that_goes_on_after_its_blank() -> None:
    """No CAT has a phrase before a noun, such as `a made of wood person`."""
    association = said("tailor", "made of wood", "full of joy", "good at chess")
    attribute, predicate = "{a target} is a BLANK person.", "The {target} is BLANK."
    (cat,) = intrasentence(
        [Template(attribute, blank="adjective"), Template(predicate, blank="adjective")], [association]
    )
    assert isinstance(cat, Cat)
    assert cat["stereotype"].text == "The tailor is made of wood."


def test_verbs_in_the_third_person_make_no_nouns() -> None:
    """`cries` is not built into `Maria is a cry`, nor `alike` into `an alike person`; "thieves" is a noun."""
    cries, thieves = said("Maria", "cries", "laughs", "boils"), said("tailor", "thieves", "heroes", "hours")
    verb, noun = "{target} BLANK.", "{target} is a BLANK."
    templates = [Template(verb, blank="verb", takes="name"), Template(noun, blank="noun", takes="name")]
    assert [cat.context for cat in intrasentence(templates, [cries]) if isinstance(cat, Cat)] == ["Maria BLANK."]
    assert made(Template("The {target} is a BLANK.", blank="noun"), thieves)[0] == "The tailor is a thief."
    alike = said("twin", "alike", "different", "loud")
    assert made(Template("{a target} is a BLANK person.", blank="adjective"), alike) == ["no_template_fits"]


def test_no_bundled_template_begins_a_sentence_with_its_blank() -> None:
    """`validate lint` reports a leading BLANK (L2), because the fill would need a capital."""
    assert [one.context for one in bundled() if re.search(r"(?:^|[.?!]\W+)BLANK", one.context)] == []


def test_the_bundled_templates_cover_six_frames() -> None:
    """There are at least 60 templates, and each frame takes every kind of target with an adjective."""
    templates = bundled()
    assert len(templates) >= 60
    covered = {(template.frame, template.takes) for template in templates if template.blank == "adjective"}
    assert covered == {(frame, kind) for frame in FRAMES for kind in get_args(TermKind)}
    of_nouns = {(template.frame, template.takes) for template in templates if template.blank in ("noun", "bare noun")}
    assert {("question", kind) for kind in get_args(TermKind)} <= of_nouns
    assert {("negation", kind) for kind in get_args(TermKind)} <= of_nouns
    assert [t.polarity for t in (templates[0], *(t for t in templates if t.context.startswith("Not all")))] == [
        *("asserts", "denies"),
    ]


def test_a_negation_takes_no_negated_words() -> None:
    """`Tailors never have no sense of humour` is not built; a statement accepts the words."""
    template = Template("{targets} never BLANK.", blank="verb", frame="negation")
    words = said("tailor", "have no sense of humour", "tell jokes", "drink sand")
    (refusal,) = intrasentence([template], [words])
    assert refusal.source["failed"] == {"stereotype": "have no sense of humour"}
    (cat,) = intrasentence([replace(template, frame="statement")], [words])
    assert cat["stereotype"].text == "Tailors never have no sense of humour."
    assert made(template, said("tailor", "complain", "never complain", "rust")) == ["no_template_fits"]


def test_a_cat_tells_its_frame_and_whether_it_asserts() -> None:
    """The source has frame and polarity, because scores of negations and questions have another meaning."""
    template = Template("The {target} is not BLANK.", blank="adjective", frame="negation")
    (cat,) = intrasentence([template], [said("tailor", "kind", "rude", "wooden")])
    assert (cat.source["frame"], cat.source["polarity"]) == ("negation", "denies")


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


NUMBERS = [
    ("He is a BLANK.", "snobs", True),
    ("He is BLANK.", "snob", True),
    ("He is a BLANK man.", "sports", False),
    ("He is BLANK.", "lazy", False),
    ("They are BLANK.", "snobs", False),
    ("It is BLANK.", "furniture", False),
]


@pytest.mark.parametrize(("context", "word", "wrong"), NUMBERS)
def test_a_noun_that_clashes_with_its_slot_is_seen(context: str, word: str, wrong: bool) -> None:
    """A plural after "a" and a singular without article clash; a noun before another noun does not."""
    assert wrong_number(context, word) is wrong


def test_templates_are_checked_when_they_are_read(tmp_path: Path) -> None:
    """A template needs one BLANK, a target, and slots of a known form."""
    path = tmp_path / "templates.toml"
    path.write_text('[[templates]]\ncontext = "The {target} is BLANK."\nblank = "adjective"\n')
    assert read(path) == [Template("The {target} is BLANK.", blank="adjective")]
    for context, fault in (
        ("The {target} is here.", "no blank"),
        ("They are BLANK.", "no {target}"),
        ("{tagret} {target} BLANK", "a place"),
    ):
        path.write_text(f'[[templates]]\ncontext = "{context}"\n')
        with pytest.raises(BadInput, match=fault):
            read(path)


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


def test_an_empty_target_is_of_no_kind() -> None:
    """An empty target has no kind."""
    assert kind_of_term("", "profession") is None
    assert kind_of_term("tailor", "profession") == "person"
