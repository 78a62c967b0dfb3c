"""Possible differences in meaning between two sentences: negation, quantity, hedges, disclaimers."""

import re
from collections.abc import Iterable
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from catsofa.data.language.opposites import converse, opposed
from catsofa.data.language.wordlists import wordlist
from catsofa.data.language.words import compounds

_TAG_QUESTION = re.compile(r",?\s*\b\w+n['’]t (?:he|she|they|it|you|we|I)\s*\?", re.I)
_CONTRACTED = re.compile(r"(?:(?<= )(ca|wo|sha)|(?<=\w))n't(?= )")


class Alarm(NamedTuple):
    """A possible change of meaning by a paraphrase, and the words that indicate it."""

    kind: str
    words: tuple[str, ...] = ()


def word_alarms(sentence: str, context: str) -> list[Alarm]:
    """The alarms of the word lists; the first three kinds are symmetric in the two sentences.

    `negation`: one sentence reverses the other (an odd number of negations and antonyms in both together).
    `quantifier`, `hedge`: only one sentence has a word of some class. `disclaimer`: the paraphrase argues.
    """
    one, other = plain(sentence), plain(context)
    disclaimers = wordlist("paraphrase_words.toml")["disclaimer"]
    phrases = [m[0] for p in disclaimers if (m := re.search(p, sentence, re.I)) and not re.search(p, context, re.I)]
    alarms = {
        "negation": _turning(one, other),
        "quantifier": _of_one_alone("quantifiers", one, other),
        "hedge": _of_one_alone("hedges", one, other),
        "disclaimer": phrases,
    }
    return [Alarm(kind, tuple(dict.fromkeys(words))) for kind, words in alarms.items() if words]


def asks(sentence: str) -> bool:
    """Returns whether a sentence ends as a question that is no mere tag (…, isn't it?)."""
    return _TAG_QUESTION.sub("", sentence).rstrip(" \"'”’)").endswith("?")


def plain(sentence: str) -> str:
    """The words of a sentence, each between spaces, without tag questions and idioms, with `not` for n't."""
    return _any_of("idioms").sub(" ", in_full(sentence))


def in_full(sentence: str) -> str:
    """The words of a sentence, each between spaces, without tag questions, with `not` for n't."""
    text = f" {' '.join(compounds(_TAG_QUESTION.sub('', sentence)))} ".replace(" cannot ", " can not ")
    full = {"ca": "can not", "wo": "will not", "sha": "shall not"}
    return _CONTRACTED.sub(lambda match: full.get(match[1] or "", " not"), text)


def _turning(one: str, other: str) -> list[str]:
    """The negations of two sentences, including antonyms and words with a negative affix, if their number is odd.

    Converse verbs (buy, sell) turn nothing round, but without another negation they are returned too.
    """
    negations = [word for text in (one, other) for word in _negations(text)]
    apart = [set(one.split()) - set(other.split()), set(other.split()) - set(one.split())]
    listed = [(a, b) for pair in wordlist("meaning.toml")["antonyms"] for a, b in (pair, pair[::-1])]
    two_sided = converse(*apart)
    opposites = [*((a, b) for a, b in listed if a in apart[0] and b in apart[1]), *opposed(*apart)]
    for pair in opposites:
        if pair not in two_sided and not {*pair} & {word for one in negations for word in re.split("[ /]", one)}:
            negations.append("/".join(pair))
    denied = _denied((apart[0] | apart[1]) - set(negations))
    is_turned = len(negations) % 2 == 1 and len(denied) % 2 == 0
    return negations if is_turned else ["/".join(pair) for pair in two_sided]


def _negations(text: str) -> list[str]:
    """The negations of a sentence; neither/nor count as one, and so do two joined by `and` (not tall and not loud)."""
    matches = list(_any_of("negators", "implicit").finditer(text))
    joined = {
        one.start()
        for last, one in pairwise(matches)
        if one[0] == last[0] and " and " in f"{text[last.end() : one.start()]} "
    }
    negations = [match[0].strip() for match in matches if match.start() not in joined]
    return [word for word in negations if word != "nor" or "neither" not in negations]


def _denied(words: Iterable[str]) -> list[str]:
    """The words with a negative affix: unknown, careless."""
    lists = wordlist("meaning.toml")
    starts, exceptions = tuple(lists["prefixes"]), tuple(lists["no_affix"])
    return [
        w for w in words if len(w) > 5 and (w.startswith(starts) or w.endswith("less")) and not w.startswith(exceptions)
    ]


def _of_one_alone(kind: str, one: str, other: str) -> list[str]:
    """The words of a list whose class occurs in only one of the sentences."""
    pattern, classes = _classified(kind)
    ours, theirs = ([match.strip() for match in pattern.findall(text)] for text in (one, other))
    both = {classes[word] for word in ours} & {classes[word] for word in theirs}
    return [word for word in (*ours, *theirs) if classes[word] not in both]


@cache
def _classified(kind: str) -> tuple[re.Pattern[str], dict[str, str]]:
    """A pattern for the words of all classes of a list, and the class of each word."""
    classes = {word: name for name, words in wordlist("meaning.toml")[kind].items() for word in words}
    return _pattern(classes), classes


@cache
def _any_of(*names: str) -> re.Pattern[str]:
    """A pattern for any word of these lists."""
    return _pattern(word for name in names for word in wordlist("meaning.toml")[name])


def _pattern(words: Iterable[str]) -> re.Pattern[str]:
    """A pattern for any of the words between spaces, longer ones first (a few is not few); `*` is any ending."""
    ordered = sorted(words, key=len, reverse=True)
    return re.compile("|".join(re.escape(f" {word}").replace(r"\*", r"\w*") + "(?= )" for word in ordered))
