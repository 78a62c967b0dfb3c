"""An item: one number to make, what to ask a model for it, and how the answers become a score."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import numpy as np

from catsofa.data.records import Candidate, Cat, Score
from catsofa.scoring.choices import Length
from catsofa.scoring.likelihood.queries import Answer, Question
from catsofa.scoring.measures.stereoset.options import Pieces
from catsofa.scoring.models.tokens import Unscorable

Text = TypeVar("Text")
Reduced = tuple[float, dict[str, Any]]
"""A score, and what else is to be kept of it."""
Reduce = Callable[[Sequence[Answer]], Reduced]
DIGITS = 12
"""Significant digits of a mean or a sum of log-probabilities; what lies below depends on the order of summing."""


@dataclass(frozen=True, slots=True)
class Item:
    """One text to be scored: every score is a natural logarithm, so that its exponential is what papers print."""

    id: str
    task: str
    questions: tuple[Question, ...]
    reduce: Reduce
    tokens: int
    """Tokens the score is made of."""
    unknown: int = 0
    """Tokens of the text that the tokenizer does not know."""


def guarded(item: str, task: str, make: Callable[[], Item]) -> Item | Score:
    """The item, or an unscored Score with the reason why there is none."""
    try:
        return make()
    except Unscorable as reason:
        return Score(item=item, task=task, score=None, reason=str(reason))


def of_candidates(cats: Sequence[Cat], make: Callable[[Cat, Candidate], Item]) -> list[Item | Score]:
    """The item of each candidate of each CAT, in order."""
    return [guarded(c.id, cat.kind, partial(make, cat, c)) for cat in cats for c in cat.candidates]


def possible(cats: Sequence[Cat], text: Callable[[Cat, Candidate], Text]) -> list[Text]:
    """What each candidate that can be scored has to be read for, so that all of it is tokenised together."""
    found: list[Text] = []
    for cat in cats:
        for candidate in cat.candidates:
            with suppress(Unscorable):
                found.append(text(cat, candidate))
    return found


def mean(values: Answer) -> float:
    """The mean to DIGITS; numpy's own costs several times as much on a dozen values."""
    return settled(float(np.add.reduce(values)) / len(values))


def settled(value: float) -> float:
    """The number to DIGITS, so that equal log-probabilities have one mean however many there are."""
    return float(f"{value:.{DIGITS}g}")


def joined(answers: Sequence[Answer]) -> Answer:
    """Several answers as one; most items have only one."""
    return answers[0] if len(answers) == 1 else np.concatenate(answers)


def over_length(length: Length) -> Reduce:
    """The mean or the sum of all log-probabilities."""

    def reduce(answers: Sequence[Answer]) -> Reduced:
        every = joined(answers)
        return (mean(every) if length == "mean" else settled(float(every.sum()))), {}

    return reduce


def over_pieces(pieces: Pieces) -> Reduce:
    """The pieces of one attribute as one number: mean log-probability, log of the mean probability, or the sum."""

    def reduce(answers: Sequence[Answer]) -> Reduced:
        every = joined(answers)
        if pieces == "mean-prob":
            return settled(float(np.logaddexp.reduce(every) - np.log(len(every)))), {}
        return (mean(every) if pieces == "mean-log" else settled(float(every.sum()))), {}

    return reduce
