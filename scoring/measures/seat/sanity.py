"""Warnings beside association tests."""

from collections.abc import Mapping, Sequence
from math import isnan
from typing import Any

from catsofa.scoring.measures import sanity
from catsofa.scoring.measures.seat.coherence import coherence

TARGETS = 20
"""Targets in X or Y below which skewed associations leave d outside the interval in up to 12 % of sets."""


def of_associations(rows: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """The warnings beside association tests."""
    few = [
        f"{row['test']} ({targets})"
        for row in rows
        if not isnan(row["intervals"]["effect_size"]["low"])
        and (targets := min(row["sizes"]["x"], row["sizes"]["y"])) < TARGETS
    ]
    skewed = f"fewer than {TARGETS} targets in X or Y: of skewed associations 88 to 93 of 100 intervals hold d"
    apart = [
        f"{first} (p {p:.2g}) and {second} (p {q:.2g})"
        for _, (first, second), (p, q), coherent in coherence(rows)
        if not coherent
    ]
    doubt = "tests that should agree do not, so that their sets may be no coherent concepts to this model"
    unknown = {row["test"]: (row["unknown"], sum(row["sizes"].values())) for row in rows}
    return (
        *sanity.unknown(unknown, "texts"),
        *([f"{skewed}: {sanity.listed(few)}"] if few else []),
        *([f"{doubt}: {sanity.listed(apart)}"] if apart else []),
    )
