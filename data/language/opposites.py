"""Words of opposite meaning: WordNet's antonyms, in any inflected form."""

from collections.abc import Iterable
from functools import cache

from catsofa.data.language.wordlists import table


def opposed(ours: Iterable[str], theirs: Iterable[str]) -> list[tuple[str, str]]:
    """The pairs of words, one of each text, of which one is the opposite of the other (arrived, left)."""
    pairs, others = _pairs(), list(theirs)
    return [(a, b) for a in ours for b in others if any((x, y) in pairs for x in lemmas(a) for y in lemmas(b))]


@cache
def lemmas(word: str) -> frozenset[str]:
    """The dictionary forms of a word, and the word."""
    from lemminflect import getAllLemmas

    return frozenset({word, *(lemma for found in getAllLemmas(word).values() for lemma in found)})


@cache
def _pairs() -> frozenset[tuple[str, str]]:
    """All pairs, in both orders."""
    rows = [(row["one"], row["other"]) for row in table("antonyms.csv")]
    return frozenset([*rows, *((b, a) for a, b in rows)])
