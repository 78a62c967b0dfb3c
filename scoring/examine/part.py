"""What the models' scores say of the items of one task, as numbers by name."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import nan
from typing import Any

from catsofa.data.percentages import quantity
from catsofa.scoring.examine.bipolar import Bipolar
from catsofa.scoring.examine.dif import GroupDifference
from catsofa.scoring.examine.facets import WANTED, Facet
from catsofa.scoring.examine.limits import Estimate
from catsofa.scoring.examine.short import ShortForm
from catsofa.scoring.examine.variance import CROSSED, NESTED, needed
from catsofa.scoring.statistics.intervals import ALIKE, Interval

ALL_AGREE, NEGATIVE, OTHERWISE = "E1", "E2", "E3"
"""Rules by which an item is named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Flag:
    """An item that somebody should look at."""

    item: str
    rule: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreed:
    """The items to which all models give one value."""

    value: float
    items: tuple[str, ...]
    by_chance: float
    """Items to expect if each model gave its values, as often as it does, to items drawn at random."""

    def to_dict(self) -> dict[str, Any]:
        """The value, its items and their expected number."""
        return {"value": self.value, "count": len(self.items), "by_chance": self.by_chance, "items": list(self.items)}

    def said(self) -> str:
        """The value and both numbers of items in words."""
        count = quantity(len(self.items), "item")
        return f"all models score {self.value:g} on {count} ({self.by_chance:.1f} expected by chance)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """The numbers of one task."""

    models: int
    items: int
    terms: int
    complete: int
    """Items that every model scored: agreement is counted over these."""
    coverage: float
    """Share of the cells of items × models that are scored."""
    numbers: Mapping[str, Estimate]
    """Each number with its intervals, by name."""
    null: Mapping[str, float] = field(default_factory=dict)
    """Median and share below 0 of item–rest correlations where the models are shuffled, and the p of both."""
    quantiles: tuple[float, ...] = ()
    """Every hundredth of the item–rest correlations; `null_quantiles` those of shuffled models, on average."""
    null_quantiles: tuple[float, ...] = ()
    eigenvalues: tuple[float, ...] = ()
    shuffled: tuple[float, ...] = ()
    """What the eigenvalues of shuffled models exceed in 5 % of cases."""
    undefined: Mapping[str, str] = field(default_factory=dict)
    """Numbers that have no value here, with the reason."""
    flags: Sequence[Flag] = ()
    agreed: Sequence[Agreed] = ()
    """For each value that every model gives to some item: the items to which all give it."""
    by_chance: float = 0.0
    """Items that rule `NEGATIVE` would name, at most, if item–rest correlations were those of shuffled models."""
    warnings: tuple[str, ...] = ()
    bipolar: Bipolar | None = None
    """Models and items on one scale whose zero is "no preference"; `undefined` says why there is none."""
    dif: Mapping[str, GroupDifference] = field(default_factory=dict)
    """Items that a group of models answers otherwise, by the group's pattern."""
    short: ShortForm | None = None
    """Few items that tell the score on all, if they were asked for; `undefined` says why there are none."""

    facets: Mapping[str, Facet] = field(default_factory=dict)
    """The study of each facet that the scores are means over, by name; `undefined` says why one has none."""

    @property
    def dimensions(self) -> int | None:
        """Eigenvalues that exceed those of shuffled models, up to the first that does not."""
        if not self.eigenvalues:
            return None
        above = [one > limit + ALIKE * self.items for one, limit in zip(self.eigenvalues, self.shuffled, strict=True)]
        return [*above, False].index(False)

    def named(self, rule: str) -> int:
        """How many items a rule names."""
        return sum(flag.rule == rule for flag in self.flags)

    def value(self, name: str) -> float:
        """A number by name; NaN if it is undefined."""
        return self.numbers[name].value if name in self.numbers else nan

    def needs(self, name: str, wanted: float) -> tuple[int | None, dict[str, Any]]:
        """The items (`kr20`) or terms (`coefficient`) that reach a coefficient, and the limits of that number."""
        count, found = self.terms if name == "coefficient" else self.items, self.numbers[name]

        def limits(side: Interval) -> dict[str, Any]:
            return {"low": needed(side.high, count, wanted), "high": needed(side.low, count, wanted)}

        over = {"terms": limits(found.terms), "models": limits(found.models)}
        return needed(found.value, count, wanted), {**limits(found.both), **over}

    def to_dict(self) -> dict[str, Any]:
        """The numbers as they stand in our JSON; shares lie between 0 and 1."""
        items = {str(wanted): self.needs("kr20", wanted) for wanted in WANTED}
        terms = {str(wanted): self.needs("coefficient", wanted) for wanted in WANTED if "coefficient" in self.numbers}
        by_term = {
            "variance": {name: self.value(f"terms.{name}") for name in NESTED},
            "coefficient": self.value("coefficient"),
            "terms_for": {wanted: count for wanted, (count, _) in terms.items()},
        }
        people = {name: self.value(f"people.{name}") for name in ("preference", "item_rest")}
        rest = {name: self.value(f"item_rest.{name}") for name in ("median", "negative")}
        spread = {"quantiles": list(self.quantiles), "null_quantiles": list(self.null_quantiles)}
        return {
            "counts": {name: getattr(self, name) for name in ("models", "items", "terms", "complete")},
            "coverage": self.coverage,
            "variance": {name: self.value(f"variance.{name}") for name in CROSSED},
            "items_for": {wanted: count for wanted, (count, _) in items.items()},
            "kr20": self.value("kr20"),
            **({"terms": by_term} if terms else {}),
            "split_half": self.value("split_half"),
            "all_agree": self.value("all_agree"),
            "agreed": [one.to_dict() for one in self.agreed],
            "item_rest": {**rest, **self.null, **(spread if self.quantiles else {})},
            **({"people": people} if "people.preference" in self.numbers else {}),
            "dimensions": {
                "count": self.dimensions,
                "eigenvalues": list(self.eigenvalues),
                "shuffled": list(self.shuffled),
            },
            "flags": {
                **{rule: self.named(rule) for rule in (ALL_AGREE, NEGATIVE, OTHERWISE)},
                "by_chance": self.by_chance,
            },
            **({"bipolar": self.bipolar.to_dict()} if self.bipolar else {}),
            **({"dif": {name: one.to_dict() for name, one in self.dif.items()}} if self.dif else {}),
            **({"short": self.short.to_dict()} if self.short else {}),
            **({"facets": {name: one.to_dict() for name, one in self.facets.items()}} if self.facets else {}),
            "undefined": dict(self.undefined),
            "intervals": {
                **{name: found.limits() for name, found in self.numbers.items()},
                **{f"items_for.{wanted}": limits for wanted, (_, limits) in items.items()},
                **{f"terms_for.{wanted}": limits for wanted, (_, limits) in terms.items()},
            },
            "warnings": list(self.warnings),
        }
