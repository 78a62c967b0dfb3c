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
    """What a number means, and its ideal value: metrics have one, not a direction."""

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
"""Measure to its numbers, by their names in our JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One number of a run, over one set of its items."""

    name: str
    set: str
    """`overall`, a task, a domain, or a test."""
    value: float
    low: float | None
    """Limits of the 95 % interval; None where the clusters allow none."""
    high: float | None
    scale: Scale
    items: int | None
    """How many items it rests on, where they are counted."""


def measured(run: Finished) -> list[Measured]:
    """Each number of a run that has a value and an ideal; a BadInput where it has none."""
    found = [
        Measured(name=name, set=of_set, value=value, low=low, high=high, scale=scale, items=items)
        for name, of_set, (value, low, high), scale, items in _numbers(run.kind, run.report["results"])
        if isinstance(value, int | float) and isfinite(value)
    ]
    if not found:
        raise BadInput(run.folder, f"no number of {run.kind} with an ideal value", "a run with a value")
    return found


def called(run: Finished) -> str:
    """The model by its name on the Hub, or by that of its folder alone."""
    return Path(run.model).name if run.manifest.get("about", {}).get("place") else run.model


def _numbers(kind: str, results: Any) -> Iterator[tuple[str, str, tuple[Any, Any, Any], Scale, int | None]]:
    """The name, the set, the value with its limits, the scale and the items of each number."""
    if kind not in SCALES:
        metric = named(kind).metric
        for row in results["rows"] if metric and metric.ideal is not None else ():
            assert metric is not None
            scale = Scale(about=named(kind).about, ideal=metric.ideal or 0.0, least=metric.least, most=metric.most)
            numbers = row.get(metric.name), row.get(f"{metric.name}_low"), row.get(f"{metric.name}_high")
            yield metric.name, OVERALL if row["set"] == "all" else str(row["set"]), numbers, scale, None
        return
    for of_set, of in _sets(kind, results):
        for name, scale in SCALES[kind].items():
            if name not in of:
                continue
            limits = of[name] if kind == "choices" else {"value": of[name], **of["intervals"][name]}
            items = next((of[count] for count in ("items", "pairs", "probes", "requests") if count in of), None)
            yield name, of_set, (limits["value"], limits["low"], limits["high"]), scale, items


def _sets(kind: str, results: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Each set of items by its name, the whole first."""
    if kind == "seat":
        yield from ((row["test"], row) for row in results)
        return
    yield OVERALL, results if kind == "sofa" else results.get(OVERALL, {})
    if kind == "stereoset":
        tasks = {task: of for task, of in results.items() if task != OVERALL}
        for task, of in tasks.items():
            rest = {part: found for part, found in of.items() if part != OVERALL}
            yield from [(task, of[OVERALL])] if len(tasks) > 1 else []
            yield from ((f"{task}/{part}" if len(tasks) > 1 else part, found) for part, found in rest.items())
    else:
        parts = {"crows_pairs": "types", "choices": "domains"}.get(kind, "categories")
        yield from ((name or "unnamed", of) for name, of in results.get(parts, {}).items())
