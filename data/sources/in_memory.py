"""Data in memory: records, data frames, and data sets of the library `datasets`, whose rows become records."""

import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from catsofa.data import formats
from catsofa.data.files import BadInput, csv_files, jsonl
from catsofa.data.records import RECORDS

EXPECTED = "records, a data frame, or a Dataset with the columns of a format"
INDEX = "Unnamed: 0"
"""What pandas calls a column without a name."""


def records_in(data: Iterable[Any]) -> list[Any]:
    """The records of a list, or those that the rows of a table become.

    An iterator is refused: somebody may have read a part of it, and nobody could read it again.
    """
    kind = type(data).__name__
    if isinstance(data, Iterator):
        raise BadInput(kind, "an iterator, which can be read only once", "a list of records: list(…) keeps them")
    if isinstance(data, Mapping):
        found = f"the splits {', '.join(map(str, data))}" if data else "an empty mapping"
        raise BadInput(kind, found, f"one of them, as data['test']: {EXPECTED}")
    rows: list[Any]
    if hasattr(data, "to_dict") and hasattr(data, "columns"):
        rows = data.to_dict("records")
    elif features := getattr(data, "features", None):
        rows = [{name: _named(features[name], value) for name, value in row.items()} for row in data]
    else:
        rows = list(data)
    if not rows or not isinstance(rows[0], Mapping):
        return rows
    return _records(rows, kind)


def _named(feature: Any, value: Any) -> Any:
    """A value of a Dataset, its class labels by their names."""
    if hasattr(feature, "int2str"):
        return "" if value is None or value < 0 else feature.int2str(value)
    inner = feature[0] if isinstance(feature, list) else getattr(feature, "feature", None)
    return [_named(inner, part) for part in value] if inner is not None and isinstance(value, Sequence) else value


def _records(rows: Sequence[Mapping[str, Any]], kind: str) -> list[Any]:
    """The records of rows, by the format that their columns are of."""
    names = dict.fromkeys(name for row in rows for name in row)
    filled = [{name: value for name, value in row.items() if not _is_missing(value)} for row in rows]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "unspecified"  # the domain of formats that take it from the name of the file
        nested = any(isinstance(value, Mapping) for row in filled for value in row.values())
        if nested or any(jsonl.fits_fields(record_type, names.keys()) for record_type in RECORDS.values()):
            path.write_text("".join(f"{json.dumps(_parsed(row), default=_plain)}\n" for row in filled), "utf-8")
        else:
            table = (
                {("" if name == INDEX else str(name)): _cell(row.get(name, "")) for name in names} for row in filled
            )
            csv_files.write(table, path, ["" if name == INDEX else str(name) for name in names])
        try:
            return list(formats.read(path))
        except BadInput as error:
            raise BadInput(kind, error.found, f"{error.expected}; {EXPECTED}") from None


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
