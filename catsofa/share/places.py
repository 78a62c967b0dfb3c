"""Places on a leaderboard; models with overlapping intervals share a place."""

from collections.abc import Mapping
from math import isfinite

Limits = tuple[float | None, float | None]


def distance(limits: Limits, ideal: float) -> tuple[float, float] | None:
    """Returns the least and the greatest distance of an interval from the ideal value; None without an interval."""
    low, high = limits
    if low is None or high is None or not isfinite(low) or not isfinite(high):
        return None
    ends = abs(low - ideal), abs(high - ideal)
    return 0.0 if low <= ideal <= high else min(ends), max(ends)


def places(limits: Mapping[str, Limits], ideal: float) -> dict[str, tuple[int, int]]:
    """Returns the first and the last place that each model with an interval can have.

    A model ranks before another if all of its interval is nearer to the ideal value than all of the other's.
    """
    distances = {model: far for model, interval in limits.items() if (far := distance(interval, ideal)) is not None}
    return {
        model: (
            1 + sum(farthest < nearest for _, farthest in distances.values()),
            len(distances) - sum(other > far for other, _ in distances.values()),
        )
        for model, (nearest, far) in distances.items()
    }


def written(place: tuple[int, int] | None) -> str:
    """Returns a place for people: `1`, `2–4` for a shared one, `—` for none."""
    if place is None:
        return "—"
    return str(place[0]) if place[0] == place[1] else f"{place[0]}–{place[1]}"
