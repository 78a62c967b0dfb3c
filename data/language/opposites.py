"""Words of opposite meaning: WordNet's antonyms, in any inflected form."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cache

from catsofa.data.language.wordlists import table


def opposed(ours: Iterable[str], theirs: Iterable[str]) -> list[tuple[str, str]]:
    """The pairs of words, one from each text, that are opposites (arrived, left)."""
    pairs, others = _pairs(), list(theirs)
    return [(a, b) for a in ours for b in others if any((x, y) in pairs for x in lemmas(a) for y in lemmas(b))]


def opposites(adjective: str) -> Sequence[str]:
    """The opposites of an adjective, ordered by its senses, most frequent first: generous has stingy and ungenerous."""
    return _of_adjectives().get(adjective.lower(), ())


@cache
def lemmas(word: str) -> frozenset[str]:
    """The dictionary forms of a word, and the word itself."""
    from lemminflect import getAllLemmas

    return frozenset({word, *(lemma for found in getAllLemmas(word).values() for lemma in found)})


@cache
def _pairs() -> frozenset[tuple[str, str]]:
    """All antonym pairs that are not formed by a prefix, in both orders."""
    rows = [(row["one"], row["other"]) for row in table("antonyms.csv") if not row["prefix"]]
    return frozenset([*rows, *((b, a) for a, b in rows)])


@cache
def _of_adjectives() -> dict[str, tuple[str, ...]]:
    """The opposites of each adjective, in the order of its senses."""
    found = defaultdict(list)
    for row in table("antonyms.csv"):
        for one, other in (("one", "other"), ("other", "one")):
            if sense := row[f"sense_{one}"]:
                found[row[one]].append((int(sense), row[other]))
    return {word: tuple(other for _, other in sorted(opposed)) for word, opposed in found.items()}
