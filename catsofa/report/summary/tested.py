"""Tests of every two models of a section, on the items that both decide."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, takewhile
from typing import Any, get_args

from catsofa.data.visible import without_folders
from catsofa.gate import kinds
from catsofa.planning.testing import Scored
from catsofa.report.inputs import Finished, NotThere, protocol
from catsofa.report.summary.pairs import Pair
from catsofa.scoring.compare import DECIDED
from catsofa.scoring.measures.cat_outcomes import jointly
from catsofa.scoring.measures.sofa.options import Normalisation
from catsofa.scoring.measures.stereoset import MEASURES, NEEDS
from catsofa.scoring.protocols import Protocol
from catsofa.scoring.statistics.changes import paired_tests
from catsofa.scoring.statistics.holm import holm
from catsofa.scoring.statistics.intervals import RESAMPLES, Array, Measure
from catsofa.scoring.statistics.margins import nearness


def scored_runs(kind: str, runs: Sequence[Finished]) -> tuple[list[Scored], str]:
    """Returns the runs of several models with their scores and common data; an empty list and the reason if not."""
    if len(runs) < 2 or kind not in kinds.MODULES or kind == "seat":
        return [], ""
    try:
        first = Scored.read(runs[0])
        return [first, *(_beside(first, run) for run in runs[1:])], ""
    except NotThere as error:
        return [], without_folders(str(error))


def _beside(first: Scored, run: Finished) -> Scored:
    """Returns the scores of another run on the same records; raises NotThere if the run has no scores of items."""
    if not run.kept:
        raise NotThere(f"{run.folder} holds no score of single items; give the folder of `catsofa score --out`")
    return replace(first, run=run, protocol=protocol(run), given=run.scores)


def pairs_of(scored: Sequence[Scored], chosen: Protocol) -> dict[str, dict[tuple[str, str], Pair]]:
    """Returns for each measure the paired test of every two models by this protocol, before Holm's correction."""
    kind = scored[0].run.kind
    if kind == "stereoset":
        outcomes: list[Any] = [one.cats for one in scored]
    else:
        outcomes = [one.outcomes(chosen) for one in scored]
    records = scored[0].items.by_id
    by_measure: dict[str, dict[tuple[str, str], Pair]] = {}
    for (one, first), (other, second) in combinations(zip(scored, outcomes, strict=True), 2):
        if kind == "stereoset":
            sides = _of_cats(first, second, chosen.stereoset.average)
        else:
            tests = kinds.module_of(kind).tests(records, second, first, chosen, chosen.seed)
            sides = (
                (test.name, test.measure, test.before, test.after, test.decided)
                for test in takewhile(lambda test: test.set == kinds.OVERALL, tests)
                if not test.undefined
            )
        for name, measure, before, after, decided in sides:
            both = {"moved": measure, "nearer": nearness(measure)}
            tested = paired_tests(before, after, both, resamples=RESAMPLES, seed=chosen.seed)
            less, lead = (
                float(statistic(after.sum(axis=0)) - statistic(before.sum(axis=0))) for statistic in both.values()
            )
            by_measure.setdefault(name, {})[one.run.model, other.run.model] = Pair(
                difference=less,
                decided=decided,
                apart=tested["moved"].p(0.0),
                nearer=tested["nearer"].p(0.0),
                lead=lead,
            )
    return by_measure


Side = tuple[str, Measure, Array, Array, float]


def _of_cats(first: Any, second: Any, average: Any) -> Iterator[Side]:
    """Yields lms, ss and icat over the comparisons that both decide; the second model is before the first."""
    scored = first.complete & second.complete
    if not scored.any():
        return
    sides = jointly(second.take(scored), first.take(scored))
    before, after = (side.columns(average) for side in sides)
    for name, measure in MEASURES.items():
        rows = ((before + after)[:, NEEDS[name]] > 0).any(axis=1)
        decided = sides[0].decided[:, DECIDED[name]].all(axis=1).sum() / len(scored)
        if rows.any():
            yield name, measure, before[rows], after[rows], float(decided)


def corrected(pairs: Mapping[tuple[str, str], Pair]) -> dict[tuple[str, str], Pair]:
    """Returns the pairs with p after Holm's correction over all of them."""
    apart, nearer = (holm([getattr(pair, field) for pair in pairs.values()]) for field in ("apart", "nearer"))
    return {
        key: replace(pair, apart=p, nearer=q) for (key, pair), p, q in zip(pairs.items(), apart, nearer, strict=True)
    }


def by_normalisation(scored: Sequence[Scored]) -> dict[Normalisation, dict[tuple[str, str], Pair]]:
    """Returns the tests of every two models on SoFa under each other normalisation, after Holm's correction."""
    chosen = scored[0].protocol.sofa
    every = {}
    for way in get_args(Normalisation):
        if way != chosen.normalisation:
            other = replace(scored[0].protocol, sofa=replace(chosen, normalisation=way))
            every[way] = corrected(pairs_of(scored, other).get("sofa", {}))
    return every
