"""Robustness of one or more models to one or more rephrasings, as one report."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import combinations
from math import isnan
from typing import Any

import numpy as np

from catsofa.data.tables import Tabular
from catsofa.scoring.choices import Average
from catsofa.scoring.measures.cat_outcomes import Outcomes
from catsofa.scoring.measures.robustness import Comparison
from catsofa.scoring.measures.stereoset import ICAT, sanity
from catsofa.scoring.protocols import Protocol
from catsofa.scoring.signature import Signature, joint_subset
from catsofa.scoring.statistics.holm import holm
from catsofa.scoring.statistics.intervals import (
    RESAMPLES,
    UNDEFINED,
    Array,
    Interval,
    Seed,
    limits,
    resampled_sums,
)  # fmt: skip
from catsofa.scoring.statistics.rank_correlation import LEAST


@dataclass(frozen=True, slots=True, kw_only=True)
class RankStability:
    """The order of models on originals and on paraphrases, by one measure, the highest first."""

    measure: str
    original: tuple[str, ...]
    paraphrase: tuple[str, ...]
    kendall: Interval
    """Kendall's tau between the two orders, its limits over target terms; undefined for two models."""
    same_first: float
    """Share of the resamples of terms in which both orders have the same first model."""
    swaps: tuple[tuple[str, str], ...]
    """Pairs of models whose order changes."""

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
    observed = _values(columns.sum(axis=0)[None], len(names))
    resampled = _values(resampled_sums(columns, RESAMPLES, seed), len(names))
    first = resampled.argmax(axis=2)
    signs = np.sign(_gaps(observed))[0]
    pairs = list(combinations(names, 2))
    return RankStability(
        measure=ICAT.name,
        original=_order(names, observed[0, 0]),
        paraphrase=_order(names, observed[0, 1]),
        kendall=_limited(_kendall(observed), _kendall(resampled), len(columns)) if len(names) >= LEAST else UNDEFINED,
        same_first=float(np.mean(first[:, 0] == first[:, 1])) if len(first) else float("nan"),
        swaps=tuple(pair for pair, one, other in zip(pairs, *signs, strict=True) if one * other < 0),
    )


def _together(outcomes: list[Outcomes], average: Average) -> Array:
    """The columns of several models side by side; their items must be the same."""
    if any(not np.array_equal(outcomes[0].ids, other.ids) for other in outcomes):
        raise ValueError("ranks need every model scored on the same items; join them by id first")
    return np.concatenate([one.columns(average) for one in outcomes], axis=1)


def _values(sums: Array, models: int) -> Array:
    """Rows of sums to the icat of each model on each side: (rows, sides, models)."""
    return ICAT(sums.reshape(len(sums), 2, models, -1))


def _gaps(values: Array) -> Array:
    """Returns the difference of the values for each pair of models."""
    one, other = np.triu_indices(values.shape[-1], k=1)
    return values[..., one] - values[..., other]


def _limited(value: Array, tau: Array, clusters: int) -> Interval:
    """Kendall's tau with its limits, which are at most 1 from 0."""
    low, high = limits(value, tau, clusters)
    return Interval(float(value[0]), float(np.maximum(low[0], -1)), float(np.minimum(high[0], 1)))


def _kendall(values: Array) -> Array:
    """Kendall's tau-a between the two sides of each row: the mean over pairs of 1 (same order) or −1 (reversed).

    scipy has only tau-b and tau-c, and does not accept rows of resamples.
    """
    signs = np.sign(_gaps(values))
    return np.asarray((signs[:, 0] * signs[:, 1]).mean(axis=-1))


def _order(names: list[str], values: Array) -> tuple[str, ...]:
    """The names by value, the highest first."""
    return tuple(names[k] for k in np.argsort(-values, kind="stable"))


SAME = "original and paraphrase have the same scores, so that nothing can change and no preference flip"


