"""Practice items: tasks with known answers and a reason, which come before the others and never count."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from catsofa.annotation.study.kinds import Kind, Task, blind, with_answers
from catsofa.data.files import BadInput, existing_file, jsonl

REASON = "reason"
"""Key in the `extra` of a practice item for the reason why its answers are right."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
    """Practice item: the task, the right answer to each question, and the reason."""

    task: Task
    right: Mapping[str, str]
    reason: str

    def mark(self, answers: Mapping[str, Any]) -> tuple[int, int]:
        """Returns the number of questions answered right, and of all questions."""
        return sum(answers.get(name) == answer for name, answer in self.right.items()), len(self.right)


def lessons(path: Path, kind: Kind, secret: str) -> tuple[Lesson, ...]:
    """Reads the practice items of a file, in its order and blinded."""
    records = [*jsonl.read(existing_file(path, "practice items, as practice.file names them"), kind.holds)]
    items = []
    for record, task in zip(with_answers(records, kind), blind(records, kind, f"{secret}:practice"), strict=True):
        assert kind.asks is not None, "with_answers refuses a kind without questions"
        reason = record.extra.get(REASON)
        if not isinstance(reason, str) or not reason.strip():
            raise BadInput(path, f"practice item {record.id!r} without a reason", f"its extra with {REASON!r}, a text")
        right = {name: about.right for name, about in kind.asks(record, task.key.order).items()}
        items.append(Lesson(task=task, right=right, reason=reason.strip()))
    if len({lesson.task.key.token for lesson in items}) < len(items):
        raise BadInput(path, "a practice item twice", "each item once")
    return tuple(items)
