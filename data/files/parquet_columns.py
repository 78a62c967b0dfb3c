"""The Parquet columns of each record type: Arrow types, and conversion in both directions.

Text, numbers, lists and nested records are columns of their own type. Free fields of a source (`extra`,
`source`) are JSON text, so that every row of every release has the same columns.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from types import NoneType, UnionType
from typing import IO, Any, Literal, Union, get_args, get_origin, get_type_hints

import pyarrow as pa
import pyarrow.parquet as pq

from catsofa.data.records import RECORDS


@dataclass(frozen=True, slots=True)
class Column:
    """The Arrow type of a field, and the functions that encode and decode its value; None means no conversion."""

    arrow: pa.DataType
    encode: Callable[[Any], Any] | None = None
    decode: Callable[[Any], Any] | None = None


_columns: dict[type[Any], dict[str, Column]] = {}


def columns(record_type: type[Any]) -> dict[str, Column]:
    """The columns of a record type, one per field; cached."""
    if record_type not in _columns:
        hints = get_type_hints(record_type)
        _columns[record_type] = {field.name: _column(hints[field.name]) for field in fields(record_type)}
    return _columns[record_type]


def schema(record_type: type[Any]) -> pa.Schema:
    """The Arrow schema of a record type."""
    return pa.schema([pa.field(name, column.arrow) for name, column in columns(record_type).items()])


def record_type_of(names: Sequence[str]) -> type[Any] | None:
    """The record type that has exactly these fields, or None."""
    return next((kind for kind in RECORDS.values() if set(names) == columns(kind).keys()), None)


def writer(file: Path | IO[bytes], record_type: type[Any]) -> pq.ParquetWriter:
    """A Parquet writer for a record type; every page gets a checksum, which readers of releases verify."""
    return pq.ParquetWriter(
        file, schema(record_type), compression="zstd", write_page_index=True, write_page_checksum=True
    )


def to_batch(records: Sequence[Any], record_type: type[Any]) -> pa.RecordBatch:
    """Records of one type as a batch of rows."""
    arrays = []
    for name, column in columns(record_type).items():
        values = [getattr(record, name) for record in records]
        arrays.append(pa.array([column.encode(v) for v in values] if column.encode else values, column.arrow))
    return pa.record_batch(arrays, schema(record_type))


def from_batch(batch: pa.RecordBatch, record_type: type[Any]) -> list[dict[str, Any]]:
    """The rows of a batch as dictionaries of record fields, not yet validated."""
    values = []
    for name, column in columns(record_type).items():
        cells = batch.column(name).to_pylist()
        values.append([column.decode(v) for v in cells] if column.decode else cells)
    names = list(columns(record_type))
    return [dict(zip(names, row, strict=True)) for row in zip(*values, strict=True)]


def _column(hint: Any) -> Column:
    """The column that holds a value of this type."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return _column(next(argument for argument in arguments if argument is not NoneType))
    if hint is str or origin is Literal:
        return Column(pa.string())
    if hint is int:
        return Column(pa.int64())
    if hint is float:
        return Column(pa.float64())
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return Column(pa.string(), _to_json, lambda text: json.loads(text) if text else {})
    if origin is tuple:
        item = _column(arguments[0])
        encode, decode = item.encode, item.decode
        return Column(
            pa.list_(item.arrow),
            (lambda values: [encode(value) for value in values]) if encode else list,
            (lambda values: [decode(value) for value in values]) if decode else None,
        )
    if is_dataclass(hint) and isinstance(hint, type):
        return _struct_of(columns(hint))
    raise TypeError(f"no Parquet column for {hint}")


def _struct_of(parts: Mapping[str, Column]) -> Column:
    """A column of nested records."""

    def encode(record: Any) -> dict[str, Any]:
        return {
            name: part.encode(getattr(record, name)) if part.encode else getattr(record, name)
            for name, part in parts.items()
        }

    def decode(row: dict[str, Any]) -> dict[str, Any]:
        return {name: part.decode(row[name]) if part.decode else row[name] for name, part in parts.items()}

    return Column(pa.struct([(name, part.arrow) for name, part in parts.items()]), encode, decode)


def _to_json(value: Mapping[str, Any]) -> str:
    """A free field (`extra`, `source`) as JSON text."""
    if not value:
        return "{}"
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ValueError(f"extra or source of a record holds what JSON cannot: {error}") from None
