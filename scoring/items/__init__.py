"""Items: each is one score to compute, the questions to ask a model, and how the answers become the score."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar
from typing import Protocol as Interface

import numpy as np

from catsofa.data.records import Candidate, Cat, Score
from catsofa.scoring.choices import Length
from catsofa.scoring.likelihood.queries import Answer, Answers, Continuations, Question
from catsofa.scoring.measures.stereoset.options import Pieces
from catsofa.scoring.models.tokens import Unscorable
from catsofa.scoring.score_columns import ScoreColumns

Text = TypeVar("Text")
Reduced = tuple[float, dict[str, Any]]
"""A score, and additional data to store with it."""
Reduce = Callable[[Sequence[Answer]], Reduced]
DIGITS = 12
"""Significant digits of a mean or a sum of log-probabilities; lower digits depend on the order of summation."""


@dataclass(frozen=True, slots=True)
class Item:
    """One text to score; every score is a natural logarithm, and its exponential is the number in papers."""

    id: str
    task: str
    questions: tuple[Question, ...]
    reduce: Reduce
    tokens: int
    """Number of tokens in the score."""
    unknown: int = 0
    """Number of tokens of the text that the tokenizer does not know."""


class Columns(Interface):
    """Items in columns, for records that may be a million."""

    @property
    def questions(self) -> Continuations:
        """The questions of all items."""

    def scores(self, answers: Answers) -> tuple[ScoreColumns, list[Score]]:
        """Returns scores in columns from the answers, and those that are not finite as records."""


def guarded(item: str, task: str, make: Callable[[], Item]) -> Item | Score:
    """Returns the item, or an unscored Score with the reason why the item cannot be built."""
    try:
        return make()
    except Unscorable as reason:
        return Score(item=item, task=task, score=None, reason=str(reason))


def of_candidates(cats: Sequence[Cat], make: Callable[[Cat, Candidate], Item]) -> list[Item | Score]:
    """Returns the item of each candidate of each CAT, in order."""
    return [guarded(c.id, cat.kind, partial(make, cat, c)) for cat in cats for c in cat.candidates]


def possible(cats: Sequence[Cat], text: Callable[[Cat, Candidate], Text]) -> list[Text]:
    """Returns the text of each candidate that can be scored, so that all texts are tokenised together."""
    texts: list[Text] = []
    for cat in cats:
        for candidate in cat.candidates:
            with suppress(Unscorable):
                texts.append(text(cat, candidate))
    return texts


def mean(values: Answer) -> float:
    """Returns the mean to DIGITS; numpy's own mean costs several times as much on a dozen values."""
    return settled(float(np.add.reduce(values)) / len(values))


def settled(value: float) -> float:
    """Rounds a number to DIGITS, so that equal log-probabilities have one mean however many they are."""
    return float(f"{value:.{DIGITS}g}")


def joined(answers: Sequence[Answer]) -> Answer:
    """Concatenates several answers; most items have only one."""
    return answers[0] if len(answers) == 1 else np.concatenate(answers)


def over_length(length: Length) -> Reduce:
    """Returns a reduction of answers to the mean or the sum of all log-probabilities."""

    def reduce(answers: Sequence[Answer]) -> Reduced:
        every = joined(answers)
        return (mean(every) if length == "mean" else settled(float(every.sum()))), {}

    return reduce


def over_pieces(pieces: Pieces) -> Reduce:
    """Returns a reduction of an attribute's pieces: mean log-probability, log of the mean probability, or sum."""

    def reduce(answers: Sequence[Answer]) -> Reduced:
        every = joined(answers)
        if pieces == "mean-prob":
            return settled(float(np.logaddexp.reduce(every) - np.log(len(every)))), {}
        return (mean(every) if pieces == "mean-log" else settled(float(every.sum()))), {}

    return reduce
