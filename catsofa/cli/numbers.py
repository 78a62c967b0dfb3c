"""Formats numbers for the terminal, also undefined ones."""

from collections.abc import Iterable
from math import isnan
from typing import TYPE_CHECKING

from catsofa.data.percentages import quantity, written

if TYPE_CHECKING:
    from catsofa.scoring.statistics.intervals import Interval

UNDEFINED = "undefined"
"""Text for a measure without any data."""
LEAST_P = 1e-4
"""Smaller p-values are written in scientific notation."""


def percent(number: "Interval | float", digits: int = 1) -> str:
    """Formats a percentage, with its limits if it has some."""
    if isnan(value := number if isinstance(number, float) else number.value):
        return UNDEFINED
    first, *limits = written(value, *(() if isinstance(number, float) else (number.low, number.high)), digits=digits)
    return f"{first} [{', '.join(limits)}]" if limits else first


def chance(p: float) -> str:
    """Formats a p-value; a small one in scientific notation, since no p is 0."""
    if isnan(p):
        return UNDEFINED
    return f"{p:.4f}" if p >= LEAST_P else f"{p:.0e}"


def adjusted(p_values: Iterable[float | None]) -> str:
    """Returns a sentence with the number of tests in Holm's adjustment; a test without a p does not count."""
    tests = sum(p is not None and not isnan(p) for p in p_values)
    return f"Holm's p: adjusted over {quantity(tests, 'test')}" if tests else "Holm's p: none, since no test has a p"
