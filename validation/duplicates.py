"""Near-duplicates: records whose content shares most of its four-letter pieces, found exactly and fast."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

from catsofa.data.records import Cat, Pair, Statement, Stereotype
from catsofa.validation.words import words

NEAR = 0.8
"""Jaccard similarity from which on two contents are near-duplicates."""
PIECE = 4
ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class NearDuplicate:
    """Two contents, by their places, and the share of pieces they have in common."""

    first: int
    second: int
    similarity: float


Watch = Callable[[Sequence[int]], Iterable[int]]
"""Is given the places of the texts in the order in which they are compared, and passes them on."""
COMPARED = (Cat, Pair, Stereotype, Statement)
"""What can be compared. Probes are every identity with every stereotype: that they are alike is their point."""


def content(record: Any) -> str:
    """What two records of a kind must share to be the same: context and options, both sentences, the text."""
    match record:
        case Cat():
            options = (c.fill or c.text for c in (record["stereotype"], record["anti-stereotype"]))
            return " ".join([record.context, *options])
        case Pair():
            return f"{record.more} {record.less}"
        case Stereotype():
            return record.text
        case Statement():
            return record.statement
    raise ValueError(
        f"{type(record).__name__} records are not compared for what they say; give CATs, pairs, statements or "
        "stereotypes, and split the stereotypes or the identities before probes are made of them"
    )


def near_duplicates(texts: Sequence[str], near: float = NEAR, watch: Watch = iter) -> Iterator[NearDuplicate]:
    """Every pair of texts whose sets of pieces have a Jaccard similarity of `near` or more.

    Two sets that similar share one of their ceil((1 - near) * size) + 1 rarest pieces (Bayardo et al. 2007), so
    only texts that do are compared, and only with texts that are not too much shorter.
    """
    if not 0 < near <= 1:
        raise ValueError(f"near is a share above 0 and up to 1, not {near}")
    sets = [pieces(text) for text in texts]
    common = Counter(piece for one in sets for piece in one)
    index: dict[str, list[int]] = defaultdict(list)
    for place in watch(sorted(range(len(sets)), key=lambda n: len(sets[n]))):
        here = sets[place]
        rarest = sorted(here, key=lambda piece: (common[piece], piece))[
            : len(here) - ceil(near * len(here) - ROUNDING) + 1
        ]
        tried = {other for piece in rarest for other in index[piece] if len(sets[other]) >= near * len(here)}
        for other in tried:
            shared = len(here & sets[other])
            similarity = shared / (len(here) + len(sets[other]) - shared)
            if similarity >= near:
                yield NearDuplicate(first=min(place, other), second=max(place, other), similarity=similarity)
        for piece in rarest:
            index[piece].append(place)


def near_duplicates_between(
    texts: Sequence[str], others: Sequence[str], near: float = NEAR, watch: Watch = iter
) -> Iterator[NearDuplicate]:
    """The pairs of which one stands in `texts` (`first`) and one in `others` (`second`)."""
    for pair in near_duplicates([*texts, *others], near, watch):
        if pair.first < len(texts) <= pair.second:
            yield NearDuplicate(first=pair.first, second=pair.second - len(texts), similarity=pair.similarity)


def pieces(text: str) -> frozenset[str]:
    """Every run of four letters of a text's words, in lower case; a word's ends count as letters."""
    line = f" {' '.join(words(text))} "
    return frozenset(line[n : n + PIECE] for n in range(max(1, len(line) - PIECE + 1)))


def clusters(pairs: Iterable[tuple[int, int]], size: int) -> list[int]:
    """For each of `size` places the least place it is connected with, directly or through others."""
    root = list(range(size))

    def find(place: int) -> int:
        while root[place] != place:
            root[place] = root[root[place]]
            place = root[place]
        return place

    for one, other in pairs:
        low, high = sorted((find(one), find(other)))
        root[high] = low
    return [find(place) for place in range(size)]
