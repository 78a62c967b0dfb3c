"""The results of models on each measure: values, differences from chance and between models, and the best model."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations, takewhile
from math import nan
from typing import Any

import numpy as np

from catsofa.data.files import BadInput
from catsofa.data.processes import in_processes
from catsofa.data.statistics import ALPHA
from catsofa.data.visible import without_folders
from catsofa.gate import kinds
from catsofa.gate.kinds import associations
from catsofa.planning.testing import Scored
from catsofa.report.cells import limited, valued
from catsofa.report.elements import Number
from catsofa.report.inputs import Finished, NotThere, protocol, records
from catsofa.report.summary import Shown, Standing, choices
from catsofa.report.summary.bases import of_models
from catsofa.report.summary.chance import at_95, beyond
from catsofa.report.summary.pairs import Pair, corrected
from catsofa.scoring.compare import DECIDED
from catsofa.scoring.measures.cat_outcomes import jointly
from catsofa.scoring.measures.sofa.options import FORMULAS
from catsofa.scoring.measures.stereoset import MEASURES, NEEDS
from catsofa.scoring.protocols import Protocol
from catsofa.scoring.run.cautions import is_masked, of_masked
from catsofa.scoring.signature import distinctions, without_hashes
from catsofa.scoring.statistics.changes import paired_tests
from catsofa.scoring.statistics.holm import holm
from catsofa.scoring.statistics.intervals import RESAMPLES, Array, Limits, Measure
from catsofa.scoring.statistics.margins import nearness

Group = tuple[str, Sequence[Finished]]
MOST = 20
"""The maximum number of models whose pairs are tested; with more, 10,000 resamples allow no p that is small enough."""
MOST_TESTS = 250
"""The maximum number of association tests over all pairs of models, for the same reason."""


def standings(groups: Sequence[Group]) -> list[list[Standing]]:
    """Returns for each group the standings of the numbers in the summary."""
    works = [(*group, about) for group, about in zip(groups, abouts(groups), strict=True)]
    # choices take the longest, so that no process waits for them at the end
    order = sorted(range(len(works)), key=lambda number: works[number][0] != "choices")
    done = dict(zip(order, in_processes(_group, [works[number] for number in order]), strict=True))
    return [done[number] for number in range(len(works))]


def _group(group: tuple[str, Sequence[Finished], str]) -> list[Standing]:
    """Returns the standings of one group, from its kind, its runs and what sets it apart."""
    kind, runs, about = group
    return [_associations(runs, about)] if kind == "seat" else list(_standings(kind, runs, about))


def abouts(groups: Sequence[Group]) -> list[str]:
    """Returns the distinction of each group from others of its kind: data, subset, protocol, way, then the rest."""
    parts = [
        (
            kind,
            (
                without_hashes(signature.data),
                without_hashes(signature.subset),
                f"protocol {signature.protocol}",
                signature.way,
            ),
        )
        for kind, signature in ((kind, runs[0].signature) for kind, runs in groups)
    ]
    texts = list[str]()
    rest = distinctions(parts, [runs[0].signature for _, runs in groups])
    for (kind, own), more in zip(parts, rest, strict=True):
        alike = [part for other, part in parts if other == kind]
        differ = [name for index, name in enumerate(own) if name and len({part[index] for part in alike}) > 1]
        texts.append(", ".join([*differ, *filter(None, [more])]))
    return texts


def _standings(kind: str, runs: Sequence[Finished], about: str) -> Iterator[Standing]:
    """Yields the standing of each number of a group's measure."""
    bases = of_models(kind, {run.model: run.report["results"] for run in runs})
    limits_of, pairs, untested, other_ways = _tests(kind, runs)
    if len(runs) > MOST:
        untested = f"pairs of more than {MOST} models are not tested"
    for shown in SHOWN.get(kind, ()):
        numbers = {run.model: shown.value(run.report["results"]) for run in runs}
        values = {model: number for model, number in numbers.items() if number.value is not None}
        limits: dict[str, Limits] | None = None
        if shown.above and len(runs) == 1:
            limits = {model: at_95(number) for model, number in values.items()}
        elif shown.above and limits_of and shown.registered:
            limits = {model: limit for model, limit in limits_of(shown.registered).items() if model in values}
        cautions = of_masked({run.model: run.manifest for run in runs}) if kind == "crows_pairs" else ()
        masked = {run.model for run in runs if cautions and is_masked(run.manifest)}
        yield Standing(
            kind=kind,
            about=about,
            of=shown,
            values=values,
            sides=None if limits is None else beyond(limits, shown.ideal),
            pairs=corrected(
                {
                    (one, other): pair
                    for (one, other), pair in pairs.get(shown.registered, {}).items()
                    if {one, other} <= {*values} and (one in masked) == (other in masked)
                }
            ),
            coverage={
                run.model: share for run in runs if (share := _coverage(run.report["results"], shown)) is not None
            },
            bases=bases,
            missing=tuple(model for model in numbers if model not in values),
            untested=untested if len(values) > 1 else "",
            warned=_warned(runs),
            cautions=tuple(f"{why}, which are not tested against each other" for why in cautions),
            other_ways=other_ways,
        )


