"""What a sentence says about its BLANK, without a parser: the thing that the slot describes, and the content words."""

import re
from functools import cache

from catsofa.builders.dictionary import CLOSED, other_parts, verb_tags
from catsofa.builders.paraphrases.meaning.targets import names_target, person_words, phrases, same_person
from catsofa.data.language.inflection import singulars
from catsofa.data.language.wordlists import wordlist

_TOKEN = re.compile(r"\[?BLANK\]?|[^\W_]+(?:['’-][^\W_]+)*['’]?|[,.;:?!]")
_CONTRACTED = re.compile(r"(?<=[a-z])['’](?:ve|re|ll|d|m)$|(?<=he|it)['’]s$|(?<=at)['’]s$")


def same_thing(sentence: str, context: str, target: str) -> bool:
    """Whether two slots describe the same noun, or both the target, a pronoun or nobody in particular."""
    one, other = described(sentence), described(context)
    if not one or not other or _names(one, sentence, target) & _names(other, context, target):
        return True
    return bool(same_person(one[-1], other[-1]))


def moved(sentence: str, context: str) -> bool:
    """Whether all other words stay and only the slot has moved or a noun owns another; or he is she."""
    ours, theirs = tokens_of(sentence), tokens_of(context)
    one, other = ([re.sub(r"['’]s?$", "", word) for word in tokens if word != "BLANK"] for tokens in (ours, theirs))
    if one == other:
        return ours != theirs
    return {*described(sentence)[-1:], *described(context)[-1:]} == {"he", "she"}


def described(sentence: str) -> tuple[str, ...]:
    """The noun phrase that the slot describes, without a parser; its last word is its head.

    It is the noun after the slot ("a BLANK voice"); after a linking verb the subject of its clause; else the noun right
    before the slot ("found him BLANK"); else the subject.
    """
    tokens = tokens_of(sentence)
    at = tokens.index("BLANK")
    after, linked = _noun_phrase(tokens, at + 1), _linking_verb(tokens, at)
    # "who is BLANK lives here": after a linking verb, what can be a verb is one
    if linked is not None and after and verb_tags(after[0]) & {"VBZ", "VBD", "VBG"}:
        after = ()
    if after and (linked is None or after[-1] not in _list("generic")):
        return after
    if linked is None and at and tokens[at - 1] in _list("portions") | _list("determiners"):
        return ()
    before = at - 1
    while before > 0 and other_parts(tokens[before]) == {"ADV"}:
        before -= 1
    clause = max((i + 1 for i in range(at) if tokens[i] in _list("breaks")), default=0)
    if linked is None and tokens[clause] in _list("openers"):
        return first_phrase(tokens, clause + 1, at)
    if linked is None and _is_noun(tokens[before]) and _is_object(tokens, before):
        return (tokens[before],)
    verb = at - 1 if at and verb_tags(tokens[at - 1]) else at
    return subject(tokens, verb if linked is None else linked)


def tokens_of(sentence: str) -> tuple[str, ...]:
    """The words and punctuation of a sentence in lower case, contracted verbs cut off, and its BLANK."""
    return tuple("BLANK" if "BLANK" in t else _CONTRACTED.sub("", t.lower()) for t in _TOKEN.findall(sentence))


def _is_object(tokens: tuple[str, ...], at: int) -> bool:
    """Whether the noun at a place comes right after a verb, with a word like `the` between or without."""
    owned = at > 1 and tokens[at - 1] in _list("determiners")
    return bool(at and (owned or not verb_tags(tokens[at])) and verb_tags(tokens[at - 1 - owned]))


def _noun_phrase(tokens: tuple[str, ...], start: int) -> tuple[str, ...]:
    """The words from a place on up to the last noun of an unbroken run of adjectives and nouns."""
    stop = start
    while stop < len(tokens) and (_is_noun(tokens[stop]) or _is_adjective(tokens[stop])):
        stop += 1
        owner, then = tokens[stop - 1].endswith("'s"), tokens[stop : stop + 1]
        if not owner and then and verb_tags(then[0]) & {"VBZ", "VBD", "VBG"}:
            break
    while stop > start and not _is_noun(tokens[stop - 1]):
        stop -= 1
    found = tokens[start:stop]
    if found and found[-1] in _list("portions") and tokens[stop : stop + 1] == ("of",):
        place = stop + 1
        while place < len(tokens) and tokens[place] in _list("determiners"):
            place += 1
        return _noun_phrase(tokens, place) or found
    return found


def _linking_verb(tokens: tuple[str, ...], at: int) -> int | None:
    """The place of the linking verb before a slot, words that may stand between them passed over."""
    for place in range(at - 1, -1, -1):
        word = tokens[place]
        if word in wordlist("paraphrase_words.toml")["frames"]["linking"] or word.endswith("n't"):
            return place
        if not (word in _list("between") or "ADV" in other_parts(word)):
            return None
    return None


def subject(tokens: tuple[str, ...], verb: int) -> tuple[str, ...]:
    """The subject of a verb: the first noun phrase of its clause, or of an earlier clause where this has none."""
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
        if not relative and (found := first_phrase(tokens, start, stop)):
            return found
        stop = start - 1
    return ()


def first_phrase(tokens: tuple[str, ...], start: int, stop: int) -> tuple[str, ...]:
    """The first noun phrase or pronoun between two places; that of a preposition at the start is passed over."""
    place = start
    if start < stop and tokens[start] in _list("prepositions"):
        while place < stop and not (inner := _noun_phrase(tokens[:stop], place)):
            place += 1
        place += len(inner) if place < stop else 0
    for at in range(place, stop):
        if found := _noun_phrase(tokens[:stop], at):
            return found
        if tokens[at] in _list("pronouns") and tokens[at + 1 : at + 2] != ("of",):
            return _noun_phrase(tokens[:stop], at + 1) or (tokens[at],)
    return ()


@cache
def _is_noun(word: str) -> bool:
    """Whether a word can be a noun; one that the dictionary lacks is taken for a name."""
    plain = re.sub(r"['’]s?$", "", word)
    if not plain[:1].isalpha() or plain in _list("function") or plain in CLOSED:
        return False
    parts = other_parts(plain)
    return bool(parts & {"NOUN", "PROPN"}) or (not parts and not verb_tags(plain))


def _is_adjective(word: str) -> bool:
    """Whether a word can only be an adjective."""
    return word not in _list("function") and other_parts(word) == {"ADJ"}


def _names(thing: tuple[str, ...], sentence: str, target: str) -> set[str]:
    """The singulars of a thing's head, and `*` where that is the target, a pronoun or a word for anything."""
    head = thing[-1]
    found = set(singulars(head))
    same = same_person(sentence, target)
    named = {*phrases(target.lower()), *(phrases(same.word) if same else ())}
    near = found & person_words() and set(phrases(" ".join(thing))) & named
    if names_target(head, target, "derived") or found & (named | _list("pronouns") | _list("generic")) or near:
        found.add("*")
    return found


@cache
def _list(name: str) -> frozenset[str]:
    """A list of function words."""
    return frozenset(wordlist("meaning.toml")["grammar"][name])
