"""Practice items: tasks with known answers and a reason, which people meet before the others and which never count."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from catsofa.annotation.study.kinds import Kind, Task, blind, with_answers
from catsofa.data.files import BadInput, existing_file, jsonl

REASON = "reason"
"""Where in its `extra` a practice item says why its answers are right."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
    """A practice item: the task, the right answer to each question, and why."""

    task: Task
    right: Mapping[str, str]
    reason: str

    def mark(self, said: Mapping[str, Any]) -> tuple[int, int]:
        """The questions answered rightly, and all."""
        return sum(said.get(name) == answer for name, answer in self.right.items()), len(self.right)


def lessons(path: Path, kind: Kind, secret: str) -> tuple[Lesson, ...]:
    """The practice items of a file in its order, blinded."""
    records = [*jsonl.read(existing_file(path, "practice items, as practice.file names them"), kind.holds)]
    found = []
    for record, task in zip(with_answers(records, kind), blind(records, kind, f"{secret}:practice"), strict=True):
        assert kind.asks is not None, "with_answers refuses a kind without questions"
        reason = record.extra.get(REASON)
        if not isinstance(reason, str) or not reason.strip():
            raise BadInput(path, f"practice item {record.id!r} without a reason", f"its extra with {REASON!r}, a text")
        right = {name: about.right for name, about in kind.asks(record, task.key.order).items()}
        found.append(Lesson(task=task, right=right, reason=reason.strip()))
    if len({lesson.task.key.token for lesson in found}) < len(found):
        raise BadInput(path, "a practice item twice", "each item once")
    return tuple(found)
