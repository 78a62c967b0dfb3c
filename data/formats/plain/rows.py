"""Rows with the columns of a format, from memory, JSON lines or Parquet: they are read as the format's own file."""

import json
import tempfile
from collections.abc import Mapping, Sequence, Set
from dataclasses import fields
from numbers import Integral, Real
from pathlib import Path
from typing import Any

from catsofa.data import formats
from catsofa.data.files import BadInput, csv_files, jsonl, short
from catsofa.data.language.blanks import fill, slots
from catsofa.data.records import LABELS, RECORDS, Cat, Pair

INDEX = "Unnamed: 0"
"""What pandas calls a column without a name."""
EMPTY = ("NAType", "NaTType")
"""The types of what pandas writes in empty cells."""


def is_table(names: Set[str]) -> bool:
    """Whether these are the columns of a format."""
    return any(set(one.columns) <= names for one in map(formats.named, formats.names()) if one.columns)


def are_rows(names: Set[str]) -> bool:
    """Whether these are the columns of a format, or of a table of a person's own."""
    return is_table(names) or plain_kind(names) is not None


def is_ours(names: Set[str]) -> bool:
    """Whether these are the fields of a record."""
    return any(jsonl.fits_fields(record_type, names) for record_type in RECORDS.values())


def records_of(rows: Sequence[Mapping[str, Any]], name: str | Path, expected: str) -> list[Any]:
    """The records of rows, by the format that their columns are of; `name` is what the rows come from."""
    filled = [{name: _id(name, value) for name, value in row.items() if not _is_missing(value)} for row in rows]
    names = dict.fromkeys(name for row in rows for name in row)
    if not is_table(names.keys()) and (kind := plain_kind(names.keys())):
        try:
            filled = [spelled(row, kind) for row in filled]
        except ValueError as error:
            raise BadInput(name, f"a faulty row: {error}", expected) from None
        names = dict.fromkeys(name for row in filled for name in row)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "unspecified"  # the domain of formats that take it from the name of the file
        nested = any(isinstance(value, Mapping) for row in filled for value in row.values())
        if lines := is_ours(names.keys()) or (nested and not is_table(names.keys())):
            path.write_text("".join(f"{json.dumps(_parsed(row), default=_plain)}\n" for row in filled), "utf-8")
        else:
            table = (
                {("" if name == INDEX else str(name)): _cell(row.get(name, "")) for name in names} for row in filled
            )
            csv_files.write(table, path, ["" if name == INDEX else str(name) for name in names])
        try:
            return list(formats.read(path))
        except BadInput as error:
            line = error.line if lines else None  # the rows of a table begin below its heading
            raise BadInput(name, error.found, f"{error.expected}; {expected}", line) from None


def plain_kind(names: Set[str]) -> type[Any] | None:
    """The record that a person would write in these columns; None if the columns are those of none."""
    fits = (kind for kind, needed in formats.PLAIN.items() if names >= {*needed})
    return None if "candidates" in names else next(fits, None)


def spelled(row: Mapping[str, Any], kind: type[Any]) -> dict[str, Any]:
    """A row with all fields of its record; columns that the record has not become its `extra`.

    The more stereotyping sentence of a pair states the stereotype, where no `direction` says otherwise. A CAT whose
    context has a BLANK holds words for it, and another one sentences that follow the context.
    """
    spelled = dict(row)
    if kind is Pair:
        spelled.setdefault("direction", "stereo")
    if kind is Cat:
        context, language = str(row.get("context")), str(row.get("language", "en"))
        spelled.setdefault("kind", "intrasentence" if slots(context) else "intersentence")
        texts = {label: str(spelled.pop(label, "")) for label in LABELS}
        spelled["candidates"] = [
            {"label": label, "text": words and fill(context, words, language), "fill": words}
            if spelled["kind"] == "intrasentence"
            else {"label": label, "text": words}
            for label, words in texts.items()
        ]
    spelled = _parsed(spelled)
    for name in spelled.keys() - {field.name for field in fields(kind)}:
        whole = "source" if str(name).startswith("source.") else "extra"
        part = str(name).removeprefix(f"{whole}.")
        spelled[whole] = {**(spelled.get(whole) or {}), part: spelled.pop(name)}
    return spelled


def _is_missing(value: Any) -> bool:
    """Whether a cell is empty: None, NaN, which equals nothing, or what pandas writes for no value or no time."""
    return value is None or type(value).__name__ in EMPTY or (isinstance(value, Real) and value != value)


def _id(name: str, value: Any) -> Any:
    """A value of a row; a whole number that is an id as text, as every file holds ids."""
    return str(int(value)) if name == "id" and isinstance(value, Integral) and not isinstance(value, bool) else value


def _parsed(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row whose `extra` and `source` are objects, which releases hold as JSON text."""
    return {
        name: json.loads(value) if name in ("extra", "source") and isinstance(value, str) else value
        for name, value in row.items()
    }


def _plain(value: Any) -> Any:
    """A value of numpy as Python has it; bytes are refused, since nobody knows their letters."""
    if isinstance(value, bytes | bytearray):
        raise ValueError(f"found bytes ({short(value)}) in a row; expected text: decode() them")
    return value.tolist() if hasattr(value, "tolist") else str(value)


def _cell(value: Any) -> str:
    """A value as a cell of CSV; a list as Python writes it."""
    return value if isinstance(value, str) else str(value if isinstance(value, list) else _plain(value))
