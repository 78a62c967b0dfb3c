"""SoFa's grid: for each category, a row for each stereotype, a column for each identity, a probe in each cell."""

__all__ = ["disparities", "log_ppl_star", "shares_of_lowest", "variances"]

from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import isfinite, log, nan, prod

import numpy as np
from numpy.typing import NDArray

from catsofa.data.formats.probe_columns import Probes, blocks_of
from catsofa.data.judging.severities import severity_of
from catsofa.data.records import Probe, Score
from catsofa.data.statistics import Array
from catsofa.scoring.extras import UNKNOWN, UNKNOWN_IDENTITY
from catsofa.scoring.measures.sofa.options import Normalisation
from catsofa.scoring.probe_numbers import NONE, ProbeNumbers
from catsofa.scoring.score_columns import ScoreColumns, parts_of
from catsofa.scoring.statistics.intervals import wilson

Means = tuple[float, float, float]
"""Mean log-probabilities: of a probe, of its identity alone, of its tokens after the identity; NaN if unscored."""
STRETCH = 1 << 16
"""Number of probes that are placed at once."""


@dataclass(frozen=True, slots=True)
class Grid:
    """The probes of one category; an identity of the same name in another category is another column."""

    category: str
    stereotypes: tuple[str, ...]
    identities: tuple[str, ...]
    means: Array
    """(stereotype, identity, one of `Means`)."""
    probes: int
    """The number of cells with a probe, scored or not."""
    severities: Array
    """The mean severity of each stereotype over its rated probes; NaN without any, or if not requested."""
    unknown: NDArray[np.bool_]
    """(stereotype, identity, 2): True if the probe, and if its identity, contains an unknown token."""


@dataclass(slots=True)
class _Names:
    """The rows and columns of one category, numbered in order of appearance."""

    number: int
    stereotypes: dict[str, int] = field(default_factory=dict)
    identities: dict[str, int] = field(default_factory=dict)
    probes: int = 0
    severities: dict[int, list[float]] = field(default_factory=dict)
    """The severities of the rated probes of each row."""

    @property
    def shape(self) -> tuple[int, int]:
        """The shape of the grid."""
        return len(self.stereotypes), len(self.identities)


class _Places:
    """The place of each probe by its number: its category, row and column, and its cell among all cells."""

    def __init__(self, rated: bool) -> None:
        self._rated = rated
        self.names = dict[str, _Names]()
        self._category, self._row, self._column = array("I"), array("I"), array("I")

    def add(self, probes: Sequence[Probe]) -> None:
        """Add the next probes."""
        block = Probes.of(probes)
        for category, stereotype, identity in zip(block.categories, block.stereotypes, block.identities, strict=True):
            if (names := self.names.get(category)) is None:
                names = self.names[category] = _Names(len(self.names))
            names.probes += 1
            self._category.append(names.number)
            self._row.append(names.stereotypes.setdefault(stereotype, len(names.stereotypes)))
            self._column.append(names.identities.setdefault(identity, len(names.identities)))
        for row, probe in zip(self._row[-len(block) :], probes, strict=True) if self._rated and block else ():
            if (severity := severity_of(probe)) is not None:
                self.names[probe.category].severities.setdefault(row, []).append(severity)

    def names_of(self, number: int) -> tuple[str, str, str]:
        """The category, the stereotype and the identity of a probe by its number."""
        category = list(self.names)[self._category[number]]
        names = self.names[category]
        return category, list(names.stereotypes)[self._row[number]], list(names.identities)[self._column[number]]

    @property
    def begins(self) -> NDArray[np.int64]:
        """The first cell of each category, and the number of all cells."""
        return np.cumsum([0, *(prod(names.shape) for names in self.names.values())])

    def cells(self) -> NDArray[np.int64]:
        """The cell of each probe; two probes in one cell are refused."""
        begins, widths = self.begins, np.array([names.shape[1] for names in self.names.values()])
        cells, occupied = np.empty(len(self._row), np.int64), np.zeros(begins[-1], dtype=bool)
        category, row, column = (
            np.frombuffer(part, dtype=np.uintc) for part in (self._category, self._row, self._column)
        )
        for low in range(0, len(cells), STRETCH):
            stretch = slice(low, low + STRETCH)
            cells[stretch] = begins[category[stretch]] + row[stretch] * widths[category[stretch]] + column[stretch]
            occupied[cells[stretch]] = True
        if occupied.sum() < len(cells):
            self._refuse(cells)
        return cells

    def _refuse(self, cells: NDArray[np.int64]) -> None:
        """Raise ValueError with a cell that two probes share."""
        _, firsts, counts = np.unique(cells, return_index=True, return_counts=True)
        category, stereotype, identity = self.names_of(int(firsts[counts > 1].min()))
        raise ValueError(f"two probes of category {category!r} join {identity!r} with {stereotype!r}; keep one")


