"""What a check finds: tests of measures, runs, and the verdict on all of them."""

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
    """One measure of one set of items, held against the baseline."""

    paired: Paired
    test: MarginTest
    holm: float = 1.0
    """p of a regression, corrected for every test of the call."""
    failed: bool = False
    one_model: bool = False
    """Whether both runs are of one model in one precision: equal outcomes then hold for other items, too."""

    @property
    def found(self) -> Found:
        """What is shown: the first of these that holds."""
        if self.holm <= LEVEL:
            return "regression"
        if self.test.same:
            return "same"
        if self.test.p_equivalent <= LEVEL:
            return "equivalent"
        return "not inferior" if self.test.p_not_worse <= LEVEL else "open"

    @property
    def told(self) -> str:
        """What is shown, for people, with a caution where the verdict may be wrong."""
        return f"{self.found}, caution" if self.paired.caution else self.found

    def shows(self, require: Require) -> bool:
        """Whether it shows what is required; equivalence shows that nothing is inferior.

        Equal outcomes of two models on few items are no evidence. Equal numbers are: `step` is 0 where items have some.
        """
        if self.found == "same" and require:
            p = self.test.p_equivalent if require == "equivalence" else self.test.p_not_worse
            return self.one_model or not self.paired.step or p <= LEVEL
        wanted = {"": (), "non-inferiority": ("equivalent", "not inferior"), "equivalence": ("equivalent",)}[require]
        return not require or self.found in wanted

    def ends(self, rows: Sequence[Moved], most: int) -> list[Moved]:
        """Those that moved most in the direction of the whole."""
        sign = 1 if self.test.after >= self.test.before else -1
        along = [row for row in rows if sign * (row.after - row.before) > 0]
        return sorted(along, key=lambda row: (-sign * (row.after - row.before), row.name))[:most]

    def to_dict(self) -> dict[str, Any]:
        """The test as it stands in our JSON, the terms and items that moved along with the measure most first."""
        test = self.test
        numbers = {"before": test.before, "after": test.after, **test.change.by.row("change"), "worse": test.worse}
        p = {"p": test.p_worse, "holm": self.holm, "p_not_inferior": test.p_not_worse}
        of = {"items": self.paired.items, "decided": self.paired.decided}
        named = {"terms": self.ends(self.paired.terms, MOST_TERMS), "moved": self.ends(self.paired.each(), MOST_ITEMS)}
        return {
            "measure": self.paired.name, "set": self.paired.set, **numbers, "margin": test.margin, **p,
            "p_equivalent": test.p_equivalent, "found": self.found, "failed": self.failed,
            "caution": self.paired.caution, **of,
            **{name: [row.to_dict() for row in rows] for name, rows in named.items()},
        }  # fmt: skip


MOST_TERMS, MOST_ITEMS = 5, 20
"""Target terms and items that are named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """One run, held against its baseline."""

    label: str
    folder: Path
    baseline: str
    """The model of the baseline."""
    data: str
    kind: str
    signature: str
    tests: Sequence[Test] = ()
    refused: str = ""
    """Why it could not be compared; empty if it was."""
    warnings: Sequence[str] = ()

    def to_dict(self) -> dict[str, Any]:
        """The run as it stands in our JSON."""
        about = {name: str(getattr(self, name)) for name in ("label", "baseline", "data", "kind", "signature")}
        tests = [test.to_dict() for test in self.tests]
        return {**about, "tests": tests, "refused": self.refused, "warnings": list(self.warnings)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict(Tabular):
    """What a check found."""

    runs: Sequence[Checked]
    require: Require = ""
    warnings: Sequence[str] = ()
    """What is left out, since it is given twice."""

    @property
    def exit_code(self) -> int:
        """1: a regression is shown, or what is required is not; 2: neither, but a run could not be compared; else 0."""
        if any(test.failed for run in self.runs for test in run.tests):
            return 1
        return 2 if any(run.refused for run in self.runs) else 0

    @property
    def sentence(self) -> str:
        """The verdict in words."""
        count = sum(len(run.tests) for run in self.runs)
        of = f"{count:,} test{'' if count == 1 else 's'}"
        worse = sum(test.found == "regression" for run in self.runs for test in run.tests)
        failed = sum(test.failed for run in self.runs for test in run.tests)
        refused = sum(bool(run.refused) for run in self.runs)
        if failed:
            parts = [f"regression in {worse} of {of}"] if worse else []
            parts += [f"{self.require} not shown in {failed - worse} of {of}"] if failed > worse else []
            return "; ".join(parts)
        if refused:
            return f"not comparable: {refused} of {len(self.runs)} run{'' if len(self.runs) == 1 else 's'}"
        return f"{self.require} shown in {of}" if self.require else f"no regression in {of}"

    def to_dict(self) -> dict[str, Any]:
        """The verdict as it stands in our JSON."""
        about = {"verdict": self.sentence, "exit_code": self.exit_code, "required": self.require, "level": LEVEL}
        about["warnings"] = list(self.warnings)
        return {**about, "runs": [run.to_dict() for run in self.runs]}

    def rows(self) -> list[dict[str, Any]]:
        """A flat row for each test."""
        return [
            {"run": run.label, "data": run.data, **{k: v for k, v in test.to_dict().items() if k not in NESTED}}
            for run in self.runs
            for test in run.tests
        ]

    def heading(self) -> str:
        """The verdict in words."""
        return self.sentence


NESTED = ("terms", "moved")
