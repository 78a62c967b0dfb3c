"""What leaves the study folder: shuffled, under a name that tells nothing; the key stays here."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

from catsofa.annotation.study.kinds import Fields, Kind
from catsofa.data.digests import hex_digest, json_digest


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """What the name and the order of a task stand for; `digest` is the hash of what people see."""

    token: str
    item: str
    order: tuple[str, ...] = ()
    gold: bool = False
    digest: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A task as people see it, and its key."""

    data: Fields
    key: Key


def blind(records: Iterable[Any], kind: Kind, secret: str, *, gold: bool = False) -> Iterator[Task]:
    """Each record as a task: the order drawn from the study's secret and the record's id, the name a hash of both."""
    for record in records:
        seed = hex_digest(f"{secret}:{kind.name}:{record.id}")
        data, order = kind.show(record, Random(seed))
        data = {"item": seed[:16]} | data
        key = Key(token=seed[:16], item=record.id, order=order, gold=gold, digest=digest(data))
        yield Task(data=data, key=key)


def digest(data: Fields) -> str:
    """The hash of what people see of a task."""
    return json_digest(data, 16, compact=False, ascii=False)
