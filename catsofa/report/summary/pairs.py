"""The comparison of two models on one measure, and sentences about several comparisons."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan

from catsofa.data.statistics import ALPHA
from catsofa.scoring.statistics.holm import holm

FEW = 4
"""The maximum number of names, or of pairs of names, in a sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two models on one measure: the difference, and both p after Holm's correction over all pairs of the measure."""

    difference: float
    """The first model's value less the second's, over the items that both decide."""
    decided: float
    """The share of the items that both decide."""
    apart: float
    """p of equal values."""
    nearer: float
    """p of equal distances from the ideal value."""
    lead: float
    """The second model's distance from the ideal value less the first's."""

    @property
    def told_apart(self) -> bool:
        """True if the two values differ significantly."""
        return self.apart <= ALPHA

    @property
    def verdict(self) -> int:
        """1 or -1 if the first model's value is significantly higher or lower than the second's, else 0."""
        return (1 if self.difference > 0 else -1) if self.told_apart else 0


def corrected(pairs: Mapping[tuple[str, str], Pair]) -> dict[tuple[str, str], Pair]:
    """Returns the pairs with p after Holm's correction over all of them."""
    apart, nearer = (holm([getattr(pair, field) for pair in pairs.values()]) for field in ("apart", "nearer"))
    return {
        key: replace(pair, apart=p, nearer=q) for (key, pair), p, q in zip(pairs.items(), apart, nearer, strict=True)
    }


def listed(names: Sequence[str]) -> str:
    """Returns the names as `A, B and C`."""
    return " and ".join([*([", ".join(names[:-1])] if names[1:] else []), names[-1]])


def of_groups(groups: Sequence[Sequence[str]]) -> str:
    """Returns groups of models as `A and B; C, D and E`."""
    return "; ".join(listed(group) for group in groups)


def changed(pairs: Mapping[tuple[str, str], Pair], others: Mapping[tuple[str, str], Pair]) -> str:
    """Returns the pairs of models with another verdict in `others`, as a part of a sentence; empty without any."""
    by_change: dict[str, list[tuple[str, str]]] = {}
    for key, other in others.items():
        pair = pairs.get(key)
        if pair and not isnan(pair.apart + other.apart) and pair.verdict != other.verdict:
            how = "is reversed" if pair.verdict * other.verdict else "is shown" if other.verdict else "is not shown"
            by_change.setdefault(how, []).append(key)
    parts = [
        f"the difference between {of_groups(models)} {how}"
        if len(models) <= FEW
        else f"the difference {how} for {len(models)} pairs of models"
        for how, models in by_change.items()
    ]
    return listed(parts) if parts else ""
