"""Lint of structure: BLANKs (L1, L2), sentences that differ from their context (L3), copies (L20), answers (L24)."""

import re
from collections.abc import Iterator, Sequence

from catsofa.data.language.near_duplicates import COMPARED, content, near_duplicates
from catsofa.data.languages.texts import language_of, spaced
from catsofa.data.percentages import in_percent
from catsofa.data.records import BLANK, Candidate, Cat
from catsofa.validation.lint.rule import Corpus, Found, Given, Rule
from catsofa.validation.sets.leakage import leaks

_LETTERS = re.compile(rf"[^\W_]{BLANK}|{BLANK}[^\W_]")
_SPACED_LETTERS = re.compile(rf"[A-Za-z]{BLANK}|{BLANK}[A-Za-z]")
_STOP = re.compile(rf"(?P<before>[^\W_][.,;:!?]+){BLANK}|{BLANK}(?P<after>[.,;:!?]+)[^\W_]")
_FIRST = re.compile(rf"^\W*{BLANK}|[.!?][\"'”’)]*\s+[\"'“‘(]*{BLANK}")


def blank_count(corpus: Corpus, resources: Given) -> Iterator[Found]:
    """L1: an intrasentence context should have one BLANK, an intersentence context none."""
    for cat in corpus.cats:
        wanted = 1 if cat.kind == "intrasentence" else 0
        if (count := cat.context.count(BLANK)) != wanted:
            message = f"the context has {count or 'no'} BLANK{'s' * (count > 1)} instead of {wanted or 'none'}"
            yield Found(item=cat.id, message=message, text=cat.context)


def blank_glued(corpus: Corpus, resources: Given) -> Iterator[Found]:
    """L2: a BLANK should not touch letters, should have its spaces at punctuation, and should not begin a sentence."""
    for cat in corpus.intrasentence:
        if (_LETTERS if spaced(language_of(cat)) else _SPACED_LETTERS).search(cat.context):
            yield Found(item=cat.id, message="letters are glued to the BLANK", text=cat.context)
        elif _STOP.search(cat.context):
            fixed = _STOP.sub(_spaced, cat.context)
            yield Found(item=cat.id, message="a space is missing at the BLANK", text=cat.context, fix=fixed)
        elif _FIRST.search(cat.context):
            message = "the BLANK begins a sentence: the fill needs a capital, and models read first words differently"
            yield Found(item=cat.id, message=message, text=cat.context, severity="info")


def _spaced(match: re.Match[str]) -> str:
    """The matched text with the missing space at the BLANK."""
    if match["before"]:
        return f"{match['before']} {BLANK}"
    return f"{BLANK}{match['after']} {match[0][-1]}"


def filled_context(corpus: Corpus, resources: Given) -> Iterator[Found]:
    """L3: a sentence should equal its filled context exactly; otherwise options differ in more than the fill."""
    for cat in corpus.intrasentence:
        if cat.context.count(BLANK) != 1:
            continue
        strange = [candidate for candidate in cat.candidates if candidate.fill is None]
        for candidate in strange:
            message = f"the {candidate.label} sentence is not the context with its BLANK filled"
            yield Found(item=cat.id, message=message, text=candidate.text, severity="error")
        yield from _unlike(cat, [candidate for candidate in cat.candidates if candidate.fill is not None])


def _unlike(cat: Cat, candidates: Sequence[Candidate]) -> Iterator[Found]:
    """One finding for all sentences of a CAT that differ from their filled context; usually all three differ alike."""
    contexts = [cat.context, *(re.sub(r"\b([Aa])n? (?=BLANK)", rf"\1{n} ", cat.context) for n in ("", "n"))]
    each = [(c.text, [_filled(context, c) for context in contexts]) for c in candidates]
    differ = [(text, filled[0]) for text, filled in each if text not in filled]
    if not differ:
        return
    text, filled = differ[0]
    only_case = all(text.lower() == filled.lower() for text, filled in differ)
    aspect = "case" if only_case else "spacing or punctuation"
    message = f"{len(differ)} of 3 sentences differ from their filled context in {aspect}"
    yield Found(item=cat.id, message=message, text=text, fix=filled if only_case else "")


def _filled(context: str, candidate: Candidate) -> str:
    """The context with the BLANK filled; keeps an initial capital of the sentence."""
    filled = context.replace(BLANK, candidate.fill or "")
    same = filled[:1].lower() == candidate.text[:1].lower()
    return candidate.text[0] + filled[1:] if same and candidate.text[0].isupper() else filled


def copies(corpus: Corpus, resources: Given) -> Iterator[Found]:
    """L20: two items are near-duplicates; or an item or a target term's group is also in the other split."""
    records = [record for record in corpus.records if isinstance(record, COMPARED)]
    texts = [content(record) for record in records]
    for pair in near_duplicates(texts, languages=[language_of(record) for record in records]):
        first, second = records[pair.first], records[pair.second]
        message = f"{in_percent(pair.similarity, 0)} the same as {first.id}"
        yield Found(item=second.id, message=message, text=texts[pair.second])
    other_records = [record for record in resources.against if isinstance(record, COMPARED)]
    for leak in leaks(records, other_records):
        yield Found(item=leak.item, message=leak.message, severity="error")


def answers(corpus: Corpus, resources: Given) -> Iterator[Found]:
    """L24: a question should have a target, and "unknown" is correct exactly if the context leaves the answer open."""
    for question in corpus.questions:
        if question.reason:
            message = f"no bias score counts it: {question.reason.replace('_', ' ')}"
            yield Found(item=question.id, message=message, text=question.question)
        is_open, is_unknown = question.condition == "ambig", question.correct == question.unknown
        if is_open != is_unknown:
            says = "leaves the answer open" if is_open else "gives the answer"
            message = f"the context {says}, and the correct answer is {'' if is_unknown else 'not '}the unknown one"
            yield Found(item=question.id, message=message, text=question.context, severity="error")


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
    Rule(
        code="L20",
        severity="warning",
        about="items are near-duplicates, or share target terms or siblings of them with another split",
        example="`The zorb is kind.` / `The zorb is kind`",
        check=copies,
        uses=("against",),
        reads=COMPARED,
        english="the meaning and the spelling of short texts",
    ),
    Rule(
        code="L24",
        severity="warning",
        about="a question has no target, or its correct answer does not fit its context",
        example="`The zorb` and `The blicket`, both of a stereotyped group",
        check=answers,
    ),
)
