"""The words of a text, without a parser."""

import re
from functools import lru_cache

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_COMPOUND = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")

_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")
"""Letters of scripts that put no space between words: Thai, Lao, Burmese, Khmer, Japanese, Chinese."""


def put_together(one: str, other: str) -> str:
    """Two parts of a sentence with a space between them, or without one where their script has none."""
    return one + ("" if _UNSPACED.match(one[-1:]) and _UNSPACED.match(other[:1]) else " ") + other


@lru_cache(maxsize=100_000)
def words(text: str) -> tuple[str, ...]:
    """The words of a text in lower case, with straight apostrophes and without their punctuation."""
    return _lowered(_WORD, text)


@lru_cache(maxsize=100_000)
def compounds(text: str) -> tuple[str, ...]:
    """The words of a text as `words` gives them, but a compound is one word (`mother-in-law`)."""
    return _lowered(_COMPOUND, text)


def _lowered(pattern: re.Pattern[str], text: str) -> tuple[str, ...]:
    """The matches in lower case, with straight apostrophes."""
    return tuple(word.replace("’", "'").lower() for word in pattern.findall(text))
