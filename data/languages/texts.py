"""Text analysis with a language's folder: the forms of a group's name, and words that distinguish two texts."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any

from catsofa.data.language.demonyms import same_group
from catsofa.data.language.inflection import mentions
from catsofa.data.language.words import words
from catsofa.data.languages import codes, find
from catsofa.data.languages.language import Language
from catsofa.data.languages.nouns import Noun
from catsofa.data.percentages import quantity

ENGLISH = "en"
UNSPACED = frozenset({"ja", "km", "lo", "my", "th", "zh"})
"""Languages without spaces between words, with a folder or without."""


def language_of(record: Any) -> str:
    """The code of a record's language without its region (es of es-MX); probes have it in `extra`. Default: English."""
    code = getattr(record, "language", "") or getattr(record, "extra", {}).get("language", "")
    return re.split("[-_]", str(code or ENGLISH).lower())[0]


def most_spoken(records: Iterable[Any]) -> str:
    """The most frequent language of the records; English if there are none."""
    ranking = Counter(map(language_of, records)).most_common(1)
    return ranking[0][0] if ranking else ENGLISH


def said_of_near_duplicates(records: Iterable[Any]) -> list[str]:
    """One sentence per language other than English: what the near-duplicate detector compares and what it ignores."""
    out = []
    for code, count in Counter(map(language_of, records)).items():
        if code != ENGLISH:
            lists = "letters, figures" + (", negation, quantity and words for people" if meaning_of(code) else "")
            unread = "the rules for meaning and spelling and the encoder read English"
            out.append(f"{quantity(count, 'record')} in {code!r} are compared by their {lists}: {unread}")
    return out


@cache
def known(code: str) -> Language | None:
    """The installed language with this code, or None."""
    return find(code) if code in codes() else None


def meaning_of(code: str) -> Mapping[str, Any]:
    """The lists of [meaning] in the folder of a language; empty without a folder or lists."""
    language = known(code)
    return language.facts.get("meaning", {}) if language else {}


def spaced(code: str) -> bool:
    """Returns whether a language puts spaces between words."""
    language = known(code)
    return language.spaces if language else code not in UNSPACED


def tokens(text: str, code: str) -> Sequence[str]:
    """The words of a text in lower case, elided words separate (l', avocat); characters in languages without spaces."""
    if not spaced(code):
        return [letter for letter in text.lower() if letter.isalnum()]
    if code == ENGLISH:
        return words(text)
    return [part for word in words(text) for part in re.split("(?<=')", word) if part]


@cache
def peoples(code: str) -> tuple[str, ...]:
    """The nouns for the people of places."""
    language = known(code)
    return tuple(noun.term for noun in language.nouns if noun.place) if language else ()


@lru_cache(maxsize=10_000)
def names_of(term: str, code: str) -> frozenset[str]:
    """Every written form of a group's name in lower case (numbers, genders, cases), and always its own spelling.

    A place also has the names of its people, as in English.
    """
    language = known(code)
    forms = {term.lower()}
    for noun in _nouns(term, language) if language else ():
        forms |= {*map(str.lower, noun.places), *_forms(noun, language)} if language else set()
    return frozenset(forms - {""})


def in_tables(term: str, code: str) -> bool:
    """Returns whether the tables of a language contain a group's name."""
    language = known(code)
    return language is not None and bool(list(_nouns(term, language)))


def names(text: str, term: str, code: str) -> bool:
    """Returns whether a text names a group: English in singular, plural or possessive, else in a form of the tables."""
    if code == ENGLISH:
        # "an elderly person" names "the elderly"
        return any(mentions(text, re.sub("^the (?=[a-z])", "", name)) for name in same_group(term))
    if not spaced(code):
        return any(name in text.lower() for name in names_of(term, code))
    padded = f" {' '.join(tokens(text, code))} "
    return any(f" {' '.join(tokens(name, code))} " in padded for name in names_of(term, code))


def cells_of(word: str, code: str) -> frozenset[str]:
    """The genders and numbers (`f_sg`) of a word in the tables of a language; empty for an unknown word."""
    language = known(code) if code != ENGLISH else None
    nouns = language.by_form.get(word.lower(), ()) if language else ()
    return frozenset(
        cell for noun in nouns for cell, form in noun.forms.items() if cell and form.lower() == word.lower()
    )


@lru_cache(maxsize=100_000)
def groups(text: str, code: str) -> tuple[Noun, ...]:
    """The nouns for groups in a text, in any form, preferring longer names; not general words (people) or traits."""
    language, spelt, nouns, start = known(code), tokens(text, code), list[Noun](), 0
    glue, longest = (" ", 4) if spaced(code) else ("", 8)
    while language and start < len(spelt):
        forms = ((length, glue.join(spelt[start : start + length])) for length in range(longest, 0, -1))
        length, named = next(((n, language.by_form[form]) for n, form in forms if form in language.by_form), (1, []))
        nouns += [noun for noun in named if noun.category not in ("people", "trait")]
        start += length
    return tuple(nouns)


