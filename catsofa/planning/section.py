"""The plan in a report: what came of each hypothesis, and every departure from the plan."""

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
    """The document with the section of a plan before all others."""
    return replace(document, sections=(section("plan", outcome(plan, runs)), *document.sections))


def section(name: str, of: Outcome) -> Section:
    """The section of an outcome."""
    several = of.plan.several
    alone = {"data": of.plan.data[0], "protocol": of.plan.protocols[0]}
    about = ", ".join(f"{part} {name_in(label)}" for part, label in alone.items() if part not in several)
    tests = Table(
        name=f"{name}-tests",
        caption=f"Planned hypotheses, with 95 % intervals{f' ({about})' * bool(about)}",
        columns=(*several, "hypothesis", "verdict", "estimate", "p", "Holm's p", "why"),
        rows=tuple(
            (*(shown(getattr(one.test, part), known) for part, known in several.items()), *_row(one))
            for one in of.tests
        ),
        by=tuple(several),
        signatures=of.signatures,
        notes=tuple(_notes(of)),
    )
    departures = Table(
        name=f"{name}-departures",
        caption="Departures from the plan",
        columns=("what", "model", "data", "protocol", "why"),
        rows=tuple(_departed(of.departures)),
        signatures=of.signatures,
    )
    return WORDS.section(name, "", [tests, *[departures] * bool(of.departures)])


def _departed(departures: Sequence[Departure]) -> Iterable[tuple[Cell, ...]]:
    """A row for each departure; runs by protocols that were not planned, such as those of a multiverse, share one."""
    several: dict[tuple[str, ...], list[Departure]] = {}
    for one in departures:
        model, data, protocol = map(name_in, one.cell)
        alike = one.why == f"not planned: protocol {protocol}"
        several.setdefault((one.what, model, data, *([] if alike else [protocol, one.why])), []).append(one)
    for (what, model, data, *rest), found in several.items():
        protocols = [name_in(one.cell[-1]) for one in found]
        if not rest and len(found) > 1:
            rest = [quantity(len(found), "protocol"), f"not planned: protocols {', '.join(protocols)}"]
        yield what, model, data, *(rest or [protocols[0], found[0].why])


def _row(one: Tested) -> tuple[Cell, ...]:
    """A planned test: the value, or the difference of two, and what it shows."""
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


def _notes(of: Outcome) -> Iterable[str]:
    """When the plan was made, its margins, and how to read p."""
    plan, untested = of.plan, sum(bool(one.why) for one in of.tests)
    yield f"The plan was made {utc(plan.made)} by catsofa {plan.version}; its checksum fits."
    if plan.margins:
        margins = ", ".join(f"{name} {number:g}" for name, number in plan.margins.items())
        yield f"Margins, which are the differences that count as none: {margins}."
    yield "The estimate of two models is the value of the first less that of the second."
    counts = f"{quantity(len(of.tests), 'test')} planned"
    yield f"p is two-sided. Holm's correction counts {counts}{f', {untested} of them not tested' if untested else ''}."
    if any(one.early for one in of.tests):
        yield f"{EARLY.capitalize()}: the plan is no preregistration of this test."
    if not of.departures:
        yield "No run departs from the plan, and none is missing."
