"""Intervals of a number: over other terms with these models, over other models with these items, and over both."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import hypot, inf, isfinite, nan, sqrt
from typing import Any

import numpy as np
from scipy import special

from catsofa.data.statistics import Array, students
from catsofa.scoring.statistics.intervals import ALIKE, Interval, wilson

FEWEST = 3
"""Models from which one can be left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """The scale on which the error of a number is alike to both sides, and the limits of the number itself."""

    to: Callable[[Any], Any]
    back: Callable[[Any], Any]
    least: float = -inf
    most: float = inf


CORRELATION = Scale(to=np.arctanh, back=np.tanh, least=-1, most=1)
SHARE = Scale(to=special.logit, back=special.expit, least=0, most=1)
COMPONENT = Scale(to=np.sqrt, back=lambda x: np.maximum(x, 0) ** 2, least=0, most=1)
"""Of shares that may be 0 in truth, which no interval on the scale of log odds holds."""
INVERSE = replace(COMPONENT, most=inf)
"""Of one over a number of items, which is 0 or less where no number is enough."""
RELIABILITY = Scale(to=lambda x: -np.log1p(-x), back=lambda x: -np.expm1(-x), least=-1, most=1)
"""Of coefficients, whose distance from 1 is a ratio of mean squares; they have no lower bound, and are cut at −1."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with its intervals; limits are NaN where nothing says how far the number might lie."""

    both: Interval
    """Over other terms and other models: the two errors added as if they were independent."""
    terms: Interval
    """Over other terms, by the bootstrap: the models stay."""
    models: Interval
    """Over other models, by the jackknife: the items stay."""
    levels: Interval | None = None
    """Over other levels of a facet, by the jackknife; None of a number without a facet."""

    @property
    def value(self) -> float:
        """The number."""
        return self.both.value

    def limits(self) -> dict[str, Any]:
        """The limits over both, and each interval by name."""
        levels = {"levels": self.levels.limits()} if self.levels else {}
        return {**self.both.limits(), "terms": self.terms.limits(), "models": self.models.limits(), **levels}


def estimate(
    value: float, draws: Array, clusters: int, without: Array, scale: Scale, levels: Array | None = None
) -> Estimate:
    """A number with the bootstrap's error over draws of clusters, and the jackknife's over models and levels left out.

    Student's t with one degree of freedom fewer than there are clusters, or models. `value`, `draws` and `without` may
    lie outside the scale, as a negative variance does: the number is then at the edge, its error that of plain numbers.
    """
    drawn, parts = draws[np.isfinite(draws)], [without, *([] if levels is None else [levels])]
    with np.errstate(invalid="ignore", divide="ignore"):
        placed = np.isfinite(scale.to(np.array([*drawn, *np.concatenate(parts), value]))).all()
    to, back = (scale.to, scale.back) if placed else (np.asarray, np.asarray)
    over_terms, jackknifed = nan, [nan] * len(parts)
    if clusters > 1 and len(drawn) > 1:
        over_terms = float(np.std(to(drawn))) * sqrt(clusters / (clusters - 1)) * students(clusters)
    for at, left_out in enumerate(parts):
        if (count := len(left_out)) >= FEWEST and np.isfinite(left_out).all():
            jackknifed[at] = float(np.std(to(left_out))) * sqrt(count - 1) * students(count)

    def around(reach: float) -> Interval:
        shown = float(np.clip(value, scale.least, scale.most))
        if not isfinite(value) or not reach > ALIKE:
            return Interval(shown, nan, nan)
        low, high = (float(np.clip(back(to(value) + side), scale.least, scale.most)) for side in (-reach, reach))
        # wholly beyond an edge, both limits would be the edge, as if the number were sure
        return Interval(shown, low, high) if low < high else Interval(shown, nan, nan)

    found = Estimate(*map(around, (hypot(over_terms, *jackknifed), over_terms, *jackknifed)))
    if scale is SHARE and value in (0, 1) and clusters > 1 and over_terms == 0:
        # no draw moves a share of none or all, which is no proof about the next term
        low, high = (limit / 100 for limit in wilson(100 * value, clusters))
        return replace(found, terms=Interval(value, low, high))
    return found
