"""Rankings by SoFa: the ends of a ranking, the overlap of the ends of two models, and the agreement of two orders."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from math import isnan, nan
from typing import Any

from catsofa.scoring.measures.sofa import Results
from catsofa.scoring.signature import Signature
from catsofa.scoring.statistics.rank_correlation import kendall

TOP = 10


Order = Sequence[tuple[str, tuple[float, ...]]]
"""Names with the numbers for their order."""


def ends(results: Results, category: str, top: int | None = 3) -> dict[str, list[str]]:
    """Returns the first identities and stereotypes of a category at each end; all of them without `top`.

    A low DDS is a stereotype that all share. An identity that is never lowest (highest) is not at that end.
    """
    return {end: [name for name, _ in order][:top] for end, order in _orders(results, category).items()}


def _orders(results: Results, category: str) -> dict[str, Order]:
    """The names at each end of a category in order, with the rounded numbers that order them."""
    rows = [row for row in results.identities if row.category == category and not isnan(row.mean)]
    lowest = [(row.identity, (-_rounded(row.lowest), _rounded(row.mean))) for row in rows if row.lowest > 0]
    highest = [(row.identity, (-_rounded(row.highest), -_rounded(row.mean))) for row in rows if row.highest > 0]
    dds = [(name, (_rounded(value),)) for name, value in _dds(results, category).items() if not isnan(value)]
    return {
        "identities most often lowest": sorted(lowest, key=lambda entry: (entry[1], entry[0])),
        "identities most often highest": sorted(highest, key=lambda entry: (entry[1], entry[0])),
        "stereotypes with lowest DDS": dds,
        "stereotypes with highest DDS": dds[::-1],
    }


def _rounded(value: float) -> float:
    """A number without its rounding error."""
    return round(value, 9)


def overlap(one: Sequence[str], other: Sequence[str]) -> float:
    """The shared part of two lists of first entries, as a share of the longer list, so that it is 1 for equal sets."""
    longest = max(len(set(one)), len(set(other)))
    return len(set(one) & set(other)) / longest if longest else nan


def compare(models: Mapping[str, Results], top: int = TOP) -> list[dict[str, Any]]:
    """For each two models and each category: the overlap of their ends, and Kendall's tau of their whole orders."""
    names, rows = list(models), []
    for place, one in enumerate(names):
        for other in names[place + 1 :]:
            for category in models[one].categories:
                if category in models[other].categories:
                    rows.append({"models": [one, other]} | _compared(models[one], models[other], category, top))
    return rows


@dataclass(frozen=True, slots=True)
class Agreement:
    """The agreement of models on probes: one row per category and pair of models."""

    rows: Sequence[Mapping[str, Any]]
    signature: Signature
    probes: int
    """Probes that every model scored."""
    whole: int
    """All probes."""
    warnings: tuple[str, ...] = ()
    """Warnings that every reader of the numbers must see."""

    @property
    def items(self) -> int:
        """The number of compared probes."""
        return self.probes

    def to_dict(self) -> dict[str, Any]:
        """The agreement as in catsofa's JSON."""
        return {
            "agreement": [dict(row) for row in self.rows],
            "probes": self.probes,
            "coverage": self.probes / self.whole,
            "warnings": list(self.warnings),
            "signature": self.signature.to_dict(),
        }


def _compared(one: Results, other: Results, category: str, top: int) -> dict[str, Any]:
    """Returns the agreement of two models on one category."""
    first, second = _orders(one, category), _orders(other, category)
    both = {
        "identities": _scored(_means(one, category)) & _scored(_means(other, category)),
        "stereotypes": _scored(_dds(one, category)) & _scored(_dds(other, category)),
    }
    orders = {
        "identities": kendall(_means(one, category), _means(other, category)),
        "stereotypes": kendall(_dds(one, category), _dds(other, category)),
    }
    return {
        "category": category,
        "overlap": {end: _shared(first[end], second[end], both[end.partition(" ")[0]], top) for end in first},
        "kendall": {kind: {**tau.value.to_dict(), "p": tau.p, "items": tau.models} for kind, tau in orders.items()},
    }


def _shared(one: Order, other: Order, common: Set[str], top: int) -> dict[str, Any]:
    """Returns the overlap of the first entries of two orders among the names scored in both: `top`, at most half.

    More than half of all names would overlap in any two orders. Equal entries stay together: if the cut would separate
    them, fewer entries are compared. `chance` is the share of unrelated orders.
    """
    sides = [[entry for entry in order if entry[0] in common] for order in (one, other)]
    first = min(top, len(common) // 2, *map(len, sides))
    while first and any(len(side) > first and side[first - 1][1] == side[first][1] for side in sides):
        first -= 1
    share = overlap(*([name for name, _ in side[:first]] for side in sides)) if first else nan
    return {"share": share, "top": first, "items": len(common), "chance": first / len(common) if first else nan}


def _scored(values: Mapping[str, float]) -> set[str]:
    """The names that have a number."""
    return {name for name, value in values.items() if not isnan(value)}


def _means(results: Results, category: str) -> dict[str, float]:
    """The mean log PPL* of each identity of a category."""
    return {row.identity: row.mean for row in results.identities if row.category == category}


def _dds(results: Results, category: str) -> dict[str, float]:
    """The DDS of each stereotype of a category."""
    return {row.stereotype: row.dds for row in results.stereotypes if row.category == category}
