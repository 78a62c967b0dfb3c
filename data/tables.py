"""Results as tables: for notebooks, for print, and as pandas data frames."""

__all__ = ["table"]

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from html import escape, unescape
from itertools import takewhile
from math import isnan, nan
from textwrap import fill
from typing import TYPE_CHECKING, Any, ClassVar

from catsofa.data import extras
from catsofa.data.percentages import decimals
from catsofa.data.records import Answer, Candidate
from catsofa.data.visible import one_line, visible

if TYPE_CHECKING:
    import pandas as pd

SHOWN = 100
"""Maximum rows shown; `to_pandas` returns all rows."""
LEAST = 0.0005
"""Values below this would be shown as 0 with three decimals, and no p is 0."""
COLUMNS = 80
"""Characters per printed line."""


class Tabular(ABC):
    """Results with rows; the limits of a number have its name plus `_low` and `_high`."""

    __slots__ = ()
    offensive: ClassVar[bool] = False
    """True if rows quote items, which are then hidden until the user opens them."""

    @abstractmethod
    def rows(self) -> list[dict[str, Any]]:
        """A flat row for each set of items, or for each finding."""

    def heading(self) -> str:
        """A description of the rows."""
        return ""

    def to_pandas(self) -> "pd.DataFrame":
        """The rows as a data frame."""
        return frame(self.rows())

    def __str__(self) -> str:
        """The warnings, rows and heading as text in 80 columns; texts of items stay hidden."""
        warnings = [fill(one_line(f"Warning: {each}"), COLUMNS) for each in getattr(self, "warnings", ())]
        rows = [] if self.offensive else self.rows()
        more = [f"and {len(rows) - SHOWN:,} more rows: .to_pandas() has them all"] if len(rows) > SHOWN else []
        more += ["They may offend: .to_pandas() has them."] if self.offensive else []
        parts = [*warnings, *_blocks(rows[:SHOWN]), *more, fill(visible(self.heading()), COLUMNS)]
        return "\n\n".join(filter(None, parts))

    def plot(self, measure: str = "", ax: Any = None) -> Any:
        """Plot each row as a dot with its limits on matplotlib axes; the default is the first measure with limits."""
        rows = self.rows()
        measures = [n for n in dict.fromkeys(n for row in rows for n in row) if any(f"{n}_low" in row for row in rows)]
        if (measure or not measures) and measure not in measures:
            raise ValueError(f"found no measure {measure!r} with limits; expected {' or '.join(measures) or 'one'}")
        try:
            from matplotlib import pyplot
        except ModuleNotFoundError as error:
            raise extras.MissingExtra(extras.sentence("matplotlib"), name=error.name) from None
        ax, measure = ax or pyplot.subplots(layout="constrained")[1], measure or measures[0]
        drawn = [row for row in rows if isinstance(row.get(measure), int | float) and not isnan(row[measure])]
        for place, row in enumerate(drawn):
            value, low, high = (row.get(f"{measure}{end}", nan) for end in ("", "_low", "_high"))
            limits = None if low is None or high is None or isnan(low) else [[value - low], [high - value]]
            ax.errorbar(value, place, xerr=limits, fmt="o", color="C0")
        names = [" ".join(visible(value) for value in row.values() if isinstance(value, str)) for row in drawn]
        ax.set(yticks=range(len(drawn)), yticklabels=names, xlabel=measure)
        ax.invert_yaxis()
        return ax

    def _repr_html_(self) -> str:
        """The rows as an HTML table for notebooks, with all texts escaped."""
        beside = "".join(f"<p><b>Warning.</b> {escape(each)}</p>" for each in getattr(self, "warnings", ()))
        rows = self.rows()
        heading = self.heading()
        columns = [n for n in dict.fromkeys(n for row in rows for n in row) if not n.endswith(("_low", "_high"))]
        head = "".join(f'<th scope="col">{escape(name)}</th>' for name in columns)
        body = "".join(f"<tr>{''.join(f'<td>{_cell(row, n)}</td>' for n in columns)}</tr>" for row in rows[:SHOWN])
        more = f"<p>and {len(rows) - SHOWN:,} more rows: .to_pandas() has them all</p>" if len(rows) > SHOWN else ""
        caption = f"<caption>{escape(heading)}</caption>" if heading else ""
        table = beside + f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"
        return f"<details><summary>May offend: open to read</summary>{table}</details>" if self.offensive else table


