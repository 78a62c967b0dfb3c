"""Which attributes say the same: by their words without endings and fillers, then by the vectors of an encoder."""

from collections.abc import Sequence
from functools import cache

from catsofa.builders.similarity.encoders import Encoder
from catsofa.data.language.wordlists import wordlist
from catsofa.data.language.words import words

ALIKE = 0.85
"""Cosine from which on two attributes of one group say the same."""

Core = tuple[bool, frozenset[str]]
"""Whether an attribute is negated, and its content words."""


@cache
def core(attribute: str, language: str = "en") -> Core:
    """What an attribute says: an odd number of negations or not, and the lemmas of the other words that count."""
    lists = wordlist("candidates.toml")
    plain = attribute.lower().replace("’", "'").replace("n't", " n't ").replace("-", "")
    pieces = [piece for word in plain.split() for piece in (["n't"] if word == "n't" else words(word))]
    negations = sum(piece in lists["negators"] for piece in pieces)
    content = [piece for piece in pieces if piece not in lists["negators"] and piece not in lists["fillers"]]
    return negations % 2 == 1, frozenset(_lemma(word, language) for word in content or pieces)


def _lemma(word: str, language: str) -> str:
    """The shortest dictionary form of an English word; in other languages the word itself."""
    if language != "en":
        return word
    from lemminflect import getAllLemmas

    found = [lemma for tag, lemmas in getAllLemmas(word).items() if tag != "ADV" for lemma in lemmas]
    return min(found, key=lambda lemma: (len(lemma), lemma)).lower() if found else word


def groups_alike(attributes: Sequence[str], language: str, encoder: Encoder | None) -> list[list[int]]:
    """The places of the attributes that say the same: equal cores, or near vectors and the same negation.

    The first of each group is the one that the others are compared with, so that meaning does not drift along a chain.
    """
    groups: list[list[int]] = []
    vectors = encoder.encode(attributes) if encoder and attributes else None
    for place, attribute in enumerate(attributes):
        own = core(attribute, language)
        for group in groups:
            other = core(attributes[group[0]], language)
            near = vectors is not None and float(vectors[place] @ vectors[group[0]]) >= ALIKE
            if own == other or (near and own[0] == other[0]):
                group.append(place)
                break
        else:
            groups.append([place])
    return groups
