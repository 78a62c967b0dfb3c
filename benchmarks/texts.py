"""Texts to score: released sets if the shared folder is available, otherwise as many made-up texts."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from catsofa.data.formats import read_as
from catsofa.data.records import LABELS, Candidate, Cat, Pair, Probe, Statement

WORDS = ("kind", "stubborn", "friendly", "asleep", "clever", "quiet", "tidy", "late")
VERBS = ("bake", "water", "love", "visit", "paint", "sell", "repair", "collect")
THINGS = ("bread", "roses", "tomatoes", "meetings", "houses", "shoes", "lakes", "books", "tables", "soup", "letters")
WHEN = ("at night", "on holidays", "without end", "before noon", "for friends", "in winter", "by hand", "on their own")
KINDS = ("young", "old", "quiet", "clever", "tall")
GROUPS = ("gardeners", "bakers", "florists", "pilots", "tailors", "farmers", "librarians", "plumbers", "dentists")
MORE = (
    "painters",
    "singers",
    "drivers",
    "miners",
    "nurses",
    "cooks",
    "clerks",
    "actors",
    "judges",
    "guards",
    "sailors",
)


def cats(shared: Path, items: int) -> list[Cat]:
    """Returns consecutive intrasentence CATs of the released set, which share beginnings nearly as the whole set does.

    Of all stretches of this size, the function takes the one with a mean sentence length closest to that of the set.
    """
    place = shared / "data/stereoset/dev.json"
    if place.exists():
        every = [cat for cat in read_as(place, Cat) if cat.kind == "intrasentence" and cat.context.count("BLANK") == 1]
        usable = [cat for cat in every if all(candidate.fill for candidate in cat.candidates)]
        words = np.array([sum(len(candidate.text.split()) for candidate in cat.candidates) for cat in usable])
        begins = range(0, max(1, len(usable) - items), items)
        first = min(begins, key=lambda start: abs(words[start : start + items].mean() - words.mean()))
        return usable[first : first + items]
    return [made_up(number) for number in range(items)]


def made_up(number: int) -> Cat:
    """Returns a harmless CAT with three fillers."""
    context = f"The {WORDS[number % 8]} zorb from house number {number} was BLANK today."
    fills = [WORDS[(number + step) % 8] for step in (1, 2, 3)]
    one, two, three = (
        Candidate(text=context.replace("BLANK", fill), fill=fill, label=label)
        for fill, label in zip(fills, LABELS, strict=True)
    )
    return Cat(kind="intrasentence", bias_type="x", target="zorb", context=context, candidates=(one, two, three))


def pairs(shared: Path, items: int | None = None) -> list[Pair]:
    """Returns CrowS-Pairs, or `items` of them, spread over the set."""
    place = shared / "data/crows/crows_pairs_anonymized.csv"
    if place.exists():
        every = list(read_as(place, Pair))
        return every if items is None else every[:: len(every) // items][:items]
    house = "The {} in house {} was late."
    return [
        Pair(more=house.format("zorb", n), less=house.format("florin", n), direction="stereo", bias_type="x")
        for n in range(items or 40)
    ]


def identities(count: int) -> list[str]:
    """Returns plural subjects of two words."""
    return [f"{kind} {group}" for kind in KINDS for group in GROUPS + MORE][:count]


def stereotypes(shared: Path, count: int) -> list[str]:
    """Returns predicates: released statements spread over the set if available, otherwise made-up ones."""
    place = shared / "data/sbic/biasasker/bias_annotation.csv"
    if place.exists():
        every = list(dict.fromkeys(statement.statement for statement in read_as(place, Statement)))
        return every[:: max(1, len(every) // count)][:count]
    return [f"{verb} {thing} {when}" for when in WHEN for verb in VERBS for thing in THINGS][:count]


def grid(subjects: Sequence[str], predicates: Sequence[str]) -> list[Probe]:
    """Returns a probe for every subject with every predicate."""
    return [Probe(category="x", identity=i, stereotype=s) for i in subjects for s in predicates]
