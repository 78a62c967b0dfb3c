"""Probes: the variance of log PPL* over the identities of each stereotype."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from catsofa.data.records import Probe
from catsofa.gate import kinds
from catsofa.gate.kinds import Paired
from catsofa.scoring.measures.registry import Given
from catsofa.scoring.measures.sofa.grid import Grid, grids, log_ppl_star, variances
from catsofa.scoring.protocols import Protocol
from catsofa.scoring.statistics.intervals import Array, Measure

FEW, TAIL, APART = 8, 0.8, 1.5
"""Limits for a caution. `FEW`: with fewer stereotypes in a category a verdict may be wrong. `TAIL`: from this
standard deviation of log variances on, a few stereotypes determine the score. `APART`: factor by which it must
exceed the other run's, since the caution is for a tail in one run only."""


def of_run(probes: Sequence[Probe], score_set: Given, protocol: Protocol) -> kinds.Outcomes:
    """Returns the variance of each stereotype by category, and a checksum of the identities behind it."""
    return of_grids(grids(probes, score_set.scores), protocol)


def of_grids(every: Iterable[Grid], protocol: Protocol) -> kinds.Outcomes:
    """Returns the same as `of_run`, from scores by category, stereotype and identity."""
    how, by_category = protocol.sofa, {}
    for grid in every:
        starred = log_ppl_star(grid.means, how.normalisation, log_base=how.log_base, digits=how.ppl_digits)
        order = np.argsort(np.array(grid.stereotypes))
        by_name = np.isfinite(starred)[order][:, np.argsort(np.array(grid.identities))]
        scored = [crc32(np.packbits(row).tobytes()) % 10**9 for row in by_name]
        spread = variances(starred, how.ddof)[order]
        by_category[grid.category] = {"variances": kinds.written(spread), "identities": kinds.written(scored)}
    return by_category


def tests(
    probes: Sequence[Probe], before: kinds.Outcomes, after: kinds.Outcomes, protocol: Protocol, seed: int
) -> Iterator[Paired]:
    """Yields the SoFa score, overall and by category, over stereotypes with the same scored identities in both runs.

    A stereotype in several categories is one cluster of the overall score, since its variances change together.
    """
    stereotypes: dict[str, set[str]] = {}
    for probe in probes:
        stereotypes.setdefault(probe.category, set()).add(probe.stereotype)
    parts = {name: _sides(before[name], after[name]) for name in sorted(stereotypes)}
    rows = [(name, len(parts[name][0])) for name in parts]
    for name in [kinds.OVERALL, *(parts if len(parts) > 1 else ())]:
        some = parts if name == kinds.OVERALL else {name: parts[name]}
        sides = [_columns([sides[index] for sides in some.values()]) for index in (0, 1)]
        whole = sum(count for category, count in rows if category in some)
        shared = np.asarray(~np.isnan(sides[0]).any(axis=1))
        names = np.array([text for category in some for text in sorted(stereotypes[category])])[shared]
        earlier, later = (side[shared] for side in sides)
        width = len(some)
        values = [side[:, :width].sum(axis=1) for side in (earlier, later)]
        missing = not len(earlier) or not earlier[:, width:].sum(axis=0).all()
        cautions = [_caution(*parts[category]) for category in some] if not np.array_equal(earlier, later) else []
        yield Paired(
            name="sofa", set=name, measure=_mean(width, float(max(map(np.max, values))) if len(earlier) else 1.0),
            before=_by_stereotype(earlier, names), after=_by_stereotype(later, names),
            items=len(earlier), decided=len(earlier) / whole,
            each=partial(kinds.moved, names, *values),
            known=all(np.isfinite(kinds.numbers_in(before[category]["variances"])).any() for category in some),
            caution=next(filter(None, cautions), ""),
            undefined="a category has no stereotype with the same scored identities in both runs" if missing else "",
        )  # fmt: skip


def _by_stereotype(columns: Array, names: NDArray[np.str_]) -> Array:
    """Returns the sums of the rows of each stereotype; the rows themselves if no name occurs twice."""
    distinct, places = np.unique(names, return_inverse=True)
    if len(distinct) == len(names):
        return columns
    sums = np.zeros((len(distinct), columns.shape[1]))
    np.add.at(sums, places, columns)
    return sums


def _sides(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[Array, Array]:
    """Returns the variances of both runs; NaN where the identities differ."""
    one, other = (kinds.numbers_in(held["variances"]) for held in (before, after))
    alike = kinds.numbers_in(before["identities"]) == kinds.numbers_in(after["identities"])
    shared = alike & np.isfinite(one) & np.isfinite(other)
    return np.where(shared, one, np.nan), np.where(shared, other, np.nan)


def _caution(before: Array, after: Array) -> str:
    """Returns why a verdict on the variances of a category may be wrong; empty without such a reason."""
    sides = [side[np.isfinite(side)] for side in (before, after)]
    if len(sides[0]) < FEW:
        return f"{len(sides[0])} stereotypes in a category; below {FEW}, over 15 % of verdicts may be wrong"
    logs = [np.log(side[side > 0]) for side in sides]
    low, high = sorted(float(values.std(ddof=1)) if len(values) > 1 else 0.0 for values in logs)
    if high >= max(TAIL, APART * low):
        return "a few stereotypes make the score of one run alone; over 15 % of such verdicts may be wrong"
    return ""


def _columns(parts: Sequence[Array]) -> Array:
    """Returns a row for each stereotype: its variance in the column of its category, and 1 in its count column."""
    columns = np.zeros((sum(map(len, parts)), 2 * len(parts)))
    start = 0
    for place, part in enumerate(parts):
        columns[start : start + len(part), place] = part
        columns[start : start + len(part), len(parts) + place] = 1
        start += len(part)
    return columns


def _mean(width: int, most: float) -> Measure:
    """Returns the measure that is the mean over categories of the mean variance of their stereotypes."""

    def pieces(sums: Array) -> Array:
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray((sums[..., :width] / sums[..., width:]).mean(axis=-1))[..., None]

    return Measure(name="sofa", pieces=pieces, ideal=0, least=0, most=most)
