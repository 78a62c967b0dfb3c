"""CSV or TSV of CATs, pairs or probes in plain columns, as users write them; other columns go to `extra`."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from catsofa.data.files import BadInput, csv_files, existing_file, jsonl, open_to_read
from catsofa.data.files.csv_files import Row
from catsofa.data.files.faults import each
from catsofa.data.formats import HEAD, PLAIN, Format
from catsofa.data.formats.pairs import checker, mostly
from catsofa.data.formats.plain.rows import plain_kind, spelled
from catsofa.data.records import Cat, Pair, Probe, kind_name

EXPECTED = "CATs, pairs or probes as a table"


def read(path: Path) -> Iterator[Any]:
    """The record of each row; rows with an empty needed cell are skipped with a warning, or refused if many."""
    with open_to_read(existing_file(path, EXPECTED), EXPECTED) as file:
        kind = plain_kind(csv_files.columns_of(file.read(HEAD).removeprefix(b"\xef\xbb\xbf"))) or Cat
    expected = f"{kind_name(kind)} as a table"
    ids, check = jsonl.Seen(path, expected), checker(path, PLAIN[kind], expected)

    def record_of(line: int, row: Row) -> Any:
        cells = {name: cell for name, cell in row.items() if name and cell}
        try:
            fields = spelled(cells, kind)
        except ValueError as error:
            raise BadInput(path, f"a faulty cell: {error}", expected, line) from None
        record = jsonl.record_of(json.dumps(fields), path, line, kind)
        ids.add_all(record, line)
        return record

    rows = csv_files.rows(path, PLAIN[kind], expected)
    checked = mostly(lambda line, row: (line, check(line, row)), rows, path, "lack a cell that they need")
    return each(record_of, checked)


def write(records: Iterable[Any], path: Path) -> int:
    """Raise a ValueError: catsofa only reads this format."""
    raise ValueError(f"table is read and not written; write {path} as jsonl")


def matches(path: Path, head: bytes) -> bool:
    """Returns whether the header has the columns that one kind of record needs."""
    return path.suffix.lower() != ".jsonl" and plain_kind(csv_files.columns_of(head)) is not None


FORMAT = Format(
    name="table",
    holds=(Cat, Pair, Probe),
    about=EXPECTED,
    matches=matches,
    read=read,
    write=write,
    loses=lambda record: (),
    suffix=None,
)
