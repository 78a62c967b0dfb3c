"""Compares the two sides of words like `because`, `than` or `before`: a paraphrase may exchange the two sides."""

from collections.abc import Iterator
from typing import NamedTuple

from catsofa.builders.paraphrases.meaning.content import lemma
from catsofa.builders.paraphrases.meaning.described import tokens_of
from catsofa.data.language.wordlists import wordlist

_POINTS = frozenset([".", ";", "?", "!"])


class Sides(NamedTuple):
    """The content words of cause and effect, of condition and consequence, of the earlier and the later event, …"""

    relation: str
    first: frozenset[str]
    second: frozenset[str]


def exchanged(sentence: str, context: str) -> tuple[str, ...]:
    """Returns two words that changed sides (drinks because he is poor → poor because he drinks), or an empty tuple."""
    for ours in sides(sentence):
        for theirs in sides(context):
            if ours.relation == theirs.relation:
                one = (theirs.first & ours.second) - (theirs.second | ours.first)
                other = (theirs.second & ours.first) - (theirs.first | ours.second)
                if one and other:
                    return min(one), min(other)
    return ()


def sides(sentence: str) -> Iterator[Sides]:
    """Yields the two sides of each such word; if it opens the sentence, its own side ends at the comma."""
    tokens = tokens_of(sentence)
    for relation, (forwards, backwards) in wordlist("meaning.toml")["sides"].items():
        for place, word in enumerate(tokens):
            ahead = word in forwards
            if (not ahead and word not in backwards) or (word == "so" and tokens[place - 1] not in (",", "and")):
                continue
            stop = next((i for i in range(place, len(tokens)) if tokens[i] in _POINTS), len(tokens))
            if place and (ahead or tokens[place - 1] not in _POINTS):
                own, rest = tokens[place + 1 : stop], tokens[: place - (tokens[place - 1] in _POINTS)]
            elif "," in tokens[place:stop]:
                comma = tokens.index(",", place)
                own, rest = tokens[place + 1 : comma], tokens[comma + 1 : stop]
            else:
                continue
            two = _content(rest), _content(own)
            yield Sides(relation, *(two if ahead else two[::-1]))


def _content(tokens: tuple[str, ...]) -> frozenset[str]:
    """Returns the lemmas of the words that are not function words, and the BLANK."""
    function = {*wordlist("meaning.toml")["grammar"]["function"], "be", "have", "do"}
    return frozenset(lemma(word) for word in tokens if word[0].isalpha() and not {word, lemma(word)} & function)
