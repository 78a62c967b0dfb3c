"""The words of a text, without a parser."""

import re
from functools import lru_cache

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")


@lru_cache(maxsize=100_000)
def words(text: str) -> tuple[str, ...]:
    """The words of a text in lower case, with straight apostrophes and without their punctuation."""
    return tuple(word.replace("’", "'").lower() for word in _WORD.findall(text))
