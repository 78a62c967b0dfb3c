"""The plan in a report: the result of each hypothesis, and every departure from the plan."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from catsofa.data.percentages import quantity
from catsofa.planning import Plan, name_in, shown
from catsofa.planning.outcome import Departure, Outcome, Tested, outcome, utc
from catsofa.report.cells import Words, between, chance
from catsofa.report.elements import Cell, Document, Section, Table

WORDS = Words(
    "Plan",
    "What was planned, what came of each hypothesis, and how the runs depart from the plan. A hypothesis is supported "
    "where p after Holm's correction over all planned tests is at most 0.05.",
    "The dates are those of the machines that wrote the plan and the runs, and a checksum is no signature: only a plan "
    "that was deposited elsewhere proves when it was made. A hypothesis that is not supported is not refuted. "
    "All other numbers, in other sections and of runs that were added later, are exploratory.",
)
EARLY = "run before the plan"


def with_plan(document: Document, plan: Plan, runs: Iterable[Path]) -> Document:
    """Returns the document with the section of a plan before all others."""
    return replace(document, sections=(section("plan", outcome(plan, runs)), *document.sections))


def section(name: str, result: Outcome) -> Section:
    """Returns the section of an outcome."""
    several = result.plan.several
    alone = {"data": result.plan.data[0], "protocol": result.plan.protocols[0]}
    about = ", ".join(f"{part} {name_in(label)}" for part, label in alone.items() if part not in several)
    tests = Table(
        name=f"{name}-tests",
        caption=f"Planned hypotheses, with 95 % intervals{f' ({about})' * bool(about)}",
        columns=(*several, "hypothesis", "verdict", "estimate", "p", "Holm's p", "why"),
        rows=tuple(
            (*(shown(getattr(one.test, part), labels) for part, labels in several.items()), *_row(one))
            for one in result.tests
        ),
        by=tuple(several),
        signatures=result.signatures,
        notes=tuple(_notes(result)),
    )
    departures = Table(
        name=f"{name}-departures",
        caption="Departures from the plan",
        columns=("what", "model", "data", "protocol", "why"),
        rows=tuple(_departed(result.departures)),
        signatures=result.signatures,
    )
    return WORDS.section(name, "", [tests, *[departures] * bool(result.departures)])


def _departed(departures: Sequence[Departure]) -> Iterable[tuple[Cell, ...]]:
    """Yields a row for each departure; runs by unplanned protocols, such as those of a multiverse, share one row."""
    several: dict[tuple[str, ...], list[Departure]] = {}
    for one in departures:
        model, data, protocol = map(name_in, one.cell)
        alike = one.why == f"not planned: protocol {protocol}"
        several.setdefault((one.what, model, data, *([] if alike else [protocol, one.why])), []).append(one)
    for (kind, model, data, *rest), group in several.items():
        protocols = [name_in(one.cell[-1]) for one in group]
        if not rest and len(group) > 1:
            rest = [quantity(len(group), "protocol"), f"not planned: protocols {', '.join(protocols)}"]
        yield kind, model, data, *(rest or [protocols[0], group[0].why])


def _row(one: Tested) -> tuple[Cell, ...]:
    """Returns the row of a planned test: the value, or the difference of two, and the verdict."""
    digits = 3 if one.test.hypothesis.kind in ("sofa", "seat", "bbq") else 1
    early = f" ({EARLY})" if one.early else ""
    estimate = one.estimate
    return (
        str(one.test.hypothesis),
        one.verdict + early,
        between(estimate.value, digits) if estimate.value.value == estimate.value.value else "—",
        chance(estimate.p) if not one.why else "—",
        chance(one.holm) if not one.why else "—",
        one.why,
    )


def _notes(result: Outcome) -> Iterable[str]:
    """Yields notes: when the plan was made, its margins, and how to read p."""
    plan, untested = result.plan, sum(bool(one.why) for one in result.tests)
    yield f"The plan was made {utc(plan.made)} by catsofa {plan.version}; its checksum fits."
    if plan.margins:
        margins = ", ".join(f"{name} {number:g}" for name, number in plan.margins.items())
        yield f"Margins, which are the differences that count as none: {margins}."
    yield "The estimate of two models is the value of the first less that of the second."
    counts = f"{quantity(len(result.tests), 'test')} planned"
    yield f"p is two-sided. Holm's correction counts {counts}{f', {untested} of them not tested' if untested else ''}."
    if any(one.early for one in result.tests):
        yield f"{EARLY.capitalize()}: the plan is no preregistration of this test."
    if not result.departures:
        yield "No run departs from the plan, and none is missing."
