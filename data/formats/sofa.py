"""SoFa CSV: ID, Category, Identity, Stereotype, Probe; millions of rows, read and written row by row."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from catsofa.data.files import csv_files
from catsofa.data.files.csv_files import Row
from catsofa.data.files.faults import each
from catsofa.data.files.jsonl import Seen
from catsofa.data.formats import Format
from catsofa.data.formats.losses import lost
from catsofa.data.records import Probe

EXPECTED = "SoFa probes as CSV"
COLUMNS = ("ID", "Category", "Identity", "Stereotype", "Probe")


def read(path: Path) -> Iterator[Probe]:
    """Each probe with its own ID; further columns go to `extra`."""
    check = _checker(path)
    return each(lambda line, row: _probe(check(line, row)), csv_files.rows(path, COLUMNS, EXPECTED))


def write(probes: Iterable[Probe], path: Path) -> int:
    """Write one row per probe, with a column for each further field of any probe; returns the number of rows."""
    check = _checker(path)
    return csv_files.write((check(line, _row(probe)) for line, probe in enumerate(probes, start=2)), path, COLUMNS)


def _checker(path: Path) -> Callable[[int, Row], Row]:
    """A function that returns the row of a line, and refuses an empty cell or a repeated ID."""
    ids = Seen(path, EXPECTED)

    def check(line: int, row: Row) -> Row:
        csv_files.refuse_empty(row, COLUMNS, path, EXPECTED, line)
        ids.add(row["ID"], line)
        return row

    return check


def matches(path: Path, head: bytes) -> bool:
    """Returns whether the header has SoFa's columns."""
    return set(COLUMNS) <= csv_files.columns_of(head)


def loses(probe: Probe) -> Iterator[str]:
    """The fields that are lost: all except the five columns and the texts in `extra`."""
    return lost(probe, _probe(_row(probe)))


def _probe(row: Row) -> Probe:
    """A row as a Probe."""
    return Probe(
        id=row["ID"],
        category=row["Category"],
        identity=row["Identity"],
        stereotype=row["Stereotype"],
        text=row["Probe"],
        extra=csv_files.others(row, COLUMNS),
    )


def _row(probe: Probe) -> Row:
    """A Probe as a row."""
    cells = dict(zip(COLUMNS, (probe.id, probe.category, probe.identity, probe.stereotype, probe.text), strict=True))
    return csv_files.with_others(cells, probe.extra)


FORMAT = Format(
    name="sofa",
    holds=(Probe,),
    about=EXPECTED,
    matches=matches,
    read=read,
    write=write,
    loses=loses,
    suffix=".csv",
    columns=COLUMNS,
)
