"""SoFa's grid: for each category, a row for each stereotype, a column for each identity, a probe in each cell."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import isfinite, log, nan

import numpy as np
from numpy.typing import NDArray

from catsofa.data.records import Probe, Score
from catsofa.scoring.protocols import Normalisation

Array = NDArray[np.float64]
Means = tuple[float, float, float]
"""Mean log-probabilities: of a probe, of its identity alone, of its tokens after the identity; NaN if unscored."""
UNSCORED: Means = (nan, nan, nan)


@dataclass(frozen=True, slots=True)
class Grid:
    """The probes of one category; an identity of the same name in another category is another column."""

    category: str
    stereotypes: tuple[str, ...]
    identities: tuple[str, ...]
    means: Array
    """(stereotype, identity, one of `Means`)."""
    probes: int
    """Cells that hold a probe, scored or not."""


def grids(probes: Iterable[Probe], scores: Iterable[Score]) -> list[Grid]:
    """The grid of each category, its scores joined by the probes' ids; two probes in one cell are refused."""
    known = {score.item: _means(score) for score in scores}
    cells: dict[str, dict[tuple[str, str], Means]] = {}
    for probe in probes:
        category = cells.setdefault(probe.category, {})
        place = (probe.stereotype, probe.identity)
        if place in category:
            raise ValueError(
                f"two probes of category {probe.category!r} join {probe.identity!r} with {probe.stereotype!r}; keep one"
            )
        category[place] = known.get(probe.id, UNSCORED)
    return [_grid(name, cells[name]) for name in sorted(cells)]


def _means(score: Score) -> Means:
    """What the score of a probe holds."""
    whole, identity, conditional = (
        nan if value is None or not isfinite(value) else float(value)
        for value in (score.score, score.extra.get("identity"), score.extra.get("conditional"))
    )
    return whole, identity, conditional


def _grid(category: str, cells: Mapping[tuple[str, str], Means]) -> Grid:
    """The cells of a category as an array, stereotypes and identities in the order they came."""
    rows = {stereotype: at for at, stereotype in enumerate(dict.fromkeys(stereotype for stereotype, _ in cells))}
    columns = {identity: at for at, identity in enumerate(dict.fromkeys(identity for _, identity in cells))}
    means = np.full((len(rows), len(columns), 3), nan)
    for (stereotype, identity), found in cells.items():
        means[rows[stereotype], columns[identity]] = found
    return Grid(category, tuple(rows), tuple(columns), means, len(cells))


def log_ppl_star(
    means: Array, normalisation: Normalisation = "identity", *, log_base: float = 10, digits: int | None = None
) -> Array:
    """log PPL*, where PPL = exp(-mean log-probability); NaN where a part of it is unscored.

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
    """The variance over the identities of each stereotype; NaN where fewer are scored than it needs."""
    enough = np.isfinite(values).sum(axis=1) > max(ddof, 1)
    found = np.full(len(values), nan)
    found[enough] = np.nanvar(values[enough], axis=1, ddof=ddof)
    return found


def disparities(values: Array) -> Array:
    """DDS of each stereotype: the largest log PPL* of its identities less the smallest; NaN of fewer than two."""
    enough = np.isfinite(values).sum(axis=1) > 1
    found = np.full(len(values), nan)
    found[enough] = np.nanmax(values[enough], axis=1) - np.nanmin(values[enough], axis=1)
    return found


def shares_of_lowest(values: Array) -> Array:
    """For each identity, the share of stereotypes on which its log PPL* is the lowest; ties share their stereotype.

    With -values it is the share of highest ones. Stereotypes with fewer than two scored identities are left out.
    """
    usable = values[np.isfinite(values).sum(axis=1) > 1]
    if not len(usable):
        return np.full(values.shape[1], nan)
    lowest = usable == np.nanmin(usable, axis=1, keepdims=True)
    shares: Array = (lowest / lowest.sum(axis=1, keepdims=True)).mean(axis=0)
    return shares
