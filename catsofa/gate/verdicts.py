"""The results of a check: tests of measures, runs, and the verdict on all of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from catsofa.data.tables import Tabular
from catsofa.gate.kinds import Moved, Paired
from catsofa.scoring.statistics.margins import LEVEL, MarginTest

Require = Literal["", "non-inferiority", "equivalence"]
Found = Literal["regression", "same", "equivalent", "not inferior", "open"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Test:
    """One measure of one set of items, compared with the baseline."""

    paired: Paired
    test: MarginTest
    holm: float = 1.0
    """p of a regression, corrected for all tests of the call."""
    require: Require = ""
    failed: bool = False
    one_model: bool = False
    """True if both runs are of one model in one precision: equal outcomes then also hold for other items."""

    @property
    def found(self) -> Found:
        """The first result that holds, in this order: regression, same, equivalent, not inferior; else open."""
        if self.holm <= LEVEL:
            return "regression"
        if self.test.same:
            return "same"
        if self.test.p_equivalent <= LEVEL:
            return "equivalent"
        return "not inferior" if self.test.p_not_worse <= LEVEL else "open"

    @property
    def told(self) -> str:
        """The result for people, with a caution if the verdict may be wrong."""
        return f"{self.found}, caution" if self.paired.caution else self.found

    def shows(self, require: Require) -> bool:
        """Returns True if the test shows what is required; equivalence implies non-inferiority.

        Equal outcomes of two models on few items are no evidence. Equal continuous outcomes (`step` is 0) are.
        """
        if self.found == "same" and require:
            p = self.test.p_equivalent if require == "equivalence" else self.test.p_not_worse
            return self.one_model or not self.paired.step or p <= LEVEL
        wanted = {"": (), "non-inferiority": ("equivalent", "not inferior"), "equivalence": ("equivalent",)}[require]
        return not require or self.found in wanted

    @property
    def evidence(self) -> tuple[str, float]:
        """The hypothesis that is required or shown, else a regression, and its p; Holm corrects only a regression."""
        shown: dict[str, Require] = {"equivalent": "equivalence", "not inferior": "non-inferiority"}
        wanted = "" if self.found == "regression" else self.require or shown.get(self.found, "")
        p = {"equivalence": self.test.p_equivalent, "non-inferiority": self.test.p_not_worse}
        return (wanted, p[wanted]) if wanted else ("regression", self.holm)

    def ends(self, rows: Sequence[Moved], most: int) -> list[Moved]:
        """Returns at most `most` rows that moved in the direction of the whole, the largest change first."""
        sign = 1 if self.test.after >= self.test.before else -1
        along = [row for row in rows if sign * (row.after - row.before) > 0]
        return sorted(along, key=lambda row: (-sign * (row.after - row.before), row.name))[:most]

    def to_dict(self) -> dict[str, Any]:
        """Returns the test for JSON, with the terms and items that moved most in the direction of the measure."""
        test = self.test
        numbers = {"before": test.before, "after": test.after, **test.change.by.row("change"), "worse": test.worse}
        p = {"p": test.p_worse, "holm": self.holm, "p_not_inferior": test.p_not_worse}
        counts = {"items": self.paired.items, "decided": self.paired.decided}
        named = {"terms": self.ends(self.paired.terms, MOST_TERMS), "moved": self.ends(self.paired.each(), MOST_ITEMS)}
        return {
            "measure": self.paired.name, "set": self.paired.set, **numbers, "margin": test.margin, **p,
            "p_equivalent": test.p_equivalent, "found": self.found, "failed": self.failed,
            "caution": self.paired.caution, **counts,
            **{name: [row.to_dict() for row in rows] for name, rows in named.items()},
        }  # fmt: skip


MOST_TERMS, MOST_ITEMS = 5, 20
"""Largest number of target terms and of items that are named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """One run, compared with its baseline."""

    label: str
    folder: Path
    baseline: str
    """The model of the baseline."""
    data: str
    kind: str
    signature: str
    tests: Sequence[Test] = ()
    refused: str = ""
    """Why the run could not be compared; empty if it was."""
    warnings: Sequence[str] = ()

    def to_dict(self) -> dict[str, Any]:
        """Returns the run for JSON."""
        about = {name: str(getattr(self, name)) for name in ("label", "baseline", "data", "kind", "signature")}
        tests = [test.to_dict() for test in self.tests]
        return {**about, "tests": tests, "refused": self.refused, "warnings": list(self.warnings)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict(Tabular):
    """The result of a check."""

    runs: Sequence[Checked]
    require: Require = ""
    warnings: Sequence[str] = ()
    """Notes on runs that are left out because they are given twice."""

    @property
    def exit_code(self) -> int:
        """1 for a regression, or a requirement that is not shown; else 2 if a run could not be compared; else 0."""
        if any(test.failed for run in self.runs for test in run.tests):
            return 1
        return 2 if any(run.refused for run in self.runs) else 0

    @property
    def sentence(self) -> str:
        """The verdict in words."""
        count = sum(len(run.tests) for run in self.runs)
        total = f"{count:,} test{'' if count == 1 else 's'}"
        worse = sum(test.found == "regression" for run in self.runs for test in run.tests)
        failed = sum(test.failed for run in self.runs for test in run.tests)
        refused = sum(bool(run.refused) for run in self.runs)
        if failed:
            parts = [f"regression in {worse} of {total}"] if worse else []
            parts += [f"{self.require} not shown in {failed - worse} of {total}"] if failed > worse else []
            return "; ".join(parts)
        if refused:
            return f"not comparable: {refused} of {len(self.runs)} run{'' if len(self.runs) == 1 else 's'}"
        return f"{self.require} shown in {total}" if self.require else f"no regression in {total}"

    def to_dict(self) -> dict[str, Any]:
        """Returns the verdict for JSON."""
        about = {"verdict": self.sentence, "exit_code": self.exit_code, "required": self.require, "level": LEVEL}
        about["warnings"] = list(self.warnings)
        return {**about, "runs": [run.to_dict() for run in self.runs]}

    def rows(self) -> list[dict[str, Any]]:
        """Returns a flat row for each test."""
        return [
            {"run": run.label, "data": run.data, **{k: v for k, v in test.to_dict().items() if k not in NESTED}}
            for run in self.runs
            for test in run.tests
        ]

    def heading(self) -> str:
        """Returns the verdict in words."""
        return self.sentence


NESTED = ("terms", "moved")
