"""Where models stand on each measure: their values, who is beyond chance, who is told apart, and who is best."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations, takewhile
from math import nan
from typing import Any

import numpy as np

from catsofa.data.files import BadInput
from catsofa.data.statistics import ALPHA, LEVEL
from catsofa.gate import kinds
from catsofa.gate.kinds import associations
from catsofa.planning.testing import Scored
from catsofa.report.cells import limited, valued
from catsofa.report.elements import Number
from catsofa.report.inputs import Finished, NotThere, protocol, records, without_folders
from catsofa.report.processes import in_processes
from catsofa.report.summary import Shown, Standing, choices
from catsofa.report.summary.pairs import Pair
from catsofa.scoring.compare import DECIDED
from catsofa.scoring.measures.cat_outcomes import jointly
from catsofa.scoring.measures.stereoset import MEASURES, NEEDS
from catsofa.scoring.signature import hashes_in, without_hashes
from catsofa.scoring.statistics.changes import paired_tests
from catsofa.scoring.statistics.holm import holm
from catsofa.scoring.statistics.intervals import RESAMPLES, Array, Interval, Limits, Measure
from catsofa.scoring.statistics.margins import nearness

Group = tuple[str, Sequence[Finished]]
MOST = 20
"""Models whose pairs are tested: of more, no p of 10,000 resamples is small enough after the correction."""
MOST_TESTS = 250
"""Association tests of pairs that are looked at, for the same reason."""


def standings(groups: Sequence[Group]) -> list[list[Standing]]:
    """The standing of each number of each group that the summary knows."""
    return in_processes(_group, [(*group, about) for group, about in zip(groups, abouts(groups), strict=True)])


def _group(group: tuple[str, Sequence[Finished], str]) -> list[Standing]:
    """The standings of one group, from its kind, its runs and what sets it apart."""
    kind, runs, about = group
    return [_associations(runs, about)] if kind == "seat" else list(_standings(kind, runs, about))


def abouts(groups: Sequence[Group]) -> list[str]:
    """What sets each group apart from others of its kind: data, subset, protocol, way; at last the hash of the data."""
    parts = [
        (kind, (without_hashes(of.data), without_hashes(of.subset), f"protocol {of.protocol}", of.way))
        for kind, of in ((kind, runs[0].signature) for kind, runs in groups)
    ]
    found = list[str]()
    for (kind, own), (_, runs) in zip(parts, groups, strict=True):
        alike = [part for other, part in parts if other == kind]
        differ = [name for at, name in enumerate(own) if name and len({part[at] for part in alike}) > 1]
        found.append(", ".join([*differ, *[hashes_in(runs[0].signature.data)] * (alike.count(own) > 1)]))
    return found


def _standings(kind: str, runs: Sequence[Finished], about: str) -> Iterator[Standing]:
    """The standing of each number of a group's measure."""
    limits_of, pairs, untested = _tests(kind, runs)
    if len(runs) > MOST:
        untested = f"pairs of more than {MOST} models are not tested"
    for shown in SHOWN.get(kind, ()):
        found = {run.model: shown.value(run.report["results"]) for run in runs}
        values = {model: number for model, number in found.items() if number.value is not None}
        limits: dict[str, Limits] | None = None
        if shown.above and len(runs) == 1:
            limits = {model: _at_95(number) for model, number in values.items()}
        elif shown.above and limits_of and shown.registered:
            limits = {model: limit for model, limit in limits_of(shown.registered).items() if model in values}
        yield Standing(
            kind=kind,
            about=about,
            of=shown,
            values=values,
            sides=None if limits is None else beyond(limits, shown.ideal),
            pairs=_corrected({key: of for key, of in pairs.get(shown.registered, {}).items() if {*key} <= {*values}}),
            coverage={
                run.model: share for run in runs if (share := _coverage(run.report["results"], shown)) is not None
            },
            missing=tuple(model for model in found if model not in values),
            untested=untested if len(values) > 1 else "",
        )


