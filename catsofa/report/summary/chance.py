"""Models that are significantly above or below the ideal value of a measure."""

from collections.abc import Mapping
from math import nan

from catsofa.data.statistics import ALPHA, LEVEL
from catsofa.report.elements import Number
from catsofa.scoring.statistics.intervals import Interval, Limits


def at_95(number: Number) -> Limits:
    """Returns the interval of a report for any level, although it is one of 95 %."""
    value, low, high = (nan if end is None else end for end in (number.value, number.low, number.high))
    return lambda level: Interval(value, low, high)


def beyond(limits: Mapping[str, Limits], ideal: float) -> dict[str, int]:
    """Returns 1 or -1 for each model above or below the ideal value, with Holm's correction over all models.

    Holm's step-down rejects as long as the interval at 1 - 0.05 / (number of open models) excludes the ideal value.
    """
    sides = dict[str, int]()
    while len(sides) < len(limits):
        level = LEVEL if len(limits) == 1 else 1 - ALPHA / (len(limits) - len(sides))
        intervals = {model: limit(level) for model, limit in limits.items() if model not in sides}
        more = {
            model: 1 if interval.low > ideal else -1
            for model, interval in intervals.items()
            if interval.low > ideal or interval.high < ideal
        }
        if not more:
            break
        sides |= more
    return sides
