"""Places on a leaderboard, which models share where their intervals overlap."""

from collections.abc import Mapping
from math import isfinite

Limits = tuple[float | None, float | None]


def distance(limits: Limits, ideal: float) -> tuple[float, float] | None:
    """The least and the greatest distance from the ideal value in an interval; None without an interval."""
    low, high = limits
    if low is None or high is None or not isfinite(low) or not isfinite(high):
        return None
    ends = abs(low - ideal), abs(high - ideal)
    return 0.0 if low <= ideal <= high else min(ends), max(ends)


def places(limits: Mapping[str, Limits], ideal: float) -> dict[str, tuple[int, int]]:
    """The first and the last place that each model with an interval can have.

    A model stands before another one where all of its interval is nearer to the ideal value than all of the other's.
    """
    found = {model: far for model, of in limits.items() if (far := distance(of, ideal)) is not None}
    return {
        model: (
            1 + sum(farthest < nearest for _, farthest in found.values()),
            len(found) - sum(other > far for other, _ in found.values()),
        )
        for model, (nearest, far) in found.items()
    }


def written(place: tuple[int, int] | None) -> str:
    """A place for people: `1`, `2–4` for a shared one, `—` for none."""
    if place is None:
        return "—"
    return str(place[0]) if place[0] == place[1] else f"{place[0]}–{place[1]}"
