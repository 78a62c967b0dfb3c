"""Finds whether a sentence refers to the past, the present or the future, without a parser."""

from catsofa.builders.dictionary import CLOSED, other_parts, verb_tags
from catsofa.builders.paraphrases.meaning.described import tokens_of
from catsofa.data.language.alarms import in_full
from catsofa.data.language.wordlists import wordlist

_SUBJECTS = frozenset(["i", "we", "you", "he", "she", "they", "it", "who"])


def other_time(sentence: str, context: str) -> tuple[str, ...]:
    """Returns the words for time if one sentence is past and the other present, or only one refers to the future.

    "will" in direct speech equals "would" in reported speech.
    """
    ours, theirs = _times(sentence), _times(context)
    coming = [bool({"future", "reported"} & {*one}) for one in (ours, theirs)]
    future_differs = ("future" in ours and not coming[1]) or ("future" in theirs and not coming[0])
    apart = [{*one} - {"future", "reported"} for one in (ours, theirs)]
    if not ours or not theirs or not (future_differs or (all(apart) and apart[0].isdisjoint(apart[1]))):
        return ()
    return tuple(dict.fromkeys([*theirs.values(), *ours.values()]))


def _times(sentence: str) -> dict[str, str]:
    """Returns each time that a sentence refers to, with the first word that shows it.

    "has been" is both past and present.
    """
    first_words: dict[str, str] = {}
    lists, tokens = wordlist("meaning.toml")["times"], tokens_of(in_full(sentence))
    for place, word in enumerate(tokens):
        listed = [name for name, words in lists.items() if word in words]
        for time in listed or _of_verb(tokens, place):
            first_words.setdefault(time, word)
    return first_words


def _of_verb(tokens: tuple[str, ...], place: int) -> tuple[str, ...]:
    """Returns the times of a verb form that can only be past or third person present, and of "has" and "have"."""
    word, before = tokens[place], tokens[place - 1] if place else ""
    tags = verb_tags(word)
    if word in ("has", "have"):
        perfect = any("VBN" in verb_tags(then) for then in tokens[place + 1 : place + 3])
        return ("present", "past") if perfect else ("present",)
    if word in CLOSED or not tags:
        return ()
    if "VBD" in tags and not tags & {"VB", "VBP"} and ("VBN" not in tags or before in _SUBJECTS):
        return ("past",)
    return ("present",) if tags == {"VBZ"} and not other_parts(word) else ()
