"""Intersectional identities: joins two terms of different categories into one subject, in English word order."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from catsofa.builders.identities import COUNTRY_ADJECTIVE, mended, part_of_speech, subject
from catsofa.builders.probes import CROSSING
from catsofa.data.language.demonyms import nation
from catsofa.data.language.wordlists import slurs, wordlist
from catsofa.data.records import Extra, Identity, Refused, Term

ORDER = ("age", "disability", "sexuality", "gender", "race", "countries", "nationality", "religion")
"""Order of adjectives before a person, farthest first: "young deaf gay Black Nigerian Muslim women"."""


@dataclass(frozen=True, slots=True)
class Part:
    """The role of a term in a subject: a plural noun, an adjective before it, or a phrase behind it."""

    category: str
    noun: str = ""
    adjective: str = ""
    phrase: str = ""


def build(firsts: Iterable[Term], seconds: Iterable[Term], source: Extra | None = None) -> Iterator[Identity | Refused]:
    """Yields each pair of terms as one identity, or a refusal with the reason; repeats are refused as duplicates."""
    seen_ids: set[str] = set()
    for first, second in product(list(firsts), list(seconds)):
        origin = {"terms": [first.id, second.id], **(source or {})}
        category = CROSSING.join(sorted({first.category, second.category}, key=_place))
        crossed = cross(first, second)
        if isinstance(crossed, str):
            yield Refused(
                id=f"{first.id}{CROSSING}{second.id}",
                reason=crossed,
                text=f"{first.term}, {second.term}",
                source=origin,
            )
            continue
        text, form = crossed
        identity = Identity(category=category, identity=text, form=form, language=first.language, source=origin)
        if identity.id in seen_ids:
            yield Refused(id=f"{first.id}{CROSSING}{second.id}", reason="duplicate", text=text, source=origin)
            continue
        seen_ids.add(identity.id)
        yield identity


def build_categories(
    terms: Iterable[Term], categories: Sequence[str], source: Extra | None = None
) -> Iterator[Identity | Refused]:
    """Yields the intersections of two categories of one lexicon."""
    if len(set(categories)) != 2:
        raise ValueError(f"two different categories are joined; found {', '.join(categories) or 'none'}")
    by_category: dict[str, list[Term]] = {category: [] for category in categories}
    all_categories: set[str] = set()
    for term in terms:
        by_category.get(term.category, []).append(term)
        all_categories.add(term.category)
    if missing := [category for category, listed in by_category.items() if not listed]:
        raise ValueError(f"the lexicon has no category {missing[0]!r}; it has {', '.join(sorted(all_categories))}")
    first, second = by_category.values()
    yield from build(first, second, source)


def cross(first: Term, second: Term) -> tuple[str, str] | str:
    """Returns the subject of two terms and its form, or the reason for a refusal."""
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
    """Returns the reason why two terms cannot be joined, or None.

    Words that demean are never joined. A word for an age is not joined with a term that only people of other ages can
    be.
    """
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
    """Returns the role of a term in a subject, or the reason why it has none."""
    outcome = subject(term)
    if isinstance(outcome, str):
        return outcome
    text, form = outcome
    word = mended(str(term.extra.get(COUNTRY_ADJECTIVE) or term.term))
    # remove the capital of a sentence, keep the capital of a name
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
    """Returns two ordered parts as one subject with its form, or the reason for a refusal."""
    if first.noun and second.noun:
        return "two_nouns"
    adjectives = [part.adjective for part in (first, second) if part.adjective]
    phrases = [part.phrase for part in (first, second) if part.phrase]
    noun = first.noun or second.noun
    text = " ".join([*adjectives, noun or "people", " and ".join(phrases)]).strip()
    form = ["adjective"] * len(adjectives) + (["noun"] if noun else ["people"]) + ["phrase"] * len(phrases)
    return text[0].upper() + text[1:], " ".join(form)


def _place(category: str) -> int:
    """Returns the rank of a category in ORDER; an unknown category ranks last, nearest to the noun."""
    return ORDER.index(category) if category in ORDER else len(ORDER)
