"""Parsing by the dictionary alone: returns a sentence only if every word that matters has one reading."""

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
    """Yields each text as a flat sentence under its first verb; empty if the dictionary is ambiguous."""
    for text in texts:
        words = _tagged(text)
        if text.startswith(THEY):
            yield () if _is_open(words[1:]) else words
        else:
            # the subject of a statement needs a parse, unless the statement has no verb
            yield () if any(_may_be_finite(word) for word in words) else words


def _tagged(text: str) -> Sentence:
    """Returns the words with the tag from the dictionary; the tag "?" marks a word with several readings."""
    root = 1 if text.startswith(THEY) else 0
    words = []
    for index, match in enumerate(_TOKEN.finditer(text)):
        dep = "ROOT" if index == root else "nsubj" if index < root else "dep"
        words.append(Word(match[0], match.start(), _tag(match[0].lower()), dep, root))
    return tuple(words)


def _tag(word: str) -> str:
    """Returns the tag of a word with one reading, "?" for a verb with other readings, or an empty string."""
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
    """Returns True if a word has a finite reading among others."""
    return bool(verb_tags(word.lower) & (FINITE | {"VB"})) or word.tag == "MD"


def _is_open(words: Sentence) -> bool:
    """Returns True if the reading of a predicate depends on more than its words."""
    adverbs = next((i for i, word in enumerate(words) if word.tag != "RB"), 0)
    first = words[adverbs]
    if first.tag == "?":
        return True
    if first.tag not in FINITE:
        return any(_may_be_finite(word) for word in words[adverbs + 1 :])
    predicate_noun = first.lower in ("is", "'s") and any(word.lower in ("a", "an") for word in words)
    joined = any(before.lower in _JOINERS and verb_tags(word.lower) & FINITE for before, word in pairwise(words))
    return predicate_noun or joined
