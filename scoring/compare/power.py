"""Power: the smallest effect that a set of CATs can find, before any model is run and after."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import nan, sqrt
from typing import Any

import numpy as np
from scipy import special

from catsofa.data.records import Cat
from catsofa.data.statistics import LEVEL
from catsofa.scoring.measures.cat_outcomes import Outcomes, jointly
from catsofa.scoring.measures.stereoset import NEEDS, SS
from catsofa.scoring.statistics.intervals import paired_error, standard_error

POWER = 0.8
HALF = 50.0
"""The most that ss can differ from 50, in points."""
WHOLE = 100.0
"""The most that ss can change, in points."""
BETWEEN = 5.0
"""Points by which the ss of target terms differ in truth: the median over the ten released models on StereoSet dev."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Detectable:
    """An effect that a set finds with this power at this level, two-sided."""

    effect: float
    """In points of the measure; NaN where it is more than any effect can be."""
    error: float
    """The standard error behind it."""
    terms: int
    items: int
    level: float
    power: float
    impossible: bool = False
    """Whether the set finds no effect that can be: what it would need is larger than the measure reaches."""

    def to_dict(self) -> dict[str, Any]:
        """The numbers by name."""
        return {name: getattr(self, name) for name in self.__slots__}


def detectable(
    error: float, terms: int, items: int, *, most: float = HALF, level: float = LEVEL, power: float = POWER
) -> Detectable:
    """(t at the level's upper tail + t at the power) · standard error, with terms − 1 degrees of freedom.

    An effect above `most`, the largest that can be, is undefined.
    """
    free = terms - 1
    reach = special.stdtrit(free, (1 + level) / 2) + special.stdtrit(free, power) if free > 0 else nan
    effect = float(reach) * error
    impossible = effect > most
    return Detectable(
        effect=nan if impossible else effect,
        error=error,
        terms=terms,
        items=items,
        level=level,
        power=power,
        impossible=impossible,
    )


def planned(items: Sequence[int], *, between: float = BETWEEN, share: float = 50.0, **options: float) -> Detectable:
    """What terms with so many items each will find of a percentage near `share`, averaged over terms.

    The variance of a term is that between terms, `between`², and share · (100 − share) / n within it.
    """
    if not items:
        raise ValueError("no target term to plan with")
    variance = np.mean([between**2 + share * (100 - share) / n for n in items]) / len(items)
    return detectable(sqrt(float(variance)), len(items), sum(items), **options)


def planned_for(cats: Iterable[Cat], **options: float) -> Detectable:
    """What these CATs will find of ss against 50."""
    targets = [cat.target for cat in cats]
    _, counts = np.unique(targets, return_counts=True)
    return planned([int(count) for count in counts], **options)


def found(of: Outcomes, **options: float) -> Detectable:
    """What these outcomes could have found of ss against a fixed value."""
    columns = of.columns("terms")
    columns = columns[(columns[:, NEEDS[SS.name]] > 0).any(axis=1)]
    error = standard_error(columns, SS) if len(columns) else nan
    return detectable(error, len(columns), len(of), **options)


def found_change(before: Outcomes, after: Outcomes, **options: float) -> Detectable:
    """What these outcomes of the same items could have found of a change of ss, over comparisons that both decide."""
    before, after = jointly(before, after)
    columns, others = before.columns("terms"), after.columns("terms")
    kept = (columns[:, NEEDS[SS.name]] > 0).any(axis=1)
    columns, others = columns[kept], others[kept]
    error = paired_error(columns, others, SS) if len(columns) else nan
    return detectable(error, len(columns), len(before), most=WHOLE, **options)
