"""Finds the noun phrase that the slot describes, without a parser, and compares it between two sentences."""

import re
from functools import cache

from catsofa.builders.dictionary import CLOSED, other_parts, verb_tags
from catsofa.builders.paraphrases.meaning.targets import names_target, person_words, phrases, same_person
from catsofa.data.language.inflection import singulars
from catsofa.data.language.wordlists import wordlist

_TOKEN = re.compile(r"\[?BLANK\]?|[^\W_]+(?:['’-][^\W_]+)*['’]?|[,.;:?!]")
_CONTRACTED = re.compile(r"(?<=[a-z])['’](?:ve|re|ll|d|m)$|(?<=he|it)['’]s$|(?<=at)['’]s$")


def same_thing(sentence: str, context: str, target: str) -> bool:
    """Returns True if two slots describe the same noun, or both the target, a pronoun or a generic word.

    Also returns True if the noun phrase of either slot is unknown.
    """
    one, other = described(sentence), described(context)
    if not one or not other or _names(one, sentence, target) & _names(other, context, target):
        return True
    return bool(same_person(one[-1], other[-1]))


def moved(sentence: str, context: str) -> bool:
    """Returns True if only the slot or a possessive moves, or if "he" becomes "she".

    In the first case, all words except BLANK are the same in the same order, apart from a final 's.
    """
    ours, theirs = tokens_of(sentence), tokens_of(context)
    one, other = ([re.sub(r"['’]s?$", "", word) for word in tokens if word != "BLANK"] for tokens in (ours, theirs))
    if one == other:
        return ours != theirs
    return {*described(sentence)[-1:], *described(context)[-1:]} == {"he", "she"}


def described(sentence: str) -> tuple[str, ...]:
    """Returns the noun phrase that the slot describes, found without a parser; its last word is its head.

    The phrase is the noun after the slot ("a BLANK voice"). After a linking verb, it is the subject of the clause.
    Otherwise it is the noun right before the slot ("found the man BLANK"), or else the subject.
    """
    tokens = tokens_of(sentence)
    slot = tokens.index("BLANK")
    after, linked = _noun_phrase(tokens, slot + 1), _linking_verb(tokens, slot)
    # "who is BLANK lives here": after a linking verb, a word that can be a verb is a verb
    if linked is not None and after and verb_tags(after[0]) & {"VBZ", "VBD", "VBG"}:
        after = ()
    if after and (linked is None or after[-1] not in _list("generic")):
        return after
    if linked is None and slot and tokens[slot - 1] in _list("portions") | _list("determiners"):
        return ()
    before = slot - 1
    while before > 0 and other_parts(tokens[before]) == {"ADV"}:
        before -= 1
    clause = max((i + 1 for i in range(slot) if tokens[i] in _list("breaks")), default=0)
    if linked is None and tokens[clause] in _list("openers"):
        return first_phrase(tokens, clause + 1, slot)
    if linked is None and _is_noun(tokens[before]) and _is_object(tokens, before):
        return (tokens[before],)
    verb = slot - 1 if slot and verb_tags(tokens[slot - 1]) else slot
    return subject(tokens, verb if linked is None else linked)


def tokens_of(sentence: str) -> tuple[str, ...]:
    """Returns the words, the punctuation and the BLANK of a sentence, in lower case and without contracted verbs."""
    return tuple("BLANK" if "BLANK" in t else _CONTRACTED.sub("", t.lower()) for t in _TOKEN.findall(sentence))


def _is_object(tokens: tuple[str, ...], place: int) -> bool:
    """Returns True if the noun at a place directly follows a verb, with or without a determiner between them."""
    owned = place > 1 and tokens[place - 1] in _list("determiners")
    return bool(place and (owned or not verb_tags(tokens[place])) and verb_tags(tokens[place - 1 - owned]))


