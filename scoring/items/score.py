"""Scores records: the items of each kind of record, their questions, and the scores from the answers."""

from collections.abc import Iterable, Sequence
from math import isfinite
from typing import Any, NamedTuple

from catsofa.data.records import Score
from catsofa.scoring.extras import UNKNOWN
from catsofa.scoring.items import Columns, Item
from catsofa.scoring.likelihood.backend import Backend
from catsofa.scoring.likelihood.engine import ask
from catsofa.scoring.likelihood.queries import Answer, Answers, Continuations, Question
from catsofa.scoring.measures.registry import measure_of
from catsofa.scoring.protocols import Protocol
from catsofa.scoring.score_columns import ScoreColumns


class Planned(NamedTuple):
    """The items of some records by one protocol."""

    columns: Columns | None
    items: list[Item | Score]
    """Those that are not in columns."""


def score(backend: Backend, records: Sequence[Any], protocol: Protocol) -> list[Score]:
    """Returns the scores of records of one kind, by item and task; asks all their questions together."""
    if not records:
        return []
    plan = planned(backend, records, protocol)
    in_columns, rest = reduced(plan, ask(backend, asked(plan)))
    if in_columns is None:
        return rest
    found = {one.item: one for one in (*in_columns, *rest)}
    return [found[item] for item in measure_of(type(records[0]), protocol).ids_of(records)]


def answered(backend: Backend, items: Sequence[Item | Score]) -> list[Score]:
    """Returns the score of each item, in order; asks all their questions together."""
    return scores(items, ask(backend, questions(items)))


def items(backend: Backend, records: Sequence[Any], protocol: Protocol) -> list[Item | Score]:
    """Returns the items of records of one kind; unscored Scores for records that the model cannot take."""
    return measure_of(type(records[0]), protocol).items(backend, records, protocol) if records else []


def planned(backend: Backend, records: Sequence[Any], protocol: Protocol) -> Planned:
    """Returns the items of records of one kind, in columns where the measure has them."""
    columns, others = measure_of(type(records[0]), protocol).columns(backend, records, protocol)
    return Planned(columns, items(backend, others, protocol))


def asked(plan: Planned) -> Sequence[Question]:
    """Returns the questions of all items together, so that a text has one answer whichever way it came."""
    others: list[Any] = questions(plan.items)  # of a model with columns, all are continuations
    if plan.columns is None:
        return others
    return Continuations.joined(plan.columns.questions, Continuations.of(others))


def reduced(plan: Planned, answers: Sequence[Answer]) -> tuple[ScoreColumns | None, list[Score]]:
    """Returns the scores in columns and those of the other items, from the answers to their questions."""
    if plan.columns is None:
        return None, scores(plan.items, answers)
    count = len(plan.columns.questions)
    together = Answers.of(answers)
    in_columns, unusual = plan.columns.scores(together[:count])
    return in_columns, [*unusual, *scores(plan.items, together[count:])]


def questions(items: Iterable[Item | Score]) -> list[Question]:
    """Returns the questions of these items, in order."""
    return [question for item in items if isinstance(item, Item) for question in item.questions]


def scores(items: Iterable[Item | Score], answers: Iterable[Answer]) -> list[Score]:
    """Returns the score of each item, in order, from the answers to their questions."""
    remaining = iter(answers)
    return [
        _score(item, [next(remaining) for _ in item.questions]) if isinstance(item, Item) else item for item in items
    ]


def _score(item: Item, answers: Sequence[Answer]) -> Score:
    """Returns an item's score, which is unscored if the model's answer is not finite."""
    value, extra = item.reduce(answers)
    if not isfinite(value):
        return Score(item=item.id, task=item.task, score=None, reason=f"the model answered {value}")
    if item.unknown:
        extra[UNKNOWN] = item.unknown
    return Score(item=item.id, task=item.task, score=value, tokens=item.tokens, extra=extra)
