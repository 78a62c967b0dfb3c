"""Results of one contamination test, and of all of them together."""

__all__ = ["Contamination", "Test"]

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isnan, nan
from typing import Any

from catsofa.data.statistics import ALPHA
from catsofa.data.tables import Tabular
from catsofa.scoring.signature import Signature
from catsofa.scoring.statistics.holm import holm
from catsofa.scoring.statistics.intervals import UNDEFINED, Interval

PARTS = {
    "used": ("items", "items used"),
    "shards": ("cut", "shards scored"),
    "sampled": ("items", "items sampled"),
    "scored": ("sampled", "sampled items scored"),
    "paraphrases": ("given", "paraphrases compared"),
    "refused": ("given", "paraphrases refused"),
    "reproduced": ("tokens", "tokens reproduced"),
    "above": ("strings", "random strings at least as likely"),
}
"""Counts that are a part of another count: the name of the whole, and a description of the part."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Test:
    """One test: its number with an interval, and its verdict or the reason for a missing verdict."""

    name: str
    """order, wording, completion or canary."""
    unit: str = ""
    """Unit of the number."""
    value: Interval = UNDEFINED
    """The model's number."""
    references: Sequence[Interval] = ()
    """Number of each reference model on the same items."""
    change: Interval = UNDEFINED
    """Model's number minus the mean of the references; the interval is over models."""
    counts: Mapping[str, int] = field(default_factory=dict)
    """Basis of the number: items, shards, permutations, tokens, random strings."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """For the order of items: what was permuted, and how neighbours are alike."""
    p: float = nan
    """One-sided p-value of a model that has not seen the data; NaN without a test."""
    holm: float = nan
    """p-value, Holm-adjusted over the tests that could be made."""
    reason: str = ""
    """Reason for a missing verdict; empty with a verdict."""

    @property
    def shown(self) -> bool | None:
        """True if this test shows contamination; None without a verdict."""
        return None if isnan(self.holm) else self.holm <= ALPHA

    def to_dict(self) -> dict[str, Any]:
        """Returns the test as a dictionary for JSON."""
        return {
            **self.value.to_dict(),
            "unit": self.unit,
            "reference_values": [one.to_dict() for one in self.references],
            "change": None if isnan(self.change.value) else self.change.to_dict(),
            **self.counts,
            **self.facts,
            "p": self.p,
            "holm": self.holm,
            "shown": self.shown,
            "reason": self.reason,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Contamination(Tabular):
    """Results of the contamination tests of one model on one data set."""

    tests: Sequence[Test]
    """Order, wording, completion and canary; p-values are Holm-adjusted over those that could be made."""
    signature: Signature
    warnings: tuple[str, ...] = ()

    @property
    def shown(self) -> bool | None:
        """True if a test shows contamination; None if no test could be made."""
        verdicts = [test.shown for test in self.tests if test.shown is not None]
        return any(verdicts) if verdicts else None

    @property
    def exit_code(self) -> int:
        """0: contamination is not shown. 1: it is shown. 2: no test could be made."""
        return 2 if self.shown is None else int(self.shown)

    @property
    def sentence(self) -> str:
        """The verdict; a test that shows nothing proves nothing."""
        if self.shown is None:
            return "contamination could not be tested"
        shown = [test.name for test in self.tests if test.shown]
        if shown:
            return f"contamination shown by: {', '.join(shown)}"
        names = ", ".join(test.name for test in self.tests if test.shown is not None)
        return f"contamination not shown (tests made: {names}); that does not show that the model has not seen the data"

    def to_dict(self) -> dict[str, Any]:
        """Returns the result as a dictionary for JSON."""
        return {
            "tests": {test.name: test.to_dict() for test in self.tests},
            "shown": self.shown,
            "sentence": self.sentence,
            "warnings": list(self.warnings),
            "signature": self.signature.to_dict(),
        }

    def rows(self) -> list[dict[str, Any]]:
        """Returns a flat row for each test."""
        return [
            {
                "test": test.name,
                **test.value.row("value"),
                "unit": test.unit,
                **test.change.row("change"),
                "p": test.p,
                "holm": test.holm,
                "shown": test.shown,
                "reason": test.reason,
            }
            for test in self.tests
        ]

    def heading(self) -> str:
        """Returns the verdict."""
        return self.sentence


def adjusted(tests: Iterable[Test]) -> tuple[Test, ...]:
    """Returns the tests with p-values Holm-adjusted over those that have one."""
    every = tuple(tests)
    return tuple(replace(test, holm=p) for test, p in zip(every, holm([test.p for test in every]), strict=True))


def basis(counts: Mapping[str, int]) -> list[str]:
    """Returns each count in words, with its denominator if it is a part of another count."""
    parts = {name: PARTS[name] for name in counts if name in PARTS and PARTS[name][0] in counts}
    wholes = {whole for whole, _ in parts.values()} - parts.keys()
    return [
        f"{count:,} of {counts[parts[name][0]]:,} {parts[name][1]}" if name in parts else f"{count:,} {name}"
        for name, count in counts.items()
        if name not in wholes
    ]
