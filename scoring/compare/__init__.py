"""Compares models on the same CATs or pairs: paired changes, with p-values corrected by Holm over all of them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import isnan, nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from catsofa.data.tables import Tabular
from catsofa.scoring.choices import Average, Rule
from catsofa.scoring.measures.cat_outcomes import Outcomes, jointly
from catsofa.scoring.measures.crows_pairs import METRIC, Preferences
from catsofa.scoring.measures.crows_pairs import sanity as pair_sanity
from catsofa.scoring.measures.robustness import FLIPS, changes, decided_share, flip_rate
from catsofa.scoring.measures.stereoset import MEASURES, sanity
from catsofa.scoring.signature import Signature
from catsofa.scoring.statistics.changes import Change, paired_changes
from catsofa.scoring.statistics.holm import holm
from catsofa.scoring.statistics.intervals import RESAMPLES, Array, Interval, Seed, intervals

DECIDED = {"lms": [0], "ss": [1], "icat": [0, 1]}
"""Measure name to the columns of `Outcomes.decided` that the measure needs."""


SCORE = "score"
"""The name of the measure of pairs."""
OVERALL = "overall"
"""The name of the set of all items."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """The difference between another model and the first model in one measure."""

    model: str
    measure: str
    first: float
    other: float
    """`first` and `other` are the values of both models over the comparisons that both decide."""
    decided: float
    """Share of the items whose comparisons for this measure both models decide."""
    change: Change
    holm: float
    """The p-value corrected by Holm over all differences of this comparison."""
    set: str = OVERALL
    """The domain or the association test; `overall` for all items."""

    def row(self) -> dict[str, Any]:
        """The difference as a flat row."""
        about: dict[str, Any] = {"model": self.model, "measure": self.measure, "set": self.set}
        about |= {"first": self.first, "other": self.other}
        about["decided"] = self.decided
        return {**about, **self.change.by.row("change"), "p": self.change.p, "holm": self.holm}


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelComparison(Tabular):
    """The comparison of the first model with each other model."""

    first: str
    differences: tuple[Difference, ...]
    disagreement: Mapping[str, Interval]
    """Model to the percent of items on which its preference differs from the first model's."""
    decided: Mapping[str, float]
    """Model to the share of items on which it and the first model have a preference; a tie is no preference."""
    items: int
    coverage: float
    """Items that every model scored, as a share of all."""
    whole: int
    """The number of all items."""
    kind: str = "CATs"
    """The name of the items."""
    signature: Signature | None = None
    """The data, models, protocol and options behind the values, if they come from files."""
    warnings: tuple[str, ...] = ()
    """Warnings that every reader of the values must see."""

    def to_dict(self) -> dict[str, Any]:
        """The comparison as in catsofa's JSON."""
        return {
            "first": self.first,
            "differences": [difference.row() for difference in self.differences],
            "disagreement": {
                model: {**interval.to_dict(), "coverage": self.decided[model]}
                for model, interval in self.disagreement.items()
            },
            "kind": self.kind,
            "items": self.items,
            "coverage": self.coverage,
            "tests": sum(not isnan(difference.holm) for difference in self.differences),
            "warnings": list(self.warnings),
            **({"signature": self.signature.to_dict()} if self.signature else {}),
        }

    def rows(self) -> list[dict[str, Any]]:
        """A flat row for each difference."""
        return [difference.row() for difference in self.differences]

    def heading(self) -> str:
        """A line with the models, the number of items, and the signature."""
        text = f"the others less {self.first}, over {self.items:,} of {self.whole:,} {self.kind}"
        return f"{text} | {self.signature}" if self.signature else text


def compare(
    models: Mapping[str, Outcomes],
    *,
    rule: Rule = "pairwise",
    average: Average = "terms",
    resamples: int = RESAMPLES,
    seed: Seed = 0,
) -> ModelComparison:
    """Compare the first model with each other model, over the items that all models scored.

    `rule` must be the rule of the outcomes: it determines the lms of a random model for the warnings.
    """
    first, *rest = sides_of(models)
    whole = models[first]
    if any(not np.array_equal(whole.ids, outcomes.ids) for outcomes in models.values()):
        raise ValueError("a comparison needs every model's outcomes of the same CATs, in one order")
    shared = np.logical_and.reduce([outcomes.complete for outcomes in models.values()])
    refuse_nothing_shared(shared.sum(), len(whole), "CATs")
    parts = {name: outcomes.take(shared) for name, outcomes in models.items()}
    pairs = {name: jointly(parts[first], parts[name]) for name in rest}
    by_model = {name: changes(*sides, average=average, resamples=resamples, seed=seed) for name, sides in pairs.items()}
    family = [(name, measure) for name in rest for measure in MEASURES]
    adjusted = holm([by_model[name][measure].p for name, measure in family])
    return ModelComparison(
        first=first,
        differences=tuple(
            Difference(
                model=name,
                measure=measure,
                first=_value(pairs[name][0], measure, average),
                other=_value(pairs[name][1], measure, average),
                decided=float(pairs[name][0].decided[:, DECIDED[measure]].all(axis=1).mean()),
                change=by_model[name][measure],
                holm=p,
            )
            for (name, measure), p in zip(family, adjusted, strict=True)
        ),
        disagreement={n: flip_rate(parts[first], parts[n], resamples=resamples, seed=seed) for n in rest},
        decided={name: decided_share(parts[first], parts[name]) for name in rest},
        items=int(shared.sum()),
        coverage=float(shared.mean()),
        whole=len(shared),
        warnings=sanity.of_preferences(parts, rule, average=average, resamples=resamples, seed=seed),
    )


