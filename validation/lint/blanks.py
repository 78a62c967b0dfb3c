"""Lint of contexts: L1 how many BLANKs, L2 what is glued to one, L3 whether the sentences are their context filled."""

import re
from collections.abc import Iterator, Sequence

from catsofa.data.records import BLANK, Candidate, Cat
from catsofa.validation.lint.rule import Corpus, Found, Given, Rule

_LETTERS = re.compile(rf"[^\W_]{BLANK}|{BLANK}[^\W_]")
_STOP = re.compile(rf"(?P<before>[^\W_][.,;:!?]+){BLANK}|{BLANK}(?P<after>[.,;:!?]+)[^\W_]")
_FIRST = re.compile(rf"^\W*{BLANK}|[.!?][\"'”’)]*\s+[\"'“‘(]*{BLANK}")


def blank_count(corpus: Corpus, given: Given) -> Iterator[Found]:
    """An intrasentence context has one BLANK, an intersentence one has none."""
    for cat in corpus.cats:
        wanted = 1 if cat.kind == "intrasentence" else 0
        if (found := cat.context.count(BLANK)) != wanted:
            message = f"the context has {found or 'no'} BLANK{'s' * (found > 1)} instead of {wanted or 'none'}"
            yield Found(item=cat.id, message=message, text=cat.context)


def blank_glued(corpus: Corpus, given: Given) -> Iterator[Found]:
    """Letters at a BLANK make the fill part of a word; a stop before or after it lacks its space."""
    for cat in corpus.intrasentence:
        if _LETTERS.search(cat.context):
            yield Found(item=cat.id, message="letters are glued to the BLANK", text=cat.context)
        elif _STOP.search(cat.context):
            fixed = _STOP.sub(_spaced, cat.context)
            yield Found(item=cat.id, message="a space is missing at the BLANK", text=cat.context, fix=fixed)
        elif _FIRST.search(cat.context):
            message = "the BLANK begins a sentence: the fill needs a capital, and models read first words differently"
            yield Found(item=cat.id, message=message, text=cat.context, severity="info")


def _spaced(match: re.Match[str]) -> str:
    """The matched BLANK with a space where one is missing."""
    if match["before"]:
        return f"{match['before']} {BLANK}"
    return f"{BLANK}{match['after']} {match[0][-1]}"


def filled_context(corpus: Corpus, given: Given) -> Iterator[Found]:
    """A sentence is its context with the BLANK filled, letter for letter: else options differ in more than the fill."""
    for cat in corpus.intrasentence:
        if cat.context.count(BLANK) != 1:
            continue
        strange = [candidate for candidate in cat.candidates if candidate.fill is None]
        for candidate in strange:
            message = f"the {candidate.label} sentence is not the context with its BLANK filled"
            yield Found(item=cat.id, message=message, text=candidate.text, severity="error")
        yield from _unlike(cat, [candidate for candidate in cat.candidates if candidate.fill is not None])


def _unlike(cat: Cat, candidates: Sequence[Candidate]) -> Iterator[Found]:
    """One finding for all sentences of a CAT that differ from their filled context; mostly all three do alike."""
    differ = [(c.text, filled) for c in candidates if (filled := _filled(cat.context, c)) != c.text]
    if not differ:
        return
    text, filled = differ[0]
    only_case = all(text.lower() == filled.lower() for text, filled in differ)
    what = "case" if only_case else "spacing or punctuation"
    message = f"{len(differ)} of 3 sentences differ from their filled context in {what}"
    yield Found(item=cat.id, message=message, text=text, fix=filled if only_case else "")


def _filled(context: str, candidate: Candidate) -> str:
    """The context with the BLANK filled; a capital that the sentence begins with stays."""
    filled = context.replace(BLANK, candidate.fill or "")
    same = filled[:1].lower() == candidate.text[:1].lower()
    return candidate.text[0] + filled[1:] if same and candidate.text[0].isupper() else filled


RULES = (
    Rule(
        code="L1",
        severity="error",
        about="a context does not have exactly one BLANK",
        example="The zorb was BLANK and BLANK.",
        check=blank_count,
    ),
    Rule(
        code="L2",
        severity="error",
        about="something is glued to the BLANK, or it begins a sentence",
        example="The zorb BLANKed the gate.",
        check=blank_glued,
    ),
    Rule(
        code="L3",
        severity="warning",
        about="a sentence is not its context with the BLANK filled",
        example="context `The Zorb was BLANK.`, sentence `The zorb was kind.`",
        check=filled_context,
    ),
)