@dataclass(frozen=True, slots=True)
class Placed:
    """The probes of all categories by their ids: the number of each, and the cell of each number."""

    numbers: ProbeNumbers
    cells: NDArray[np.int64]
    begins: NDArray[np.int64]
    names: Mapping[str, _Names]

    def grids(self, scores: Iterable[Score]) -> list[Grid]:
        """The grid of each category with these scores, which are read once."""
        means, unknown = np.full((self.begins[-1], 3), nan), np.zeros((self.begins[-1], 2), dtype=bool)
        for part in parts_of(scores):
            numbers = self.numbers.find(part.items if isinstance(part, ScoreColumns) else [one.item for one in part])
            own = np.flatnonzero(numbers != NONE)
            cells = self.cells[numbers[own]]
            means[cells], unknown[cells] = (values[own] for values in _values(part))
        parts = zip(self.names.items(), pairwise(self.begins), strict=True)
        filled = [_grid(name, labels, means[low:high], unknown[low:high]) for (name, labels), (low, high) in parts]
        return sorted(filled, key=lambda grid: grid.category)


def grids(probes: Iterable[Probe], scores: Iterable[Score], *, rated: bool = False) -> list[Grid]:
    """Returns the grid of each category, with scores joined by probe id; two probes in one cell are refused.

    `rated` reads the severities too.

    Probes and scores are read once and not stored as records, so that each of a million probes takes some 50 bytes.
    """
    return placed(probes, rated=rated).grids(scores)


def placed(probes: Iterable[Probe], *, rated: bool = False) -> Placed:
    """The cell of each probe, for the scores of one or several models."""
    numbers, places = ProbeNumbers(), _Places(rated)
    for block in blocks_of(probes):
        places.add(block)
        numbers.add(Probes.of(block).ids)
    cells = places.cells()
    if (again := numbers.repeated) != NONE:
        category, stereotype, identity = places.names_of(again)
        probe = f"the probe of category {category!r} that joins {identity!r} with {stereotype!r}"
        raise ValueError(f"{probe} has the id of another one; keep one")
    return Placed(numbers, cells, places.begins, places.names)


def _grid(category: str, names: _Names, means: Array, unknown: NDArray[np.bool_]) -> Grid:
    """Returns the grid of a category from its cells."""
    shaped, marks = means.reshape(*names.shape, 3), unknown.reshape(*names.shape, 2)
    severities = np.array([np.mean(names.severities.get(row, nan)) for row in range(len(names.stereotypes))])
    return Grid(category, tuple(names.stereotypes), tuple(names.identities), shaped, names.probes, severities, marks)


