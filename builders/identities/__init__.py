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
"""`plural`: a plural noun if the term has one; `paper`: SoFa's naive plurals; `people`: `… people` for nationals."""

Form = Literal["noun", "demonym", "adjective people", "people phrase"]
"""The form of an identity, which is recorded because length and head noun change perplexity."""

COUNTRIES, COUNTRY_ADJECTIVE = "countries", "COUNTRY_ADJ"
"""The category of countries in a lexicon, and the column with the adjective for their people."""


def build(
    terms: Iterable[Term], style: Style = "plural", source: Extra | None = None, language: Language | None = None
) -> Iterator[Identity | Refused]:
    """Yields each term as one identity per gender, or a refusal with the reason; repeated plurals are refused.

    `language` applies to all terms. Without it, the language code of each term decides.
    """
    seen_ids: set[str] = set()
    for term in terms:
        origin = {"term": term.term, **({"pos": term.pos} if term.pos else {}), **term.source, **(source or {})}
        spoken = language or find(term.language)
        outcome = _english(term, style) if spoken.code == "en" else subjects(term, spoken)
        if isinstance(outcome, Refusal):
            yield Refused(id=term.id, reason=outcome.reason, text=term.term, source=origin)
            continue
        for text, form, gender in outcome:
            extra = {"group": term.group, "gender": gender}
            identity = Identity(
                category=term.category,
                identity=text,
                form=form,
                language=spoken.code,
                source=origin,
                extra={name: value for name, value in extra.items() if value},
            )
            if identity.id in seen_ids:
                yield Refused(id=term.id, reason="duplicate", text=term.term, source=origin | {"of": identity.id})
                continue
            seen_ids.add(identity.id)
            yield identity


def _english(term: Term, style: Style) -> Sequence[Subject] | Refusal:
    """Returns the one subject of an English term, or a refusal."""
    outcome = subject(term, style)
    return Refusal(outcome, term.term) if isinstance(outcome, str) else [Subject(*outcome)]


def subject(term: Term, style: Style = "plural") -> tuple[str, Form] | str:
    """Returns the plural subject of an English term and its form, or the reason for a refusal."""
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
    """Returns the part of speech of a term, or an empty string if it is unknown.

    The entry of the lexicon decides first, then the category. Otherwise a term that ends in a word for people is a
    noun.
    """
    if pos := term.pos or wordlist("identities.toml")["parts"].get(term.category, ""):
        return str(pos)
    return "n" if term.term.split()[-1].lower() in wordlist("groups.toml")["persons"] else ""


def _subject(word: str, pos: str, term: Term, style: Style) -> tuple[str, Form]:
    """Returns the subject and its form, without a capital for the start of a sentence."""
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
    """Returns the people of a country by the table of demonyms, and the form of the subject.

    A country outside the table gets the regular plural, or `… people` after endings such as "ese" and "sh".
    """
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
    """Returns a term with known lexicon errors in spelling and case corrected."""
    lists = wordlist("identities.toml")
    word = word.replace("’", "'")
    word = lists["errata"].get(word.lower(), word)
    return str(lists["names"].get(word.lower(), word))


def _naive(word: str, pos: str, *, is_country: bool) -> tuple[str, Form]:
    """Applies SoFa's rule, inferred from its tables: inflect's plural or `… people`, then `str.capitalize`."""
    if pos == "pp":
        return f"people {word}".capitalize(), "people phrase"
    if pos == "adj" and not is_country:
        return f"{word} people".capitalize(), "adjective people"
    return (word if pos == "pl" else engine().plural_noun(word)).capitalize(), "noun"
