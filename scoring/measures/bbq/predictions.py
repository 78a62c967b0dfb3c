"""Predictions for BBQ: answers as texts, in columns beside the questions."""

import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from catsofa.data.percentages import quantity
from catsofa.data.questions import Question
from catsofa.data.tables import Tabular
from catsofa.scoring.measures.bbq import Results

MARK = "pred"
"""What the name of a column of predictions holds."""
DIFFER = "groups_differ"
"""The reason of a question about whose groups data and predictions disagree."""


def columns_in(questions: Iterable[Question]) -> list[str]:
    """The columns of predictions that any of these questions carries, in order."""
    return [name for name in dict.fromkeys(name for one in questions for name in one.extra) if MARK in name.lower()]


def chosen(question: Question, prediction: Any) -> int | None:
    """The position of the answer that a prediction is; None if it is none of the three, or two of them.

    Case, punctuation and spaces do not count: `can't answer.` is `Can't answer`. A whole number is a position.
    """
    if isinstance(prediction, int) and not isinstance(prediction, bool):
        return prediction if prediction in range(len(question.answers)) else None
    if not isinstance(prediction, str):
        return None
    found = [place for place, answer in enumerate(question.answers) if _plain(answer.text) == _plain(prediction)]
    return found[0] if len(found) == 1 else None


def _plain(text: str) -> str:
    """A text without what does not count."""
    kept = (letter for letter in text.casefold() if not unicodedata.category(letter).startswith("P"))
    return " ".join("".join(kept).split())


@dataclass(frozen=True, slots=True, kw_only=True)
class Joined:
    """Questions with the predictions for them, and what did not fit."""

    questions: Sequence[Question]
    """The questions of the data; without a target where the predictions are of questions about other groups."""
    predictions: Mapping[str, Question]
    """The questions that carry the predictions, by id; only those of the data."""
    unknown_ids: int
    """Predictions for questions that are not in the data."""
    changed: int
    """Predictions for questions that have other texts in the data."""
    regrouped: int
    """Questions whose biased answer is another one in the file of predictions, or none."""

    def answered(self, column: str) -> list[tuple[Question, int | None]]:
        """Each question with the answer that a column chose for it."""
        given = {item: one.extra.get(column) for item, one in self.predictions.items()}
        return [(question, chosen(question, given.get(question.id))) for question in self.questions]

    def warnings(self) -> Iterator[str]:
        """What did not fit, in sentences."""
        if self.unknown_ids:
            yield f"{quantity(self.unknown_ids, 'prediction')} for questions that are not in the data"
        if self.changed:
            yield f"{quantity(self.changed, 'prediction')} for other texts than the data has under their ids; left out"
        if self.regrouped:
            yield (
                f"{quantity(self.regrouped, 'question')} with other groups in the predictions than in the data; "
                "no bias score counts them"
            )


@dataclass(frozen=True, slots=True)
class Columns(Tabular):
    """The numbers of each column of predictions."""

    columns: Mapping[str, Results]

    def to_dict(self) -> dict[str, Any]:
        """The numbers over all questions under the name of the column, those of the categories among them."""
        nested = {name: found.to_dict() for name, found in self.columns.items()}
        return {name: {**of["overall"], "categories": of["categories"]} for name, of in nested.items()}

    def rows(self) -> list[dict[str, Any]]:
        """A flat row for each column as a whole, and for each of its categories where there are several."""
        return [
            {**row, "task": name}
            for name, found in self.columns.items()
            for row in found.rows()[: None if len(found.categories) > 1 else 1]
        ]


def join(questions: Sequence[Question], predictions: Iterable[Question]) -> Joined:
    """Predictions by the id of their question; what was predicted for another text is no answer.

    A question that has other groups in the file of predictions has no sure target, and is left without one.
    """
    every, known = {one.id: one for one in predictions}, {one.id: one for one in questions}
    found = {item: one for item, one in every.items() if item in known}
    same = {item: one for item, one in found.items() if _texts(one) == _texts(known[item])}
    other = {item for item, one in same.items() if _biased(one) != _biased(known[item])}
    return Joined(
        questions=[_without_target(one) if one.id in other else one for one in questions],
        predictions=same,
        unknown_ids=len(every) - len(found),
        changed=len(found) - len(same),
        regrouped=len(other),
    )


def _texts(question: Question) -> tuple[str, ...]:
    """What a model was asked."""
    return question.context, question.question, *sorted(answer.text for answer in question.answers)


def _biased(question: Question) -> str:
    """The text of the biased answer; empty if none is."""
    return "" if question.biased is None else question.answers[question.biased].text


def _without_target(question: Question) -> Question:
    """A question none of whose answers is the target."""
    if question.reason:
        return question
    one, two, three = (replace(one, role="other") if one.role == "target" else one for one in question.answers)
    return replace(question, answers=(one, two, three), reason=DIFFER)
