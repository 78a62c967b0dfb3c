"""The result of one test of contamination, and of all of them together."""

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
"""A count that is a part of another one: the count of the whole, and what the part is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Test:
    """One test: its number with an interval, and its verdict or the reason why there is none."""

    name: str
    """order, wording, completion or canary."""
    unit: str = ""
    """What the number counts."""
    value: Interval = UNDEFINED
    """The model's number."""
    references: Sequence[Interval] = ()
    """The number of each reference model on the same items."""
    change: Interval = UNDEFINED
    """How far the model's number lies above the mean of the references; the interval is over models."""
    counts: Mapping[str, int] = field(default_factory=dict)
    """What the number rests on: items, shards, permutations, tokens, random strings."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """What was permuted and how neighbours are alike, for the order of items."""
    p: float = nan
    """One-sided p of a model that has not seen the data; NaN without a test."""
    holm: float = nan
    """The p adjusted over the tests that could be made."""
    reason: str = ""
    """Why there is no verdict; empty where there is one."""

    @property
    def shown(self) -> bool | None:
        """Whether this test shows contamination; None without a verdict."""
        return None if isnan(self.holm) else self.holm <= ALPHA

    def to_dict(self) -> dict[str, Any]:
        """The test as it stands in our JSON."""
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
    """Whether tests show that a model has seen a data set."""

    tests: Sequence[Test]
    """Order, wording, completion and canary, with p adjusted by Holm over those that could be made."""
    signature: Signature
    warnings: tuple[str, ...] = ()

    @property
    def shown(self) -> bool | None:
        """Whether a test shows contamination; None if no test could be made."""
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
        made = ", ".join(test.name for test in self.tests if test.shown is not None)
        return f"contamination not shown (tests made: {made}); that does not show that the model has not seen the data"

    def to_dict(self) -> dict[str, Any]:
        """The result as it stands in our JSON."""
        return {
            "tests": {test.name: test.to_dict() for test in self.tests},
            "shown": self.shown,
            "sentence": self.sentence,
            "warnings": list(self.warnings),
            "signature": self.signature.to_dict(),
        }

    def rows(self) -> list[dict[str, Any]]:
        """A flat row for each test."""
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
        """The verdict."""
        return self.sentence


def adjusted(tests: Iterable[Test]) -> tuple[Test, ...]:
    """The tests with p adjusted by Holm over those that have one."""
    every = tuple(tests)
    return tuple(replace(test, holm=p) for test, p in zip(every, holm([test.p for test in every]), strict=True))


def basis(counts: Mapping[str, int]) -> list[str]:
    """What a number rests on: each count, with its denominator where it is a part of another count."""
    parts = {name: PARTS[name] for name in counts if name in PARTS and PARTS[name][0] in counts}
    wholes = {whole for whole, _ in parts.values()} - parts.keys()
    return [
        f"{count:,} of {counts[parts[name][0]]:,} {parts[name][1]}" if name in parts else f"{count:,} {name}"
        for name, count in counts.items()
        if name not in wholes
    ]
