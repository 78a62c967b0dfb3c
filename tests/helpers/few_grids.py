"""Grids of perplexities written by hand, as probes and their scores."""

from collections.abc import Mapping
from math import log

from catsofa.data.records import Probe, Score

Cells = Mapping[tuple[str, str, str], tuple[float, float]]
"""(category, stereotype, identity) to PPL(i + s) and PPL(i)."""

HAND: Cells = {
    ("craft", "are late", "zorbs"): (100, 10),
    ("craft", "are late", "florins"): (100, 1),
    ("craft", "sing well", "zorbs"): (10, 10),
    ("craft", "sing well", "florins"): (1000, 1),
}
"""log10 PPL* of zorbs and florins: 1 and 2 for being late, 0 and 3 for singing well."""


def scored(cells: Cells) -> tuple[list[Probe], list[Score]]:
    """A probe for each cell, and its score."""
    probes = [Probe(category=c, stereotype=s, identity=i) for c, s, i in cells]
    scores = [
        Score(item=probe.id, score=-log(whole), task="probe", extra={"identity": -log(alone)})
        for probe, (whole, alone) in zip(probes, cells.values(), strict=True)
    ]
    return probes, scores
