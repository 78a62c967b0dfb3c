"""The comparison of two models on one measure."""

from dataclasses import dataclass

from catsofa.data.statistics import ALPHA


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two models on one measure: the difference, and both p after Holm's correction over all pairs of the measure."""

    difference: float
    """The first model's value less the second's, over the items that both decide."""
    decided: float
    """The share of the items that both decide."""
    apart: float
    """p of equal values."""
    nearer: float
    """p of equal distances from the ideal value."""
    lead: float
    """The second model's distance from the ideal value less the first's."""

    @property
    def told_apart(self) -> bool:
        """True if the two values differ significantly."""
        return self.apart <= ALPHA

    @property
    def verdict(self) -> int:
        """1 or -1 if the first model's value is significantly higher or lower than the second's, else 0."""
        return (1 if self.difference > 0 else -1) if self.told_apart else 0
