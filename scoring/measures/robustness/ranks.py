"""Ranks of models: whether they stand when the items are rephrased, and how sure the data are of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from catsofa.scoring.measures.cat_outcomes import Outcomes
from catsofa.scoring.measures.stereoset import ICAT
from catsofa.scoring.protocols import Average
from catsofa.scoring.statistics.intervals import RESAMPLES, Array, Interval, Seed, limits, resampled_sums


@dataclass(frozen=True, slots=True, kw_only=True)
class RankStability:
    """The order of models on originals and on paraphrases, by one measure, the highest first."""

    measure: str
    original: tuple[str, ...]
    paraphrase: tuple[str, ...]
    kendall: Interval
    """Kendall's tau between the two orders, its limits over target terms."""
    same_first: float
    """Share of the resamples of terms in which both orders have the same first model."""
    swaps: tuple[tuple[str, str], ...]
    """Pairs of models that change places."""

    def to_dict(self) -> dict[str, Any]:
        """The orders and their agreement by name."""
        orders = {"original": list(self.original), "paraphrase": list(self.paraphrase)}
        swaps = [list(pair) for pair in self.swaps]
        return {
            "measure": self.measure,
            **orders,
            "kendall": self.kendall.to_dict(),
            "same_first": self.same_first,
            "swaps": swaps,
        }


def rank_stability(
    models: Mapping[str, tuple[Outcomes, Outcomes]],
    *,
    average: Average = "terms",
    seed: Seed = 0,
) -> RankStability:
    """Compare the order of models on originals with that on paraphrases; all outcomes are of the same items."""
    if len(models) < 2:
        raise ValueError(f"ranks need two models or more; found {len(models)}")
    names = list(models)
    before, after = (_together([models[name][side] for name in names], average) for side in (0, 1))
    if len(before) != len(after):
        raise ValueError("originals and paraphrases must be about the same target terms")
    columns = np.concatenate([before, after], axis=1)
    here = _values(columns.sum(axis=0)[None], len(names))
    there = _values(resampled_sums(columns, RESAMPLES, seed), len(names))
    value, tau = _kendall(here), _kendall(there)
    low, high = limits(value, tau, len(columns))
    first = there.argmax(axis=2)
    signs = np.sign(_gaps(here))[0]
    pairs = list(combinations(names, 2))
    return RankStability(
        measure=ICAT.name,
        original=_order(names, here[0, 0]),
        paraphrase=_order(names, here[0, 1]),
        kendall=Interval(float(value[0]), float(np.maximum(low[0], -1)), float(np.minimum(high[0], 1))),
        same_first=float(np.mean(first[:, 0] == first[:, 1])) if len(first) else float("nan"),
        swaps=tuple(pair for pair, one, other in zip(pairs, *signs, strict=True) if one * other < 0),
    )


def _together(of: list[Outcomes], average: Average) -> Array:
    """The columns of several models side by side; their items must be the same."""
    if any(not np.array_equal(of[0].ids, other.ids) for other in of):
        raise ValueError("ranks need every model scored on the same items; join them by id first")
    return np.concatenate([one.columns(average) for one in of], axis=1)


def _values(sums: Array, models: int) -> Array:
    """Rows of sums to the icat of each model on each side: (rows, sides, models)."""
    return ICAT(sums.reshape(len(sums), 2, models, -1))


def _gaps(values: Array) -> Array:
    """For each pair of models, the one's value less the other's."""
    one, other = np.triu_indices(values.shape[-1], k=1)
    return values[..., one] - values[..., other]


def _kendall(values: Array) -> Array:
    """Kendall's tau-a between the two sides of each row: the mean over pairs of 1 (same order) or −1 (reversed).

    scipy has tau-b and tau-c, and takes no rows of resamples.
    """
    signs = np.sign(_gaps(values))
    return np.asarray((signs[:, 0] * signs[:, 1]).mean(axis=-1))


def _order(names: list[str], values: Array) -> tuple[str, ...]:
    """The names by value, the highest first."""
    return tuple(names[k] for k in np.argsort(-values, kind="stable"))
