"""Finds who does what in a sentence, without a parser: a paraphrase may exchange the roles of two people."""

from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from catsofa.builders.dictionary import CLOSED, names_person, other_parts, verb_tags
from catsofa.builders.paraphrases.meaning.described import first_phrase, subject, tokens_of
from catsofa.data.language.inflection import singulars
from catsofa.data.language.opposites import lemmas
from catsofa.data.language.wordlists import wordlist

_BE = frozenset(["am", "are", "be", "been", "being", "is", "was", "were", "get", "gets", "got"])
_POINTS = frozenset([",", ".", ";", ":", "?", "!"])
_SUBJECTS = frozenset(["i", "we", "you", "he", "she", "they", "it"])
_UNKNOWN = frozenset(["BLANK", "he", "she", "they", "it", "who"])
_FIRST = frozenset(["i", "me", "my", "us", "we", "our"])


class Deed(NamedTuple):
    """A verb and its agent."""

    verb: str
    agent: str


def turned(sentence: str, context: str) -> tuple[str, ...]:
    """Returns the two people who exchange roles beside a verb that both sentences have, or an empty tuple.

    If the agents show no exchange, compares the order of the people, unless only one sentence is passive.
    """
    before, in_sentence = list(deeds(context)), {name for token in tokens_of(sentence) for name in _names(token)}
    in_context = {name for token in tokens_of(context) for name in _names(token)}
    for verb, agent in deeds(sentence):
        agents = [deed.agent for deed in before if deed.verb == verb]
        if agents and agent not in agents and agent in in_context and agents[0] in in_sentence:
            return agents[0], agent
    if _passive(sentence) != _passive(context):
        return ()
    settled = {deed.agent for deed in deeds(sentence) if deed in before}
    orders = [_order(people(sentence, last), people(context, last), settled) for last in (True, False)]
    return orders[0] if all(orders) else ()


def _order(one: list[str], other: list[str], settled: set[str]) -> tuple[str, ...]:
    """Returns the first two people whose order differs; empty if none do, or if a sentence repeats a person."""
    both = [name for name in other if name in one and name not in settled]
    ours = [name for name in one if name in other and name not in settled]
    if len({*ours}) != len(ours) or len({*both}) != len(both):
        return ()
    return next(((a, b) for a, b in pairwise(both) if ours.index(b) < ours.index(a)), ())


def people(sentence: str, last: bool) -> list[str]:
    """Returns the words for people in their order; with `last`, an introductory part moves to the end."""
    tokens = tokens_of(sentence)
    if last and tokens[0] in _in_front() and "," in tokens:
        tokens = (*tokens[tokens.index(",") + 1 :], *tokens[: tokens.index(",")])
    return [name for name in (min(_names(token)) for token in tokens) if names_person(name)]


def _passive(sentence: str) -> bool:
    """Returns True if a sentence has a participle after a form of "be" or "get", and "by" after it."""
    tokens = tokens_of(sentence)
    return any(
        "VBN" in verb_tags(token) and place and tokens[_before(tokens, place)] in _BE and "by" in tokens[place:]
        for place, token in enumerate(tokens)
    )


def deeds(sentence: str) -> Iterator[Deed]:
    """Yields each verb with its agent: its subject or, for a passive, the phrase after "by"."""
    tokens = tokens_of(sentence)
    for place, word in enumerate(tokens):
        if not _is_verb(tokens, place):
            continue
        tags, previous = verb_tags(word), _before(tokens, place)
        if "VBN" in tags and tokens[previous] in _BE:
            stop = next((i for i in range(place, len(tokens)) if tokens[i] in _POINTS), len(tokens))
            start = next((i + 1 for i in range(place, stop) if tokens[i] == "by"), None)
            phrase = first_phrase(tokens, start, stop) if start else ()
        elif tokens[previous] in _SUBJECTS:
            phrase = (tokens[previous],)
        elif place and tokens[place - 1] in _POINTS:
            phrase = first_phrase(tokens, place + 1, len(tokens))
        else:
            phrase = subject(tokens, place)
        if phrase and phrase[-1] not in _UNKNOWN:
            yield Deed(_verb(word), min(_names(phrase[-1])))


def unreal(sentence: str, context: str) -> tuple[str, ...]:
    """Returns governor, "to" and verb if only one sentence puts the verb after another word and "to".

    The verb is unreal there: hoped to visit, was about to visit.
    """
    wished, done = zip(*map(_wished, (sentence, context)), strict=True)
    for one, other in ((0, 1), (1, 0)):
        for verb, governor in wished[one].items():
            if verb in done[other] and verb not in done[one] and verb not in wished[other]:
                return governor, "to", verb
    return ()


def _wished(sentence: str) -> tuple[dict[str, str], set[str]]:
    """Returns the verbs after another word and "to", each with that word, and the set of all other verbs."""
    tokens, wished, done = tokens_of(sentence), dict[str, str](), set[str]()
    for place, word in enumerate(tokens):
        to = place - 1 - (place > 1 and tokens[place - 1] == "have")
        if to > 0 and tokens[to] == "to" and verb_tags(word):
            lists, governor = wordlist("meaning.toml"), tokens[to - 1]
            prospect = governor in lists["prospective"] and tokens[_before(tokens, to - 1)] in _BE
            if prospect or (governor not in lists["fulfilled"] and _is_verb(tokens, to - 1)):
                wished[_verb(word)] = tokens[to - 1]
        elif _is_verb(tokens, place):
            done.add(_verb(word))
    return wished, done


def _is_verb(tokens: tuple[str, ...], place: int) -> bool:
    """Returns True if the word at a place is a full verb.

    Forms of be, have and do are not full verbs, nor are words that the word before marks as nouns.
    """
    word, before = tokens[place], tokens[_before(tokens, place)] if place else ""
    tags = verb_tags(word)
    if not tags or word in CLOSED or word in _BE or tags == {"VBG"}:
        return False
    lists = wordlist("meaning.toml")["grammar"]
    noun = before == "BLANK" or before in (*lists["determiners"], *lists["prepositions"]) or before.endswith("'s")
    return not noun and (bool(tags & {"VBD", "VBN", "VBZ"}) or not other_parts(word))


def _before(tokens: tuple[str, ...], place: int) -> int:
    """Returns the place of the word before, skipping adverbs."""
    position = place - 1
    while position > 0 and (other_parts(tokens[position]) == {"ADV"} or tokens[position] in ("just", "not", "still")):
        position -= 1
    return position


def _verb(word: str) -> str:
    """Returns the dictionary form of a verb, the shortest if there are several."""
    return min((one for one in lemmas(word) if "VB" in verb_tags(one)), key=lambda one: (len(one), one), default=word)


@cache
def _in_front() -> frozenset[str]:
    """Returns the words that begin a part which may also come at the end of a sentence."""
    lists = wordlist("meaning.toml")["grammar"]
    return frozenset([*lists["prepositions"], *lists["breaks"], "whenever"])


def _names(word: str) -> set[str]:
    """Returns the singulars of a noun without its 's; all words of the first person have one name."""
    plain = word.removesuffix("'s").removesuffix("’s")
    return {"we"} if plain in _FIRST else set(singulars(plain))
