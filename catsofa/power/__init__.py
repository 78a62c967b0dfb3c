"""Power: the effects that a data set can detect, by a stated variance model before any run, or one fitted to runs."""

__all__ = ["PowerReport", "power"]

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isnan
from pathlib import Path
from typing import Any

from catsofa.data.files import BadInput
from catsofa.data.progress import SILENT, Progress
from catsofa.data.records import AssociationTest, Cat, Pair
from catsofa.data.statistics import LEVEL
from catsofa.data.tables import Tabular
from catsofa.power import fitted, stated
from catsofa.power.people import Judgements, judgements
from catsofa.power.simulation import POWER, RESAMPLES, SIMULATIONS, Design, Found, found
from catsofa.scoring.compare.choosing import sides_on, signature_of
from catsofa.scoring.dataset import read_named, skipped_rows
from catsofa.scoring.measures.cat_outcomes import outcomes
from catsofa.scoring.measures.crows_pairs import by_pair, preferences
from catsofa.scoring.measures.registry import called
from catsofa.scoring.protocols import Protocol, named
from catsofa.scoring.run.cautions import of_runs
from catsofa.scoring.run.manifest import CHOICES
from catsofa.scoring.run.origins import data_of, precision_of, refuse_other_data, refuse_other_ways, scored_by
from catsofa.scoring.run.score_files import cats_on, given_in, rephrased
from catsofa.scoring.signature import Signature

FITTED = "fitted to the runs: their clusters, drawn with replacement"
THIN = 8
"""Number of clusters of a fitted set below which a warning appears."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PowerReport(Tabular):
    """The effects that a data set can detect."""

    sets: Sequence[Found]
    model: str
    """The variance model, in words."""
    signature: Signature
    people: Judgements | None = None
    asked: float | None = None
    """The requested effect (`effect`), in the unit of each test."""
    warnings: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Returns the numbers for JSON."""
        return {
            "level": LEVEL,
            "power": POWER,
            "simulations": SIMULATIONS,
            "asked": self.asked,
            "model": self.model,
            "sets": [one.to_dict() for one in self.sets],
            "people": self.people.to_dict() if self.people else None,
            "warnings": list(self.warnings),
            "signature": self.signature.to_dict(),
        }

    def rows(self) -> list[dict[str, Any]]:
        """Returns a flat row for each test of each set."""
        return [
            {
                "test": one.design.test,
                "task": one.design.task,
                "domain": one.design.domain,
                "items": one.design.items,
                "clusters": one.design.clusters,
                "effect": one.effect,
                **one.power.row("power"),
            }
            for one in self.sets
        ]

    def heading(self) -> str:
        """Returns the variance model and the signature."""
        return f"variance model: {self.model} | {self.signature}"


