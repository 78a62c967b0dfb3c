"""Intervals of a number: over terms with fixed models, over models with fixed items, and over both."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import hypot, inf, isfinite, nan, sqrt
from typing import Any

import numpy as np
from scipy import special

from catsofa.data.statistics import Array, students
from catsofa.scoring.statistics.intervals import ALIKE, Interval, wilson

FEWEST = 3
"""Fewest models, or levels of a facet, for a jackknife."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """A transformation to a scale on which the error is symmetric, and the range of the number itself."""

    to: Callable[[Any], Any]
    back: Callable[[Any], Any]
    least: float = -inf
    most: float = inf


CORRELATION = Scale(to=np.arctanh, back=np.tanh, least=-1, most=1)
SHARE = Scale(to=special.logit, back=special.expit, least=0, most=1)
COMPONENT = Scale(to=np.sqrt, back=lambda x: np.maximum(x, 0) ** 2, least=0, most=1)
"""Scale of shares that may truly be 0, which an interval on the log-odds scale cannot contain."""
INVERSE = replace(COMPONENT, most=inf)
"""Scale of 1 / number of items; a value of 0 or less means that no number of items is enough."""
RELIABILITY = Scale(to=lambda x: -np.log1p(-x), back=lambda x: -np.expm1(-x), least=-1, most=1)
"""Scale of coefficients whose distance from 1 is a ratio of mean squares; they are unbounded below and cut at −1."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with its intervals; limits are NaN where the error is unknown."""

    both: Interval
    """Over terms, models and levels together; the errors are combined as if they were independent."""
    terms: Interval
    """Over other terms, by the bootstrap; the models are fixed."""
    models: Interval
    """Over other models, by the jackknife; the items are fixed."""
    levels: Interval | None = None
    """Over other levels of a facet, by the jackknife; None for a number without a facet."""

    @property
    def value(self) -> float:
        """The number itself."""
        return self.both.value

    def limits(self) -> dict[str, Any]:
        """Returns the combined limits, and each interval by name."""
        levels = {"levels": self.levels.limits()} if self.levels else {}
        return {**self.both.limits(), "terms": self.terms.limits(), "models": self.models.limits(), **levels}


def estimate(
    value: float, draws: Array, clusters: int, without: Array, scale: Scale, levels: Array | None = None
) -> Estimate:
    """Returns a number with its bootstrap error over clusters and its jackknife errors over models and levels.

    Intervals use Student's t with one degree of freedom fewer than the number of clusters, models or levels. `value`,
    `draws` and `without` may lie outside the scale, as a negative variance does. The number is then cut at the edge,
    and its error is computed without the transformation.
    """
    drawn, parts = draws[np.isfinite(draws)], [without, *([] if levels is None else [levels])]
    with np.errstate(invalid="ignore", divide="ignore"):
        placed = np.isfinite(scale.to(np.array([*drawn, *np.concatenate(parts), value]))).all()
    to, back = (scale.to, scale.back) if placed else (np.asarray, np.asarray)
    over_terms, jackknifed = nan, [nan] * len(parts)
    if clusters > 1 and len(drawn) > 1:
        over_terms = float(np.std(to(drawn))) * sqrt(clusters / (clusters - 1)) * students(clusters)
    for index, left_out in enumerate(parts):
        if (count := len(left_out)) >= FEWEST and np.isfinite(left_out).all():
            jackknifed[index] = float(np.std(to(left_out))) * sqrt(count - 1) * students(count)

    def around(reach: float) -> Interval:
        shown = float(np.clip(value, scale.least, scale.most))
        if not isfinite(value) or not reach > ALIKE:
            return Interval(shown, nan, nan)
        low, high = (float(np.clip(back(to(value) + side), scale.least, scale.most)) for side in (-reach, reach))
        # beyond an edge both limits would equal the edge, as if the number were certain
        return Interval(shown, low, high) if low < high else Interval(shown, nan, nan)

    result = Estimate(*map(around, (hypot(over_terms, *jackknifed), over_terms, *jackknifed)))
    if scale is SHARE and value in (0, 1) and clusters > 1 and over_terms == 0:
        # no resample changes a share of 0 or 1, which proves nothing about the next term
        low, high = (limit / 100 for limit in wilson(100 * value, clusters))
        return replace(result, terms=Interval(value, low, high))
    return result
