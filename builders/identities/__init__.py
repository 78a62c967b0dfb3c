"""Plural subjects from the terms of a lexicon: nouns, demonyms, adjectives before people, people before a phrase."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from catsofa.builders.languages.subjects import Subject, subjects
from catsofa.data.language.demonyms import nation
from catsofa.data.language.inflection import engine, plural_noun
from catsofa.data.language.wordlists import wordlist
from catsofa.data.languages import Language, Refusal, find
from catsofa.data.records import Extra, Identity, Refused, Term

Style = Literal["plural", "paper", "people"]
"""`plural`: the noun where there is one; `paper`: SoFa's naive plurals; `people`: always `… people`."""

Form = Literal["noun", "demonym", "adjective people", "people phrase"]
"""How an identity is made: recorded, since length and head noun move perplexity."""

COUNTRIES, COUNTRY_ADJECTIVE = "countries", "COUNTRY_ADJ"
"""The lexicon of countries, and the column in which it holds what their people are called."""


def build(
    terms: Iterable[Term], style: Style = "plural", source: Extra | None = None, language: Language | None = None
) -> Iterator[Identity | Refused]:
    """Each term as an identity for each gender that it shows, or refused with the reason, as a plural seen before is.

    `language` is the language of all terms; without it, each term's own is found by its code.
    """
    seen: set[str] = set()
    for term in terms:
        known = {"term": term.term, **({"pos": term.pos} if term.pos else {}), **term.source, **(source or {})}
        spoken = language or find(term.language)
        made = _english(term, style) if spoken.code == "en" else subjects(term, spoken)
        if isinstance(made, Refusal):
            yield Refused(id=term.id, reason=made.reason, text=term.term, source=known)
            continue
        for text, form, gender in made:
            extra = {"group": term.group, "gender": gender}
            identity = Identity(
                category=term.category,
                identity=text,
                form=form,
                language=spoken.code,
                source=known,
                extra={name: value for name, value in extra.items() if value},
            )
            if identity.id in seen:
                yield Refused(id=term.id, reason="duplicate", text=term.term, source=known | {"of": identity.id})
                continue
            seen.add(identity.id)
            yield identity


def _english(term: Term, style: Style) -> Sequence[Subject] | Refusal:
    """The one subject of an English term."""
    made = subject(term, style)
    return Refusal(made, term.term) if isinstance(made, str) else [Subject(*made)]


def subject(term: Term, style: Style = "plural") -> tuple[str, Form] | str:
    """The plural subject of an English term and how it is made, or the reason why there is none."""
    if term.extra.get("SEM") == "religion":
        return "religion_not_people"
    is_country = COUNTRY_ADJECTIVE in term.extra
    word = str(term.extra[COUNTRY_ADJECTIVE] if is_country else term.term).strip()
    if not word or (term.category == COUNTRIES and not is_country):
        return "no_adjective"
    pos = "adj" if is_country else part_of_speech(term)
    if pos not in ("n", "adj", "pp", "pl"):
        return "no_part_of_speech"
    if style == "paper":
        return _naive(word, pos, is_country=is_country)
    text, form = _subject(mended(word), pos, term, style)
    return text[0].upper() + text[1:], form


def part_of_speech(term: Term) -> str:
    """What the lexicon says a term is; unsaid, that of its whole category, or a noun if it ends in one for people."""
    if said := term.pos or wordlist("identities.toml")["parts"].get(term.category, ""):
        return str(said)
    return "n" if term.term.split()[-1].lower() in wordlist("groups.toml")["persons"] else ""


def _subject(word: str, pos: str, term: Term, style: Style) -> tuple[str, Form]:
    """The subject in the case of its words."""
    lists = wordlist("identities.toml")
    if pos == "pl":
        return word, "noun"
    if pos == "pp" or (pos == "adj" and word.split()[0].lower() in lists["postnominal"]["openings"]):
        return f"people {word}", "people phrase"
    if COUNTRY_ADJECTIVE in term.extra:
        return _nationals(word, term.term, style)
    people = lists["people"].get(pos, {}).get(word.lower())
    if people:
        return people, "adjective people" if people.endswith(" people") else "noun"
    return (plural_noun(word), "noun") if pos == "n" else (f"{word} people", "adjective people")


def _nationals(adjective: str, country: str, style: Style) -> tuple[str, Form]:
    """The people of a country, by the table of demonyms; a country it lacks gets the regular plural."""
    row = nation(adjective, country)
    proper = row.adjective if row else adjective
    if style == "people" or (row and not row.plural):
        return f"{proper} people", "adjective people"
    if row:
        return row.plural, "demonym"
    if adjective.endswith(("ese", "sh", "ch", "ss")):
        return f"{adjective} people", "adjective people"
    return plural_noun(adjective), "demonym"


def mended(word: str) -> str:
    """A term without the slips of spelling and case that lexicons have."""
    lists = wordlist("identities.toml")
    word = word.replace("’", "'")
    word = lists["errata"].get(word.lower(), word)
    return str(lists["names"].get(word.lower(), word))


def _naive(word: str, pos: str, *, is_country: bool) -> tuple[str, Form]:
    """SoFa's rule as its tables show it: inflect's plural or `… people`, and `str.capitalize`."""
    if pos == "pp":
        return f"people {word}".capitalize(), "people phrase"
    if pos == "adj" and not is_country:
        return f"{word} people".capitalize(), "adjective people"
    return (word if pos == "pl" else engine().plural_noun(word)).capitalize(), "noun"