@dataclass(frozen=True, slots=True)
class Compared:
    """A comparison with the names of both sides."""

    original: str
    paraphrase: str
    rephrasing: int
    """Number of the rephrasing; models with the same paraphrases have the same number."""
    comparison: Comparison
    data: tuple[str, str] = ("", "")
    """The names of the originals and of the paraphrases."""

    @property
    def title(self) -> str:
        """The model and the two data sets; two score files, which name no model, by their own names."""
        if self.original != self.paraphrase:
            return f"{self.original} → {self.paraphrase}"
        return f"{self.original}: {' → '.join(filter(None, dict.fromkeys(self.data)))}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RobustnessReport(Tabular):
    """Comparisons, Holm's p over all their changes, and the ranks if several models are compared."""

    compared: Sequence[Compared]
    holm: Sequence[dict[str, float]]
    """For each comparison, measure to adjusted p."""
    ranks: Sequence[RankStability]
    signature: Signature
    warnings: tuple[str, ...] = ()
    """Warnings that every reader of the numbers must see."""

    def to_dict(self) -> dict[str, Any]:
        """The report as in catsofa's JSON."""
        comparisons = []
        for one, adjusted in zip(self.compared, self.holm, strict=True):
            names = {"original_scores": one.original, "paraphrase_scores": one.paraphrase}
            names |= {"original_data": one.data[0], "paraphrase_data": one.data[1]}
            row = {**names, "rephrasing": one.rephrasing, **one.comparison.to_dict()}
            row["change"] = {name: {**change, "holm": adjusted[name]} for name, change in row["change"].items()}
            comparisons.append(row)
        ranks = {"ranks": [rank.to_dict() for rank in self.ranks]} if self.ranks else {}
        tests = sum(not isnan(p) for adjusted in self.holm for p in adjusted.values())
        report = {"protocol": self.signature.protocol, "comparisons": comparisons, "tests": tests}
        return {**report, **ranks, "warnings": list(self.warnings), "signature": self.signature.to_dict()}

    def rows(self) -> list[dict[str, Any]]:
        """A flat row for each comparison and measure."""
        rows = []
        for one, adjusted in zip(self.compared, self.holm, strict=True):
            names = {"original_scores": one.original, "paraphrase_scores": one.paraphrase}
            for row in one.comparison.rows():
                holm_p = {"holm": adjusted[row["measure"]]} if row["measure"] in adjusted else {}
                rows.append({**names, **row, **holm_p})
        return rows

    def heading(self) -> str:
        """The signature."""
        return str(self.signature)


def robustness_report(
    compared: Sequence[Compared], protocol: Protocol, *, data: str, dtype: str = "", subsets: Iterable[str] = ()
) -> RobustnessReport:
    """Returns the report of these comparisons; all their changes are one family of tests.

    `subsets` contains the label of the scored records for each run.
    """
    changes = [(number, name) for number, one in enumerate(compared) for name in one.comparison.changes]
    adjusted = holm([compared[number].comparison.changes[name].p for number, name in changes])
    family: list[dict[str, float]] = [{} for _ in compared]
    for (number, name), p in zip(changes, adjusted, strict=True):
        family[number][name] = p
    rephrasings = sorted({one.rephrasing for one in compared})
    ranks = [_ranks([one for one in compared if one.rephrasing == number], protocol) for number in rephrasings]
    names = " ".join(dict.fromkeys(name for one in compared for name in (one.original, one.paraphrase)))
    subset = joint_subset(subsets, [one.comparison.items for one in compared])
    return RobustnessReport(
        compared=compared,
        holm=family,
        ranks=[rank for rank in ranks if rank],
        signature=protocol.signature(data, names, subset=subset, dtype=dtype, resamples=RESAMPLES),
        warnings=(
            *(f"{one.title}: {SAME}" for one in compared if one.comparison.same),
            *sanity.of_preferences(
                {
                    name: outcomes
                    for one in compared
                    for name, outcomes in (
                        (one.original, one.comparison.before),
                        (one.paraphrase, one.comparison.after),
                    )
                },
                protocol.stereoset.rule,
                average=protocol.stereoset.average,
                seed=protocol.seed,
            ),
        ),
    )


def _ranks(compared: Sequence[Compared], protocol: Protocol) -> RankStability | None:
    """The ranks of models with the same paraphrases, over the items that all of them scored."""
    if len(compared) < 2:
        return None
    shared = reduce(np.intersect1d, [one.comparison.before.ids for one in compared])
    models = {}
    for one in compared:
        rows = np.isin(one.comparison.before.ids, shared)
        models[one.original] = (one.comparison.before.take(rows), one.comparison.after.take(rows))
    return rank_stability(models, average=protocol.stereoset.average, seed=protocol.seed)
