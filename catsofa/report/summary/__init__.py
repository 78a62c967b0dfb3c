"""The opening of a report of models: findings in sentences, and one table of each model on each measure."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from catsofa.data.statistics import ALPHA
from catsofa.report.elements import Number
from catsofa.report.summary.pairs import Pair


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A number of a measure that the summary shows."""

    name: str
    """The heading of its column."""
    registered: str = ""
    """Its name in tests; empty if no test knows it."""
    value: Callable[[Any], Number]
    """Results to the number."""
    ideal: float
    above: str = ""
    """What a model does that is above the ideal value, beyond chance; empty if the ideal value is an end."""
    below: str = ""
    told: bool = True
    """Whether the findings speak of it; the table has it anyway."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """The models of one section on one measure."""

    kind: str
    about: str
    """What sets the section apart from others of the kind; empty if it is the only one."""
    of: Shown
    values: Mapping[str, Number]
    """The model to its value, where it has one."""
    sides: Mapping[str, int] | None = None
    """1 or -1 for each model shown to be above or below the ideal value; None where nobody tested."""
    pairs: Mapping[tuple[str, str], Pair] = field(default_factory=dict)
    tests: Mapping[tuple[str, str], tuple[int, int]] = field(default_factory=dict)
    """Of association tests, how many differ between two models after correction, and of how many."""
    coverage: Mapping[str, float] = field(default_factory=dict)
    """The share of the items that the value of a model rests on."""
    missing: tuple[str, ...] = ()
    """Models without a value."""
    untested: str = ""
    """Why no pair of several models is tested."""

    @property
    def best(self) -> str:
        """The model that is shown to be nearer to the ideal value than each other one; empty if none is."""
        lead = Counter[str]()
        for (one, other), pair in self.pairs.items():
            if pair.nearer <= ALPHA:
                lead[one if pair.lead > 0 else other] += 1
        return next((model for model, beaten in lead.items() if beaten == len(self.values) - 1), "")
