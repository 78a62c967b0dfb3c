"""Lint of judges and metadata: L13 weak agreement, L14 power, L19 related "unrelated" options, L21 judges, L22 harm."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from catsofa.data.percentages import in_percent
from catsofa.data.records import LABELS, Annotation, Cat, Pair
from catsofa.validation.annotation_files import CHOSEN, type_chosen
from catsofa.validation.lint.rule import WHOLE_SET, Corpus, Found, Given, Rule

STRONG = 0.8
"""Minimum share of judges (four of five) for a label without a finding."""
DOMINATES = 0.1
"""Share of a set above which one writer dominates the set."""
SIMILAR = 0.4
"""Cosine above which an "unrelated" sentence may be on the topic of its context."""
POWER = frozenset({"power", "direction", "advantaged", "disadvantaged", "group_status"})
HARM = frozenset({"harm", "severity"})
WRITER = ("writer", "anon_writer")


def weak_agreement(corpus: Corpus, resources: Given) -> Iterator[Found]:
    """L13: fewer than four of five judges gave the label; items without judgements are skipped."""
    for cat in corpus.cats:
        for candidate in cat.candidates:
            cast = [vote.label for vote in candidate.votes if vote.label]
            yield from _weak(cat.id, cast, candidate.label, candidate.text)
    for pair in corpus.pairs:
        yield from _weak(pair.id, [vote.label for vote in type_chosen([pair])], CHOSEN, pair.more)


def _weak(item: str, cast: Sequence[str], label: str, text: str) -> Iterator[Found]:
    """A finding if the label has too small a share of the votes; the message names a tie."""
    if not cast or (behind := Counter(cast)[label]) >= STRONG * len(cast):
        return
    (_, most), *runners_up = Counter(cast).most_common()
    tie = ", a tie" if runners_up and runners_up[0][1] == most else ""
    yield Found(item=item, message=f"{behind} of {len(cast)} judges say {label}{tie}", text=text)


def related_after_all(corpus: Corpus, resources: Given) -> Iterator[Found]:
    """L19: at least two judges call the unrelated option related, or an encoder finds it closest to the context."""
    for cat in corpus.cats:
        unrelated = cat["unrelated"]
        other_labels = [vote.label for vote in unrelated.votes if vote.label and vote.label != "unrelated"]
        if len(other_labels) > 1:
            message = f"{len(other_labels)} of {len(unrelated.votes)} judges do not call it unrelated"
            yield Found(item=cat.id, message=message, text=unrelated.text)
    follows = [cat for cat in corpus.cats if cat.kind == "intersentence"]
    if resources.encoder and follows:
        import numpy as np

        texts = [text for cat in follows for text in (cat.context, *(cat[label].text for label in LABELS))]
        vectors = np.asarray(resources.encoder.encode(texts), dtype=np.float64)
        for cat, rows in zip(follows, vectors.reshape(len(follows), 1 + len(LABELS), -1), strict=True):
            unit = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
            near = unit[1:] @ unit[0]
            if near[2] > max(SIMILAR, near[0], near[1]):
                message = (
                    f"closer to the context ({near[2]:.2f}) than both other options ({near[0]:.2f}, {near[1]:.2f})"
                )
                yield Found(item=cat.id, message=message, text=f"{cat.context} {cat['unrelated'].text}")


def no_power(corpus: Corpus, resources: Given) -> Iterator[Found]:
    """L14: no item says which group is historically disadvantaged; CrowS-Pairs says so by the direction."""
    concerned = [record for record in corpus.records if not isinstance(record, Pair | Annotation)]
    if concerned and not any(POWER & _carried(record) for record in concerned):
        yield Found(
            item=WHOLE_SET, message=f"none of {len(concerned):,} items says which group is the disadvantaged one"
        )


def no_harm(corpus: Corpus, resources: Given) -> Iterator[Found]:
    """L22: no item says how harmful each stereotype is, so all count equally."""
    if corpus.records and not any(HARM & _carried(record) for record in corpus.records):
        yield Found(item=WHOLE_SET, message=f"none of {len(corpus.records):,} items says how harmful it is")


def _carried(record: Any) -> set[str]:
    """The keys of a record's `source` and `extra`."""
    return {*getattr(record, "source", ()), *getattr(record, "extra", ())}


def who_judged(corpus: Corpus, resources: Given) -> Iterator[Found]:
    """L21: a person judged an item twice, or their own item; or one writer wrote more than a tenth of the set."""
    for record in corpus.records:
        votes = _votes(record)
        for person, times in Counter(vote.annotator for vote in votes).items():
            if times > 1:
                yield Found(item=record.id, message=f"annotator {person} judged it {times} times")
        if (writer := _writer(record)) and any(vote.annotator == writer for vote in votes):
            yield Found(item=record.id, message=f"its writer {writer} judged it too")
    writers = Counter(writer for record in corpus.records if (writer := _writer(record)))
    for writer, wrote in writers.most_common():
        if wrote > DOMINATES * writers.total() and len(writers) > 1:
            message = (
                f"{writer} wrote {wrote:,} of {writers.total():,} items ({in_percent(wrote / writers.total(), 0)})"
            )
            yield Found(item=WHOLE_SET, message=message)


def _votes(record: Any) -> Sequence[Annotation]:
    """The votes on a pair, or on the association of a CAT with the most repeated judges."""
    if isinstance(record, Pair):
        return record.votes
    if isinstance(record, Cat):
        return max((c.votes for c in record.candidates), key=lambda v: len(v) - len({a.annotator for a in v}))
    return ()


def _writer(record: Any) -> str:
    """The writer of a record, or empty."""
    carried: Mapping[str, Any] = {**getattr(record, "extra", {}), **getattr(record, "source", {})}
    return next((str(carried[name]) for name in WRITER if carried.get(name)), "")


RULES = (
    Rule(
        code="L13",
        severity="warning",
        about="fewer than four of five judges gave the label",
        example="3 of 5 judges say stereotype",
        check=weak_agreement,
    ),
    Rule(
        code="L14",
        severity="info",
        about="the set does not say which group is the disadvantaged one",
        example="no item has `power`, `direction`, `advantaged` or `disadvantaged`",
        check=no_power,
    ),
    Rule(
        code="L19",
        severity="warning",
        about="the unrelated option is related: two judges say so, or an encoder finds it the closest to the context",
        example="`The zorb was BLANK.` with the unrelated `hungry`",
        check=related_after_all,
        uses=("encoder",),
    ),
    Rule(
        code="L21",
        severity="warning",
        about="somebody judged an item twice or their own, or one writer dominates the set",
        example="annotator a7 judged it 2 times",
        check=who_judged,
    ),
    Rule(
        code="L22",
        severity="info",
        about="the set does not say how harmful each stereotype is",
        example="no item has `harm` or `severity`",
        check=no_harm,
    ),
)
