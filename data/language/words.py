"""Splits a text into words, without a parser."""

import re
from functools import lru_cache

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_COMPOUND = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")

_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")
"""Letters of scripts without spaces between words: Thai, Lao, Burmese, Khmer, Japanese, Chinese."""


def put_together(one: str, other: str) -> str:
    """Two parts of a sentence joined by a space, or without one if their script has no spaces."""
    return one + ("" if _UNSPACED.match(one[-1:]) and _UNSPACED.match(other[:1]) else " ") + other


@lru_cache(maxsize=100_000)
def words(text: str) -> tuple[str, ...]:
    """The words of a text in lower case, with straight apostrophes and without their punctuation."""
    return _lowered(_WORD, text)


@lru_cache(maxsize=100_000)
def compounds(text: str) -> tuple[str, ...]:
    """The words of a text as in `words`, except that a compound is one word (`mother-in-law`)."""
    return _lowered(_COMPOUND, text)


def _lowered(pattern: re.Pattern[str], text: str) -> tuple[str, ...]:
    """The matches in lower case, with straight apostrophes."""
    return tuple(word.replace("’", "'").lower() for word in pattern.findall(text))
