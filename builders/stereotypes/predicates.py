"""The predicate of a statement: its first verb read as present plural, or the reason why it cannot be."""

from typing import Literal

from catsofa.builders.dictionary import CLOSED, other_parts, verb_tags
from catsofa.builders.stereotypes.parsing import Sentence
from catsofa.builders.stereotypes.subjects import GENERIC, RESTRICTORS
from catsofa.data.language.wordlists import wordlist
from catsofa.data.language.words import compounds

Present = Literal["VBP", "VBZ", "MD"]
PredicateFault = Literal["no_verb", "leading_adverb", "past_tense", "participle_only", "gerund_only"]
AUXILIARIES = frozenset({"aux", "auxpass", "cop"})
SUBJECTS = frozenset({"nsubj", "nsubjpass", "csubj", "csubjpass", "expl"})
THEY = "they "
"""What a fragment is parsed behind: without a subject it parses badly."""

_READINGS: dict[str, Present | PredicateFault] = {
    "VBP": "VBP",
    "VBZ": "VBZ",
    "MD": "MD",
    "VBD": "past_tense",
    "VBN": "participle_only",
    "VBG": "gerund_only",
}
"""What a first verb with this tag makes of a predicate, in the order in which a doubtful form is read."""


def opens_with_predicate(text: str) -> bool:
    """Whether the dictionary lets the first word be a finite verb, or an adverb before one."""
    words = compounds(text)
    if words[0] in GENERIC:
        return False
    tags, parts = verb_tags(words[0]), other_parts(words[0])
    if tags and tags <= {"VBG"}:
        return False
    if tags:
        # "guards are rude", "cooks should …": a noun that could be a verb, before a verb that could be no noun
        verb_only = words[0] in CLOSED or words[0] in wordlist("verbs.toml")["clausal"] or "NOUN" not in parts
        return verb_only or len(words) < 2 or words[1] not in CLOSED
    return words[0] in RESTRICTORS or ("ADV" in parts and "NOUN" not in parts)


def may_open_with_subject(text: str) -> bool:
    """Whether the dictionary lets the first word be part of a noun phrase."""
    first = compounds(text)[0]
    return first not in CLOSED and first not in RESTRICTORS and (bool(other_parts(first)) or not verb_tags(first))


def first_verb(rest: str, words: Sentence) -> Present | PredicateFault:
    """How the first word of a predicate is to be read, given the parse of "they …": the dictionary has a veto."""
    first, tag = compounds(rest)[0], words[1].tag
    tags = verb_tags(first)
    if not tags:
        return _no_verb_first(words)
    if first in CLOSED:
        return _READINGS.get(CLOSED[first], "no_verb")
    if tag.startswith(("NN", "JJ")) and _is_no_verb(first, words):
        return "no_verb"
    # a form that is present too (cut, put, come) is read so: the statement speaks of a habit
    if tags & {"VB", "VBP"} and tag != "VBZ":
        return "VBP"
    return _READINGS.get(tag if tag in tags else next(t for t in _READINGS if t in tags), "no_verb")


def _is_no_verb(first: str, words: Sentence) -> bool:
    """Whether a word that could be a verb, and is tagged as noun or adjective, is none here."""
    if not other_parts(first):
        return False
    if "VB" not in verb_tags(first) or "ADJ" in other_parts(first):
        return True
    return words[1].dep != "ROOT" or len(words) == 2


def _no_verb_first(words: Sentence) -> PredicateFault:
    """The reason for a predicate that opens with something else: an adverb, or nothing that can stand there."""
    adverbs = 0
    for word in words[1:]:
        if not ((word.tag.startswith("RB") and "NOUN" not in other_parts(word.lower)) or word.lower in ("also", "not")):
            break
        adverbs += 1
    following = words[1 + adverbs :]
    if adverbs and following and verb_tags(following[0].lower) and following[0].tag.startswith(("VB", "MD")):
        return "leading_adverb"
    return "no_verb"
