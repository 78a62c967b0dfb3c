"""Comparison of two runs with different batches, because chunk sizes depend on the speed of the machine."""

from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from math import isclose
from typing import Any

CLOSE = 1e-5


def difference(one: Any, other: Any, place: str = "") -> str:
    """Returns the first place where two values differ (floats: by more than CLOSE), or an empty string."""
    one, other = (asdict(v) if is_dataclass(v) and not isinstance(v, type) else v for v in (one, other))
    if isinstance(one, float) and isinstance(other, float):
        return "" if isclose(one, other, rel_tol=CLOSE, abs_tol=CLOSE) or (one != one and other != other) else place
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        if one.keys() != other.keys():
            return f"{place}: {sorted(map(str, one.keys() ^ other.keys()))}"
        return next((d for key in one if (d := difference(one[key], other[key], f"{place}.{key}"))), "")
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        if len(one) != len(other):
            return f"{place}: {len(one)} and {len(other)} entries"
        return next(
            (d for n, (a, b) in enumerate(zip(one, other, strict=True)) if (d := difference(a, b, f"{place}[{n}]"))), ""
        )
    return "" if one == other else f"{place}: {one!r} and {other!r}"
