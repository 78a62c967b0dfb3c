"""The summary of a report on models: findings in sentences, and one table of each model on each measure."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from catsofa.data.statistics import ALPHA
from catsofa.report.elements import Number
from catsofa.report.summary.bases import Basis
from catsofa.report.summary.pairs import Pair, changed


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A number of a measure in the summary."""

    name: str
    """The column heading."""
    registered: str = ""
    """Its name in tests; empty if no test covers it."""
    value: Callable[[Any], Number]
    """Returns the number from results."""
    ideal: float
    above: str = ""
    """The phrase for a model significantly above the ideal value; empty if the ideal value is an end of the scale."""
    below: str = ""
    told: bool = True
    """True if the findings mention the number; the table always has it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """The results of the models of one section on one measure."""

    kind: str
    about: str
    """The distinction from other sections of the kind, such as the data; empty if it is the only section."""
    of: Shown
    values: Mapping[str, Number]
    """Maps a model to its value; models without a value are in `missing`."""
    sides: Mapping[str, int] | None = None
    """1 or -1 for each model significantly above or below the ideal value; None if not tested."""
    pairs: Mapping[tuple[str, str], Pair] = field(default_factory=dict)
    tests: Mapping[tuple[str, str], tuple[int, int]] = field(default_factory=dict)
    """For association tests: how many differ between two models after correction, and the number tested."""
    coverage: Mapping[str, float] = field(default_factory=dict)
    """The share of the items behind the value of a model."""
    bases: Mapping[str, Basis] = field(default_factory=dict)
    """The items behind the value of a model, where the results contain their number."""
    missing: tuple[str, ...] = ()
    """Models without a value."""
    untested: str = ""
    """The reason why no pair of models is tested."""
    warned: frozenset[str] = frozenset()
    """Models with a warning in the section."""
    cautions: tuple[str, ...] = ()
    """Why values of some models are another measurement than those of others."""
    other_ways: Mapping[str, Mapping[tuple[str, str], Pair]] = field(default_factory=dict)
    """Maps the formula of each other normalisation of perplexity to the pairs as it tests them."""

    @property
    def best(self) -> str:
        """The model that is significantly nearer to the ideal value than every other model; empty if none is."""
        lead = Counter[str]()
        for (one, other), pair in self.pairs.items():
            if pair.nearer <= ALPHA:
                lead[one if pair.lead > 0 else other] += 1
        return next((model for model, beaten in lead.items() if beaten == len(self.values) - 1), "")

    def digits(self, models: tuple[str, str]) -> int:
        """Returns the decimals of a difference: those of the value that has fewer."""
        return min(self.values[model].digits for model in models)

    def otherwise(self) -> Iterator[str]:
        """Yields the cautions about the values, and the pairs on which another normalisation has another verdict."""
        yield from (f"{self.of.name}: {caution}." for caution in self.cautions)
        for way, others in self.other_ways.items():
            if pairs := changed(self.pairs, others):
                yield f"{self.of.name} depends on how perplexity is normalised: by {way}, {pairs}."
