"""Items that a group of models answers otherwise than the other models of the same rest score."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf, isfinite, nan
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from catsofa.data.statistics import Array
from catsofa.scoring.examine.order import deviations
from catsofa.scoring.statistics.holm import holm

PER_STRATUM, MOST = 6, 8
"""Models in a stratum of alike rest scores, and strata at most."""
NAMED = 0.05
"""Holm's p up to which an item is named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemDifference:
    """An item that a group answers otherwise."""

    item: str
    odds: float
    """Mantel's and Haenszel's odds ratio: above 1 the group prefers the stereotype more often."""
    p: float
    holm: float
    """p, corrected for every item that was tested."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupDifference:
    """How far a group of models answers single items otherwise."""

    inside: int
    outside: int
    tested: int
    """Items on which the models of one stratum or more differ."""
    items: tuple[ItemDifference, ...] = ()
    """Items with Holm's p up to 0.05, the smallest first."""
    refused: str = ""
    """Why nothing is named; empty if items were tested."""

    def to_dict(self) -> dict[str, Any]:
        """The numbers by name."""
        return {
            "group": self.inside,
            "others": self.outside,
            "tested": self.tested,
            "items": [
                {"item": one.item, "odds": one.odds if isfinite(one.odds) else None, "p": one.p, "holm": one.holm}
                for one in self.items
            ],
            "refused": self.refused or None,
        }


def group_difference(
    values: Array, items: Sequence[str], inside: NDArray[np.bool_], refused: str = ""
) -> GroupDifference:
    """The items of which the exact Mantel–Haenszel test says that the group answers them otherwise.

    Models are compared within strata of the mean over all other items. A tie (½) is no answer. `refused` says why the
    values are no answers at all.
    """
    if refused:
        return GroupDifference(inside=int(inside.sum()), outside=int((~inside).sum()), tested=0, refused=refused)
    away, scored = deviations(values)
    rest = (away.sum(axis=0) - away) / np.maximum(scored.sum(axis=0) - scored, 1)
    strata = int(np.clip(values.shape[1] // PER_STRATUM, 1, MOST))
    edges = np.quantile(rest, np.arange(1, strata) / strata, axis=1).T
    place = (rest[:, :, None] > edges[:, None, :]).sum(axis=2)
    answered = np.isfinite(values) & (values != 0.5)
    found = []
    for name, row, at, known in zip(items, values > 0.5, place, answered, strict=True):
        table = np.zeros((strata, 2, 2), dtype=np.int64)
        np.add.at(table, (at[known], inside[known].astype(int), row[known].astype(int)), 1)
        p, least = exact(table)
        if least < 1:
            found.append((name, odds_ratio(table), p, least))
    plain = GroupDifference(inside=int(inside.sum()), outside=int((~inside).sum()), tested=len(found))
    least = min((one[3] for one in found), default=nan)
    if not least * len(found) <= NAMED:
        reason = f"too few models for {len(found):,} items: the least p that Holm can give is above {NAMED}"
        return replace(plain, refused=reason)
    adjusted = holm([p for _, _, p, _ in found])
    named = [
        ItemDifference(item=name, odds=odds, p=p, holm=above)
        for (name, odds, p, _), above in zip(found, adjusted, strict=True)
        if above <= NAMED
    ]
    return replace(plain, items=tuple(sorted(named, key=lambda one: one.p)))


def exact(table: NDArray[np.int64]) -> tuple[float, float]:
    """The two-sided p of strata × (others, group) × (no, yes) given all margins, and the least that it could be."""
    chances, first = np.ones(1), 0
    for others, group in table.tolist():
        size, rest, yes = sum(group), sum(others), others[1] + group[1]
        support = np.arange(max(0, yes - rest), min(size, yes) + 1)
        ways = special.comb(size, support) * special.comb(rest, yes - support)
        chances, first = np.convolve(chances, ways / ways.sum()), first + int(support[0])
    seen = chances[int(table[:, 1, 1].sum()) - first]
    p, least = (float(chances[chances <= limit * (1 + 1e-9)].sum()) for limit in (seen, chances.min()))
    return min(p, 1.0), min(least, 1.0)


def odds_ratio(table: NDArray[np.int64]) -> float:
    """Mantel's and Haenszel's odds ratio of the group over the others; infinite where nothing speaks against it."""
    size = np.maximum(table.sum(axis=(1, 2)), 1)
    with_it = float((table[:, 1, 1] * table[:, 0, 0] / size).sum())
    against = float((table[:, 1, 0] * table[:, 0, 1] / size).sum())
    return with_it / against if against else inf if with_it else nan
