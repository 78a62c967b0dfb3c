"""Tests of target terms: kind, article, number and preposition."""

from pathlib import Path

import pytest
from helpers.builders.invented_cats import made, said

from catsofa.builders.cats import intrasentence, read_associations
from catsofa.builders.cats.templates import Template, bundled, kind_of_term
from catsofa.data.languages.texts import names
from catsofa.data.records import Cat, Refused


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


def test_an_empty_target_is_of_no_kind() -> None:
    """An empty target has no kind."""
    assert kind_of_term("", "profession") is None
    assert kind_of_term("tailor", "profession") == "person"
