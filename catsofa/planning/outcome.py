"""A plan held against runs: what each hypothesis came to, what was left out, added later, changed, or begun before."""

__all__ = ["Outcome", "outcome"]

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from catsofa.data.statistics import ALPHA
from catsofa.data.tables import Tabular
from catsofa.planning import Plan, Test, name_in, read
from catsofa.planning.testing import Estimate, Scored, estimate
from catsofa.report import inputs
from catsofa.report.inputs import LATE, SERVER, Finished, NotThere, begun, without_folders
from catsofa.scoring.signature import data_label
from catsofa.scoring.statistics.holm import holm

Verdict = Literal["supported", "not supported", "not tested"]
What = Literal["left out", "added later", "changed", "in part", "begun before the plan"]
Cell = tuple[str, ...]
"""The model, the data and the protocol of a run, as a plan names them."""
PARTS = ("model", "data", "protocol")
LABEL = re.compile(r"(.*@[0-9a-f]+)(?: .*)?")
"""A model in a signature: its name and digest, then how it was used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tested:
    """What came of one planned test."""

    test: Test
    estimate: Estimate = field(default_factory=Estimate)
    holm: float = 1.0
    """p, corrected for every planned test, also those that were not tested."""
    why: str = ""
    """Why it was not tested."""
    early: tuple[str, ...] = ()
    """Models whose runs began before the plan, or do not say when they began."""

    @property
    def verdict(self) -> Verdict:
        """Whether the hypothesis is shown."""
        if self.why:
            return "not tested"
        return "supported" if self.holm <= ALPHA else "not supported"

    def row(self) -> dict[str, Any]:
        """The test as a flat row."""
        about = {"hypothesis": str(self.test.hypothesis), "data": self.test.data, "protocol": self.test.protocol}
        found = {**self.estimate.value.row("estimate"), "p": self.estimate.p, "holm": self.holm}
        return {**about, **found, "verdict": self.verdict, "why": self.why, "early": list(self.early)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Departure:
    """A run that was planned and is not here, or that is here and not as planned."""

    what: What
    cell: Cell
    why: str

    def to_dict(self) -> dict[str, str]:
        """The departure by name."""
        return {"what": self.what, **dict(zip(PARTS, self.cell, strict=True)), "why": self.why}


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome(Tabular):
    """What came of a plan."""

    plan: Plan
    tests: tuple[Tested, ...]
    departures: tuple[Departure, ...]
    signatures: tuple[str, ...] = ()
    """Of the planned runs."""

    def to_dict(self) -> dict[str, Any]:
        """The outcome as it stands in our JSON."""
        departures = [one.to_dict() for one in self.departures]
        return {"plan": self.plan.to_dict(), "tests": self.rows(), "departures": departures}

    def rows(self) -> list[dict[str, Any]]:
        """A flat row for each planned test."""
        return [one.row() for one in self.tests]

    def heading(self) -> str:
        """When the plan was made."""
        return self.plan.heading()


def outcome(plan: Plan | Path | str, runs: Iterable[Path | str]) -> Outcome:
    """Hold finished runs, or all below a folder, against a plan: each hypothesis, and every departure from the plan.

    A planned test without its runs counts in Holm's correction, so that leaving it out gains nothing.
    """
    plan = plan if isinstance(plan, Plan) else read(plan)
    planned, departures = _sorted(plan, inputs.find(runs).runs)
    known: dict[Cell, Scored] = {}
    found = [_tested(plan, test, planned, known) for test in plan.tests]
    adjusted = holm([1.0 if one.why else one.estimate.p for one in found])
    return Outcome(
        plan=plan,
        tests=tuple(replace(one, holm=p) for one, p in zip(found, adjusted, strict=True)),
        departures=tuple(departures),
        signatures=tuple(str(run.signature) for run in planned.values()),
    )


def _sorted(plan: Plan, runs: Iterable[Finished]) -> tuple[dict[Cell, Finished], list[Departure]]:
    """The run of each planned cell, the first one that began, and every departure from the plan."""
    planned, departures = dict[Cell, Finished](), list[Departure]()
    for run in sorted(runs, key=lambda run: begun(run) or LATE):
        signature, own = run.signature, _cell_of(run)
        cell = tuple(map(_place, (plan.models, plan.data, plan.protocols), own))
        new = [f"{part} {name_in(here)}" for part, here, there in zip(PARTS, own, cell, strict=True) if not there]
        other = [f"{here}, planned {there}" for here, there in zip(own, cell, strict=True) if not _same(there, here)]
        if new or other:
            what: What = "added later" if new else "changed"
            why = f"not planned: {', '.join(new)}" if new else "; ".join(other)
            departures.append(Departure(what=what, cell=own, why=why))
        elif signature.subset:
            departures.append(Departure(what="in part", cell=own, why=f"scored {signature.subset} alone"))
        elif cell in planned:
            departures.append(Departure(what="added later", cell=own, why="another run of a planned one"))
        else:
            planned[cell] = run
            if early := _early(plan, run):
                departures.append(Departure(what="begun before the plan", cell=own, why=early))
    missing = (cell for cell in plan.cells if cell not in planned)
    return planned, [*(Departure(what="left out", cell=cell, why="no run as planned") for cell in missing), *departures]


def _early(plan: Plan, run: Finished) -> str:
    """Why the plan is no preregistration of a run; empty if it is."""
    if not (at := begun(run)):
        return "the run does not say when it began"
    return f"the run began {utc(at)}, the plan was made {utc(plan.made)}" if at < plan.made else ""


def utc(at: str) -> str:
    """A time in UTC as people read it."""
    return at.replace("T", " ").replace("+00:00", " UTC")


def _cell_of(run: Finished) -> Cell:
    """The model, the data and the protocol of a run, with their hashes."""
    signature = run.signature
    label = LABEL.fullmatch(signature.model)
    model = label[1] if label else SERVER.sub("", signature.model)
    return without_folders(model), signature.data, data_label(signature.protocol, signature.options)


def _place(known: Sequence[str], own: str) -> str:
    """The planned part that a run has: of the same hash, else of the same name; empty if there is none."""
    named = [there for there in known if name_in(there) == name_in(own)]
    return next((there for there in (*named, *known) if _same(there, own)), named[0] if named else "")


def _same(planned: str, own: str) -> bool:
    """Whether two are one: by their hashes; what was planned without a hash is known by its name."""
    name = name_in(planned)
    return name == name_in(own) if name == planned else planned.removeprefix(name) == own.removeprefix(name_in(own))


def _tested(plan: Plan, test: Test, planned: Mapping[Cell, Finished], known: dict[Cell, Scored]) -> Tested:
    """What came of a test, before its p is corrected; `known` keeps what was read of a run."""
    of = test.hypothesis
    labels = [next(label for label in plan.models if name_in(label) == model) for model in of.models]
    cells = [(label, test.data, test.protocol) for label in labels]
    if missing := [name_in(cell[0]) for cell in cells if cell not in planned]:
        return Tested(test=test, why=f"no run of {' and '.join(missing)} as planned")
    early = tuple(name_in(cell[0]) for cell in cells if _early(plan, planned[cell]))
    try:
        for cell in cells:
            known[cell] = known.get(cell) or Scored.read(planned[cell])
        found = estimate(of, plan.margin(of), [known[cell] for cell in cells])
    except NotThere as error:
        return Tested(test=test, why=without_folders(str(error)), early=early)
    return Tested(test=test, estimate=found, why=found.undefined, early=early)
