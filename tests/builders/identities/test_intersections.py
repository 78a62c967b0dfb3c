import pytest

from catsofa.builders.identities.intersections import build, build_categories, cross
from catsofa.data.records import Identity, Refused, Term


def country(adjective: str, name: str = "") -> Term:
    """Returns a country of the lexicon."""
    return Term(category="countries", term=name or adjective, extra={"COUNTRY_ADJ": adjective})


def term(category: str, word: str, pos: str) -> Term:
    """Returns a term of the lexicon."""
    return Term(category=category, term=word, pos=pos)


DEAF, ITALIAN = term("disability", "deaf", "adj"), country("Italian", "Italy")
ALLERGIC = term("disability", "with hay fever", "pp")
CROSSED = [
    (DEAF, ITALIAN, "Deaf Italian people"),
    (ITALIAN, DEAF, "Deaf Italian people"),
    (term("gender", "woman", "n"), country("French", "France"), "French women"),
    (term("age", "old person", "n"), term("religion", "Sikh", "n"), "Old Sikhs"),
    (ALLERGIC, term("gender", "trans man", "n"), "Trans men with hay fever"),
    (ALLERGIC, country("Maltan", "Malta"), "Maltese people with hay fever"),
    (ALLERGIC, term("age", "in their nineties", "pp"), "People in their nineties and with hay fever"),
    (term("religion", "buddhist monk", "n"), term("age", "young", "adj"), "Young Buddhist monks"),
    (term("race", "native american", "adj"), term("sexuality", "gay", "adj"), "Gay Native American people"),
    (term("disability", "deaf", "n"), term("gender", "boy", "n"), "Deaf boys"),
]


@pytest.mark.parametrize(("first", "second", "identity"), CROSSED)
def test_two_terms_make_one_subject_in_english_order(first: Term, second: Term, identity: str) -> None:
    """The order is age, disability, sexuality, gender, race, nationality, religion, noun, phrase, whichever term is
    first."""
    assert cross(first, second)[0] == identity


def test_the_form_says_what_a_subject_is_made_of() -> None:
    """The form is recorded, because length and head noun influence perplexity."""
    assert cross(DEAF, ITALIAN)[1] == "adjective adjective people"
    assert cross(ALLERGIC, term("gender", "woman", "n"))[1] == "noun phrase"


def test_what_makes_no_subject_is_refused() -> None:
    """Two nouns, two terms of one category, and a religion are refused."""
    woman, user = term("gender", "woman", "n"), term("disability", "wheelchair user", "n")
    assert cross(woman, user) == "two_nouns"
    assert cross(woman, term("gender", "man", "n")) == "same_category"
    assert (
        cross(woman, Term(category="religion", term="Taoism", pos="n", extra={"SEM": "religion"}))
        == "religion_not_people"
    )


def test_each_pair_is_an_identity_of_both_categories_once() -> None:
    """The category names both terms' categories in the order of the words; a repeated subject is a duplicate."""
    firsts = [term("gender", "woman", "n"), Term(category="gender", term="woman", pos="n", id="again")]
    records = list(build(firsts, [country("Italian", "Italy"), term("disability", "wheelchair user", "n")]))
    identities = [record for record in records if isinstance(record, Identity)]
    assert [(i.identity, i.category) for i in identities] == [("Italian women", "gender+countries")]
    assert [record.reason for record in records if isinstance(record, Refused)] == [
        "two_nouns",
        "duplicate",
        "two_nouns",
    ]


def test_two_categories_of_a_lexicon_are_named() -> None:
    """One repeated category and a missing one are errors."""
    terms = [term("gender", "woman", "n"), country("Italian", "Italy")]
    records = build_categories(terms, ["gender", "countries"])
    assert [record.identity for record in records if isinstance(record, Identity)] == ["Italian women"]
    with pytest.raises(ValueError, match="two different categories"):
        list(build_categories(terms, ["gender", "gender"]))
    with pytest.raises(ValueError, match=r"'age'.*countries, gender"):
        list(build_categories(terms, ["gender", "age"]))


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (term("age", "toddler", "n"), term("sexuality", "straight", "adj"), "implausible"),
        (term("sexuality", "straight", "adj"), term("age", "toddler", "n"), "implausible"),
        (term("age", "toddler", "n"), term("religion", "priest", "n"), "implausible"),
        (term("age", "underage", "adj"), term("gender", "cis woman", "n"), "implausible"),
        (term("age", "senior", "adj"), term("gender", "cisgirl", "n"), "implausible"),
        (term("age", "senior", "adj"), term("disability", "insane", "adj"), "demeaning_term"),
        (term("age", "old", "adj"), term("disability", "normal", "adj"), "demeaning_term"),
    ],
)
def test_subjects_that_nobody_can_be_are_refused(first: Term, second: Term, expected: str) -> None:
    """An age excludes attributes of other ages, and a demeaning word is not combined."""
    assert cross(first, second) == expected


def test_ages_are_joined_with_what_people_of_that_age_are() -> None:
    """Plausible combinations are built, such as deaf toddlers and elderly women."""
    assert cross(term("age", "toddler", "n"), term("disability", "deaf", "adj"))[0] == "Deaf toddlers"
    assert cross(term("age", "elderly", "adj"), term("gender", "woman", "n"))[0] == "Elderly women"
