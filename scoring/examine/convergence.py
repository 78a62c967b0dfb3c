"""Convergence: agreement between the parts of a benchmark on the order of the models."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from math import isnan, nan, sqrt
from typing import Any

import numpy as np

from catsofa.data.statistics import Array
from catsofa.scoring.examine.limits import CORRELATION, Estimate, estimate
from catsofa.scoring.examine.matrix import ItemMatrix
from catsofa.scoring.examine.order import LEAST, correlations, deviations
from catsofa.scoring.examine.variance import crossed_coefficient, term_sums
from catsofa.scoring.statistics.holm import holm
from catsofa.scoring.statistics.intervals import UNDEFINED
from catsofa.scoring.statistics.rank_correlation import Correlation, kendall

FEWEST_ITEMS = 10
"""Fewest items with which a domain counts as a part."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """Agreement of two parts on the order of the models."""

    parts: tuple[str, str]
    kendall: Correlation
    """Kendall's tau-b of the models' mean scores."""
    holm: float
    """p-value of tau, Holm-adjusted over all pairs of parts."""
    pearson: Estimate
    """Pearson's r of the same means, with the jackknife interval."""
    disattenuated: float
    """r / √(product of both reliabilities); NaN if one of them is not above 0. It may exceed 1."""
    undefined: str = ""
    """Reason why Kendall's tau is undefined; empty if tau is defined."""

    def to_dict(self) -> dict[str, Any]:
        """Returns the numbers by name."""
        tau = self.kendall
        return {
            "parts": list(self.parts),
            "kendall": tau.value.value,
            "p": tau.p,
            "holm": self.holm,
            "models": tau.models,
            "pearson": self.pearson.value,
            "disattenuated": self.disattenuated,
            "undefined": self.undefined,
            "intervals": {"kendall": tau.value.limits(), "pearson": self.pearson.models.limits()},
        }


def convergence(tasks: Mapping[str, ItemMatrix]) -> tuple[Agreement, ...]:
    """Returns the agreement of every pair of tasks, then of every pair of domains within a task."""
    families = [tasks, *({f"{task}: {d}": m for d, m in _domains(part).items()} for task, part in tasks.items())]
    pairs = [pair for parts in families for pair in _pairs(parts)]
    adjusted = holm([tau.p for _, tau, _, _ in pairs])
    return tuple(
        Agreement(parts=names, kendall=tau, holm=p, pearson=r, disattenuated=true, undefined=_undefined(tau))
        for (names, tau, r, true), p in zip(pairs, adjusted, strict=True)
    )


def _undefined(tau: Correlation) -> str:
    """Returns the reason why a rank correlation is undefined; empty if it is defined."""
    if tau.models < LEAST:
        return f"fewer than {LEAST} models"
    return "all models have one mean" if isnan(tau.value.value) else ""


def _domains(part: ItemMatrix) -> dict[str, ItemMatrix]:
    """Returns the items of each domain that has at least `FEWEST_ITEMS` items."""
    matrices = {str(domain): part.take(part.domains == domain) for domain in np.unique(part.domains)}
    return {domain: one for domain, one in matrices.items() if len(one.items) >= FEWEST_ITEMS}


def _pairs(
    parts: Mapping[str, ItemMatrix],
) -> Iterator[tuple[tuple[str, str], Correlation, Estimate, float]]:
    """Yields the names of each two parts, Kendall's tau, Pearson's r, and r corrected for unreliability."""
    means = {name: model_means(part.values) for name, part in parts.items()}
    reliable = {
        name: float(crossed_coefficient(term_sums(part.values, part.groups).sum(axis=0)))
        for name, part in parts.items()
    }
    for one, other in combinations(parts, 2):
        models = parts[one].models
        sides = np.stack([means[one], means[other]])
        tau = kendall(*(dict(zip(models, side.tolist(), strict=True)) for side in sides))
        sides = sides[:, np.isfinite(sides).all(axis=0)]
        if tau.models < LEAST:  # with three models, one order in three is the same or the reverse
            tau = Correlation(UNDEFINED, nan, tau.models)
        r = float(correlations(*sides)) if sides.shape[1] >= LEAST else nan
        left_out = np.array([float(correlations(*np.delete(sides, index, axis=1))) for index in range(sides.shape[1])])
        estimated = estimate(r, np.empty(0), 0, left_out, CORRELATION)
        both = reliable[one] * reliable[other] if min(reliable[one], reliable[other]) > 0 else nan
        yield (one, other), tau, estimated, r / sqrt(both)


def model_means(values: Array) -> Array:
    """Returns each model's mean score, adjusted for the means of the items that it scored; NaN without scores."""
    away, scored = deviations(values)
    counts = scored.sum(axis=0)
    return np.where(counts > 0, np.nanmean(values) + away.sum(axis=0) / np.maximum(counts, 1), nan)