Pairs = dict[tuple[str, str], Pair]


def _tests(
    kind: str, runs: Sequence[Finished]
) -> tuple[Callable[[str], dict[str, Limits]] | None, dict[str, Pairs], str, dict[str, Pairs]]:
    """Returns a function from a measure to each model's limits, the tests of all pairs, and why tests are missing.

    The function is None if there are no limits. Last come the tests of SoFa by each other normalisation.
    """
    if kind == "choices":
        limits, couples, untested = choices.of_choices(runs)
        return (
            (lambda _: limits) if limits else None,
            {choices.PREFERENCE: couples if len(runs) <= MOST else {}},
            untested,
            {},
        )
    scored, untested = _scored(kind, runs)
    few = 1 < len(scored) <= MOST
    pairs = _pairs(scored, scored[0].protocol) if few else {}
    other_ways = _by_normalisation(scored) if few and kind == "sofa" else {}

    def limits_of(measure: str) -> dict[str, Limits]:
        return {one.run.model: one.limits(measure, kinds.OVERALL) for one in scored}

    return limits_of if scored else None, pairs, untested, other_ways


def _coverage(results: Any, shown: Shown) -> float | None:
    """Returns the share of the items behind a number; None if it was not counted."""
    whole = results.get("overall", results)
    share = whole.get(f"{shown.name}_coverage", whole.get("coverage"))
    return share if isinstance(share, float | int) else None


def _associations(runs: Sequence[Finished], about: str) -> Standing:
    """Counts the association tests of each model with d > 0, by Holm's correction over all tests of all models."""
    rows = [(run.model, row["p_value"]) for run in runs for row in run.report["results"]]
    shown, tests = Counter[str](), Counter(model for model, p in rows if p is not None)
    for (model, _), p in zip(rows, holm([nan if p is None else p for _, p in rows]), strict=True):
        shown[model] += p <= ALPHA
    values = {model: Number(shown[model], digits=0, mark=f" of {total}") for model, total in tests.items()}
    missing, (differing, untested) = tuple(model for model in dict(rows) if model not in values), _differing(runs)
    return Standing(
        kind="seat", about=about, of=ASSOCIATIONS, values=values, missing=missing, tests=differing,
        untested=untested, warned=_warned(runs),
    )  # fmt: skip


def _warned(runs: Sequence[Finished]) -> frozenset[str]:
    """Returns the models whose results have a warning."""
    return frozenset(run.model for run in runs if run.report.get("warnings"))


def _differing(runs: Sequence[Finished]) -> tuple[dict[tuple[str, str], tuple[int, int]], str]:
    """Returns for every two encoders how many association tests differ and how many were made, or why none was made.

    Holm's correction is over all tests of all pairs.
    """
    if len(runs) < 2:
        return {}, ""
    tests = [row["test"] for row in runs[0].report["results"]]
    couples = list(combinations(runs, 2))
    if len(tests) * len(couples) > MOST_TESTS:
        return {}, f"{len(tests):,} association tests of {len(couples):,} pairs of models are too many to correct for"
    held = {run.model: associations.of_run(run.report["results"]) for run in runs}
    if not all(held.values()):
        return {}, "a run has no associations of single targets"
    try:
        test_records = list(records(runs[0]))
    except (BadInput, NotThere) as error:
        return {}, without_folders(str(error))
    p: dict[tuple[str, str], list[float]] = {}
    for one, other in couples:
        every = associations.tests(test_records, held[other.model], held[one.model], protocol(one), 0)
        p[one.model, other.model] = [
            paired_tests(test.before, test.after, {"d": test.measure}, resamples=RESAMPLES)["d"].p(0.0)
            for test in every
            if not test.undefined
        ]
    return counted(p), ""


