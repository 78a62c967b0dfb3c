"""The parts of a report, independent of the output format: sections, tables, figures and findings."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from catsofa.data.percentages import unsigned

UNSCORED = "unscored"
"""The text for a missing number."""
NOT_COVERED = "—"
"""The cell of a model that a measure does not cover."""
BEST, WARNED = "★", "†"
"""The mark of a number that a test shows to be nearest to its ideal value."""


@dataclass(frozen=True, slots=True)
class Number:
    """A measure with its limits; the value None means unscored or undefined."""

    value: float | None
    low: float | None = None
    high: float | None = None
    digits: int = 1
    mark: str = ""
    """A sign after the number, such as a star."""
    missing: str = UNSCORED
    """The text for a value of None."""

    def __str__(self) -> str:
        """Returns the number with its limits: `61.2 [55.0, 67.1]`."""
        return " ".join(part for part in (self.point, self.limits) if part)

    @property
    def point(self) -> str:
        """The number without its limits."""
        return self.missing if self.value is None else f"{_round(self.value, self.digits)}{self.mark}"

    @property
    def limits(self) -> str:
        """The limits as text; empty if a limit is missing."""
        if self.value is None or self.low is None or self.high is None:
            return ""
        return f"[{_round(self.low, self.digits)}, {_round(self.high, self.digits)}]"


def _round(value: float, digits: int) -> str:
    """Returns a number with `digits` decimals; a number that rounds to zero has no sign."""
    return unsigned(f"{value:.{digits}f}")


Cell = str | int | Number


def written(cell: Cell) -> str:
    """Returns a cell as text; counts have thousands separators."""
    return f"{cell:,}" if isinstance(cell, int) else str(cell)


def _bare(cell: Cell) -> bool:
    """Returns True if a cell is a number without limits."""
    return isinstance(cell, int) or (isinstance(cell, Number) and not cell.limits)


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Comparable numbers, with the numbers of items behind them and their signatures."""

    name: str
    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    signatures: tuple[str, ...]
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    """Sentences that every reader of the numbers must see; they may name groups of people."""
    unscored: tuple[str, ...] = ()
    """The reasons why items have no score; they may quote items."""
    offensive: bool = False
    """True if the table names identities or stereotypes; it is then folded until the reader opens it."""
    by: tuple[str, ...] = ()
    """The columns whose values become headings over the rows that share them, in formats with such headings."""

    def __post_init__(self) -> None:
        """Raises ValueError if a row has more or fewer cells than columns: its numbers would be under wrong names."""
        for number, row in enumerate(self.rows, 1):
            if len(row) != len(self.columns):
                raise ValueError(
                    f"row {number} of table {self.name!r} has {len(row)} cells for {len(self.columns)} columns; "
                    "give each column one cell"
                )

    @property
    def groups(self) -> list[tuple[str, tuple[tuple[Cell, ...], ...]]]:
        """The rows by heading, without the columns of `by`; one group without heading if `by` is empty."""
        places = [self.columns.index(name) for name in self.by]
        by_heading: dict[str, list[tuple[Cell, ...]]] = {}
        for row in self.rows:
            rest = tuple(cell for place, cell in enumerate(row) if place not in places)
            by_heading.setdefault(", ".join(str(row[place]) for place in places), []).append(rest)
        return [(heading, tuple(rows)) for heading, rows in by_heading.items()]

    @property
    def flush(self) -> frozenset[str]:
        """The columns that are right-aligned: numbers without limits, with dashes and empty cells."""
        by_column = {name: [row[index] for row in self.rows] for index, name in enumerate(self.columns)}
        return frozenset(
            name
            for name, cells in by_column.items()
            if any(not isinstance(cell, str) for cell in cells)
            and all(cell in ("", "—") or _bare(cell) for cell in cells)
        )

    @property
    def heads(self) -> tuple[str, ...]:
        """The columns that are not in `by`."""
        return tuple(name for name in self.columns if name not in self.by)


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A drawing with a caption and an alternative text."""

    name: str
    caption: str
    alt: str
    draw: Callable[[], Any]
    """Returns the matplotlib figure."""
    offensive: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One measure on one data set by one protocol."""

    name: str
    title: str
    lead: str
    limits: str
    """The limits of the measure, as text."""
    tables: tuple[Table, ...]
    figures: tuple[Figure, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """The findings on one benchmark in sentences."""

    about: str
    """The benchmark, and the data or protocol that distinguishes its section from others of the benchmark."""
    sentences: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A report."""

    title: str
    warning: str
    notes: tuple[str, ...]
    """Sentences about runs that are left out, and about sections that are not comparable."""
    sections: tuple[Section, ...]
    findings: tuple[Finding, ...] = ()
    """The findings, at the top of the report."""
    summary: Table | None = None
    """The table of each model on each measure."""
    items: str = ""
    """The address of the item browser, relative to this report."""