def power(
    on: Path | str,
    *,
    predictions: Path | None = None,
    against: Path | None = None,
    paraphrase: Path | None = None,
    effect: float | None = None,
    accuracy: float | None = None,
    protocol: str = "catsofa",
    seed: int | None = None,
    progress: Progress = SILENT,
) -> PowerReport:
    """Returns the smallest effect that each set of a data set detects with a power of 80 % at a level of 5 %.

    `predictions` is a run, or a file of scores, to which the variance model is fitted. For changes, add a second run in
    `against`, or a run on paraphrases in `paraphrase`. `effect` adds the power at this effect and the number of items
    that it needs. `accuracy` adds the number of judgements that people of this accuracy need. Runs scored by another
    `protocol` are refused.
    """
    if predictions is None and (against or paraphrase):
        raise ValueError("--against and --paraphrase need --predictions: a change is between two runs")
    if against and paraphrase:
        raise ValueError("found --against and --paraphrase; expected one of them: both name the second run")
    name, records = read_named(on)
    chosen = named(protocol, seed=seed)
    files = [path for path in (predictions, against or paraphrase) if path is not None]
    if predictions is not None and (predictions / CHOICES).is_file():
        if paraphrase:
            raise ValueError("found --paraphrase with a run of choose; expected --against, another run of choose")
        data, sides = sides_on(files, on)
        how = {"resamples": RESAMPLES, "seed": chosen.seed}
        signature = signature_of(data.name, sides, len(sides[0].replies), how)
        designs, model, cautions = list(fitted.of_choices(sides)), FITTED, list[str]()
    else:
        dtype = precision_of(files)
        signature = chosen.signature(name, " ".join(map(scored_by, files)), dtype=dtype, resamples=RESAMPLES)
        designs, model = _designs(records, Path(on), files, bool(paraphrase), chosen)
        cautions = list(of_runs(files))
    if not designs:
        raise BadInput(on, "no set with two decided items or more", "data, or runs, whose items can be compared")
    notes = [
        f"{one.test}, {one.domain}: the variance rests on {one.clusters} {one.called} of the runs, and is hardly known"
        for one in designs
        if files and one.clusters < THIN
    ]
    done: dict[tuple[str, int], Found] = {}
    sets = list[Found]()
    for one in progress.each(designs):
        # association tests with equal numbers of targets share one design
        key = (one.test, one.clusters) if one.unit == "d" and not files else (one.test, len(sets) * -1 - 1)
        done[key] = replace(done[key], design=one) if key in done else found(one, effect, seed=chosen.seed)
        sets.append(done[key])
    notes += [
        f"{one.design.test}, {one.design.domain}: no effect can be named, since {one.design.called} do not vary"
        for one in sets
        if isnan(one.power.value)
    ]
    return PowerReport(
        sets=sets,
        model=model,
        signature=signature,
        asked=effect,
        people=judgements(accuracy, len(records), seed=chosen.seed) if accuracy is not None else None,
        warnings=(*skipped_rows(on), *notes, *cautions),
    )


def _designs(
    records: Sequence[Any], data_path: Path, files: Sequence[Path], paraphrased: bool, protocol: Protocol
) -> tuple[list[Design], str]:
    """Returns the tests of these records, and their variance model in words."""
    kind, average = type(records[0]), protocol.stereoset.average
    if not files:
        if kind is Cat:
            return list(stated.cats_designs(records, average)), stated.CATS
        if kind is Pair:
            return list(stated.pairs_designs(records)), stated.PAIRS
        if kind is AssociationTest:
            return list(stated.seat_designs(records)), stated.TARGETS
        raise BadInput(
            data_path, called(kind),
            "CATs, CrowS-Pairs or association tests, which have a variance model before any run; of "
            "other data give two pilot runs: --predictions RUN --against RUN"
        )  # fmt: skip
    for path in files[: 1 if paraphrased else 2]:
        refuse_other_data(path, data_path, records)
    if kind in (Cat, Pair):
        for path in files:
            refuse_other_ways(path, protocol)
    if paraphrased:
        if kind is not Cat:
            raise BadInput(data_path, called(kind), "CATs: flips are those of their preferences")
        rephrasing = rephrased(records, files[0], list(cats_on(data_of(files[1]))), files[1], protocol)
        sides = [rephrasing.before, rephrasing.after]
        both = [*fitted.of_flips(records, *sides), *fitted.of_cats(records, sides, average)]
        return both, FITTED
    if kind in (Cat, Pair):
        score_sets = [given_in(path) for path in files]
        if kind is Cat:
            outcome_sets = [outcomes(records, one.numbers(), ties=protocol.ties, error=one.error) for one in score_sets]
            return list(fitted.of_cats(records, outcome_sets, average)), FITTED
        how: dict[str, Any] = {"ties": protocol.ties, "rounding": protocol.crows_pairs.rounding}
        pairs = [preferences(records, by_pair(one.scores), **how, error=one.error) for one in score_sets]
        return list(fitted.of_pairs(pairs)), FITTED
    if len(files) < 2:
        raise BadInput(
            files[0], f"one run on {called(kind)}", "a second run with --against: what is tested there is the change "
            "between two models"
        )  # fmt: skip
    return list(fitted.of_runs(files[0], files[1], data_path)), FITTED
