"""Differential item functioning: items that a group answers unlike other models with the same rest score."""

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
"""Models in a stratum of similar rest scores, and the largest number of strata."""
NAMED = 0.05
"""Largest Holm-adjusted p-value at which an item is named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemDifference:
    """An item that a group of models answers differently."""

    item: str
    odds: float
    """Mantel–Haenszel odds ratio; above 1 the group prefers the stereotype more often."""
    p: float
    holm: float
    """p-value, Holm-adjusted over all tested items."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupDifference:
    """Items that a group of models answers differently from the other models."""

    inside: int
    outside: int
    tested: int
    """Items with a stratum in which both sides answer and the models differ."""
    items: tuple[ItemDifference, ...] = ()
    """Items with a Holm-adjusted p-value of at most 0.05, smallest first."""
    refused: str = ""
    """Reason why no item can be named; empty if the items were tested."""

    def to_dict(self) -> dict[str, Any]:
        """Returns the numbers by name."""
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
    """Returns the items that the group answers differently, by the exact Mantel–Haenszel test.

    Models are compared within strata of the mean over all other items. A tie (½) is not an answer. A non-empty
    `refused` gives the reason why the values are not answers, and skips the test.
    """
    if refused:
        return GroupDifference(inside=int(inside.sum()), outside=int((~inside).sum()), tested=0, refused=refused)
    away, scored = deviations(values)
    rest = (away.sum(axis=0) - away) / np.maximum(scored.sum(axis=0) - scored, 1)
    strata = int(np.clip(values.shape[1] // PER_STRATUM, 1, MOST))
    edges = np.quantile(rest, np.arange(1, strata) / strata, axis=1).T
    place = (rest[:, :, None] > edges[:, None, :]).sum(axis=2)
    answered = np.isfinite(values) & (values != 0.5)
    tests = []
    for name, row, stratum, valid in zip(items, values > 0.5, place, answered, strict=True):
        table = np.zeros((strata, 2, 2), dtype=np.int64)
        np.add.at(table, (stratum[valid], inside[valid].astype(int), row[valid].astype(int)), 1)
        p, least = exact(table)
        if least < 1:
            tests.append((name, odds_ratio(table), p, least))
    plain = GroupDifference(inside=int(inside.sum()), outside=int((~inside).sum()), tested=len(tests))
    least = min((one[3] for one in tests), default=nan)
    if not least * len(tests) <= NAMED:
        reason = f"too few models for {len(tests):,} items: the least p that Holm can give is above {NAMED}"
        return replace(plain, refused=reason)
    adjusted = holm([p for _, _, p, _ in tests])
    named = [
        ItemDifference(item=name, odds=odds, p=p, holm=above)
        for (name, odds, p, _), above in zip(tests, adjusted, strict=True)
        if above <= NAMED
    ]
    return replace(plain, items=tuple(sorted(named, key=lambda one: one.p)))


def exact(table: NDArray[np.int64]) -> tuple[float, float]:
    """Returns the two-sided p-value of strata × (others, group) × (no, yes) given all margins, and its least value."""
    chances, first = np.ones(1), 0
    for others, group in table.tolist():
        size, rest, yes = sum(group), sum(others), others[1] + group[1]
        support = np.arange(max(0, yes - rest), min(size, yes) + 1)
        ways = special.comb(size, support) * special.comb(rest, yes - support)
        chances, first = np.convolve(chances, ways / ways.sum()), first + int(support[0])
    observed = chances[int(table[:, 1, 1].sum()) - first]
    p, least = (float(chances[chances <= limit * (1 + 1e-9)].sum()) for limit in (observed, chances.min()))
    return min(p, 1.0), min(least, 1.0)


def odds_ratio(table: NDArray[np.int64]) -> float:
    """Returns the Mantel–Haenszel odds ratio of the group over the others; infinite or NaN if its divisor is 0."""
    size = np.maximum(table.sum(axis=(1, 2)), 1)
    with_it = float((table[:, 1, 1] * table[:, 0, 0] / size).sum())
    against = float((table[:, 1, 0] * table[:, 0, 1] / size).sum())
    return with_it / against if against else inf if with_it else nan
