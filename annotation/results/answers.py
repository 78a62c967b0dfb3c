"""What people answered: the raw answers as they came, and the annotations that are made of them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from catsofa.annotation.study import Study, rows
from catsofa.annotation.study.interface import Answers, answers
from catsofa.data.files import jsonl
from catsofa.data.records import Annotation, Association, Cat

REOPENED = "reopened.jsonl"
RETIRED = "retired.jsonl"
"""Gold items that the owner of a study retired: what people answered there says nothing about them any more."""
FORGOTTEN, FORGETTING = "forgotten.jsonl", ".forgetting.json"
"""Who was erased, without names, and an erasure under way or cut off."""


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
    void: str = ""
    """Why the answer does not count although it is complete."""
    result: list[Any] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tombstone:
    """When a person was erased, and how many of their answers; it does not say who."""

    at: str
    answers: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Retired:
    """A gold item that counts no more, and why."""

    at: str
    token: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A task that more people than usual are asked about."""

    token: str
    overlap: int
    why: str = ""
    """Why, where the server decided it."""


def reopened(study: Study) -> dict[str, int]:
    """How many people the tasks are shown to that were reopened."""
    wanted: dict[str, int] = {}
    for row in rows.read(study.folder / REOPENED, Wanted):
        wanted[row.token] = max(row.overlap, wanted.get(row.token, 0))
    return wanted


def retire(study: Study, gone: Retired) -> None:
    """Note that a gold item is retired; the first reason stays."""
    with study.locked():
        if gone.token not in retired(study):
            rows.append([gone], study.folder / RETIRED)


def retired(study: Study) -> dict[str, Retired]:
    """The retired gold items by token."""
    return {row.token: row for row in rows.read(study.folder / RETIRED, Retired)}


def tokens_of(study: Study, items: Iterable[str]) -> list[str]:
    """The tasks of these items, or of the items of these associations and questions."""
    places: dict[str, str] = {}
    for key in study.keys.values():
        if not key.gold:
            places |= dict.fromkeys((key.item, *key.order), key.token)
    found: dict[str, None] = {}
    for item in items:
        place = places.get(item) or places.get(item.rpartition("/")[0])
        if place is None:
            raise ValueError(f"item {item!r} is none of this study's")
        found[place] = None
    return list(found)


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


def by_the_writer(row: Raw, study: Study) -> bool:
    """Whether an answer, or a skip that `annotate assign` made, is by the person who wrote the item."""
    item = study.items[study.keys[row.token].item]
    return isinstance(item, Cat | Association) and item.source.get("writer") == row.annotator


def annotations(study: Study) -> Iterator[Annotation]:
    """One annotation for each question of each answer, about the item that stood there, in the terms of `validate`.

    Answers to retired gold items are left out.
    """
    asked, gone = reopened(study), retired(study)
    for row in latest(study):
        if (kind := study.kind_of(row.token)).asks and row.token not in gone:
            yield from of_row(row, study, answers(kind.interface, row.result), asked.get(row.token, 0))


def of_row(row: Raw, study: Study, found: Answers, people: int = 0) -> Iterator[Annotation]:
    """The annotations in one answer; a skipped or invalid one has no label, and says so.

    `people` is how many were asked about this task, where more than usual were.
    """
    key, kind = study.keys[row.token], study.kind_of(row.token)
    assert kind.asks is not None, "where people write texts there is nothing to judge"
    asked = kind.asks(study.items[key.item], key.order)
    about: dict[str, Any] = {"task": row.token, "annotation": row.annotation}
    if row.skipped:
        about["skipped"] = True
    elif row.void:
        about["invalid"] = row.void
    elif found.wrong:
        about["invalid"] = "; ".join(found.wrong)
    if people:
        about["asked"] = people
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
