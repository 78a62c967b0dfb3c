"""Checks of the results that measures of other packages return."""

import json
from collections.abc import Iterator, Mapping
from math import isnan, nan
from typing import Any, TypeVar

from catsofa.data.files import short
from catsofa.data.visible import visible
from catsofa.scoring.measures import MODULES
from catsofa.scoring.measures.plugins import broken
from catsofa.scoring.measures.registry import Measure

Found = TypeVar("Found")
ROUNDING = 1e-9
"""The tolerance, as a share of a value, by which it may be outside its limits."""


def checked(measure: Measure, results: Found) -> Found:
    """The results of a measure, unchanged; results of another package that break the rules raise ValueError."""
    if measure.name not in MODULES and (fault := next(_faults(results), "")):
        raise broken(measure, f"returned {visible(fault)}")
    return results


def _faults(results: Any) -> Iterator[str]:
    """The faults of results that could not be shown, signed and stored."""
    if not callable(getattr(results, "to_dict", None)) or not callable(getattr(results, "rows", None)):
        yield f"{short(results)}; expected results with `to_dict` and `rows`, as `Rows` has"
    json.dumps(results.to_dict())
    for row in results.rows():
        if not isinstance(row, Mapping):
            yield f"the row {short(row)}; expected a mapping"
        yield from _of_row(row)


def _of_row(row: Mapping[str, Any]) -> Iterator[str]:
    """The faults of one row."""
    coverage = row.get("coverage", 0)
    if not isinstance(coverage, int | float) or not 0 <= coverage <= 1:
        yield f"the coverage {short(coverage)}; expected a number from 0 to 1"
    columns = [name.removesuffix(end) for end in ("_low", "_high") for name in row if name.endswith(end)]
    for name in dict.fromkeys(columns):
        needed = (name, f"{name}_low", f"{name}_high")
        if missing := [part for part in needed if part not in row]:
            yield f"a row with limits of {name!r} and without {' and '.join(missing)}"
        value, low, high = (nan if row[part] is None else float(row[part]) for part in needed)
        slack = ROUNDING * max(1, abs(value))
        if isnan(value) and coverage == 1:
            yield f"no number as {name!r} with coverage 1; expected a number, or the coverage that it rests on"
        if value < low - slack or value > high + slack:
            yield f"{name} = {value:g} outside its limits {low:g} and {high:g}"
    bare = [name for name, value in row.items() if isinstance(value, float) and name != "coverage"]
    if bare and not columns:
        yield f"{bare[0]!r} without limits; expected `{bare[0]}_low` and `{bare[0]}_high` in its row"