def _noun_phrase(tokens: tuple[str, ...], start: int) -> tuple[str, ...]:
    """Returns the words from a place up to the last noun of an unbroken run of adjectives and nouns.

    The run ends before a word that can be a third-person, past or -ing form of a verb, unless a possessive precedes
    that word. After a portion word and "of", returns the noun phrase after "of" instead.
    """
    stop = start
    while stop < len(tokens) and (_is_noun(tokens[stop]) or _is_adjective(tokens[stop])):
        stop += 1
        owner, then = tokens[stop - 1].endswith("'s"), tokens[stop : stop + 1]
        if not owner and then and verb_tags(then[0]) & {"VBZ", "VBD", "VBG"}:
            break
    while stop > start and not _is_noun(tokens[stop - 1]):
        stop -= 1
    phrase = tokens[start:stop]
    if phrase and phrase[-1] in _list("portions") and tokens[stop : stop + 1] == ("of",):
        place = stop + 1
        while place < len(tokens) and tokens[place] in _list("determiners"):
            place += 1
        return _noun_phrase(tokens, place) or phrase
    return phrase


def _linking_verb(tokens: tuple[str, ...], slot: int) -> int | None:
    """Returns the place of the linking verb before a slot, skipping words that may come between; None without one."""
    for place in range(slot - 1, -1, -1):
        word = tokens[place]
        if word in wordlist("paraphrase_words.toml")["frames"]["linking"] or word.endswith("n't"):
            return place
        if not (word in _list("between") or "ADV" in other_parts(word)):
            return None
    return None


def subject(tokens: tuple[str, ...], verb: int) -> tuple[str, ...]:
    """Returns the subject of a verb: the first noun phrase of its clause, or of an earlier clause if this has none."""
    to = next((i for i in (verb - 1, verb - 2) if i > 0 and tokens[i] == "to"), None)
    if (
        to
        and _is_noun(tokens[to - 1])
        and tokens[to - 1] not in _list("between")
        and "by" not in tokens[max(0, to - 5) : to]
    ):
        return (tokens[to - 1],)
    stop = verb
    while stop > 0:
        start = next((i for i in range(stop, 0, -1) if tokens[i - 1] in _list("breaks")), 0)
        noun = start - 2 - (start > 2 and tokens[start - 2] == ",")
        relative = (
            start > 1 and tokens[start - 1] in ("who", "which", "whom", "whose", "that") and _is_noun(tokens[noun])
        )
        if relative and start >= verb - 1:
            return (tokens[noun],)
        relative = relative and tokens[start - 1] != "that"
        if not relative and (phrase := first_phrase(tokens, start, stop)):
            return phrase
        stop = start - 1
    return ()


def first_phrase(tokens: tuple[str, ...], start: int, stop: int) -> tuple[str, ...]:
    """Returns the first noun phrase or pronoun between two places, skipping that of a preposition at the start."""
    place = start
    if start < stop and tokens[start] in _list("prepositions"):
        while place < stop and not (inner := _noun_phrase(tokens[:stop], place)):
            place += 1
        place += len(inner) if place < stop else 0
    for position in range(place, stop):
        if phrase := _noun_phrase(tokens[:stop], position):
            return phrase
        if tokens[position] in _list("pronouns") and tokens[position + 1 : position + 2] != ("of",):
            return _noun_phrase(tokens[:stop], position + 1) or (tokens[position],)
    return ()


@cache
def _is_noun(word: str) -> bool:
    """Returns True if a word can be a noun; a word that the dictionary lacks counts as a name."""
    plain = re.sub(r"['’]s?$", "", word)
    if not plain[:1].isalpha() or plain in _list("function") or plain in CLOSED:
        return False
    parts = other_parts(plain)
    return bool(parts & {"NOUN", "PROPN"}) or (not parts and not verb_tags(plain))


def _is_adjective(word: str) -> bool:
    """Returns True if a word can only be an adjective."""
    return word not in _list("function") and other_parts(word) == {"ADJ"}


def _names(thing: tuple[str, ...], sentence: str, target: str) -> set[str]:
    """Returns the singulars of the head of a noun phrase.

    Adds `*` if the phrase means the target, a pronoun or a word for anything.
    """
    head = thing[-1]
    names = set(singulars(head))
    same = same_person(sentence, target)
    named = {*phrases(target.lower()), *(phrases(same.word) if same else ())}
    near = names & person_words() and set(phrases(" ".join(thing))) & named
    if names_target(head, target, "derived") or names & (named | _list("pronouns") | _list("generic")) or near:
        names.add("*")
    return names


@cache
def _list(name: str) -> frozenset[str]:
    """Returns a list of function words by its name."""
    return frozenset(wordlist("meaning.toml")["grammar"][name])
