"""The words that stand in a sentence where its context has the BLANK."""

import re

from catsofa.data.records import BLANK

_CLOSING = " .!?,;:\"'”’)"
_ARTICLE = re.compile(r"\ban? $", re.IGNORECASE)
_ABBREVIATION = re.compile(r"(?:.*\s)?(?:\w\.){2,}", re.DOTALL)


def fill_of(context: str, sentence: str) -> str | None:
    """The words in the place of the BLANK, or None unless the rest of the sentence is the context.

    Case, spacing, closing punctuation and the article before the BLANK may differ. A context with two BLANKs,
    or letters glued to its BLANK, has no fill: it would be a guess, or part of a word.
    """
    before, found, after = " ".join(context.split()).partition(BLANK)
    if not found or BLANK in after or before[-1:].isalnum() or after[:1].isalnum():
        return None
    # a builder chooses a or an by the fill
    other = _ARTICLE.sub(lambda article: {"a ": "an ", "an ": "a "}[article[0].lower()], before)
    return _between(before, after, sentence) or _between(other, after, sentence)


def _between(before: str, after: str, sentence: str) -> str | None:
    """What stands in a sentence between these two parts of its context."""
    flat, after = " ".join(sentence.split()), after.rstrip(_CLOSING)
    rest = flat[len(before) :].rstrip(_CLOSING)
    if flat[: len(before)].lower() != before.lower() or rest[len(rest) - len(after) :].lower() != after.lower():
        return None
    fill = rest[: len(rest) - len(after)].strip()
    if not after and _ABBREVIATION.fullmatch(f"{fill}."):
        fill += "."
    return fill if fill and fill in sentence else None
