"""Intersectional identities: two terms of different categories in one subject, in the order English puts them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from catsofa.builders.identities import COUNTRY_ADJECTIVE, mended, part_of_speech, subject
from catsofa.builders.probes import CROSSING
from catsofa.data.language.demonyms import nation
from catsofa.data.language.wordlists import slurs, wordlist
from catsofa.data.records import Extra, Identity, Refused, Term

ORDER = ("age", "disability", "sexuality", "gender", "race", "countries", "nationality", "religion")
"""Adjectives before a person, from the farthest to the nearest: "young deaf gay Black Nigerian Muslim women"."""


@dataclass(frozen=True, slots=True)
class Part:
    """What a term can be in a subject: a noun (plural), an adjective before it, or a phrase behind it."""

    category: str
    noun: str = ""
    adjective: str = ""
    phrase: str = ""


def build(firsts: Iterable[Term], seconds: Iterable[Term], source: Extra | None = None) -> Iterator[Identity | Refused]:
    """Each pair of terms as one identity, or refused with the reason; what comes twice is a duplicate."""
    seen: set[str] = set()
    for first, second in product(list(firsts), list(seconds)):
        known = {"terms": [first.id, second.id], **(source or {})}
        category = CROSSING.join(sorted({first.category, second.category}, key=_place))
        made = cross(first, second)
        if isinstance(made, str):
            yield Refused(
                id=f"{first.id}{CROSSING}{second.id}", reason=made, text=f"{first.term}, {second.term}", source=known
            )
            continue
        text, form = made
        identity = Identity(category=category, identity=text, form=form, language=first.language, source=known)
        if identity.id in seen:
            yield Refused(id=f"{first.id}{CROSSING}{second.id}", reason="duplicate", text=text, source=known)
            continue
        seen.add(identity.id)
        yield identity


def build_categories(
    terms: Iterable[Term], categories: Sequence[str], source: Extra | None = None
) -> Iterator[Identity | Refused]:
    """The intersections of two categories of one lexicon."""
    if len(set(categories)) != 2:
        raise ValueError(f"two different categories are joined; found {', '.join(categories) or 'none'}")
    found: dict[str, list[Term]] = {category: [] for category in categories}
    others: set[str] = set()
    for term in terms:
        found.get(term.category, []).append(term)
        others.add(term.category)
    if missing := [category for category, listed in found.items() if not listed]:
        raise ValueError(f"the lexicon has no category {missing[0]!r}; it has {', '.join(sorted(others))}")
    first, second = found.values()
    yield from build(first, second, source)


def cross(first: Term, second: Term) -> tuple[str, str] | str:
    """The subject of two terms and how it is made, or the reason why they make none."""
    if first.category == second.category:
        return "same_category"
    parts = [part_of(term) for term in (first, second)]
    if fault := implausible(first, second):
        return fault
    if faults := [part for part in parts if isinstance(part, str)]:
        return faults[0]
    ordered = sorted((part for part in parts if isinstance(part, Part)), key=lambda part: _place(part.category))
    return _joined(*ordered)


def implausible(first: Term, second: Term) -> str | None:
    """Why nobody is both: a word that demeans is not joined, and an age excludes what only other ages can be."""
    lists = wordlist("identities.toml")["crossing"]
    words = [mended(term.term).lower() for term in (first, second)]
    if any(word in lists["unfit"] or word in slurs() for word in words):
        return "demeaning_term"
    minor, elder, adult = (tuple(lists[name]) for name in ("minor_nouns", "elders", "adult_nouns"))
    for word, other, term in ((words[0], words[1], second), (words[1], words[0], first)):
        named = {other, f"*{term.category}"}
        infant, young = word in lists["infants"], word in lists["minors"]
        if (
            (infant and (named & set(lists["not_infants"]) or other.endswith(adult)))
            or (young and (other in lists["not_minors"] or other.endswith(adult)))
            or (word in elder and other.endswith(minor))
        ):
            return "implausible"
    return None


def part_of(term: Term) -> Part | str:
    """What a term can be in a subject, or the reason why it can be in none."""
    made = subject(term)
    if isinstance(made, str):
        return made
    text, form = made
    word = mended(str(term.extra.get(COUNTRY_ADJECTIVE) or term.term))
    # the capital of a sentence goes, that of a name stays
    text = text if word[:1].isupper() else text[:1].lower() + text[1:]
    if form == "people phrase":
        return Part(term.category, phrase=text.removeprefix("People ").removeprefix("people "))
    if COUNTRY_ADJECTIVE in term.extra:
        row = nation(word, term.term)
        return Part(term.category, adjective=row.adjective if row else word)
    if text.endswith(" people"):
        return Part(term.category, adjective=text.removesuffix(" people"))
    return Part(term.category, noun=text) if part_of_speech(term) == "n" else Part(term.category, adjective=word)


def _joined(first: Part, second: Part) -> tuple[str, str] | str:
    """Two parts, in order, as one subject."""
    if first.noun and second.noun:
        return "two_nouns"
    adjectives = [part.adjective for part in (first, second) if part.adjective]
    phrases = [part.phrase for part in (first, second) if part.phrase]
    noun = first.noun or second.noun
    text = " ".join([*adjectives, noun or "people", " and ".join(phrases)]).strip()
    form = ["adjective"] * len(adjectives) + (["noun"] if noun else ["people"]) + ["phrase"] * len(phrases)
    return text[0].upper() + text[1:], " ".join(form)


def _place(category: str) -> int:
    """Where a category's adjective stands; an unknown one nearest to the noun."""
    return ORDER.index(category) if category in ORDER else len(ORDER)
