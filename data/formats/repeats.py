"""Unique ids for sources that have no ids and repeat records."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TypeVar

from catsofa.data.formats.losses import lost
from catsofa.data.records import Pair, Statement, Term

R = TypeVar("R", Pair, Statement, Term)


def numbered(records: Iterable[R]) -> Iterator[R]:
    """The records; repeated ids get the suffix `-2`, `-3`, … in order."""
    counts: Counter[str] = Counter()
    for record in records:
        counts[record.id] += 1
        yield record if counts[record.id] == 1 else replace(record, id=f"{record.id}-{counts[record.id]}")


def lost_beside_number(record: R, back: R) -> Iterator[str]:
    """The fields that differ in the re-read record, ignoring the number suffix of a repeated record's id."""
    plain, _, number = record.id.partition("-")
    return lost(replace(record, id=plain) if number.isdecimal() else record, back)
