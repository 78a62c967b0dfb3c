"""The BLANK of a context: finding, checking and filling it, and recovering the filled words from a sentence."""

import re
from typing import Literal

from catsofa.data.language.articles import article
from catsofa.data.records import BLANK

Fault = Literal["no_blank", "several_blanks", "glued_blank", "malformed_blank"]

SLOT = re.compile(r"(?<![A-Za-z])\[BLANK\](?![A-Za-z])|(?<![A-Za-z\[<{(])BLANK(?![A-Za-z\]>})])")
_GLUED = re.compile(r"[A-Za-z]\[?BLANK|BLANK\]?[A-Za-z]")
_MALFORMED = re.compile(r"[\[<{(]\s*blank\s*[\]>})]|_{2,}", re.IGNORECASE)
_OPENERS = "\"'“‘([*`"
_CLOSING = " .!?,;:\"'”’)"
_ABBREVIATION = re.compile(r"(?:.*\s)?(?:\w\.){2,}", re.DOTALL)
_ARTICLE = re.compile(rf"(?<![\w’'-])(?P<article>an?|An?|AN)(?P<gap>\s+[{re.escape(_OPENERS)}]*)$")
_LAST_ARTICLE = re.compile(r"\ban? $", re.IGNORECASE)
_SENTENCE_END = re.compile(r"(?:^\s*|[.!?…][\"'”’)\]]*\s+|[\n\r]\s*)[\"'“‘(\[*`]*$")
_SPEECH = re.compile(r"[:,]\s*[\"“]$")
_NO_END = re.compile(r"(?:\b(?:Mr|Mrs|Ms|Dr|St|Prof|Rev|Gen|Sgt|Lt|Jr|vs|etc|e\.g|i\.e|cf|No|[A-Z])\.|\.\.\.|…)\s+\W*$")


def slots(context: str) -> list[tuple[int, int]]:
    """Start and end of every well-formed BLANK or [BLANK]; glued or lower-case ones do not count."""
    return [match.span() for match in SLOT.finditer(context)]


def check(context: str) -> Fault | None:
    """The fault of a context's slot, or None if there is exactly one free-standing BLANK or [BLANK]."""
    places = slots(context)
    if _GLUED.search(context):
        return "glued_blank"
    if len(places) > 1:
        return "several_blanks"
    if places:
        return None
    return "malformed_blank" if BLANK in context or _MALFORMED.search(context) else "no_blank"


def fill(context: str, words: str, language: str = "en") -> str:
    """The context with `words` in its one BLANK; adapts an English article, and capitalises the start of a sentence.

    No other word changes, and capitals in `words` are kept.
    """
    if fault := check(context):
        raise ValueError(f"{context!r} has {_SAID[fault]}; a context needs exactly one BLANK (or [BLANK])")
    words = " ".join(words.split())
    if not words:
        raise ValueError(f"there are no words to put into {context!r}")
    start, end = slots(context)[0]
    before, after = context[:start], context[end:]
    if starts_sentence(before, after):
        words = words[0].upper() + words[1:]
    return (fit_article(before, words) if language == "en" else before) + words + after


_SAID: dict[Fault, str] = {
    "no_blank": "no BLANK",
    "several_blanks": "more than one BLANK",
    "glued_blank": "letters glued to its BLANK",
    "malformed_blank": "a BLANK written in another form",
}


def starts_sentence(before: str, after: str = "") -> bool:
    """Returns whether a word after `before` starts a sentence (or direct speech after a colon or comma and a quote)."""
    if _SPEECH.search(before):
        return not after.startswith(('"', "”"))
    return bool(_SENTENCE_END.search(before)) and not _NO_END.search(before)


def fit_article(before: str, words: str) -> str:
    """`before` with a final a/an, if any, adapted to the words that follow."""
    match = _ARTICLE.search(before)
    if not match or (match["article"][0] == "A" and not starts_sentence(before[: match.start()])):
        return before
    chosen = article(words)
    form = chosen.capitalize() if match["article"][0] == "A" else chosen
    return before[: match.start()] + form + match["gap"]


def fill_of(context: str, sentence: str) -> str | None:
    """The words of the sentence in the place of the BLANK; None if the rest of the sentence is not the context.

    Case, spacing, closing punctuation and the article before the BLANK may differ. A context with two BLANKs, or
    letters glued to its BLANK, has no fill: the fill would be a guess, or part of a word.
    """
    before, blank, after = " ".join(context.split()).partition(BLANK)
    if not blank or BLANK in after or before[-1:].isalnum() or after[:1].isalnum():
        return None
    # builders adapt a or an to the fill
    other = _LAST_ARTICLE.sub(lambda match: {"a ": "an ", "an ": "a "}[match[0].lower()], before)
    return _between(before, after, sentence) or _between(other, after, sentence)


def _between(before: str, after: str, sentence: str) -> str | None:
    """The words of a sentence between these two parts of its context, or None."""
    flat, after = " ".join(sentence.split()), after.rstrip(_CLOSING)
    rest = flat[len(before) :].rstrip(_CLOSING)
    if flat[: len(before)].lower() != before.lower() or rest[len(rest) - len(after) :].lower() != after.lower():
        return None
    words = rest[: len(rest) - len(after)].strip()
    if not after and _ABBREVIATION.fullmatch(f"{words}."):
        words += "."
    return words if words and words in sentence else None
