"""Models against one another on the same CATs, or the same pairs: paired changes, with Holm's p over all of them."""

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
"""Measure to the columns of `Outcomes.decided` that it needs."""


SCORE = "score"
"""The measure of pairs."""
OVERALL = "overall"
"""The set of all items."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """What another model has of a measure more or less than the first."""

    model: str
    measure: str
    first: float
    other: float
    """Both models' values over the comparisons that both decide."""
    decided: float
    """Share of the items whose comparisons of this measure both models decide."""
    change: Change
    holm: float
    """p, corrected for every difference that is looked at here."""
    set: str = OVERALL
    """The domain or the association test; `overall` of all items."""

    def row(self) -> dict[str, Any]:
        """The difference as a flat row."""
        about: dict[str, Any] = {"model": self.model, "measure": self.measure, "set": self.set}
        about |= {"first": self.first, "other": self.other}
        about["decided"] = self.decided
        return {**about, **self.change.by.row("change"), "p": self.change.p, "holm": self.holm}


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelComparison(Tabular):
    """The first model against each other one."""

    first: str
    differences: tuple[Difference, ...]
    disagreement: Mapping[str, Interval]
    """Percent of items on which another model's preference is not the first's."""
    decided: Mapping[str, float]
    """Share of the items on which both have a preference: a tie is none."""
    items: int
    coverage: float
    """Items that every model scored, as a share of all."""
    whole: int
    """All items."""
    kind: str = "CATs"
    """What the items are."""
    signature: Signature | None = None
    """What the numbers are numbers of, where they come from files."""
    warnings: tuple[str, ...] = ()
    """Sentences that every reader of the numbers must see."""

    def to_dict(self) -> dict[str, Any]:
        """The comparison as it stands in our JSON."""
        return {
            "first": self.first,
            "differences": [difference.row() for difference in self.differences],
            "disagreement": {
                model: {**found.to_dict(), "coverage": self.decided[model]}
                for model, found in self.disagreement.items()
            },
            "kind": self.kind,
            "items": self.items,
            "coverage": self.coverage,
            "tests": sum(not isnan(difference.holm) for difference in self.differences),
            "warnings": list(self.warnings),
            **({"signature": self.signature.to_dict()} if self.signature else {}),
        }

    def rows(self) -> list[dict[str, Any]]:
        """A flat row for each other model and measure."""
        return [difference.row() for difference in self.differences]

    def heading(self) -> str:
        """What is compared with what, and the signature."""
        what = f"the others less {self.first}, over {self.items:,} of {self.whole:,} {self.kind}"
        return f"{what} | {self.signature}" if self.signature else what


def compare(
    models: Mapping[str, Outcomes],
    *,
    rule: Rule = "pairwise",
    average: Average = "terms",
    resamples: int = RESAMPLES,
    seed: Seed = 0,
) -> ModelComparison:
    """The first model against each other one, over the items that all of them scored.

    `rule` is that by which the outcomes were made: it says at which lms a model may score at random.
    """
    first, *others = sides_of(models)
    whole = models[first]
    if any(not np.array_equal(whole.ids, of.ids) for of in models.values()):
        raise ValueError("a comparison needs every model's outcomes of the same CATs, in one order")
    shared = np.logical_and.reduce([of.complete for of in models.values()])
    refuse_nothing_shared(shared.sum(), len(whole), "CATs")
    parts = {name: of.take(shared) for name, of in models.items()}
    pairs = {name: jointly(parts[first], parts[name]) for name in others}
    found = {name: changes(*sides, average=average, resamples=resamples, seed=seed) for name, sides in pairs.items()}
    family = [(name, measure) for name in others for measure in MEASURES]
    adjusted = holm([found[name][measure].p for name, measure in family])
    return ModelComparison(
        first=first,
        differences=tuple(
            Difference(
                model=name,
                measure=measure,
                first=_value(pairs[name][0], measure, average),
                other=_value(pairs[name][1], measure, average),
                decided=float(pairs[name][0].decided[:, DECIDED[measure]].all(axis=1).mean()),
                change=found[name][measure],
                holm=p,
            )
            for (name, measure), p in zip(family, adjusted, strict=True)
        ),
        disagreement={n: flip_rate(parts[first], parts[n], resamples=resamples, seed=seed) for n in others},
        decided={name: decided_share(parts[first], parts[name]) for name in others},
        items=int(shared.sum()),
        coverage=float(shared.mean()),
        whole=len(shared),
        warnings=sanity.of_preferences(parts, rule, average=average, resamples=resamples, seed=seed),
    )


