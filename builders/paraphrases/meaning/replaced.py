"""Finds the words that a paraphrase replaces while the rest of the sentence stays."""

from difflib import SequenceMatcher
from functools import cache
from itertools import takewhile

from catsofa.builders.dictionary import other_parts
from catsofa.builders.paraphrases.meaning.content import lemma
from catsofa.builders.paraphrases.meaning.targets import names_target, same_person
from catsofa.data.language.wordlists import wordlist
from catsofa.data.language.words import compounds

_LONGEST, _EDITS = 2, 2
"""Maximum number of words in a replaced part, and of such parts; beyond it, the sentence counts as reworded."""


def replaced(sentence: str, context: str, target: str) -> tuple[str, ...]:
    """Returns the differing words of the original and of the paraphrase if all other words keep their place.

    A rewording moves parts of a sentence; a mere substitution may change the meaning. Other forms of a word, other
    names of the target, and pairs like `to` and `towards` count as equal.
    """
    theirs, ours = compounds(context), compounds(sentence)
    edits = [e for e in SequenceMatcher(None, theirs, ours, autojunk=False).get_opcodes() if e[0] != "equal"]
    if len(edits) > _EDITS or any(kind != "replace" or max(b - a, d - c) > _LONGEST for kind, a, b, c, d in edits):
        return ()
    differing = []
    for _, start, stop, first, last in edits:
        old, new = theirs[start:stop], ours[first:last]
        if names_target(" ".join(old), target, "derived") or same_person(" ".join(new), target):
            continue
        for kind in (_has_content, _relates):
            gone = [word for word in old if kind(word) and not any(_same(word, other) for other in new)]
            come = [word for word in new if kind(word) and not any(_same(word, other) for other in old)]
            if gone and come:
                differing += [*gone, *come]
    return tuple(differing)


def _has_content(word: str) -> bool:
    """Returns True if a word is no function word, no light word, and not only an adverb."""
    return not {word, lemma(word)} & _grammar() and other_parts(word) != {"ADV"}


def _relates(word: str) -> bool:
    """Returns True if a word says where, when, why or whose."""
    lists = wordlist("meaning.toml")
    return (
        word.endswith("'s")
        or word in lists["grammar"]["prepositions"]
        or any(word in row for row in lists["relations"])
    )


def _same(one: str, other: str) -> bool:
    """Returns True if two words are forms of one word, or are interchangeable."""
    rows = wordlist("meaning.toml")["relations"]
    begin = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(lemma(one), lemma(other), strict=False)))
    long = begin >= max(4, min(len(one), len(other)) - 2)
    return lemma(one) == lemma(other) or long or any(one in row and other in row for row in rows)


@cache
def _grammar() -> frozenset[str]:
    """Returns the function words and the light words."""
    lists = wordlist("meaning.toml")["grammar"]
    return frozenset(["blank", *(word for words in lists.values() for word in words)])
