"""Sanity warnings about results that have too little data or may be misleading."""

from collections.abc import Iterator, Mapping

import numpy as np

from catsofa.data.percentages import in_percent
from catsofa.scoring.choices import Ties
from catsofa.scoring.statistics.intervals import FEW, Array

SHARE = 0.05
"""Ties or unknown tokens in more than this share of the items cause a warning."""
NAMED = 5
"""The maximum number of sets that one sentence names."""
TREATED: Mapping[Ties, str] = {
    "excluded": "they are left out",
    "half": "this protocol counts them as half",
    "against": "this protocol counts them as lost, or lets rounding errors decide them",
}
BOTH = "both tasks"
"""The name of the whole set, which is left out of a sentence that names several sets."""
COMPARED = "what is compared"


def often(part: int, whole: int) -> bool:
    """Returns True if `part` items of `whole` are enough for a warning."""
    return part > SHARE * whole


def known(unknown: Array) -> int | None:
    """The number of items with unknown tokens; None if they were not counted."""
    return None if np.isnan(unknown).any() else int(unknown.sum())


def unknown(counts: Mapping[str, tuple[int | None, int]], unit: str) -> list[str]:
    """The warning about sets with many unknown tokens; empty without one."""
    many = {
        name: (count, total) for name, (count, total) in counts.items() if count is not None and often(count, total)
    }
    return [f"unknown tokens in {counted(many, unit)}: the model cannot read these words"] if many else []


def nothing(counts: Mapping[str, tuple[int, int]], unit: str) -> Iterator[str]:
    """The warning about sets without any score."""
    if none := {name: pair for name, pair in counts.items() if not pair[0]}:
        yield f"nothing is scored in {listed([f'{name} ({total:,} {unit})' for name, (_, total) in none.items()])}"


def few(counts: Mapping[str, int], unit: str) -> Iterator[str]:
    """The warning about sets with few clusters, whose intervals are rough."""
    if few := [f"{name} ({count})" for name, count in counts.items() if count < FEW]:
        yield f"fewer than {FEW} {unit}, so that intervals are rough: {listed(few)}"


def counted(counts: Mapping[str, tuple[int, int]], unit: str) -> str:
    """Counts with their shares and set names: `12 of 40 CATs (30 %)`."""
    if len(counts) > 1:
        counts = {name: pair for name, pair in counts.items() if name != BOTH}
    return listed(
        [
            f"{part:,} of {total:,} {unit} ({in_percent(part / total, 0)}{', ' if name else ''}{name})"
            for name, (part, total) in counts.items()
        ]
    )


def listed(parts: list[str]) -> str:
    """The first parts joined by semicolons, and the number of the others."""
    more = [f"{len(parts) - NAMED} more"] if len(parts) > NAMED else []
    return "; ".join([*parts[:NAMED], *more])
