"""People's answers: the raw answers as they came, and the annotations made from them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from catsofa.annotation.study import Study, rows
from catsofa.annotation.study.interface import Answers, answers
from catsofa.data.files import jsonl
from catsofa.data.records import Annotation, Association, Cat

REOPENED = "reopened.jsonl"
RETIRED = "retired.jsonl"
"""File of the gold items that the owner of a study retired; answers to them no longer rate people."""
FORGOTTEN, FORGETTING = "forgotten.jsonl", ".forgetting.json"
"""Files of erased people, without names, and of an erasure that is running or was interrupted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Raw:
    """One person's answer to one task as the server gave it; a later version of the answer is a further row."""

    annotation: str
    updated: str
    token: str
    annotator: str
    at: str
    seconds: float | None = None
    skipped: bool = False
    void: str = ""
    """The reason why a complete answer does not count; empty if it counts."""
    result: list[Any] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tombstone:
    """The time of a person's erasure, and the number of their answers; does not identify the person."""

    at: str
    answers: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Retired:
    """A gold item that no longer counts, and the reason."""

    at: str
    token: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A task that more people than usual are asked about."""

    token: str
    overlap: int
    why: str = ""
    """The reason, if the server decided it."""


def reopened(study: Study) -> dict[str, int]:
    """Returns how many people each reopened task is shown to."""
    wanted: dict[str, int] = {}
    for row in rows.read(study.folder / REOPENED, Wanted):
        wanted[row.token] = max(row.overlap, wanted.get(row.token, 0))
    return wanted


def retire(study: Study, gone: Retired) -> None:
    """Notes that a gold item is retired; the first reason stays."""
    with study.locked():
        if gone.token not in retired(study):
            rows.append([gone], study.folder / RETIRED)


def retired(study: Study) -> dict[str, Retired]:
    """Returns the retired gold items by token."""
    return {row.token: row for row in rows.read(study.folder / RETIRED, Retired)}


def tokens_of(study: Study, items: Iterable[str]) -> list[str]:
    """Returns the tasks of these items, or of the items of these associations and questions.

    Raises ValueError for an item of another study.
    """
    places: dict[str, str] = {}
    for key in study.keys.values():
        if not key.gold:
            places |= dict.fromkeys((key.item, *key.order), key.token)
    tokens: dict[str, None] = {}
    for item in items:
        place = places.get(item) or places.get(item.rpartition("/")[0])
        if place is None:
            raise ValueError(f"item {item!r} is none of this study's")
        tokens[place] = None
    return list(tokens)


def latest(study: Study) -> Iterator[Raw]:
    """Yields the last version of each answer, in order of arrival.

    Leaves out answers given after the study was closed, and answers to tasks that are not in the study.
    """
    path = study.folder / "raw.jsonl"
    newest: dict[str, str] = {}
    for row in rows.read(path, Raw):
        newest[row.annotation] = max(row.updated, newest.get(row.annotation, ""))
    for row in rows.read(path, Raw):
        if row.updated == newest[row.annotation] and not is_late(row, study) and row.token in study.keys:
            yield row


def is_late(row: Raw, study: Study) -> bool:
    """Returns True if an answer was given after the study was closed."""
    return bool(study.settings.closed) and row.at > study.settings.closed


def by_the_writer(row: Raw, study: Study) -> bool:
    """Returns True if the writer of the item gave the answer, or the skip that `annotate assign` made."""
    item = study.items[study.keys[row.token].item]
    return isinstance(item, Cat | Association) and item.source.get("writer") == row.annotator


def annotations(study: Study) -> Iterator[Annotation]:
    """Yields one annotation for each question of each answer, about the item at that place, as `validate` reads them.

    Leaves out answers to retired gold items.
    """
    people_asked, gone = reopened(study), retired(study)
    for row in latest(study):
        if (kind := study.kind_of(row.token)).asks and row.token not in gone:
            yield from of_row(row, study, answers(kind.interface, row.result), people_asked.get(row.token, 0))


def of_row(row: Raw, study: Study, checked: Answers, people: int = 0) -> Iterator[Annotation]:
    """Yields the annotations in one answer; `extra` marks a skipped or invalid answer, and a skipped one has no label.

    `people` is the number of people asked about this task, if more than usual; else 0.
    """
    key, kind = study.keys[row.token], study.kind_of(row.token)
    assert kind.asks is not None, "a study of written texts has nothing to judge"
    questions = kind.asks(study.items[key.item], key.order)
    about: dict[str, Any] = {"task": row.token, "annotation": row.annotation}
    if row.skipped:
        about["skipped"] = True
    elif row.void:
        about["invalid"] = row.void
    elif checked.wrong:
        about["invalid"] = "; ".join(checked.wrong)
    if people:
        about["asked"] = people
    about |= {name: value for name, value in checked.given.items() if name not in questions}
    if row.seconds and row.seconds > 0:
        about["seconds"] = round(row.seconds / len(questions), 3)
    for name, question in questions.items():
        extra = {**question.facts, **about} | ({"gold": question.right} if key.gold else {})
        label = "" if row.skipped else checked.given.get(name, "")
        yield Annotation(item=question.item, annotator=row.annotator, label=label, at=row.at, extra=extra)


def write_annotations(study: Study) -> int:
    """Writes annotations.jsonl, for `catsofa validate`, from the raw answers; returns the number of annotations."""
    path = study.folder / "annotations.jsonl"
    return jsonl.write(annotations(study), path)
