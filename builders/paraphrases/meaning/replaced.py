"""The words that a paraphrase puts in the place of others while the rest of the sentence stays."""

from difflib import SequenceMatcher
from functools import cache
from itertools import takewhile

from catsofa.builders.dictionary import other_parts
from catsofa.builders.paraphrases.meaning.content import lemma
from catsofa.builders.paraphrases.meaning.targets import names_target, same_person
from catsofa.data.language.wordlists import wordlist
from catsofa.data.language.words import compounds

_LONGEST, _EDITS = 2, 2
"""Words that a replaced part has at most, and such parts: more of them are a sentence reworded."""


def replaced(sentence: str, context: str, target: str) -> tuple[str, ...]:
    """The words of the original and of the paraphrase that differ where all else stays in its place.

    Who rewords a sentence moves its parts; who only puts another word may say another thing. Another form of a word,
    another name of the target and `to` for `towards` say the same.
    """
    theirs, ours = compounds(context), compounds(sentence)
    edits = [e for e in SequenceMatcher(None, theirs, ours, autojunk=False).get_opcodes() if e[0] != "equal"]
    if len(edits) > _EDITS or any(kind != "replace" or max(b - a, d - c) > _LONGEST for kind, a, b, c, d in edits):
        return ()
    found = []
    for _, start, stop, first, last in edits:
        old, new = theirs[start:stop], ours[first:last]
        if names_target(" ".join(old), target, "derived") or same_person(" ".join(new), target):
            continue
        for kind in (_has_content, _relates):
            gone = [word for word in old if kind(word) and not any(_same(word, other) for other in new)]
            come = [word for word in new if kind(word) and not any(_same(word, other) for other in old)]
            if gone and come:
                found += [*gone, *come]
    return tuple(found)


def _has_content(word: str) -> bool:
    """Whether a word is no word of grammar, no light word, and not only an adverb."""
    return not {word, lemma(word)} & _grammar() and other_parts(word) != {"ADV"}


def _relates(word: str) -> bool:
    """Whether a word says where, when, why or whose."""
    lists = wordlist("meaning.toml")
    return (
        word.endswith("'s")
        or word in lists["grammar"]["prepositions"]
        or any(word in row for row in lists["relations"])
    )


def _same(one: str, other: str) -> bool:
    """Whether two words are forms of one, or may stand for each other."""
    rows = wordlist("meaning.toml")["relations"]
    begin = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(lemma(one), lemma(other), strict=False)))
    long = begin >= max(4, min(len(one), len(other)) - 2)
    return lemma(one) == lemma(other) or long or any(one in row and other in row for row in rows)


@cache
def _grammar() -> frozenset[str]:
    """Words of grammar, and light ones."""
    lists = wordlist("meaning.toml")["grammar"]
    return frozenset(["blank", *(word for words in lists.values() for word in words)])
