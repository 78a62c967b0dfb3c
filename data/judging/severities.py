"""The severity of a probe, which weights stereotypes: ratings of how hurtful people find the probe."""

import json
from math import isfinite

from catsofa.data.records import Probe

OFFENSIVENESS = "offensiveness"
"""The key in a probe's `extra` of the ratings: a list with one number per rater, or their mean."""
EXPECTED = "ratings of 0 or more, as a list of numbers (null where one is missing) or their mean"


def severity_of(probe: Probe) -> float | None:
    """The mean rating of a probe; None without a rating. Refuses negative ratings, which cannot be weights."""
    held = probe.extra.get(OFFENSIVENESS)
    try:
        value = json.loads(held) if isinstance(held, str) and held.strip() else held
        ratings = [float(each) for each in (value if isinstance(value, list) else [value]) if each not in (None, "")]
    except (TypeError, ValueError):
        ratings = [-1.0]
    if any(not isfinite(rating) or rating < 0 for rating in ratings):
        raise ValueError(f"probe {probe.id!r} has the {OFFENSIVENESS} {held!r}; expected {EXPECTED}")
    return sum(ratings) / len(ratings) if ratings else None
