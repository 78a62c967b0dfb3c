"""BBQ questions: the likeliest answer to each question."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from catsofa.data.questions import PLACES, Question
from catsofa.gate import kinds
from catsofa.gate.kinds import Moved, Paired
from catsofa.scoring.compare.choosing import ANSWERS
from catsofa.scoring.measures.bbq import RIGHT, Coded
from catsofa.scoring.measures.bbq.registered import answers
from catsofa.scoring.measures.registry import Given
from catsofa.scoring.protocols import Protocol
from catsofa.scoring.statistics.intervals import Array


def of_run(questions: Sequence[Question], score_set: Given, protocol: Protocol) -> kinds.Outcomes:
    """Returns the place of the likeliest answer to each question."""
    return of_places(answers(questions, score_set)[0])


def of_places(chosen: Iterable[int | None]) -> kinds.Outcomes:
    """Returns the same as `of_run`, from the places of the answers."""
    return kinds.coded(["-" if place is None else str(place) for place in chosen])


def tests(
    questions: Sequence[Question], before: kinds.Outcomes, after: kinds.Outcomes, protocol: Protocol, seed: int
) -> Iterator[Paired]:
    """Yields accuracy and bias of all questions and of each category, over the questions that both runs answer."""
    sides = [
        np.array([-1 if text == "-" else int(text) for text in kinds.decoded(held)], dtype=np.int64)
        for held in (before, after)
    ]
    coded, ids, values = _coded(questions)
    answered = (sides[0] >= 0) & (sides[1] >= 0)
    for name, rows in kinds.sets_of(np.array([question.category for question in questions])):
        for condition, measures in ANSWERS.items():
            in_condition = rows & (coded.conditions == condition)
            both = in_condition & answered
            items, whole = int(both.sum()), int(in_condition.sum())
            columns = [coded.by_template(np.where(both, side, -1), condition) for side in sides]
            for measure, metric in measures.items() if whole else ():
                yield Paired(
                    name=measure, set=name, measure=metric, before=columns[0], after=columns[1], items=items,
                    decided=items / whole, step=(metric.most - metric.least) / items if items else 0.0,
                    each=partial(_moved, ids, values["acc" in measure], both, *sides),
                    known=bool((in_condition & (sides[0] >= 0)).any()),
                    undefined="" if items else "no question is answered by both runs",
                )  # fmt: skip


Questions = tuple[Coded, NDArray[np.object_], tuple[Array, Array]]
"""Encoded questions, their ids, and the value of each answer: for bias, and for accuracy."""
_last: list[tuple[Sequence[Question], Questions]] = []
"""Cache of the questions encoded last; comparisons of many models use the same questions for every pair."""


def _coded(questions: Sequence[Question]) -> Questions:
    """Returns the encoded questions; an answer has the value 1 if right or biased, and -1 if counter-biased."""
    if not _last or _last[0][0] is not questions:
        coded, places = Coded.of(questions), np.arange(len(PLACES))
        unknown, biased = (
            np.array([-1 if place is None else place for place in indices])[:, None] == places
            for indices in ([one.unknown for one in questions], [one.biased for one in questions])
        )
        values = np.where(unknown, 0.0, np.where(biased, 1.0, -1.0)), coded.columns[:, :, RIGHT]
        _last[:] = [(questions, (coded, np.array([one.id for one in questions], dtype=np.object_), values))]
    return _last[0][1]


def _moved(
    ids: NDArray[np.object_],
    values: Array,
    both: NDArray[np.bool_],
    before: NDArray[np.int64],
    after: NDArray[np.int64],
) -> list[Moved]:
    """Returns the questions whose answer differs, with the values of both answers."""
    rows = np.flatnonzero(both & (before != after))
    return [*map(Moved, ids[rows], values[rows, before[rows]].tolist(), values[rows, after[rows]].tolist())]
