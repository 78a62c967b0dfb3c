"""Compares runs with a plan: result of each hypothesis; runs left out, added later, changed or begun too early."""

__all__ = ["Outcome", "outcome"]

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from catsofa.data.statistics import ALPHA
from catsofa.data.tables import Tabular
from catsofa.data.visible import without_folders
from catsofa.planning import Plan, Test, name_in, read
from catsofa.planning.testing import Estimate, Scored, estimate
from catsofa.report import inputs
from catsofa.report.inputs import LATE, SERVER, Finished, NotThere, begun
from catsofa.scoring.signature import data_label
from catsofa.scoring.statistics.holm import holm

Verdict = Literal["supported", "not supported", "not tested"]
What = Literal["left out", "added later", "changed", "in part", "begun before the plan"]
Cell = tuple[str, ...]
"""The model, the data and the protocol of a run, by their names in a plan."""
PARTS = ("model", "data", "protocol")
LABEL = re.compile(r"(.*@[0-9a-f]+)(?: .*)?")
"""A model in a signature: its name and digest, then the way it was used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tested:
    """The result of one planned test."""

    test: Test
    estimate: Estimate = field(default_factory=Estimate)
    holm: float = 1.0
    """p, corrected for every planned test, including those that were not tested."""
    why: str = ""
    """Why the hypothesis was not tested; empty if it was."""
    early: tuple[str, ...] = ()
    """Models whose runs began before the plan, or do not record when they began."""

    @property
    def verdict(self) -> Verdict:
        """The verdict: supported if the corrected p is at most 0.05."""
        if self.why:
            return "not tested"
        return "supported" if self.holm <= ALPHA else "not supported"

    def row(self) -> dict[str, Any]:
        """Returns the test as a flat row."""
        about = {"hypothesis": str(self.test.hypothesis), "data": self.test.data, "protocol": self.test.protocol}
        numbers = {**self.estimate.value.row("estimate"), "p": self.estimate.p, "holm": self.holm}
        return {**about, **numbers, "verdict": self.verdict, "why": self.why, "early": list(self.early)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Departure:
    """A planned run that is missing, or a run that differs from the plan."""

    what: What
    cell: Cell
    why: str

    def to_dict(self) -> dict[str, str]:
        """Returns the departure by field name."""
        return {"what": self.what, **dict(zip(PARTS, self.cell, strict=True)), "why": self.why}


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome(Tabular):
    """The results of a plan."""

    plan: Plan
    tests: tuple[Tested, ...]
    departures: tuple[Departure, ...]
    signatures: tuple[str, ...] = ()
    """Signatures of the planned runs."""

    def to_dict(self) -> dict[str, Any]:
        """Returns the outcome for JSON."""
        departures = [one.to_dict() for one in self.departures]
        return {"plan": self.plan.to_dict(), "tests": self.rows(), "departures": departures}

    def rows(self) -> list[dict[str, Any]]:
        """Returns a flat row for each planned test."""
        return [one.row() for one in self.tests]

    def heading(self) -> str:
        """Returns when the plan was made."""
        return self.plan.heading()


def outcome(plan: Plan | Path | str, runs: Iterable[Path | str]) -> Outcome:
    """Compares finished runs, or all runs below a folder, with a plan: each hypothesis and every departure.

    A planned test without its runs counts in Holm's correction, so that omitting a test gains nothing.
    """
    plan = plan if isinstance(plan, Plan) else read(plan)
    planned, departures = _sorted(plan, inputs.find(runs).runs)
    loaded: dict[Cell, Scored] = {}
    tested = [_tested(plan, test, planned, loaded) for test in plan.tests]
    adjusted = holm([1.0 if one.why else one.estimate.p for one in tested])
    return Outcome(
        plan=plan,
        tests=tuple(replace(one, holm=p) for one, p in zip(tested, adjusted, strict=True)),
        departures=tuple(departures),
        signatures=tuple(str(run.signature) for run in planned.values()),
    )


def _sorted(plan: Plan, runs: Iterable[Finished]) -> tuple[dict[Cell, Finished], list[Departure]]:
    """Returns the run of each planned cell, the earliest if several, and every departure from the plan."""
    planned, departures = dict[Cell, Finished](), list[Departure]()
    for run in sorted(runs, key=lambda run: begun(run) or LATE):
        signature, own = run.signature, _cell_of(run)
        cell = tuple(map(_place, (plan.models, plan.data, plan.protocols), own))
        new = [
            f"{part} {name_in(actual)}" for part, actual, expected in zip(PARTS, own, cell, strict=True) if not expected
        ]
        other = [
            f"{actual}, planned {expected}"
            for actual, expected in zip(own, cell, strict=True)
            if not _same(expected, actual)
        ]
        if new or other:
            kind: What = "added later" if new else "changed"
            why = f"not planned: {', '.join(new)}" if new else "; ".join(other)
            departures.append(Departure(what=kind, cell=own, why=why))
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
    """Returns why the plan is no preregistration of a run; empty if it is one."""
    if not (began := begun(run)):
        return "the run does not say when it began"
    return f"the run began {utc(began)}, the plan was made {utc(plan.made)}" if began < plan.made else ""


def utc(time: str) -> str:
    """Returns a UTC time for people."""
    return time.replace("T", " ").replace("+00:00", " UTC")


def _cell_of(run: Finished) -> Cell:
    """Returns the model, the data and the protocol of a run, with their hashes."""
    signature = run.signature
    label = LABEL.fullmatch(signature.model)
    model = label[1] if label else SERVER.sub("", signature.model)
    return without_folders(model), signature.data, data_label(signature.protocol, signature.options)


def _place(labels: Sequence[str], own: str) -> str:
    """Returns the planned label with the same hash as a part of a run, else with the same name; empty if none."""
    named = [label for label in labels if name_in(label) == name_in(own)]
    return next((label for label in (*named, *labels) if _same(label, own)), named[0] if named else "")


def _same(planned: str, own: str) -> bool:
    """Returns True if both have the same hash; a planned label without a hash matches by its name."""
    name = name_in(planned)
    return name == name_in(own) if name == planned else planned.removeprefix(name) == own.removeprefix(name_in(own))


def _tested(plan: Plan, test: Test, planned: Mapping[Cell, Finished], loaded: dict[Cell, Scored]) -> Tested:
    """Returns the result of a test before its p is corrected; `loaded` caches the data of each run."""
    hypothesis = test.hypothesis
    labels = [next(label for label in plan.models if name_in(label) == model) for model in hypothesis.models]
    cells = [(label, test.data, test.protocol) for label in labels]
    if missing := [name_in(cell[0]) for cell in cells if cell not in planned]:
        return Tested(test=test, why=f"no run of {' and '.join(missing)} as planned")
    early = tuple(name_in(cell[0]) for cell in cells if _early(plan, planned[cell]))
    try:
        for cell in cells:
            loaded[cell] = loaded.get(cell) or Scored.read(planned[cell])
        result = estimate(hypothesis, plan.margin(hypothesis), [loaded[cell] for cell in cells])
    except NotThere as error:
        return Tested(test=test, why=without_folders(str(error)), early=early)
    return Tested(test=test, estimate=result, why=result.undefined, early=early)
