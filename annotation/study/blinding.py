"""What leaves the study folder: shuffled, under a name that tells nothing; the key stays here."""

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

from catsofa.annotation.study.kinds import Fields, Kind


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
        seed = hashlib.sha256(f"{secret}:{kind.name}:{record.id}".encode()).hexdigest()
        data, order = kind.show(record, Random(seed))
        data = {"item": seed[:16]} | data
        key = Key(token=seed[:16], item=record.id, order=order, gold=gold, digest=digest(data))
        yield Task(data=data, key=key)


def digest(data: Fields) -> str:
    """The hash of what people see of a task."""
    return hashlib.sha256(json.dumps(data, sort_keys=True, ensure_ascii=False).encode()).hexdigest()[:16]
