"""Item analysis of one task: its numbers by name, its flags and its warnings."""

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
"""Rules by which items are flagged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Flag:
    """An item that needs review, with the rule that flags it."""

    item: str
    rule: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreed:
    """The items to which all models give the same value."""

    value: float
    items: tuple[str, ...]
    by_chance: float
    """Expected number of items if each model kept its values but gave them to random items."""

    def to_dict(self) -> dict[str, Any]:
        """Returns the value, its items and their expected number."""
        return {"value": self.value, "count": len(self.items), "by_chance": self.by_chance, "items": list(self.items)}

    def said(self) -> str:
        """Returns a sentence with the value, the number of items and their expected number."""
        count = quantity(len(self.items), "item")
        return f"all models score {self.value:g} on {count} ({self.by_chance:.1f} expected by chance)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Item analysis of one task."""

    models: int
    items: int
    terms: int
    complete: int
    """Items that every model scored; agreement is counted over these."""
    coverage: float
    """Share of the cells of items × models that are scored."""
    numbers: Mapping[str, Estimate]
    """Each number with its intervals, by name."""
    null: Mapping[str, float] = field(default_factory=dict)
    """Median and share below 0 of the item–rest correlations under shuffled models, and both p-values."""
    quantiles: tuple[float, ...] = ()
    """Percentiles 0 to 100 of the item–rest correlations; `null_quantiles`: their means under shuffled models."""
    null_quantiles: tuple[float, ...] = ()
    eigenvalues: tuple[float, ...] = ()
    shuffled: tuple[float, ...] = ()
    """95 % quantile of each eigenvalue under shuffled models (parallel analysis)."""
    undefined: Mapping[str, str] = field(default_factory=dict)
    """Numbers without a value, with the reason."""
    flags: Sequence[Flag] = ()
    agreed: Sequence[Agreed] = ()
    """For each value that every model uses: the items to which all models give it."""
    by_chance: float = 0.0
    """Upper limit of the number of items that rule `NEGATIVE` is expected to flag under shuffled models."""
    warnings: tuple[str, ...] = ()
    bipolar: Bipolar | None = None
    """Models and items on one scale whose zero is "no preference"; if None, `undefined` has the reason."""
    dif: Mapping[str, GroupDifference] = field(default_factory=dict)
    """Items that a group of models answers differently, by the group's pattern."""
    short: ShortForm | None = None
    """A few items that predict the score on all items, if requested; if missing, `undefined` has the reason."""

    facets: Mapping[str, Facet] = field(default_factory=dict)
    """Study of each facet that the scores are means over, by name; `undefined` has the reasons of missing studies."""

    @property
    def dimensions(self) -> int | None:
        """Number of leading eigenvalues above those of shuffled models; None without eigenvalues."""
        if not self.eigenvalues:
            return None
        above = [one > limit + ALIKE * self.items for one, limit in zip(self.eigenvalues, self.shuffled, strict=True)]
        return [*above, False].index(False)

    def named(self, rule: str) -> int:
        """Returns the number of items that a rule flags."""
        return sum(flag.rule == rule for flag in self.flags)

    def value(self, name: str) -> float:
        """Returns a number by name; NaN if it is undefined."""
        return self.numbers[name].value if name in self.numbers else nan

    def needs(self, name: str, wanted: float) -> tuple[int | None, dict[str, Any]]:
        """Returns how many items (`kr20`) or terms (`coefficient`) reach a coefficient, and the limits of the count."""
        count, estimate = self.terms if name == "coefficient" else self.items, self.numbers[name]

        def limits(side: Interval) -> dict[str, Any]:
            return {"low": needed(side.high, count, wanted), "high": needed(side.low, count, wanted)}

        over = {"terms": limits(estimate.terms), "models": limits(estimate.models)}
        return needed(estimate.value, count, wanted), {**limits(estimate.both), **over}

    def to_dict(self) -> dict[str, Any]:
        """Returns the report as a dictionary for JSON; shares lie between 0 and 1."""
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
                **{name: estimate.limits() for name, estimate in self.numbers.items()},
                **{f"items_for.{wanted}": limits for wanted, (_, limits) in items.items()},
                **{f"terms_for.{wanted}": limits for wanted, (_, limits) in terms.items()},
            },
            "warnings": list(self.warnings),
        }
