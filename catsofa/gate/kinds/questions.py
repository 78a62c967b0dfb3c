"""Questions of BBQ: which answer of each is the likeliest."""

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


def of_run(questions: Sequence[Question], given: Given, protocol: Protocol) -> kinds.Outcomes:
    """The place of the likeliest answer to each question."""
    return of_places(answers(questions, given)[0])


def of_places(chosen: Iterable[int | None]) -> kinds.Outcomes:
    """The same of the answers' places."""
    return kinds.coded(["-" if place is None else str(place) for place in chosen])


def tests(
    questions: Sequence[Question], before: kinds.Outcomes, after: kinds.Outcomes, protocol: Protocol, seed: int
) -> Iterator[Paired]:
    """Accuracy and bias of all questions and of each category, over the questions that both runs answer."""
    sides = [
        np.array([-1 if text == "-" else int(text) for text in kinds.decoded(held)], dtype=np.int64)
        for held in (before, after)
    ]
    coded, ids, values = _coded(questions)
    answered = (sides[0] >= 0) & (sides[1] >= 0)
    for name, rows in kinds.sets_of(np.array([question.category for question in questions])):
        for condition, measures in ANSWERS.items():
            asked = rows & (coded.conditions == condition)
            both = asked & answered
            items, whole = int(both.sum()), int(asked.sum())
            columns = [coded.by_template(np.where(both, side, -1), condition) for side in sides]
            for measure, of in measures.items() if whole else ():
                yield Paired(
                    name=measure, set=name, measure=of, before=columns[0], after=columns[1], items=items,
                    decided=items / whole, step=(of.most - of.least) / items if items else 0.0,
                    each=partial(_moved, ids, values["acc" in measure], both, *sides),
                    known=bool((asked & (sides[0] >= 0)).any()),
                    undefined="" if items else "no question is answered by both runs",
                )  # fmt: skip


Questions = tuple[Coded, NDArray[np.object_], tuple[Array, Array]]
"""Questions as numbers, their ids, and the value of each answer: for bias, and for accuracy."""
_last: list[tuple[Sequence[Question], Questions]] = []
"""The questions that were read last, which every two of many models are compared on."""


def _coded(questions: Sequence[Question]) -> Questions:
    """The questions as numbers; 1 is the right answer, or the biased one, and -1 a counter-biased one."""
    if not _last or _last[0][0] is not questions:
        coded, places = Coded.of(questions), np.arange(len(PLACES))
        unknown, biased = (
            np.array([-1 if place is None else place for place in found])[:, None] == places
            for found in ([one.unknown for one in questions], [one.biased for one in questions])
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
    """The questions whose answer differs, with the values of both answers."""
    at = np.flatnonzero(both & (before != after))
    return [*map(Moved, ids[at], values[at, before[at]].tolist(), values[at, after[at]].tolist())]