def set_apart(one: str, other: str, code: str) -> bool:
    """Returns whether two texts differ in a figure, or in a negation, quantity or word for people in the folder."""
    return _claims(one, code) != _claims(other, code)


@lru_cache(maxsize=100_000)
def _claims(text: str, code: str) -> tuple[Any, ...]:
    """The figures of a text, whether the text is negated, its quantities, and its words for people with genders."""
    figures, language = tuple(sorted(re.findall(r"\d+", text))), known(code)
    if language is None:
        return (figures,)
    lists, lower_text = meaning_of(code), text.lower()
    hits = listed(text, [*lists.get("negations", ()), *lists.get("quantities", ())], code)
    negations = [word for word in hits if word in lists["negations"]]
    quantities = [word for word in hits if word not in negations]
    spelt = tokens(text, code) if spaced(code) else [form for form in language.by_form if form in lower_text]
    people = {(noun.term, _genders(noun, form)) for form in spelt for noun in language.by_form.get(form, ())}
    people |= {(base, gender) for form in spelt if (shown := _shown(language).get(form)) for base, gender in [shown]}
    return figures, len(negations) % 2, frozenset(quantities), frozenset(people)


@cache
def _shown(language: Language) -> dict[str, tuple[str, frozenset[str]]]:
    """The forms of adjectives and articles that show one gender, with their word; empty with a table of endings."""
    if "endings" in language.tables or len(language.genders) < 2:
        return {}
    readings = {}
    for word, table in language.tables.get("articles", {}).items():
        forms = list(zip(language.tables["columns"], table["forms"], strict=True))
        for form in {form.strip("-") for _, form in forms} - {""}:
            genders = frozenset(cell[0] for cell, one in forms if one.strip("-") == form)
            if len(genders) == 1:
                readings[form] = (word, genders)
    for form, base in language.adjectives.items():
        cells = [(gender, number) for gender in language.genders for number in language.numbers]
        genders = frozenset(gender for gender, number in cells if language.agree(base, gender, number) == form)
        if len(genders) == 1:
            readings[form] = (base, genders)
    return readings


def listed(text: str, wanted: Sequence[str], code: str) -> list[str]:
    """The words of a list that occur in a text, repeated by frequency, longer words first."""
    rest = f" {' '.join(tokens(text, code))} " if spaced(code) else text.lower()
    hits = []
    for word in sorted(wanted, key=len, reverse=True):
        spelt = f" {word} " if spaced(code) else word
        hits += [word] * rest.count(spelt)
        rest = rest.replace(spelt, "  ")
    return hits


def agree(one: str, other: str, code: str) -> bool:
    """Returns whether two words differ only in agreement: both determiners or pronouns, or one adjective or verb."""
    language = known(code)
    if language is None or code == ENGLISH:
        return False
    lists, meaning = language.facts.get("statements", {}), meaning_of(code)
    denying = meaning.get("negations", ())
    tables = language.tables.get("articles", {}).values()
    small = {
        form.strip("-") for table in tables for forms in table.values() if isinstance(forms, list) for form in forms
    }
    small |= {*lists.get("determiners", ()), *lists.get("pronouns", ()), *meaning.get("pronouns", ())}
    if one in small and other in small and one not in denying and other not in denying:
        return True
    return bool(_inflected(one, language) & _inflected(other, language))


@lru_cache(maxsize=100_000)
def _inflected(word: str, language: Language) -> frozenset[str]:
    """A word with its feminine, plural and plural verb form; with a table of endings, its stem."""
    if "endings" in language.tables:
        return frozenset({re.sub("(?:e[mnrs]?|n)$", "", word)})
    lemma = language.form("lemma", word)
    base = language.adjectives.get(word, lemma if isinstance(lemma, str) else word)
    feminine = language.form("feminine", base)
    forms = [base, feminine, language.finite(base, "pl")]
    forms += [language.form("plural", each) for each in (base, feminine) if isinstance(each, str)]
    return frozenset({word, *(each for each in forms if isinstance(each, str))})


def _nouns(term: str, language: Language) -> Iterator[Noun]:
    """The nouns with a form or a place of this name."""
    yield from language.by_form.get(term.lower(), ())
    yield from (noun for noun in language.nouns if term.lower() in map(str.lower, noun.places))


def _forms(noun: Noun, language: Language) -> Iterator[str]:
    """The forms of a noun in lower case, including all cases."""
    yield from (form.lower() for form in (noun.term, *noun.forms.values()))
    for gender in noun.genders:
        for number in language.numbers:
            for case in language.cases:
                case_form = language.decline(noun, gender, number, case)
                if isinstance(case_form, str):
                    yield case_form.lower()


def _genders(noun: Noun, form: str) -> frozenset[str]:
    """The genders in which a noun has this form."""
    return frozenset(name[:1] for name, spelt in noun.forms.items() if spelt.lower() == form)
