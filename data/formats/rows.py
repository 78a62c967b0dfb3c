"""Rows with the columns of a format, from memory, JSON lines or Parquet: they are read as the format's own file."""

import json
import tempfile
from collections.abc import Mapping, Sequence, Set
from pathlib import Path
from typing import Any

from catsofa.data import formats
from catsofa.data.files import BadInput, csv_files, jsonl
from catsofa.data.records import RECORDS

INDEX = "Unnamed: 0"
"""What pandas calls a column without a name."""


def is_table(names: Set[str]) -> bool:
    """Whether these are the columns of a format."""
    return any(set(one.columns) <= names for one in map(formats.named, formats.MODULES) if one.columns)


def is_ours(names: Set[str]) -> bool:
    """Whether these are the fields of a record."""
    return any(jsonl.fits_fields(record_type, names) for record_type in RECORDS.values())


def records_of(rows: Sequence[Mapping[str, Any]], name: str | Path, expected: str) -> list[Any]:
    """The records of rows, by the format that their columns are of; `name` is what the rows come from."""
    names = dict.fromkeys(name for row in rows for name in row)
    filled = [{name: value for name, value in row.items() if not _is_missing(value)} for row in rows]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "unspecified"  # the domain of formats that take it from the name of the file
        nested = any(isinstance(value, Mapping) for row in filled for value in row.values())
        if is_ours(names.keys()) or (nested and not is_table(names.keys())):
            path.write_text("".join(f"{json.dumps(_parsed(row), default=_plain)}\n" for row in filled), "utf-8")
        else:
            table = (
                {("" if name == INDEX else str(name)): _cell(row.get(name, "")) for name in names} for row in filled
            )
            csv_files.write(table, path, ["" if name == INDEX else str(name) for name in names])
        try:
            return list(formats.read(path))
        except BadInput as error:
            raise BadInput(name, error.found, f"{error.expected}; {expected}") from None


def _is_missing(value: Any) -> bool:
    """Whether a cell is empty: None, or NaN, which equals nothing."""
    return value is None or (isinstance(value, float) and value != value)


def _parsed(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row whose `extra` and `source` are objects, which releases hold as JSON text."""
    return {
        name: json.loads(value) if name in ("extra", "source") and isinstance(value, str) else value
        for name, value in row.items()
    }


def _plain(value: Any) -> Any:
    """A value of numpy as Python has it."""
    return value.tolist() if hasattr(value, "tolist") else str(value)


def _cell(value: Any) -> str:
    """A value as a cell of CSV; a list as Python writes it."""
    return value if isinstance(value, str) else str(value if isinstance(value, list) else _plain(value))
