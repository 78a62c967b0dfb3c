"""Formats of minimal pairs: rows become pairs; rows without a pair are skipped with a warning, or refused."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import NoReturn, TypeVar

from catsofa.data.files import BadInput, csv_files, short
from catsofa.data.files.csv_files import Row
from catsofa.data.files.faults import are_left_out, each
from catsofa.data.files.jsonl import Seen
from catsofa.data.formats.repeats import numbered
from catsofa.data.records import Pair

T = TypeVar("T")
R = TypeVar("R")

MOST_LACKING = 0.05
"""Maximum share of rows that may lack a cell; above this share, the file is broken or of another kind."""
INDEXES = ("", "id", "index", "Index")
"""The columns that can number the pairs of a table; the first one in the table counts."""


class SkippedRows(UserWarning):
    """A warning about skipped rows of a file, with the reason."""


@dataclass(frozen=True, slots=True)
class PairTable:
    """A CSV whose rows hold pairs: its description, its needed columns, and the function from a row to pairs."""

    expected: str
    needed: Sequence[str]
    make: Callable[[Row, Path, int], Iterable[Pair]]
    """The function from a row, its file and its line to pairs."""
    tolerant: bool = False
    """True if a few rows that `make` refuses are skipped with a warning, like rows that lack a cell."""

    def read(self, path: Path) -> Iterator[Pair]:
        """The pairs of each row."""
        check, ids = checker(path, self.needed, self.expected), Seen(path, self.expected)

        def pairs_of(line: int, row: Row) -> list[Pair]:
            for name in indexes(row)[:1]:
                ids.add(row[name], line)
            return list(self.make(row, path, line))

        rows = csv_files.rows(path, self.needed, self.expected)
        if self.tolerant:
            pair_lists = mostly(lambda line, row: pairs_of(line, check(line, row)), rows, path)
        else:
            checked = mostly(lambda line, row: (line, check(line, row)), rows, path, "lack a cell that a pair needs")
            pair_lists = each(pairs_of, checked)
        return numbered(chain.from_iterable(pair_lists))

    def matches(self, path: Path, head: bytes) -> bool:
        """Returns whether the header has the needed columns."""
        return set(self.needed) <= csv_files.columns_of(head)


def checker(path: Path, needed: Sequence[str], expected: str) -> Callable[[int, Row], Row]:
    """A function that returns a row if its needed cells and its index are filled in, and otherwise refuses the row."""

    def check(line: int, row: Row) -> Row:
        csv_files.refuse_empty(row, (*needed, *indexes(row)[:1]), path, expected, line)
        return row

    return check


def indexes(row: Row) -> tuple[str, ...]:
    """The columns of a row that number pairs; the first one counts."""
    return tuple(name for name in INDEXES if name in row)


def mostly(
    make: Callable[[int, T], R], numbered: Iterable[tuple[int, T]], path: Path, fault: str = "hold no pair"
) -> Iterator[R]:
    """The result of `make` for each line; refused lines are counted in a warning, too many raise the first error."""
    if are_left_out():  # `each` then collects every refused line with its error
        yield from each(make, numbered)
        return
    lacking: list[BadInput] = []
    count = 0
    for line, value in numbered:
        count += 1
        try:
            result = make(line, value)
        except BadInput as error:
            lacking.append(error)
        else:
            yield result
    if len(lacking) > MOST_LACKING * count:
        raise lacking[0]
    if lacking:
        line_numbers = short(", ".join(str(error.line) for error in lacking)).strip("'")
        message = f"{len(lacking):,} of {count:,} rows {fault} and are left out (line {line_numbers})"
        warnings.warn(f"{path}: {message}", SkippedRows, stacklevel=2)


def read_only(name: str) -> Callable[[Iterable[Pair], Path], NoReturn]:
    """A write function that raises a ValueError, for a format that catsofa only reads."""

    def write(pairs: Iterable[Pair], path: Path) -> NoReturn:
        raise ValueError(f"{name} is read and not written; write {path} as crows-pairs or jsonl")

    return write