def joined(overall: ModelComparison, parts: Mapping[str, ModelComparison]) -> ModelComparison:
    """The comparison of all items with those of some sets of them; p is corrected over all of their differences."""
    every = [*overall.differences, *(replace(d, set=name) for name, of in parts.items() for d in of.differences)]
    order = {model: at for at, model in enumerate(overall.disagreement)}
    every.sort(key=lambda difference: order[difference.model])  # a stable sort: the sets of a model stay in order
    adjusted = holm([difference.change.p for difference in every])
    found = tuple(replace(difference, holm=p) for difference, p in zip(every, adjusted, strict=True))
    return replace(overall, differences=found)


def _value(of: Outcomes, measure: str, average: Average) -> float:
    """A measure of outcomes."""
    return float(MEASURES[measure](of.columns(average).sum(axis=0)))


def compare_pairs(models: Mapping[str, Preferences], *, resamples: int = RESAMPLES, seed: Seed = 0) -> ModelComparison:
    """The first model against each other one, over the pairs that all of them scored; rows are the same pairs."""
    first, *others = sides_of(models)
    scored = np.logical_and.reduce([of.scored for of in models.values()])
    refuse_nothing_shared(scored.sum(), len(scored), "pairs")
    both = {name: scored & models[first].decided & models[name].decided for name in others}
    sides = {name: (_won(models[first], both[name]), _won(models[name], both[name])) for name in others}
    how: dict[str, Any] = {"resamples": resamples, "seed": seed}
    changes = {name: paired_changes(*sides[name], {SCORE: METRIC}, **how)[SCORE] for name in others}
    adjusted = holm([changes[name].p for name in others])
    shares = {name: float(both[name][scored].mean()) for name in others}
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
            for name, p in zip(others, adjusted, strict=True)
        ),
        disagreement={name: _disagreement(*sides[name], **how) for name in others},
        decided=shares,
        items=int(scored.sum()),
        coverage=float(scored.mean()),
        whole=len(scored),
        kind="pairs",
        warnings=pair_sanity.of_pair_preferences({name: of.take(scored) for name, of in models.items()}),
    )


def _won(of: Preferences, rows: NDArray[np.bool_]) -> Array:
    """For each of these pairs what it adds to the score, and 1."""
    return np.stack([of.won, np.ones_like(of.won)], axis=1)[rows]


def _mean(columns: Array) -> float:
    """The score of these pairs; NaN of none."""
    return float(METRIC(columns.sum(axis=0))) if len(columns) else nan


def _disagreement(columns: Array, others: Array, **how: Any) -> Interval:
    """Percent of the pairs on which the preferences differ."""
    differ = np.stack([np.abs(columns[:, 0] - others[:, 0]), columns[:, 1]], axis=1)
    return intervals(differ, {"differ": FLIPS}, **how)["differ"]


def sides_of(models: Mapping[str, Any]) -> list[str]:
    """The models, of which there are at least two."""
    if len(models) < 2:
        raise ValueError("a comparison needs two models or more; found one")
    return list(models)


def refuse_nothing_shared(shared: int, whole: int, kind: str) -> None:
    """Refuse to compare models that have no item in common."""
    if not shared:
        raise ValueError(f"none of the {whole:,} {kind} is scored by every model; do the ids belong to this data?")
