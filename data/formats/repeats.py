"""Ids for sources that have none and list the same thing twice."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TypeVar

from catsofa.data.formats.losses import lost
from catsofa.data.records import Pair, Statement, Term

R = TypeVar("R", Pair, Statement, Term)


def numbered(records: Iterable[R]) -> Iterator[R]:
    """The records; one that was there before gets its content's id with `-2`, `-3`, …, in their order."""
    seen: Counter[str] = Counter()
    for record in records:
        seen[record.id] += 1
        yield record if seen[record.id] == 1 else replace(record, id=f"{record.id}-{seen[record.id]}")


def lost_beside_number(record: R, back: R) -> Iterator[str]:
    """What differs in what came back, where the number behind the id of a repeated record is no difference."""
    plain, _, number = record.id.partition("-")
    return lost(replace(record, id=plain) if number.isdecimal() else record, back)
