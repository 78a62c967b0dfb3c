"""The BLANK of a context: where it stands, whether there is exactly one, and how words are put into it."""

import re
from typing import Literal

from catsofa.data.language.articles import article
from catsofa.data.records import BLANK

Fault = Literal["no_blank", "several_blanks", "glued_blank", "malformed_blank"]

SLOT = re.compile(r"(?<![A-Za-z])\[BLANK\](?![A-Za-z])|(?<![A-Za-z\[<{(])BLANK(?![A-Za-z\]>})])")
_GLUED = re.compile(r"[A-Za-z]\[?BLANK|BLANK\]?[A-Za-z]")
_MALFORMED = re.compile(r"[\[<{(]\s*blank\s*[\]>})]|_{2,}", re.IGNORECASE)
_OPENERS = "\"'“‘([*`"
_ARTICLE = re.compile(rf"(?<![\w’'-])(?P<article>an?|An?|AN)(?P<gap>\s+[{re.escape(_OPENERS)}]*)$")
_SENTENCE_END = re.compile(r"(?:^\s*|[.!?…][\"'”’)\]]*\s+|[\n\r]\s*)[\"'“‘(\[*`]*$")
_SPEECH = re.compile(r"[:,]\s*[\"“]$")
_NO_END = re.compile(r"(?:\b(?:Mr|Mrs|Ms|Dr|St|Prof|Rev|Gen|Sgt|Lt|Jr|vs|etc|e\.g|i\.e|cf|No|[A-Z])\.|\.\.\.|…)\s+\W*$")


def slots(context: str) -> list[tuple[int, int]]:
    """Start and end of every well-formed BLANK or [BLANK]; a glued or lower-case one is none."""
    return [match.span() for match in SLOT.finditer(context)]


def check(context: str) -> Fault | None:
    """What is wrong with the slot of a context, or None: exactly one, free-standing, written BLANK or [BLANK]."""
    found = slots(context)
    if _GLUED.search(context):
        return "glued_blank"
    if len(found) > 1:
        return "several_blanks"
    if found:
        return None
    return "malformed_blank" if BLANK in context or _MALFORMED.search(context) else "no_blank"


def fill(context: str, words: str) -> str:
    """The context with `words` in its one BLANK: an article before it fits them, a sentence starts with a capital.

    No other word changes, and a capital of the filler stays.
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
    return fit_article(before, words) + words + after


_SAID: dict[Fault, str] = {
    "no_blank": "no BLANK",
    "several_blanks": "more than one BLANK",
    "glued_blank": "letters glued to its BLANK",
    "malformed_blank": "a BLANK written in another form",
}


def starts_sentence(before: str, after: str = "") -> bool:
    """Whether a word after `before` starts a sentence (or the speech after a colon or comma and a quote)."""
    if _SPEECH.search(before):
        return not after.startswith(('"', "”"))
    return bool(_SENTENCE_END.search(before)) and not _NO_END.search(before)


def fit_article(before: str, words: str) -> str:
    """`before` with the a/an at its end, if there is one, chosen for the words that follow."""
    match = _ARTICLE.search(before)
    if not match or (match["article"][0] == "A" and not starts_sentence(before[: match.start()])):
        return before
    chosen = article(words)
    written = chosen.capitalize() if match["article"][0] == "A" else chosen
    return before[: match.start()] + written + match["gap"]