def counted(p: Mapping[tuple[str, str], Sequence[float]]) -> dict[tuple[str, str], tuple[int, int]]:
    """Returns the numbers of significant and of all tests of each pair, with Holm's correction over all of them."""
    adjusted = iter(holm([value for values in p.values() for value in values]))
    shown = {key: [next(adjusted) <= ALPHA for _ in values] for key, values in p.items()}
    return {key: (int(np.sum(significant)), len(significant)) for key, significant in shown.items()}


def _scored(kind: str, runs: Sequence[Finished]) -> tuple[list[Scored], str]:
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


def _pairs(scored: Sequence[Scored], chosen: Protocol) -> dict[str, dict[tuple[str, str], Pair]]:
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


def _by_normalisation(scored: Sequence[Scored]) -> dict[str, dict[tuple[str, str], Pair]]:
    """Returns the corrected tests of every two models on SoFa, by the formula of each other normalisation."""
    chosen = scored[0].protocol.sofa
    every = {}
    for way in FORMULAS:
        if way != chosen.normalisation:
            other = replace(scored[0].protocol, sofa=replace(chosen, normalisation=way))
            every[FORMULAS[way]] = corrected(_pairs(scored, other).get("sofa", {}))
    return every


def _overall(measure: str, digits: int = 1) -> Callable[[Any], Number]:
    """Returns a function that reads a measure over all items."""
    return partial(_of_all, measure=measure, digits=digits)


def _of_all(results: Any, *, measure: str, digits: int) -> Number:
    """Returns a measure over all items; no value for a prediction file of several models."""
    return limited(results["overall"], measure, digits) if "overall" in results else Number(None)


def _no_number(results: Any) -> Number:
    """Returns no number; association tests are counted over all runs of a group."""
    return Number(None)


def _preference(results: Any) -> Number:
    """Returns the preference of choices; no value if it is undefined."""
    preference = results["overall"]["preference"]
    return Number(None) if preference["value"] is None else valued(preference, 3)


ASSOCIATIONS = Shown(name="SEAT, d > 0 shown", value=_no_number, ideal=0)
STEREOTYPE, OTHER = "prefer{s} the stereotype", "prefer{s} the anti-stereotype"
MORE, LESS = "prefer{s} the more stereotyping sentence", "prefer{s} the less stereotyping sentence"
WITH, AGAINST = "answer{s} with the stereotype", "answer{s} against the stereotype"
SHOWN: dict[str, tuple[Shown, ...]] = {
    "stereoset": (
        Shown(name="lms", registered="lms", value=_overall("lms"), ideal=100, told=False),
        Shown(name="ss", registered="ss", value=_overall("ss"), ideal=50, above=STEREOTYPE, below=OTHER),
        Shown(name="icat", registered="icat", value=_overall("icat"), ideal=100),
    ),
    "crows_pairs": (
        Shown(name="CrowS", registered="crows_pairs", value=_overall("score"), ideal=50, above=MORE, below=LESS),
    ),
    "sofa": (Shown(name="SoFa", registered="sofa", value=partial(limited, name="score", digits=4), ideal=0),),
    "bbq": (
        Shown(name="acc_AMB", registered="acc_amb", value=_overall("acc_amb", 3), ideal=1, told=False),
        Shown(name="acc_DIS", registered="acc_dis", value=_overall("acc_dis", 3), ideal=1, told=False),
        Shown(name="s_AMB", registered="s_amb", value=_overall("s_amb", 3), ideal=0, above=WITH, below=AGAINST),
        Shown(name="s_DIS", registered="s_dis", value=_overall("s_dis", 3), ideal=0, above=WITH, below=AGAINST),
    ),
    "choices": (
        Shown(
            name="preference",
            registered=choices.PREFERENCE,
            value=_preference,
            ideal=0.5,
            above=STEREOTYPE,
            below=OTHER,
        ),
    ),
}
"""Maps the registered name of a measure to its numbers in the summary, in the order of a report."""
