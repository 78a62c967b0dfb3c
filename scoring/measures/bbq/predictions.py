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
"""The text that the name of every column of predictions contains."""
DIFFER = "groups_differ"
"""The reason for a question without a target: data and predictions disagree about its groups."""


def columns_in(questions: Iterable[Question]) -> list[str]:
    """The columns of predictions in any of these questions, in order."""
    return [name for name in dict.fromkeys(name for one in questions for name in one.extra) if MARK in name.lower()]


def chosen(question: Question, prediction: Any) -> int | None:
    """Returns the position of the predicted answer; None if the prediction fits none of the three answers, or two.

    Case, punctuation and spaces do not count: `can't answer.` is `Can't answer`. A whole number is a position.
    """
    if isinstance(prediction, int) and not isinstance(prediction, bool):
        return prediction if prediction in range(len(question.answers)) else None
    if not isinstance(prediction, str):
        return None
    places = [place for place, answer in enumerate(question.answers) if _plain(answer.text) == _plain(prediction)]
    return places[0] if len(places) == 1 else None


def _plain(text: str) -> str:
    """Returns a text in lower case, without punctuation and repeated spaces."""
    letters = (letter for letter in text.casefold() if not unicodedata.category(letter).startswith("P"))
    return " ".join("".join(letters).split())


@dataclass(frozen=True, slots=True, kw_only=True)
class Joined:
    """Questions with their predictions, and the numbers of predictions that do not fit."""

    questions: Sequence[Question]
    """The questions of the data; without a target if the predictions are for a question about other groups."""
    predictions: Mapping[str, Question]
    """The questions with the predictions, by id; only those of the data."""
    unknown_ids: int
    """Predictions for questions that are not in the data."""
    changed: int
    """Predictions for questions that have other texts in the data."""
    regrouped: int
    """Questions whose biased answer in the file of predictions is a different one, or is missing."""

    def answered(self, column: str) -> list[tuple[Question, int | None]]:
        """Returns each question with its answer in a column of predictions."""
        predicted = {item: one.extra.get(column) for item, one in self.predictions.items()}
        return [(question, chosen(question, predicted.get(question.id))) for question in self.questions]

    def warnings(self) -> Iterator[str]:
        """Yields warnings about predictions that do not fit."""
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
        """The numbers over all questions and over each category, under the name of the column."""
        nested = {name: results.to_dict() for name, results in self.columns.items()}
        return {name: {**parts["overall"], "categories": parts["categories"]} for name, parts in nested.items()}

    def rows(self) -> list[dict[str, Any]]:
        """A flat row for each column as a whole, and for each of its categories if it has several."""
        return [
            {**row, "task": name}
            for name, results in self.columns.items()
            for row in results.rows()[: None if len(results.categories) > 1 else 1]
        ]


def join(questions: Sequence[Question], predictions: Iterable[Question]) -> Joined:
    """Joins questions and predictions by id; a prediction for another text is no answer.

    A question that has other groups in the file of predictions has no certain target, and loses its target.
    """
    every, by_id = {one.id: one for one in predictions}, {one.id: one for one in questions}
    matches = {item: one for item, one in every.items() if item in by_id}
    same = {item: one for item, one in matches.items() if _texts(one) == _texts(by_id[item])}
    other = {item for item, one in same.items() if _biased(one) != _biased(by_id[item])}
    return Joined(
        questions=[_without_target(one) if one.id in other else one for one in questions],
        predictions=same,
        unknown_ids=len(every) - len(matches),
        changed=len(matches) - len(same),
        regrouped=len(other),
    )


def _texts(question: Question) -> tuple[str, ...]:
    """Returns the texts of a question."""
    return question.context, question.question, *sorted(answer.text for answer in question.answers)


def _biased(question: Question) -> str:
    """The text of the biased answer; empty without one."""
    return "" if question.biased is None else question.answers[question.biased].text


def _without_target(question: Question) -> Question:
    """Returns the question with no answer as the target."""
    if question.reason:
        return question
    one, two, three = (replace(one, role="other") if one.role == "target" else one for one in question.answers)
    return replace(question, answers=(one, two, three), reason=DIFFER)
