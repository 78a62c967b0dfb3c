"""Numbers as the terminal prints them, where one may be undefined."""

from math import isnan
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from catsofa.scoring.intervals import Interval

UNDEFINED = "undefined"
"""A measure of nothing."""


def percent(found: "Interval | float", digits: int = 1) -> str:
    """A percentage, perhaps with its limits."""
    value = found if isinstance(found, float) else found.value
    return UNDEFINED if isnan(value) else f"{found:.{digits}f}"


def chance(p: float) -> str:
    """A p-value."""
    return UNDEFINED if isnan(p) else f"{p:.4f}"
