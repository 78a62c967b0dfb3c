import gzip
import json
from pathlib import Path

import pytest

from catsofa.data.language.inflection import (
    mentions,
    plural_noun,
    plural_verb,
    regular_plural,
    regular_singular,
    singular_noun,
    singulars,
    third_person,
)
from catsofa.data.language.words import compounds

GOLD = Path(__file__).parents[2] / "builders" / "data" / "verbs_gold_500.json"


def test_the_500_most_frequent_verbs_lose_their_s() -> None:
    """Third person becomes plural as in a hand-made list; only "is" has a different plural, "are"."""
    wrong = {one: plural_verb(one) for one, many in json.loads(GOLD.read_text()) if plural_verb(one) != many}
    assert wrong == {"is": "are"}


def test_thousands_of_verbs_agree_with_another_dictionary() -> None:
    """For lemminflect's 6,748 verbs, the plural of its -s form is the verb again, where the form has the same
    spelling."""
    from lemminflect import config, getInflection

    with gzip.open(config.inflection_lu_fn, "rt") as file:
        verbs = [line.split(",")[0] for line in file if line.split(",")[1] == "verb"]
    forms = {verb: (getInflection(verb, "VBZ") or ("",))[0] for verb in verbs}
    # "distil -> distills", "re-do -> redoes" are excluded: their forms belong to another spelling of the verb
    own = {verb: form for verb, form in forms.items() if form[: len(verb) - 1] == verb[:-1] and " " not in form}
    wrong = {verb: plural_verb(form) for verb, form in own.items() if plural_verb(form) != verb}
    assert len(own) > 6600
    rare = (
        "ax annexe dis distil fulfil gell headquarter hie instal instill lassoo psyche radius re-focus tabu whir whiz"
    )
    assert set(wrong) <= set(rare.split())


@pytest.mark.parametrize(
    ("one", "many"),
    [("isn't", "aren't"), ("doesn't", "don't"), ("hasn't", "haven't"), ("Is", "Are"), ("has", "have"), ("dies", "die")],
)
def test_negations_and_capitals_stay(one: str, many: str) -> None:
    """Only the verb changes."""
    assert plural_verb(one) == many


NOUNS = [
    ("woman", "women"), ("thief", "thieves"), ("woman of colour", "women of colour"), ("Hero", "Heroes"),
    ("mother-in-law", "mothers-in-law"), ("Christianity", "Christianities"), ("trans man", "trans men"),
    ("SUV", "SUVs"), ("person", "people"), ("patriarch", "patriarchs"), ("chess player", "chess players"),
]  # fmt: skip


@pytest.mark.parametrize(("one", "many"), NOUNS)
def test_nouns_and_phrases_have_their_plural(one: str, many: str) -> None:
    """The head of a phrase changes. A name in -y and an acronym keep their case."""
    assert plural_noun(one) == many


def test_a_singular_that_ends_in_s_is_not_plural() -> None:
    """A dictionary decides: crocus and virus are singular, parents are not."""
    assert [singular_noun(word) for word in ("crocus", "virus", "news", "parents", "men")] == [
        *(None, None, None),
        *("parent", "man"),
    ]


def test_bare_verbs_take_an_s() -> None:
    """A bare verb gets the third-person form for a singular target."""
    assert [third_person(verb) for verb in ("gossip", "try", "pass", "be", "have")] == [
        *("gossips", "tries", "passes"),
        *("is", "has"),
    ]


def test_the_regular_plural_and_singular_undo_each_other() -> None:
    """The ending decides, with or without an entry in a dictionary."""
    many = [regular_plural(term) for term in ("zorb", "blicky", "tall dax", "church", "fox", "grey day")]
    assert many == ["zorbs", "blickies", "tall daxes", "churches", "foxes", "grey days"]
    assert [regular_singular(term) for term in many] == ["zorb", "blicky", "tall dax", "church", "fox", "grey day"]


def test_a_word_in_ss_is_no_plural() -> None:
    """`Witness` has no other singular; `witnesses` may be its plural."""
    assert singulars("witness") == singulars("witness's") == {"witness"}
    assert "witness" in singulars("witnesses")
    assert not mentions("The princess left.", "prince")


def test_a_text_mentions_a_term_in_singular_plural_and_possessive() -> None:
    """All words of the term must occur in order. With `compounds`, a part of a compound is no mention."""
    assert mentions("The zorbs’ wives left.", "wife")
    assert mentions("A white person came.", "White people")
    assert mentions("My mother-in-law left.", "mother")
    assert not mentions("My mother-in-law left.", "mother", compounds)
    assert not mentions("The law of a mother.", "mother-in-law")
    assert not mentions("The zorbs left.", "")
