"""The document of a report: sections of tables and figures, before any format."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from catsofa.data.percentages import unsigned

UNSCORED = "unscored"
"""What stands for a number that is not there."""
BEST = "★"
"""The mark of a number that is shown to be nearest to its ideal value."""


@dataclass(frozen=True, slots=True)
class Number:
    """A measure with its limits; None is unscored, or undefined."""

    value: float | None
    low: float | None = None
    high: float | None = None
    digits: int = 1
    mark: str = ""
    """A sign after the number, such as a star."""
    missing: str = UNSCORED
    """What stands for None."""

    def __str__(self) -> str:
        """The number for people: `61.2 [55.0, 67.1]`."""
        return " ".join(part for part in (self.point, self.limits) if part)

    @property
    def point(self) -> str:
        """The number without its limits."""
        return self.missing if self.value is None else f"{_round(self.value, self.digits)}{self.mark}"

    @property
    def limits(self) -> str:
        """The limits for people; nothing where there are none."""
        if self.value is None or self.low is None or self.high is None:
            return ""
        return f"[{_round(self.low, self.digits)}, {_round(self.high, self.digits)}]"


def _round(value: float, digits: int) -> str:
    """A number with so many decimals; what rounds to zero has no sign."""
    return unsigned(f"{value:.{digits}f}")


Cell = str | int | Number


def written(cell: Cell) -> str:
    """A cell for people: counts have their thousands apart."""
    return f"{cell:,}" if isinstance(cell, int) else str(cell)


def _bare(cell: Cell) -> bool:
    """Whether a cell is a number without limits."""
    return isinstance(cell, int) or (isinstance(cell, Number) and not cell.limits)


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Numbers that may stand side by side, with how many items they are of and their signatures."""

    name: str
    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    signatures: tuple[str, ...]
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    """Sentences that every reader of the numbers must see; they may quote names of groups."""
    unscored: tuple[str, ...] = ()
    """Why items have no score; it may quote them."""
    offensive: bool = False
    """Whether it names identities or stereotypes: folded away until asked for."""
    by: tuple[str, ...] = ()
    """Columns whose values head the rows that share them, where a page has room for headings."""

    def __post_init__(self) -> None:
        """Refuse a row with more or fewer cells than columns: its numbers would be under other names."""
        for number, row in enumerate(self.rows, 1):
            if len(row) != len(self.columns):
                raise ValueError(
                    f"row {number} of table {self.name!r} has {len(row)} cells for {len(self.columns)} columns; "
                    "give each column one cell"
                )

    @property
    def groups(self) -> list[tuple[str, tuple[tuple[Cell, ...], ...]]]:
        """The rows under their headings, without the columns that make these; one group if there are none."""
        at = [self.columns.index(name) for name in self.by]
        found: dict[str, list[tuple[Cell, ...]]] = {}
        for row in self.rows:
            rest = tuple(cell for place, cell in enumerate(row) if place not in at)
            found.setdefault(", ".join(str(row[place]) for place in at), []).append(rest)
        return [(heading, tuple(rows)) for heading, rows in found.items()]

    @property
    def flush(self) -> frozenset[str]:
        """The columns of numbers without limits, which are set flush right."""
        found = {name: [row[at] for row in self.rows] for at, name in enumerate(self.columns)}
        return frozenset(
            name
            for name, cells in found.items()
            if any(not isinstance(cell, str) for cell in cells) and all(cell == "—" or _bare(cell) for cell in cells)
        )

    @property
    def heads(self) -> tuple[str, ...]:
        """The columns that are no heading."""
        return tuple(name for name in self.columns if name not in self.by)


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A drawing with a caption, and in words what it shows."""

    name: str
    caption: str
    alt: str
    draw: Callable[[], Any]
    """Makes the matplotlib figure."""
    offensive: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One measure on one data set by one protocol."""

    name: str
    title: str
    lead: str
    limits: str
    """What the measure cannot show."""
    tables: tuple[Table, ...]
    figures: tuple[Figure, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What a benchmark found, in sentences."""

    about: str
    """The benchmark, and what sets it apart from others of its kind."""
    sentences: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A report."""

    title: str
    warning: str
    notes: tuple[str, ...]
    """What keeps its sections apart, and what is not in it."""
    sections: tuple[Section, ...]
    findings: tuple[Finding, ...] = ()
    """What was found, before everything else."""
    summary: Table | None = None
    """Each model on each measure."""
    items: str = ""
    """Address of the item browser, seen from this report."""
