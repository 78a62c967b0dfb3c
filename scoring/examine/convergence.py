"""Whether the parts of a benchmark put the models in one order."""

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
"""Items from which a domain is a part."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """How far two parts agree on the order of the models."""

    parts: tuple[str, str]
    kendall: Correlation
    """Kendall's tau-b of the models' mean scores."""
    holm: float
    """Its p, corrected for every pair of parts."""
    pearson: Estimate
    """Pearson's r of the same means, with the jackknife's interval."""
    disattenuated: float
    """r over the root of both parts' reliabilities; NaN where one of them is not above 0. It may exceed 1."""
    undefined: str = ""
    """Why there is no correlation; empty if there is one."""

    def to_dict(self) -> dict[str, Any]:
        """The numbers by name."""
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
    """Every pair of tasks, then every pair of domains within a task."""
    families = [tasks, *({f"{task}: {d}": m for d, m in _domains(part).items()} for task, part in tasks.items())]
    pairs = [pair for parts in families for pair in _pairs(parts)]
    adjusted = holm([tau.p for _, tau, _, _ in pairs])
    return tuple(
        Agreement(parts=names, kendall=tau, holm=p, pearson=r, disattenuated=true, undefined=_undefined(tau))
        for (names, tau, r, true), p in zip(pairs, adjusted, strict=True)
    )


def _undefined(tau: Correlation) -> str:
    """Why a rank correlation has no value; empty if it has one."""
    if tau.models < LEAST:
        return f"fewer than {LEAST} models"
    return "all models have one mean" if isnan(tau.value.value) else ""


def _domains(part: ItemMatrix) -> dict[str, ItemMatrix]:
    """The items of each domain that has enough of them."""
    found = {str(domain): part.take(part.domains == domain) for domain in np.unique(part.domains)}
    return {domain: one for domain, one in found.items() if len(one.items) >= FEWEST_ITEMS}


def _pairs(
    parts: Mapping[str, ItemMatrix],
) -> Iterator[tuple[tuple[str, str], Correlation, Estimate, float]]:
    """What each two parts have in common."""
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
        if tau.models < LEAST:  # of three, one order in three is the same or the reverse
            tau = Correlation(UNDEFINED, nan, tau.models)
        r = float(correlations(*sides)) if sides.shape[1] >= LEAST else nan
        left_out = np.array([float(correlations(*np.delete(sides, at, axis=1))) for at in range(sides.shape[1])])
        found = estimate(r, np.empty(0), 0, left_out, CORRELATION)
        both = reliable[one] * reliable[other] if min(reliable[one], reliable[other]) > 0 else nan
        yield (one, other), tau, found, r / sqrt(both)


def model_means(values: Array) -> Array:
    """Each model's mean score, set beside the others on the items that it scored; NaN for none."""
    away, scored = deviations(values)
    counts = scored.sum(axis=0)
    return np.where(counts > 0, np.nanmean(values) + away.sum(axis=0) / np.maximum(counts, 1), nan)
