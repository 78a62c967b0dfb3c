"""Rows with the columns of a format, from memory, JSON lines or Parquet; read like a file of that format."""

import json
import tempfile
from collections.abc import Mapping, Sequence, Set
from dataclasses import fields
from numbers import Integral, Real
from pathlib import Path
from typing import Any

from catsofa.data import formats
from catsofa.data.files import BadInput, csv_files, jsonl, short
from catsofa.data.formats.plain import clusters
from catsofa.data.language.blanks import fill, slots
from catsofa.data.records import LABELS, RECORDS, Cat, Pair

INDEX = "Unnamed: 0"
"""The name that pandas gives a column without a name."""
EMPTY = ("NAType", "NaTType")
"""The types of the values that pandas puts into empty cells."""


def is_table(names: Set[str]) -> bool:
    """Returns whether the names include all columns of a format."""
    return any(set(one.columns) <= names for one in map(formats.named, formats.names()) if one.columns)


def are_rows(names: Set[str]) -> bool:
    """Returns whether the names include the columns of a format, of StereoSet, or of a user's own table."""
    return is_table(names) or names >= clusters.COLUMNS or plain_kind(names) is not None


def is_ours(names: Set[str]) -> bool:
    """Returns whether the names are the fields of a record type."""
    return any(jsonl.fits_fields(record_type, names) for record_type in RECORDS.values())


def records_of(rows: Sequence[Mapping[str, Any]], name: str | Path, expected: str) -> list[Any]:
    """The records of rows, read in the format that their columns match; `name` is the source of the rows."""
    filled = [{name: _id(name, value) for name, value in row.items() if not _is_missing(value)} for row in rows]
    if not any(filled):
        raise BadInput(name, "rows without values", expected)
    names = dict.fromkeys(name for row in rows for name in row)
    if not is_table(names.keys()) and (kind := plain_kind(names.keys())):
        try:
            filled = [spelled(row, kind) for row in filled]
        except ValueError as error:
            raise BadInput(name, f"a faulty row: {error}", expected) from None
        names = dict.fromkeys(name for row in filled for name in row)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "unspecified"  # the domain in formats that take the domain from the file name
        nested = any(isinstance(value, Mapping) for row in filled for value in row.values())
        lines = False
        if names.keys() >= clusters.COLUMNS:
            try:
                path.write_text(json.dumps(clusters.document_of(filled), default=_plain), "utf-8")
            except (TypeError, ValueError, AttributeError) as error:
                raise BadInput(name, f"a faulty row: {error}", expected) from None
        elif lines := is_ours(names.keys()) or (nested and not is_table(names.keys())):
            path.write_text("".join(f"{json.dumps(_parsed(row), default=_plain)}\n" for row in filled), "utf-8")
        else:
            table = (
                {("" if name == INDEX else str(name)): _cell(row.get(name, "")) for name in names} for row in filled
            )
            csv_files.write(table, path, ["" if name == INDEX else str(name) for name in names])
        try:
            return list(formats.read(path))
        except formats.UnknownFormat:
            found, wanted = formats.unlike_tables([*map(str, names)])
            raise BadInput(name, found, f"{wanted}; {expected}") from None
        except BadInput as error:
            line = (
                error.line if lines else None
            )  # rows of a table begin below its header, so the line number would be wrong
            raise BadInput(name, error.found, f"{error.expected}; {expected}", line) from None


def plain_kind(names: Set[str]) -> type[Any] | None:
    """The record type that a user's table with these columns holds; None if no type fits."""
    fits = (kind for kind, needed in formats.PLAIN.items() if names >= {*needed})
    return None if "candidates" in names else next(fits, None)


def spelled(row: Mapping[str, Any], kind: type[Any]) -> dict[str, Any]:
    """A row with all fields of its record; other columns go to `extra`.

    A pair without a `direction` gets `stereo`. If the context of a CAT has a BLANK, its candidates are words for the
    BLANK; otherwise its candidates are sentences that follow the context.
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
    """Returns whether a cell is empty: None, NaN (not equal to itself), or pandas' values for missing data or times."""
    return value is None or type(value).__name__ in EMPTY or (isinstance(value, Real) and value != value)


def _id(name: str, value: Any) -> Any:
    """A value of a row; an integer id becomes text, as in files."""
    return str(int(value)) if name == "id" and isinstance(value, Integral) and not isinstance(value, bool) else value


def _parsed(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row with `extra` and `source` parsed from JSON text, which releases use, to objects."""
    return {
        name: json.loads(value) if name in ("extra", "source") and isinstance(value, str) else value
        for name, value in row.items()
    }


def _plain(value: Any) -> Any:
    """A numpy value as a Python value; refuses bytes, whose encoding is unknown."""
    if isinstance(value, bytes | bytearray):
        raise ValueError(f"found bytes ({short(value)}) in a row; expected text: decode() them")
    return value.tolist() if hasattr(value, "tolist") else str(value)


def _cell(value: Any) -> str:
    """A value as a CSV cell; a list is written in Python syntax."""
    return value if isinstance(value, str) else str(value if isinstance(value, list) else _plain(value))
