"""Parsing by the dictionary alone: a sentence where every word that matters has one reading, else nothing."""

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

from catsofa.builders.dictionary import CLOSED, other_parts, verb_tags
from catsofa.builders.stereotypes.parsing import Sentence, Word
from catsofa.builders.stereotypes.predicates import THEY
from catsofa.builders.stereotypes.subjects import FINITE

_TOKEN = re.compile(r"(?i:can(?=not\b))|[^\W_]+?(?=n't\b)|n't\b|'(?:s|re|ve|ll|d|m)\b|[^\W_]+(?:[-'][^\W_]+)*|[^\w\s]")
_JOINERS = frozenset({"and", "or", "but", ",", ";", "/", "&"})


def dictionary_parser(texts: Iterable[str]) -> Iterator[Sentence]:
    """Each text as a flat sentence under its first verb; the empty sentence where the dictionary leaves it open."""
    for text in texts:
        words = _tagged(text)
        if text.startswith(THEY):
            yield () if _is_open(words[1:]) else words
        else:
            # the subject of a statement needs a parse, unless there is no verb for it to be the subject of
            yield () if any(_may_be_finite(word) for word in words) else words


def _tagged(text: str) -> Sentence:
    """The words with the one tag the dictionary gives each; a tag with a question mark is one of several."""
    root = 1 if text.startswith(THEY) else 0
    words = []
    for index, found in enumerate(_TOKEN.finditer(text)):
        dep = "ROOT" if index == root else "nsubj" if index < root else "dep"
        words.append(Word(found[0], found.start(), _tag(found[0].lower()), dep, root))
    return tuple(words)


def _tag(word: str) -> str:
    """A word's tag if it has one reading."""
    if word in ("his", "her", "its", "their"):
        return "PRP$"
    if word == "n't":
        return "RB"
    tags, parts = verb_tags({"ca": "can", "wo": "will", "sha": "shall"}.get(word, word)), other_parts(word)
    if word in CLOSED or (tags and not parts):
        return next((tag for tag in ("VBP", "MD", "VBZ", "VBD", "VBN", "VBG") if tag in tags), "VB")
    if tags:
        return "?"
    return "RB" if parts == {"ADV"} else "NN" if parts else ""


def _may_be_finite(word: Word) -> bool:
    """Whether a word has a finite reading among others."""
    return bool(verb_tags(word.lower) & (FINITE | {"VB"})) or word.tag == "MD"


def _is_open(words: Sentence) -> bool:
    """Whether the reading of a predicate hangs on more than its words."""
    adverbs = next((i for i, word in enumerate(words) if word.tag != "RB"), 0)
    first = words[adverbs]
    if first.tag == "?":
        return True
    if first.tag not in FINITE:
        return any(_may_be_finite(word) for word in words[adverbs + 1 :])
    predicate_noun = first.lower in ("is", "'s") and any(word.lower in ("a", "an") for word in words)
    joined = any(before.lower in _JOINERS and verb_tags(word.lower) & FINITE for before, word in pairwise(words))
    return predicate_noun or joined
