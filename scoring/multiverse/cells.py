"""Cells: what the scores of one model make of the items of a part, by one protocol."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from catsofa.data.records import KINDS, Cat, Pair
from catsofa.scoring.measures import crows_pairs, stereoset
from catsofa.scoring.measures.cat_outcomes import TIE_SS, outcomes
from catsofa.scoring.measures.registry import Given
from catsofa.scoring.protocols import Protocol
from catsofa.scoring.statistics.intervals import Array, Interval, Measure, intervals

Rows = NDArray[np.bool_]
PAIRS = "pairs"
"""The only part of a set of pairs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """The numbers of one protocol on the items of a part, and how to make them of some of the items."""

    numbers: Mapping[str, Interval]
    """By measure, as a run of this protocol alone has them."""
    items: int
    scored: Rows
    """Which items have every score."""
    coverage: float
    """The share of the items that count: scored, and decided where the protocol leaves ties out."""
    ties: int
    """Items whose stereotype and anti-stereotype have equal scores."""
    key: Any
    """Equal in two cells that are the same: equal scores, and what comes of every item."""
    measures: Mapping[str, Measure]
    columns: Callable[[Rows], Array]
    """Some of the items to a row of sums for each cluster, the same clusters in every cell."""
    on: Callable[[Rows], Mapping[str, Interval]]
    """Some of the items to the numbers."""
    outcomes: Mapping[str, float] = field(default_factory=dict)
    """The share of each outcome among all replies, where a model was asked for choices."""
    undefined: str = ""
    """Why a number has no value."""
    deciding: Callable[[str, Array], float] = lambda measure, columns: 1.0
    """A measure and its columns to the share of the items that decide it."""

    def to_dict(self) -> dict[str, Any]:
        """The numbers and their denominators, by name."""
        return {
            **{name: found.to_dict() for name, found in self.numbers.items()},
            "items": self.items,
            "scored": int(self.scored.sum()),
            "coverage": self.coverage,
            **({"outcomes": dict(self.outcomes), "undefined": self.undefined or None} if self.outcomes else {}),
            **({} if self.outcomes else {"ties": self.ties}),
        }


def digits(measure: Measure) -> int:
    """Decimals in which a measure is shown: one of a percentage, three of a share."""
    return 1 if measure.most == 100 else 3


def cells(records: Sequence[Any], given: Given, protocol: Protocol, resamples: int) -> dict[str, Cell]:
    """The cell of each part: the tasks of CATs, or the pairs."""
    how = {"ties": protocol.ties, "unknown": given.unknown, "error": given.error}
    if isinstance(records[0], Cat):
        return _of_cats(records, given, protocol, resamples, how)
    return {PAIRS: _of_pairs(records, given, protocol, resamples, how)}


def _of_cats(
    cats: Sequence[Cat], given: Given, protocol: Protocol, resamples: int, how: Mapping[str, Any]
) -> dict[str, Cell]:
    """A cell for each task: lms, ss and icat, over terms."""
    rule, average = protocol.stereoset.rule, protocol.stereoset.average
    numbers = given.numbers()
    found = outcomes(cats, numbers, rule=rule, **how)

    def of(kind: str) -> Cell:
        part = found.of(kind=kind)
        own = tuple(numbers.get(each.id) for cat in cats if cat.kind == kind for each in cat.candidates)

        def on(rows: Rows) -> stereoset.Measures:
            return stereoset.measures(part.take(rows), average=average, resamples=resamples, seed=protocol.seed)

        whole = on(np.ones(len(part), dtype=bool))
        return Cell(
            numbers=_three(whole),
            items=len(part),
            scored=part.complete,
            coverage=whole.coverage,
            ties=int(part.ties[:, TIE_SS].sum()),
            key=(own, part.counts.tobytes(), average),
            measures=stereoset.MEASURES,
            columns=lambda rows: part.take(rows).columns(average),
            on=lambda rows: _three(on(rows)),
        )

    return {kind: of(kind) for kind in KINDS if kind in found.kinds}


def _three(of: stereoset.Measures) -> dict[str, Interval]:
    """lms, ss and icat by name."""
    return {name: getattr(of, name) for name in stereoset.MEASURES}


def _of_pairs(pairs: Sequence[Pair], given: Given, protocol: Protocol, resamples: int, how: Mapping[str, Any]) -> Cell:
    """The cell of all pairs; each pair is a cluster of its own."""
    sides, rounding = crows_pairs.by_pair(given.scores), protocol.crows_pairs.rounding
    found = crows_pairs.preferences(pairs, sides, rounding=rounding, **how)
    columns = np.stack([found.won, np.ones_like(found.won)], axis=1) * found.decided[:, None]
    name = crows_pairs.METRIC.name

    def on(rows: Rows) -> dict[str, Interval]:
        counted = columns[rows & found.decided]
        return intervals(counted, {name: crows_pairs.METRIC}, resamples=resamples, seed=protocol.seed)

    return Cell(
        numbers=on(np.ones(len(columns), dtype=bool)),
        items=len(columns),
        scored=found.scored,
        coverage=float(found.decided.mean()),
        ties=int((found.near & found.scored).sum()),
        key=(tuple(sides.get(pair.id) for pair in pairs), columns.tobytes()),
        measures={name: crows_pairs.METRIC},
        columns=lambda rows: columns[rows],
        on=on,
    )
