"""A grid of probes in columns: the questions of a causal model, and the scores from its answers.

The scores are those of `questions.items`. Tokens of identities and stereotypes are joined, and no probe becomes an
object, because a million probes would otherwise keep a GPU waiting.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from math import isfinite

import numpy as np

from catsofa.data.formats.probe_columns import Probes
from catsofa.data.records import Probe, Score
from catsofa.scoring.items import settled
from catsofa.scoring.items.sentences import begins_with_start
from catsofa.scoring.likelihood.backend import Backend
from catsofa.scoring.likelihood.queries import Answers, Continuations, Ids, Numbers, offsets, segments
from catsofa.scoring.models.reader import Reader
from catsofa.scoring.models.seams import Joined, numbered
from catsofa.scoring.models.tokens import Unscorable
from catsofa.scoring.protocols import Protocol
from catsofa.scoring.score_columns import ScoreColumns, Values

TASK = "probe"
NONE = -1


@dataclass(frozen=True, slots=True)
class ProbeColumns:
    """The questions of probes: first each probe, then each identity alone."""

    questions: Continuations
    ids: Sequence[str]
    identities: Numbers
    """The identity of each probe, as a number among the questions of identities; NONE if it cannot be scored alone."""
    after: Numbers
    """The number of tokens after the identity."""
    unknown: Numbers
    unknown_identities: Numbers

    def scores(self, answers: Answers) -> tuple[ScoreColumns, list[Score]]:
        """The scores in columns, and a record for each probe with an answer that is not finite."""
        count = len(self.ids)
        every, without = np.arange(count), self.identities == NONE
        alone = np.array([*_means(answers, np.arange(count, len(answers))), np.nan])  # NONE is the last one
        made = ScoreColumns(
            task=TASK,
            items=self.ids,
            scores=_means(answers, every),
            identities=alone[self.identities],
            conditionals=_means(answers, every, self.after),
            tokens=answers.lengths[:count].astype(np.int32),
            unknown=self.unknown.astype(np.int32),
            unknown_identities=self.unknown_identities.astype(np.int32),
        )
        parts = (made.scores, made.conditionals, np.where(without, 0.0, made.identities))
        finite = np.logical_and.reduce([np.isfinite(part) for part in parts])
        if finite.all():
            return made, []
        return made.only(np.flatnonzero(finite)), [
            _not_finite(made, place, bool(without[place])) for place in np.flatnonzero(~finite).tolist()
        ]


def columns(
    backend: Backend, probes: Sequence[Probe], protocol: Protocol
) -> tuple[ProbeColumns | None, Sequence[Probe]]:
    """The probes whose tokens can be joined, in columns, and the other probes."""
    reader = backend.reader
    if backend.model.kind != "causal" or not _is_one_question(reader, protocol):
        return None, probes
    if protocol.sofa.padding == "tokenizer" and backend.model.pads_left:
        return None, probes
    block = Probes.of(probes)
    ends = [*map(identity_end, block.texts, block.identities)]
    beginnings = [text[:end] for text, end in zip(block.texts, ends, strict=True)]
    rests = [text[end:] for text, end in zip(block.texts, ends, strict=True)]
    joined = reader.in_parts(beginnings, rests)
    if joined is None:
        return None, probes
    # tokens, unknown tokens, and whether a special token is spelt, of each part
    (size, few, spelt), (last_size, last_few, last_spelt) = map(reader.shares, (joined.beginnings, joined.rests))
    first, last = joined.first, joined.last
    wrong = spelt[first] | last_spelt[last] | (size[first] == 0) | (last_size[last] == 0)
    chosen = np.flatnonzero(~wrong & (size[first] + last_size[last] < reader.limit))
    if not len(chosen):
        return None, probes
    places, first, last = joined.places[chosen], first[chosen], last[chosen]
    own = block.only(places.tolist())
    alone = _Alone(backend, own.identities)
    lengths = size[first] + last_size[last] + 1
    whole = Continuations(_ids(reader.start, joined, first, last), lengths, np.ones_like(lengths))
    made = ProbeColumns(
        questions=Continuations.joined(whole, alone.questions),
        ids=own.ids,
        identities=alone.which,
        after=last_size[last],
        unknown=few[first] + last_few[last],
        unknown_identities=alone.unknown,
    )
    return made, block.only(np.setdiff1d(np.arange(len(block)), places).tolist())


def _is_one_question(reader: Reader, protocol: Protocol) -> bool:
    """Returns True if a text is one question behind a start token that the tokenizer has."""
    with suppress(Unscorable):
        return begins_with_start(reader, protocol.first_token) and reader.start >= 0
    return False


class _Alone:
    """The questions of identities alone, each once."""

    def __init__(self, backend: Backend, identities: Sequence[str]) -> None:
        distinct, which = numbered(identities)
        tokens = backend.reader.repeated(distinct)
        asked, places = list[Ids](), list[int]()
        for one in tokens:
            try:
                asked.append(backend.reader.started(one))
                places.append(len(asked) - 1)
            except Unscorable:
                places.append(NONE)
        lengths = np.fromiter(map(len, asked), np.int64, len(asked))
        flat = np.fromiter(chain.from_iterable(asked), np.int64, int(lengths.sum()))
        self.questions = Continuations(flat, lengths, np.ones_like(lengths))
        self.which: Numbers = np.array(places)[which]
        self.unknown: Numbers = np.array([*map(backend.reader.unknowns, tokens)])[which]


def identity_end(text: str, identity: str) -> int:
    """The number of letters of an identity at the beginning of a text, in any case; 0 for a text without it."""
    end = len(identity)
    return end if text.startswith(identity) or text[:end].casefold() == identity.casefold() else 0


def _ids(start: int, joined: Joined, first: Numbers, last: Numbers) -> Numbers:
    """The ids of each text behind a start token, one text after another."""
    parts = [*((start, *ids) for ids in joined.beginnings), *joined.rests]
    sizes = np.fromiter(map(len, parts), np.int64, len(parts))
    pool = np.fromiter(chain.from_iterable(parts), np.int64, int(sizes.sum()))
    pieces = np.column_stack([first, last + len(joined.beginnings)]).ravel()
    return segments(pool, offsets(sizes)[pieces], sizes[pieces])


def _means(answers: Answers, places: Numbers, last: Numbers | None = None) -> Values:
    """The mean of each of these answers, or of its last values, equal to the bit to `items.mean`."""
    means = np.empty(len(places))
    counts = answers.lengths[places] if last is None else last
    for count in np.unique(counts).tolist():
        some = np.flatnonzero(counts == count)
        means[some] = np.add.reduce(answers.last(count, places[some]), axis=1) / count
    return np.array([settled(value) for value in means.tolist()]) + 0.0  # no -0.0, as in rows


def _not_finite(made: ScoreColumns, place: int, without: bool) -> Score:
    """The record of a probe with an answer that is not finite; `without` if the identity has no score alone."""
    value, item = float(made.scores[place]), made.items[place]
    if not isfinite(value):
        return Score(item=item, task=TASK, score=None, reason=f"the model answered {value}")
    identity = None if without else float(made.identities[place])
    extra = {"identity": identity, "conditional": float(made.conditionals[place])}
    return Score(item=item, task=TASK, score=value, tokens=int(made.tokens[place]), extra=extra)
