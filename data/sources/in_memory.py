"""Data in memory: records, data frames, and data sets of the library `datasets`, converted to records."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from catsofa.data.files import BadInput, short
from catsofa.data.formats.plain.rows import records_of

EXPECTED = "records, a data frame, or a Dataset with the columns of a format"


def records_in(data: Iterable[Any]) -> list[Any]:
    """The records of a list, or the records from the rows of a table.

    An iterator is refused: a part of it may be consumed already, and it cannot be read again.
    """
    kind = type(data).__name__
    if isinstance(data, Iterator):
        raise BadInput(kind, "an iterator, which can be read only once", "a list of records: list(…) keeps them")
    if isinstance(data, Mapping):
        problem = f"the splits {', '.join(map(str, data))}" if data else "an empty mapping"
        raise BadInput(kind, problem, f"one of them, as data['test']: {EXPECTED}")
    rows: list[Any]
    if hasattr(data, "with_format"):  # a Dataset whose rows may be tensors or tables
        data = data.with_format(None)
    if hasattr(data, "reset_index"):  # a frame of pandas, or a Series of records
        rows = _rows_of(data) if hasattr(data, "columns") else list(data)
    elif features := getattr(data, "features", None):
        rows = [{name: _named(features[name], value) for name, value in row.items()} for row in data]
    elif hasattr(data, "__arrow_c_stream__"):  # data frames of polars and others
        rows = _rows_of_arrow(data)
    elif isinstance(data, Iterable):
        rows = list(data)
    else:
        raise BadInput(kind, short(data), EXPECTED)
    others = [number for number, row in enumerate(rows, 1) if not isinstance(row, Mapping)]
    if len(others) == len(rows):
        return rows
    if others:
        raise BadInput(kind, f"{short(rows[others[0] - 1])} among rows", "only rows, or only records", others[0])
    return records_of(rows, kind, EXPECTED)


def _rows_of(frame: Any) -> list[Any]:
    """The rows of a data frame of pandas; a named index is a column."""
    if index := [name for name in frame.index.names if name is not None and name not in frame.columns]:
        frame = frame.reset_index(index)
    _refuse_twice(frame.columns, frame)
    return list(frame.to_dict("records"))


def _rows_of_arrow(stream: Any) -> list[Any]:
    """The rows of a table with the stream interface of Arrow."""
    import pyarrow as pa

    try:
        table = pa.table(stream)
    except pa.ArrowInvalid:  # a column alone
        raise BadInput(type(stream).__name__, short(stream), EXPECTED) from None
    _refuse_twice(table.column_names, stream)
    rows: list[Any] = table.to_pylist()
    return rows


def _refuse_twice(names: Iterable[Any], data: Any) -> None:
    """Refuse a table with two columns of one name, since a row can hold only one of them."""
    if twice := [name for name, count in Counter(names).items() if count > 1]:
        raise BadInput(type(data).__name__, f"the column {twice[0]!r} twice", "each column once")


def _named(feature: Any, value: Any) -> Any:
    """A value of a Dataset, with class labels replaced by their names."""
    if hasattr(feature, "int2str"):
        return "" if value is None or value < 0 else feature.int2str(value)
    inner = feature[0] if isinstance(feature, list) else getattr(feature, "feature", None)
    if isinstance(value, Mapping):  # older versions of `datasets` have columns as a sequence of a mapping
        return {
            name: [_named(inner[name], part) for part in cell]
            if isinstance(inner, Mapping)
            else _named(feature[name], cell)
            for name, cell in value.items()
        }
    return [_named(inner, part) for part in value] if inner is not None and isinstance(value, Sequence) else value