def _tests(
    kind: str, runs: Sequence[Finished]
) -> tuple[Callable[[str], dict[str, Limits]] | None, dict[str, dict[tuple[str, str], Pair]], str]:
    """A measure to the limits of each model, each measure to the test of every two models; or None, and why."""
    if kind == "choices":
        found, couples, untested = choices.of_choices(runs)
        return (
            (lambda _: found) if found else None,
            {choices.PREFERENCE: couples if len(runs) <= MOST else {}},
            untested,
        )
    scored, untested = _scored(kind, runs)
    pairs = _pairs(scored) if 1 < len(scored) <= MOST else {}

    def limits_of(measure: str) -> dict[str, Limits]:
        return {one.run.model: one.limits(measure, kinds.OVERALL) for one in scored}

    return limits_of if scored else None, pairs, untested


def _coverage(results: Any, shown: Shown) -> float | None:
    """The share of the items that a number rests on; None where nobody counted."""
    whole = results.get("overall", results)
    share = whole.get(f"{shown.name}_coverage", whole.get("coverage"))
    return share if isinstance(share, float | int) else None


def _associations(runs: Sequence[Finished], about: str) -> Standing:
    """How many association tests of each model show d > 0, by Holm's correction over all tests of all models."""
    rows = [(run.model, row["p_value"]) for run in runs for row in run.report["results"]]
    shown, tests = Counter[str](), Counter(model for model, p in rows if p is not None)
    for (model, _), p in zip(rows, holm([nan if p is None else p for _, p in rows]), strict=True):
        shown[model] += p <= ALPHA
    values = {model: Number(shown[model], digits=0, mark=f" of {of}") for model, of in tests.items()}
    missing = tuple(model for model in dict(rows) if model not in values)
    differing, untested = _differing(runs)
    return Standing(
        kind="seat", about=about, of=ASSOCIATIONS, values=values, missing=missing, tests=differing, untested=untested
    )


def _differing(runs: Sequence[Finished]) -> tuple[dict[tuple[str, str], tuple[int, int]], str]:
    """For every two encoders how many association tests differ, and of how many; or why nobody looked.

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
        of = list(records(runs[0]))
    except (BadInput, NotThere) as error:
        return {}, without_folders(str(error))
    p: dict[tuple[str, str], list[float]] = {}
    for one, other in couples:
        every = associations.tests(of, held[other.model], held[one.model], protocol(one), 0)
        p[one.model, other.model] = [
            paired_tests(test.before, test.after, {"d": test.measure}, resamples=RESAMPLES)["d"].p(0.0)
            for test in every
            if not test.undefined
        ]
    return counted(p), ""


def counted(p: Mapping[tuple[str, str], Sequence[float]]) -> dict[tuple[str, str], tuple[int, int]]:
    """How many tests of each pair are significant after Holm's correction over all of them, and of how many."""
    adjusted = iter(holm([value for values in p.values() for value in values]))
    shown = {key: [next(adjusted) <= ALPHA for _ in values] for key, values in p.items()}
    return {key: (int(np.sum(found)), len(found)) for key, found in shown.items()}


def _at_95(number: Number) -> Limits:
    """The interval that a report has, which is one of 95 %."""
    value, low, high = (nan if end is None else end for end in (number.value, number.low, number.high))
    return lambda level: Interval(value, low, high)


def beyond(limits: Mapping[str, Limits], ideal: float) -> dict[str, int]:
    """1 or -1 for each model shown to be above or below the ideal value, by Holm's correction over all models.

    Holm's step down refuses while the interval at 1 - 0.05 / (those still open) leaves the ideal value out.
    """
    sides = dict[str, int]()
    while len(sides) < len(limits):
        level = LEVEL if len(limits) == 1 else 1 - ALPHA / (len(limits) - len(sides))
        found = {model: limit(level) for model, limit in limits.items() if model not in sides}
        more = {model: 1 if of.low > ideal else -1 for model, of in found.items() if of.low > ideal or of.high < ideal}
        if not more:
            break
        sides |= more
    return sides


