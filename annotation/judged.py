"""What people answered: the raw answers as they came, and the annotations that are made of them."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from catsofa.annotation import rows
from catsofa.annotation.questions import Answers, answers
from catsofa.annotation.study import Study
from catsofa.data import jsonl
from catsofa.data.records import Annotation


@dataclass(frozen=True, slots=True, kw_only=True)
class Raw:
    """One person's answer to one task as the server gave it; a later version of it is a further row."""

    annotation: str
    updated: str
    token: str
    annotator: str
    at: str
    seconds: float | None = None
    skipped: bool = False
    result: list[Any] = field(default_factory=list)


def latest(study: Study) -> Iterator[Raw]:
    """The last version of each answer, in the order they came; what came after the study was closed is left out."""
    path = study.folder / "raw.jsonl"
    newest: dict[str, str] = {}
    for row in rows.read(path, Raw):
        newest[row.annotation] = max(row.updated, newest.get(row.annotation, ""))
    for row in rows.read(path, Raw):
        if row.updated == newest[row.annotation] and not is_late(row, study) and row.token in study.keys:
            yield row


def is_late(row: Raw, study: Study) -> bool:
    """Whether an answer was given after the study was closed."""
    return bool(study.settings.closed) and row.at > study.settings.closed


def annotations(study: Study) -> Iterator[Annotation]:
    """One annotation for each question of each answer, about the item that stood there, in the terms of `validate`."""
    for row in latest(study):
        yield from of_row(row, study, answers(study.kind.interface, row.result))


def of_row(row: Raw, study: Study, found: Answers) -> Iterator[Annotation]:
    """The annotations in one answer; a skipped or invalid one has no label, and says so."""
    key = study.keys[row.token]
    assert study.kind.asks is not None, "where people write texts there is nothing to judge"
    asked = study.kind.asks(study.items[key.item], key.order)
    about: dict[str, Any] = {"task": row.token, "annotation": row.annotation}
    if row.skipped:
        about["skipped"] = True
    elif found.wrong:
        about["invalid"] = "; ".join(found.wrong)
    about |= {name: said for name, said in found.given.items() if name not in asked}
    if row.seconds and row.seconds > 0:
        about["seconds"] = round(row.seconds / len(asked), 3)
    for name, question in asked.items():
        extra = {**question.facts, **about} | ({"gold": question.right} if key.gold else {})
        label = "" if row.skipped else found.given.get(name, "")
        yield Annotation(item=question.item, annotator=row.annotator, label=label, at=row.at, extra=extra)


def write_annotations(study: Study) -> int:
    """Write annotations.jsonl, for `catsofa validate`, from the raw answers."""
    path = study.folder / "annotations.jsonl"
    return jsonl.write(annotations(study), path)
