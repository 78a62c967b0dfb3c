"""Plural subjects in languages other than English: the patterns of a folder, filled with a term in each gender."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from catsofa.data.languages import Language, Noun, Refusal
from catsofa.data.languages.nouns import noun_of
from catsofa.data.languages.slots import variants
from catsofa.data.records import Term

PLURAL = "PLURAL"
"""The column of a lexicon with the plural of a noun whose gender does not matter."""
TRAIT = "trait"
"""The category of words for people that describe a trait (thief) and name no group."""
FORMS = {"n": "noun", "pl": "noun", "adj": "adjective people", "pp": "people phrase"}


class Subject(NamedTuple):
    """A plural subject, its form, and the gender that it shows."""

    text: str
    form: str
    gender: str = ""


def subjects(term: Term, language: Language) -> Sequence[Subject] | Refusal:
    """Returns the plural subjects of a term, one for each of its genders, or the reason for a refusal."""
    pos = term.pos or ("n" if term.term.lower() in language.by_form else "")
    if pos not in FORMS:
        return Refusal("no_part_of_speech", term.term)
    patterns = language.need("subject")
    pattern = patterns["noun" if pos in ("n", "pl") else "adjective" if pos == "adj" else "phrase"]
    noun = _noun(term, language) if pos in ("n", "pl") else language.noun(patterns["people"])
    if isinstance(noun, Refusal):
        return noun
    # the term fills a slot of the pattern, so that it agrees
    template = pattern.replace("ADJECTIVE", term.term).replace("PHRASE", term.term)
    rendered = list(variants(template, language, noun))
    if refused := next((text for _, text in rendered if isinstance(text, Refusal)), None):
        return refused
    return [Subject(str(text), FORMS[pos], gender) for gender, text in rendered]


def _noun(term: Term, language: Language) -> Noun | Refusal:
    """Returns the noun of a term: with the forms of its row, else by the tables of the language."""
    if term.extra.get(PLURAL) or term.pos == "pl":
        return Noun(term.term, {"pl": str(term.extra.get(PLURAL) or term.term)})
    own = noun_of({"category": term.category, "pos": "n", **_lower(term), "term": term.term})
    return own if "" not in own.forms or not language.numbers else language.noun(term.term)


def _lower(term: Term) -> dict[str, str]:
    """Returns the other columns of a term, by their names in lower case."""
    return {name.lower(): str(cell) for name, cell in term.extra.items()}


def bundled(language: Language) -> Iterator[Term]:
    """Yields the terms of the language's own tables, except traits."""
    for name in ("terms.csv", "demonyms.csv"):
        for _, row in language.rows(name, ("term", "category", "pos")):
            if row["category"] == TRAIT:
                continue
            yield Term(
                category=row["category"],
                term=row["term"],
                pos=row["pos"],
                language=language.code,
                source={"from": f"{language.code}/{name}"},
            )
