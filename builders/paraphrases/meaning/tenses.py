"""Whether a sentence speaks of the past, the present or the future, without a parser."""

from catsofa.builders.dictionary import CLOSED, other_parts, verb_tags
from catsofa.builders.paraphrases.meaning.described import tokens_of
from catsofa.data.language.alarms import in_full
from catsofa.data.language.wordlists import wordlist

_SUBJECTS = frozenset(["i", "we", "you", "he", "she", "they", "it", "who"])


def other_time(sentence: str, context: str) -> tuple[str, ...]:
    """The words that say when, of two sentences of which one is past and one present, or one alone tells the future.

    What *will* be in direct speech *would* be in reported speech.
    """
    ours, theirs = _times(sentence), _times(context)
    coming = [bool({"future", "reported"} & {*one}) for one in (ours, theirs)]
    told = ("future" in ours and not coming[1]) or ("future" in theirs and not coming[0])
    apart = [{*one} - {"future", "reported"} for one in (ours, theirs)]
    if not ours or not theirs or not (told or (all(apart) and apart[0].isdisjoint(apart[1]))):
        return ()
    return tuple(dict.fromkeys([*theirs.values(), *ours.values()]))


def _times(sentence: str) -> dict[str, str]:
    """Each time that a sentence speaks of, with the first verb that does so; has been is both past and present."""
    found: dict[str, str] = {}
    lists, tokens = wordlist("meaning.toml")["times"], tokens_of(in_full(sentence))
    for place, word in enumerate(tokens):
        listed = [name for name, words in lists.items() if word in words]
        for time in listed or _of_verb(tokens, place):
            found.setdefault(time, word)
    return found


def _of_verb(tokens: tuple[str, ...], place: int) -> tuple[str, ...]:
    """The times of a full verb that can be nothing but a past or a third person of the present, or of has."""
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
