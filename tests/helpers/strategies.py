"""Hypothesis strategies for every type of record, with texts that break readers."""

from typing import Any

from hypothesis import strategies as st

from catsofa.data.questions import CONDITIONS, POLARITIES
from catsofa.data.records import (
    KINDS,
    LABELS,
    RECORDS,
    Annotation,
    Answer,
    Association,
    AssociationTest,
    Candidate,
    Cat,
    Identity,
    Pair,
    Probe,
    Question,
    Refused,
    Score,
    Statement,
    Stereotype,
    Term,
    Votes,
    WordSet,
)

NASTY = ['"', "'", ",", "\t", "\n", "\r\n", "\r", "|", "\\", "\u2028", "\ufeff", "é", "e\u0301", "𝔘", "BLANK", "{", "#"]
texts = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12),
    st.lists(st.sampled_from([*NASTY, "tea", " "]), max_size=6).map("".join),
)
"""Any text that UTF-8 and CSV can represent."""
words = texts.filter(str.strip)
names = st.text("abcxyz_", min_size=1, max_size=6)
scalars = st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.floats(allow_nan=False, allow_infinity=False)
json_values = st.one_of(scalars, texts, st.lists(texts, max_size=2), st.dictionaries(texts, scalars, max_size=1))
extras = st.dictionaries(names, json_values, max_size=2)


def ids(prefix: str = "") -> st.SearchStrategy[str]:
    """Draws unique ids, because equal ids are practically never drawn."""
    return st.uuids().map(lambda uuid: prefix + uuid.hex)


def annotations(item: st.SearchStrategy[str] = words, extra: Any = extras) -> st.SearchStrategy[Annotation]:
    """Draws judgements of items."""
    return st.builds(Annotation, item=item, annotator=words, label=texts, at=texts, extra=extra)


@st.composite
def candidates(draw: st.DrawFn, label: str) -> Candidate:
    """Draws a candidate with votes about itself."""
    item = draw(ids())
    votes = draw(st.lists(annotations(st.just(item)), max_size=2))
    fill = draw(st.none() | words)
    return Candidate(id=item, text=draw(words), label=label, fill=fill, votes=tuple(votes), extra=draw(extras))


@st.composite
def cats(draw: st.DrawFn) -> Cat:
    """Draws CATs with their labels in any order."""
    one, two, three = [draw(candidates(label)) for label in draw(st.permutations(LABELS))]
    return Cat(
        id=draw(ids()),
        kind=draw(st.sampled_from(KINDS)),
        bias_type=draw(texts),
        target=draw(texts),
        context=draw(texts),
        candidates=(one, two, three),
        language=draw(st.sampled_from(["en", "pt"])),
        source=draw(extras),
        extra=draw(extras),
    )


@st.composite
def pairs(draw: st.DrawFn) -> Pair:
    """Draws pairs with votes about themselves."""
    item = draw(ids())
    return Pair(
        id=item,
        more=draw(words),
        less=draw(words),
        direction=draw(st.sampled_from(["stereo", "antistereo"])),
        bias_type=draw(words),
        votes=tuple(draw(st.lists(annotations(st.just(item)), max_size=2))),
        language=draw(st.sampled_from(["en", "fr"])),
        source=draw(extras),
        extra=draw(extras),
    )


@st.composite
def questions(draw: st.DrawFn) -> Question:
    """Draws questions with a target, or a reason for its absence, and answers in any order."""
    reason = draw(st.sampled_from(["", "both_groups_stereotyped"]))
    roles = draw(st.permutations(["unknown", "other", "other" if reason else "target"]))
    one, two, three = (Answer(text=draw(words), role=role, group=draw(words), extra=draw(extras)) for role in roles)
    return Question(
        id=draw(ids()),
        context=draw(texts),
        question=draw(texts),
        answers=(one, two, three),
        correct=draw(st.integers(0, 2)),
        polarity=draw(st.sampled_from(POLARITIES)),
        condition=draw(st.sampled_from(CONDITIONS)),
        category=draw(texts),
        template=draw(names),
        reason=reason,
        language=draw(st.sampled_from(["en", "nl"])),
        source=draw(extras),
        extra=draw(extras),
    )


word_sets = st.builds(WordSet, name=texts, items=st.lists(texts, min_size=1, max_size=3).map(tuple), extra=extras)
probes = st.builds(
    Probe, id=ids(), category=words, identity=words, stereotype=words, text=words, source=extras, extra=extras
)
tests = st.builds(
    AssociationTest, id=ids("t"), x=word_sets, y=word_sets, a=word_sets, b=word_sets, source=extras, extra=extras
)
scores = st.builds(
    Score,
    item=ids(),
    score=st.none() | st.floats(),
    tokens=st.integers(0, 2**31),
    task=st.sampled_from(KINDS),
    reason=texts,
    extra=extras,
)
votes = st.builds(
    Votes, raters=words, yes=st.integers(0, 2**31), no=st.integers(0, 2**31), unsure=st.integers(0, 2**31)
)
ratings = st.lists(st.none() | st.floats(-1, 4), max_size=3).map(tuple)
lone = st.sampled_from(["en", "sw"])

RECORDS_OF: dict[type[Any], st.SearchStrategy[Any]] = {
    Annotation: annotations(),
    Cat: cats(),
    Pair: pairs(),
    Probe: probes,
    Question: questions(),
    AssociationTest: tests,
    Association: st.builds(
        Association,
        id=ids(),
        identity=words,
        attribute=words,
        region=texts,
        votes=st.lists(votes, max_size=2).map(tuple),
        offensiveness=ratings,
        language=lone,
        source=extras,
        extra=extras,
    ),
    Score: scores,
    Term: st.builds(
        Term,
        id=ids(),
        category=texts,
        term=texts,
        pos=texts,
        group=texts,
        language=lone,
        source=extras,
        extra=extras,
    ),
    Identity: st.builds(
        Identity, id=ids(), category=texts, identity=texts, form=texts, language=lone, source=extras, extra=extras
    ),
    Statement: st.builds(
        Statement, id=ids(), statement=texts, target=texts, category=texts, language=lone, source=extras, extra=extras
    ),
    Stereotype: st.builds(
        Stereotype,
        id=ids(),
        text=texts,
        category=texts,
        notes=st.lists(texts, max_size=2).map(tuple),
        language=lone,
        source=extras,
    ),
    Refused: st.builds(Refused, id=texts, reason=texts, text=texts, score=st.none() | st.floats(), source=extras),
}
"""The strategy for each type of record."""

if missing := set(RECORDS.values()) - set(RECORDS_OF):
    raise ValueError(f"no way to draw {missing}")