def _blocks(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Rows as plain text tables of at most 80 columns; each table begins with the columns that name the rows."""
    names = [n for n in dict.fromkeys(n for row in rows for n in row) if not n.endswith(("_low", "_high"))]
    cells = {n: [n, *(one_line(unescape(_cell(row, n))) for row in rows)] for n in names}
    widths = {n: max(map(len, texts)) for n, texts in cells.items()}
    lead = list(takewhile(lambda n: all(isinstance(row.get(n), str) for row in rows), names))
    labels = [n for n in lead if sum(widths[m] + 2 for m in lead[: lead.index(n) + 1]) <= COLUMNS // 2]
    for n in lead:  # a column that does not fit names the rows too if some look alike without it
        if _distinct(rows, [*labels, n]) > _distinct(rows, labels):
            labels.append(n)
    rest = [n for n in names if n not in labels]
    while rest:
        block = list(labels)
        while rest and (len(block) == len(labels) or sum(widths[n] + 2 for n in [*block, rest[0]]) <= COLUMNS + 2):
            block.append(rest.pop(0))
        lines = zip(*([cell.ljust(widths[n]) for cell in cells[n]] for n in block), strict=True)
        yield "\n".join("  ".join(line).rstrip() for line in lines)


def _distinct(rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> int:
    """The number of rows that these columns tell apart."""
    return len({tuple(row[name] for name in names) for row in rows})


def frame(rows: Iterable[Mapping[str, Any]]) -> "pd.DataFrame":
    """Rows as a data frame."""
    try:
        import pandas as pd
    except ModuleNotFoundError as error:
        raise extras.MissingExtra(f"{extras.sentence('pandas')}, or take .rows()", name=error.name) from None
    return pd.DataFrame(rows if isinstance(rows, list) else list(rows))


def _cell(row: Mapping[str, Any], name: str) -> str:
    """A value as text escaped for HTML, with its limits if the row has them."""
    value, low, high = row.get(name, ""), row.get(f"{name}_low"), row.get(f"{name}_high")
    if not isinstance(value, float):
        return escape("" if value is None else str(value))
    if isnan(value):
        return "unscored"
    if 0 < abs(value) < LEAST and low is None:
        return f"{value:.0e}"
    shown = digits(value)
    limits = "" if low is None or high is None or isnan(low) else f" [{low:.{shown}f}, {high:.{shown}f}]"
    return f"{value:.{shown}f}{limits}"


def digits(value: float) -> int:
    """The number of decimals to show: one for a percentage, three for a share, more where a part would look whole."""
    if abs(value) >= 10:
        return decimals(value)
    return decimals(100 * value) + 2 if 0.5 < value < 1 else 3


@dataclass(frozen=True, slots=True)
class Records(Tabular):
    """Any records as a table: CATs, probes, annotations, people, leaks."""

    records: Sequence[Any]

    offensive: ClassVar[bool] = True

    def rows(self) -> list[dict[str, Any]]:
        """A flat row for each record; a CAT's candidates are under their labels."""
        return [_flat(record) for record in self.records]

    def heading(self) -> str:
        """The number of records."""
        return f"{len(self.records):,} records"


def table(records: Iterable[Any]) -> Records:
    """Wrap records as a table for notebooks, with `.to_pandas()` for a data frame."""
    return Records(list(records))


def _flat(record: Any) -> dict[str, Any]:
    """A record's fields as a flat row; parts of a composite field get their own names."""
    row: dict[str, Any] = {}
    for one in fields(record):
        value = getattr(record, one.name)
        if isinstance(value, Mapping):
            row |= {f"{one.name}.{name}": part for name, part in value.items()}
        elif isinstance(value, tuple) and all(isinstance(part, Candidate) for part in value):
            row |= {candidate.label: candidate.fill or candidate.text for candidate in value}
        elif isinstance(value, tuple) and all(isinstance(part, Answer) for part in value):
            row |= {f"answer {place}": answer.text for place, answer in enumerate(value)}
        else:
            row[one.name] = "; ".join(map(str, value)) if isinstance(value, tuple | list) else value
    return row
