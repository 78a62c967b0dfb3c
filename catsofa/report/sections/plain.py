"""The default report section of a measure: its rows as a table."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from catsofa.data.percentages import decimals
from catsofa.report.cells import Row, Words, about, known, share, signatures, unscored, warned
from catsofa.report.elements import Cell, Number, Section, Table
from catsofa.scoring.measures.registry import named


def words(kind: str) -> Words:
    """Returns the texts of a measure from its own description."""
    measure = named(kind)
    return Words(measure.name, measure.about, measure.limits)


def plain(kind: str, name: str, rows: Sequence[Row]) -> Section:
    """Returns a section with the rows of each model; a missing column of a row is a dash."""
    flat = [(model, row) for model, report, _ in rows for row in report["results"]["rows"]]
    columns = [
        column
        for column in dict.fromkeys(column for _, row in flat for column in row)
        if not (column.endswith(("_low", "_high")) and column.rpartition("_")[0] in flat[0][1])
    ]
    table = Table(
        name=f"{name}-rows",
        caption="Values with 95 % intervals",
        columns=("model", *columns),
        rows=tuple((model, *(_cell(row, column) for column in columns)) for model, row in flat),
        signatures=signatures(rows),
        warnings=warned(rows),
        unscored=unscored(rows),
    )
    return words(kind).section(name, about(rows), [table])


def section(kind: str) -> partial[Section]:
    """Returns the function that makes the section of this measure."""
    return partial(plain, kind)


def _cell(row: Mapping[str, Any], column: str) -> Cell:
    """Returns a value, with its limits if the row has them."""
    value = row.get(column)
    if column == "coverage":
        return share(value)
    if isinstance(value, int | str) and not isinstance(value, bool):
        return value
    if not isinstance(value, float):
        return "—" if value is None else str(value)
    low, high = (known(row.get(f"{column}_{end}")) for end in ("low", "high"))
    return Number(known(value), low, high, decimals(value, low, high, digits=2))
