"""Cells: the numbers of one model on the items of a part, by one protocol."""

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
    """Numbers of one protocol on the items of a part, and functions that compute them on some of the items."""

    numbers: Mapping[str, Interval]
    """By measure, the same as in a run of this protocol alone."""
    items: int
    scored: Rows
    """Mask of the items that have every score."""
    coverage: float
    """Share of the items that count: scored, and decided if the protocol leaves ties out."""
    ties: int
    """Items whose stereotype and anti-stereotype have equal scores."""
    key: Any
    """Equal in two cells that are the same: equal scores, and equal outcomes of every item."""
    measures: Mapping[str, Measure]
    columns: Callable[[Rows], Array]
    """Computes a row of sums for each cluster, on the items of a mask; every cell has the same clusters."""
    on: Callable[[Rows], Mapping[str, Interval]]
    """Computes the numbers on the items of a mask."""
    outcomes: Mapping[str, float] = field(default_factory=dict)
    """Share of each outcome among all replies, if the model was asked for choices."""
    undefined: str = ""
    """Reason why a number has no value."""
    deciding: Callable[[str, Array], float] = lambda measure, columns: 1.0
    """Computes the share of the items that decide a measure, from its name and its columns."""

    def to_dict(self) -> dict[str, Any]:
        """Returns the numbers and their denominators, by name."""
        return {
            **{name: interval.to_dict() for name, interval in self.numbers.items()},
            "items": self.items,
            "scored": int(self.scored.sum()),
            "coverage": self.coverage,
            **({"outcomes": dict(self.outcomes), "undefined": self.undefined or None} if self.outcomes else {}),
            **({} if self.outcomes else {"ties": self.ties}),
        }


def digits(measure: Measure) -> int:
    """Returns the decimals shown for a measure: one for a percentage, three for a share."""
    return 1 if measure.most == 100 else 3


def cells(records: Sequence[Any], given: Given, protocol: Protocol, resamples: int) -> dict[str, Cell]:
    """Returns the cell of each part: the tasks of CATs, or the pairs."""
    how = {"ties": protocol.ties, "unknown": given.unknown, "error": given.error}
    if isinstance(records[0], Cat):
        return _of_cats(records, given, protocol, resamples, how)
    return {PAIRS: _of_pairs(records, given, protocol, resamples, how)}


def _of_cats(
    cats: Sequence[Cat], given: Given, protocol: Protocol, resamples: int, how: Mapping[str, Any]
) -> dict[str, Cell]:
    """Returns a cell for each task: lms, ss and icat, over terms."""
    rule, average = protocol.stereoset.rule, protocol.stereoset.average
    numbers = given.numbers()
    table = outcomes(cats, numbers, rule=rule, **how)

    def of(kind: str) -> Cell:
        part = table.of(kind=kind)
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

    return {kind: of(kind) for kind in KINDS if kind in table.kinds}


def _three(result: stereoset.Measures) -> dict[str, Interval]:
    """Returns lms, ss and icat by name."""
    return {name: getattr(result, name) for name in stereoset.MEASURES}


def _of_pairs(pairs: Sequence[Pair], given: Given, protocol: Protocol, resamples: int, how: Mapping[str, Any]) -> Cell:
    """Returns the cell of all pairs; each pair is its own cluster."""
    sides, rounding = crows_pairs.by_pair(given.scores), protocol.crows_pairs.rounding
    judged = crows_pairs.preferences(pairs, sides, rounding=rounding, **how)
    columns = np.stack([judged.won, np.ones_like(judged.won)], axis=1) * judged.decided[:, None]
    name = crows_pairs.METRIC.name

    def on(rows: Rows) -> dict[str, Interval]:
        counted = columns[rows & judged.decided]
        return intervals(counted, {name: crows_pairs.METRIC}, resamples=resamples, seed=protocol.seed)

    return Cell(
        numbers=on(np.ones(len(columns), dtype=bool)),
        items=len(columns),
        scored=judged.scored,
        coverage=float(judged.decided.mean()),
        ties=int((judged.near & judged.scored).sum()),
        key=(tuple(sides.get(pair.id) for pair in pairs), columns.tobytes()),
        measures={name: crows_pairs.METRIC},
        columns=lambda rows: columns[rows],
        on=on,
    )
