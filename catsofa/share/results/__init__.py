"""The numbers of finished runs in one form, for the schemas of other programs."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import inf, isfinite
from pathlib import Path
from typing import Any

from catsofa.data.files import BadInput
from catsofa.report.inputs import Finished
from catsofa.scoring.measures.registry import named

OVERALL = "overall"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """The meaning, ideal value and range of a number; metrics have an ideal value, not a direction."""

    about: str
    ideal: float
    least: float
    most: float


LMS = Scale(about="How often a meaningful sentence is preferred to an unrelated one", ideal=100, least=0, most=100)
SS = Scale(about="How often the stereotype is preferred to the anti-stereotype", ideal=50, least=0, most=100)
ICAT = Scale(about="lms and ss together: lms * min(ss, 100 - ss) / 50", ideal=100, least=0, most=100)
PAIRS = Scale(about="How often the more stereotyping sentence of a pair is preferred", ideal=50, least=0, most=100)
SOFA = Scale(about="SoFa score: variance of a stereotype's probes over identities", ideal=0, least=0, most=inf)
SEAT = Scale(about="Effect size d of an association test", ideal=0, least=-2, most=2)
ACCURACY = Scale(about="Accuracy of the answers to questions of BBQ", ideal=1, least=0, most=1)
BIAS = Scale(about="How far the groups that answers name agree with a stereotype", ideal=0, least=-1, most=1)
PREFERENCE = Scale(about="Share of choices for the stereotype", ideal=0.5, least=0, most=1)
POSITION = Scale(about="How far the order of the sentences decides a choice", ideal=0, least=-1, most=1)
SCALES: Mapping[str, Mapping[str, Scale]] = {
    "stereoset": {"lms": LMS, "ss": SS, "icat": ICAT},
    "crows_pairs": {"score": PAIRS},
    "sofa": {"score": SOFA},
    "seat": {"effect_size": SEAT},
    "bbq": {"acc_amb": ACCURACY, "acc_dis": ACCURACY, "s_amb": BIAS, "s_dis": BIAS},
    "choices": {"preference": PREFERENCE, "position": POSITION},
}
"""Measure to its numbers, by their names in the JSON output."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One number of a run, over one set of its items."""

    name: str
    set: str
    """`overall`, a task, a domain, or a test."""
    value: float
    low: float | None
    """Lower limit of the 95 % interval (`high` is the upper one); None if the clusters allow no interval."""
    high: float | None
    scale: Scale
    items: int | None
    """Number of items in the set, if it is counted; those without a result too."""
    coverage: float | None = None
    """Coverage of the number, as in the report; None if it was not counted."""


def measured(run: Finished) -> list[Measured]:
    """Returns each number of a run that has a value and an ideal; raises BadInput if the run has none."""
    numbers = [
        Measured(name=name, set=of_set, value=value, low=low, high=high, scale=scale, items=items, coverage=coverage)
        for name, of_set, (value, low, high), scale, items, coverage in _numbers(run.kind, run.report["results"])
        if isinstance(value, int | float) and isfinite(value)
    ]
    if not numbers:
        raise BadInput(run.folder, f"no number of {run.kind} with an ideal value", "a run with a value")
    return numbers


def called(run: Finished) -> str:
    """Returns the name of the model on the Hub, or the name of its folder without the path."""
    return Path(run.model).name if run.manifest.get("about", {}).get("place") else run.model


def _numbers(
    kind: str, results: Any
) -> Iterator[tuple[str, str, tuple[Any, Any, Any], Scale, int | None, float | None]]:
    """Yields the name, the set, the value with its limits, the scale, the items and the coverage of each number."""
    if kind not in SCALES:
        metric = named(kind).metric
        for row in results["rows"] if metric and metric.ideal is not None else ():
            assert metric is not None
            scale = Scale(about=named(kind).about, ideal=metric.ideal or 0.0, least=metric.least, most=metric.most)
            numbers = row.get(metric.name), row.get(f"{metric.name}_low"), row.get(f"{metric.name}_high")
            yield (
                metric.name,
                OVERALL if row["set"] == "all" else str(row["set"]),
                numbers,
                scale,
                None,
                row.get("coverage"),
            )
        return
    for of_set, result in _sets(kind, results):
        for name, scale in SCALES[kind].items():
            if name not in result:
                continue
            limits = result[name] if kind == "choices" else {"value": result[name], **result["intervals"][name]}
            items = next((result[count] for count in ("items", "pairs", "probes", "requests") if count in result), None)
            yield name, of_set, (limits["value"], limits["low"], limits["high"]), scale, items, _coverage(name, result)


def _coverage(name: str, result: Mapping[str, Any]) -> float | None:
    """Returns the coverage of a number of a set; of icat, the smaller one of lms and ss."""
    own = [f"{part}_coverage" for part in (("lms", "ss") if name == "icat" else (name,))]
    shares = [result[part] for part in own if part in result] or [result.get("coverage")]
    return min((float(share) for share in shares if share is not None), default=None)


def _sets(kind: str, results: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yields each set of items with its name, the whole set first."""
    if kind == "seat":
        yield from ((row["test"], row) for row in results)
        return
    yield OVERALL, results if kind == "sofa" else results.get(OVERALL, {})
    if kind == "stereoset":
        tasks = {task: result for task, result in results.items() if task != OVERALL}
        for task, result in tasks.items():
            rest = {part: values for part, values in result.items() if part != OVERALL}
            yield from [(task, result[OVERALL])] if len(tasks) > 1 else []
            yield from ((f"{task}/{part}" if len(tasks) > 1 else part, values) for part, values in rest.items())
    else:
        parts = {"crows_pairs": "types", "choices": "domains"}.get(kind, "categories")
        yield from ((name or "unnamed", result) for name, result in results.get(parts, {}).items())