def _scored(kind: str, runs: Sequence[Finished]) -> tuple[list[Scored], str]:
    """The runs of several models with their scores, the data read once; or none of them, and why."""
    if len(runs) < 2 or kind not in kinds.MODULES or kind == "seat":
        return [], ""
    try:
        first = Scored.read(runs[0])
        return [first, *(_beside(first, run) for run in runs[1:])], ""
    except NotThere as error:
        return [], without_folders(str(error))


def _beside(first: Scored, run: Finished) -> Scored:
    """Another run on the same records."""
    if not run.kept:
        raise NotThere(f"{run.folder} holds no score of single items; give the folder of `catsofa score --out`")
    return replace(first, run=run, protocol=protocol(run), given=run.scores)


def _pairs(scored: Sequence[Scored]) -> dict[str, dict[tuple[str, str], Pair]]:
    """Each measure to what its paired test says of every two models, before the correction."""
    kind, chosen = scored[0].run.kind, scored[0].protocol
    if kind == "stereoset":
        made: list[Any] = [one.cats for one in scored]
    else:
        made = [one.outcomes() for one in scored]
    records = scored[0].items.by_id
    found: dict[str, dict[tuple[str, str], Pair]] = {}
    for (one, first), (other, second) in combinations(zip(scored, made, strict=True), 2):
        if kind == "stereoset":
            sides = _of_cats(first, second, chosen.stereoset.average)
        else:
            tests = kinds.module_of(kind).tests(records, second, first, chosen, chosen.seed)
            sides = (
                (of.name, of.measure, of.before, of.after, of.decided)
                for of in takewhile(lambda of: of.set == kinds.OVERALL, tests)
                if not of.undefined
            )
        for name, measure, before, after, decided in sides:
            both = {"moved": measure, "nearer": nearness(measure)}
            tested = paired_tests(before, after, both, resamples=RESAMPLES, seed=chosen.seed)
            less, lead = (float(of(after.sum(axis=0)) - of(before.sum(axis=0))) for of in both.values())
            found.setdefault(name, {})[one.run.model, other.run.model] = Pair(
                difference=less,
                decided=decided,
                apart=tested["moved"].p(0.0),
                nearer=tested["nearer"].p(0.0),
                lead=lead,
            )
    return found


Side = tuple[str, Measure, Array, Array, float]


def _of_cats(first: Any, second: Any, average: Any) -> Iterator[Side]:
    """lms, ss and icat over the comparisons that both decide, the second model before the first."""
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


def _corrected(pairs: Mapping[tuple[str, str], Pair]) -> dict[tuple[str, str], Pair]:
    """The pairs with p after Holm's correction over all of them."""
    apart, nearer = (holm([getattr(pair, what) for pair in pairs.values()]) for what in ("apart", "nearer"))
    return {
        key: replace(pair, apart=p, nearer=q) for (key, pair), p, q in zip(pairs.items(), apart, nearer, strict=True)
    }


def _overall(measure: str, digits: int = 1) -> Callable[[Any], Number]:
    """A function from results to a measure of all items together."""
    return partial(_of_all, measure=measure, digits=digits)


def _of_all(results: Any, *, measure: str, digits: int) -> Number:
    """A measure of all items together; none for a file whose columns are several models."""
    return limited(results["overall"], measure, digits) if "overall" in results else Number(None)


def _counted(results: Any) -> Number:
    """No number: association tests are counted over all runs of a group."""
    return Number(None)


def _preference(results: Any) -> Number:
    """The preference of choices; none where it has no value."""
    found = results["overall"]["preference"]
    return Number(None) if found["value"] is None else valued(found, 3)


ASSOCIATIONS = Shown(name="SEAT, d > 0 shown", value=_counted, ideal=0)
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
"""Registered name of a measure to its numbers in the summary, in the order of a report."""
