"""Words of opposite meaning and converse verbs, in any inflected form; the opposites are WordNet's antonyms."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cache

from catsofa.data.language.wordlists import table, wordlist


def opposed(ours: Iterable[str], theirs: Iterable[str]) -> list[tuple[str, str]]:
    """The pairs of words, one from each text, that are opposites (arrived, left)."""
    return _matched(_pairs(), ours, theirs)


def converse(ours: Iterable[str], theirs: Iterable[str]) -> list[tuple[str, str]]:
    """The pairs of words, one from each text, that are two verbs for one deed, from both sides (bought, sold)."""
    return _matched(_converse_pairs(), ours, theirs)


def _matched(pairs: frozenset[tuple[str, str]], ours: Iterable[str], theirs: Iterable[str]) -> list[tuple[str, str]]:
    """The pairs of words, one from each text, with dictionary forms that are one of these pairs."""
    their_words = list(theirs)
    return [(a, b) for a in ours for b in their_words if any((x, y) in pairs for x in lemmas(a) for y in lemmas(b))]


def opposites(adjective: str) -> Sequence[str]:
    """The opposites of an adjective, ordered by its senses, most frequent first: generous has stingy and ungenerous."""
    return _of_adjectives().get(adjective.lower(), ())


@cache
def lemmas(word: str) -> frozenset[str]:
    """The dictionary forms of a word, and the word itself."""
    from lemminflect import getAllLemmas

    return frozenset({word, *(lemma for forms in getAllLemmas(word).values() for lemma in forms)})


@cache
def _pairs() -> frozenset[tuple[str, str]]:
    """All antonym pairs that are not formed by a prefix, in both orders."""
    rows = [(row["one"], row["other"]) for row in table("antonyms.csv") if not row["prefix"]]
    return frozenset([*rows, *((b, a) for a, b in rows)])


@cache
def _converse_pairs() -> frozenset[tuple[str, str]]:
    """All converse verbs, in both orders."""
    return frozenset((a, b) for pair in wordlist("meaning.toml")["converse"] for a, b in (pair, pair[::-1]))


@cache
def _of_adjectives() -> dict[str, tuple[str, ...]]:
    """The opposites of each adjective, in the order of its senses."""
    by_word = defaultdict(list)
    for row in table("antonyms.csv"):
        for one, other in (("one", "other"), ("other", "one")):
            if sense := row[f"sense_{one}"]:
                by_word[row[one]].append((int(sense), row[other]))
    return {word: tuple(other for _, other in sorted(opposed)) for word, opposed in by_word.items()}