def _values(scores: Sequence[Score]) -> tuple[Array, NDArray[np.bool_]]:
    """Returns the means of scores as `Means`, and whether the probe, and its identity, has unknown tokens."""
    if isinstance(scores, ScoreColumns):
        unknown = np.column_stack([scores.unknown > 0, (scores.unknown > 0) & (scores.unknown_identities > 0)])
        return np.column_stack([scores.scores, scores.identities, scores.conditionals]), unknown
    marks = [(UNKNOWN in score.extra, {UNKNOWN, UNKNOWN_IDENTITY} <= score.extra.keys()) for score in scores]
    return np.array([*map(_means, scores)]).reshape(-1, 3), np.array(marks, dtype=bool).reshape(-1, 2)


def _means(score: Score) -> Means:
    """Returns the three mean log-probabilities in the score of a probe."""
    whole, identity, conditional = (
        nan if value is None or not isfinite(value) else float(value)
        for value in (score.score, score.extra.get("identity"), score.extra.get("conditional"))
    )
    return whole, identity, conditional


def log_ppl_star(
    means: Array, normalisation: Normalisation = "identity", *, log_base: float = 10, digits: int | None = None
) -> Array:
    """log PPL*, with PPL = exp(-mean log-probability); NaN if a part is unscored.

    `identity`: PPL* = PPL(i + s) / PPL(i); `conditional`: PPL(s | i); `none`: PPL(i + s). `digits` rounds the PPL of
    the probe first, as the released analysis does.
    """
    probe = means[..., 2] if normalisation == "conditional" else means[..., 0]
    if digits is not None:
        with np.errstate(divide="ignore"):
            probe = -np.log(np.round(np.exp(-probe), digits))
    divisor = -means[..., 1] if normalisation == "identity" else 0.0
    values: Array = (-probe - divisor) / log(log_base)
    return values


def variances(values: Array, ddof: int = 1) -> Array:
    """The variance over the identities of each stereotype; NaN if too few are scored."""
    enough = np.isfinite(values).sum(axis=1) > max(ddof, 1)
    spread = np.full(len(values), nan)
    spread[enough] = np.nanvar(values[enough], axis=1, ddof=ddof)
    return spread


def disparities(values: Array) -> Array:
    """DDS of each stereotype: the largest minus the smallest log PPL* of its identities; NaN for fewer than two."""
    enough = np.isfinite(values).sum(axis=1) > 1
    ranges = np.full(len(values), nan)
    ranges[enough] = np.nanmax(values[enough], axis=1) - np.nanmin(values[enough], axis=1)
    return ranges


def alike(values: Array, error: float = 0.0) -> NDArray[np.bool_]:
    """The stereotypes on which all scored identities (two or more) have the same log PPL* within this error."""
    return np.asarray(disparities(values) <= error)


def shares_of_lowest(values: Array, error: float = 0.0) -> Array:
    """For each identity, the share of stereotypes on which its log PPL* is the lowest; ties share their stereotype.

    Values that differ by at most `error` are a tie. With -values, the result is the share of the highest. Stereotypes
    with fewer than two scored identities are left out.
    """
    usable = values[np.isfinite(values).sum(axis=1) > 1]
    if not len(usable):
        return np.full(values.shape[1], nan)
    lowest = usable <= np.nanmin(usable, axis=1, keepdims=True) + error
    shares: Array = (lowest / lowest.sum(axis=1, keepdims=True)).mean(axis=0)
    return shares


def lowest_otherwise(
    identities: Sequence[str], values: Array, others: Mapping[Normalisation, Array], error: float
) -> dict[Normalisation, tuple[str, str]]:
    """The identity most often lowest and that of another normalisation, if each is significantly more often lowest."""
    shares, count = shares_of_lowest(values, error), int((np.isfinite(values).sum(axis=1) > 1).sum())
    if len(identities) < 2 or not count:
        return {}
    found, here = {}, int(np.argmax(shares))
    for way, numbers in others.items():
        other = shares_of_lowest(numbers, error)
        there = int(np.argmax(other))
        if all(
            wilson(100 * each[first], count)[0] > wilson(100 * each[second], count)[1]
            for each, first, second in ((shares, here, there), (other, there, here))
        ):
            found[way] = identities[here], identities[there]
    return found