def joined(overall: ModelComparison, parts: Mapping[str, ModelComparison]) -> ModelComparison:
    """Join the comparison of all items with those of subsets; Holm's correction covers all their differences."""
    every = [*overall.differences, *(replace(d, set=name) for name, part in parts.items() for d in part.differences)]
    order = {model: place for place, model in enumerate(overall.disagreement)}
    every.sort(key=lambda difference: order[difference.model])  # a stable sort: the sets of a model stay in order
    adjusted = holm([difference.change.p for difference in every])
    corrected = tuple(replace(difference, holm=p) for difference, p in zip(every, adjusted, strict=True))
    return replace(overall, differences=corrected)


def _value(outcomes: Outcomes, measure: str, average: Average) -> float:
    """The value of a measure over these outcomes."""
    return float(MEASURES[measure](outcomes.columns(average).sum(axis=0)))


def compare_pairs(models: Mapping[str, Preferences], *, resamples: int = RESAMPLES, seed: Seed = 0) -> ModelComparison:
    """Compare the first model with each other, over the pairs that all scored; rows must be the same pairs."""
    first, *rest = sides_of(models)
    scored = np.logical_and.reduce([pairs.scored for pairs in models.values()])
    refuse_nothing_shared(scored.sum(), len(scored), "pairs")
    both = {name: scored & models[first].decided & models[name].decided for name in rest}
    sides = {name: (_won(models[first], both[name]), _won(models[name], both[name])) for name in rest}
    how: dict[str, Any] = {"resamples": resamples, "seed": seed}
    changes = {name: paired_changes(*sides[name], {SCORE: METRIC}, **how)[SCORE] for name in rest}
    adjusted = holm([changes[name].p for name in rest])
    shares = {name: float(both[name][scored].mean()) for name in rest}
    return ModelComparison(
        first=first,
        differences=tuple(
            Difference(
                model=name,
                measure=SCORE,
                first=_mean(sides[name][0]),
                other=_mean(sides[name][1]),
                decided=shares[name],
                change=changes[name],
                holm=p,
            )
            for name, p in zip(rest, adjusted, strict=True)
        ),
        disagreement={name: _disagreement(*sides[name], **how) for name in rest},
        decided=shares,
        items=int(scored.sum()),
        coverage=float(scored.mean()),
        whole=len(scored),
        kind="pairs",
        warnings=pair_sanity.of_pair_preferences({name: pairs.take(scored) for name, pairs in models.items()}),
    )


def _won(pairs: Preferences, rows: NDArray[np.bool_]) -> Array:
    """For each of these pairs, its contribution to the score, and 1."""
    return np.stack([pairs.won, np.ones_like(pairs.won)], axis=1)[rows]


def _mean(columns: Array) -> float:
    """The score over these pairs; NaN without pairs."""
    return float(METRIC(columns.sum(axis=0))) if len(columns) else nan


def _disagreement(columns: Array, other_columns: Array, **how: Any) -> Interval:
    """Percent of the pairs on which the preferences differ."""
    differ = np.stack([np.abs(columns[:, 0] - other_columns[:, 0]), columns[:, 1]], axis=1)
    return intervals(differ, {"differ": FLIPS}, **how)["differ"]


def sides_of(models: Mapping[str, Any]) -> list[str]:
    """The names of the models; fewer than two are refused."""
    if len(models) < 2:
        raise ValueError("a comparison needs two models or more; found one")
    return list(models)


def refuse_nothing_shared(shared: int, whole: int, kind: str) -> None:
    """Refuse to compare models that have no item in common."""
    if not shared:
        raise ValueError(f"none of the {whole:,} {kind} is scored by every model; do the ids belong to this data?")
