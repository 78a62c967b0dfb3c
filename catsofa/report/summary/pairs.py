"""Two models on one measure."""

from dataclasses import dataclass

from catsofa.data.statistics import ALPHA


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two models on one measure: the difference, and both p after Holm's correction over all pairs of the measure."""

    difference: float
    """The first less the second, over what both decide."""
    decided: float
    """The share of the items that both decide."""
    apart: float
    """p of equal values."""
    nearer: float
    """p of equal distances from the ideal value."""
    lead: float
    """How much nearer to the ideal value the first is than the second."""

    @property
    def told_apart(self) -> bool:
        """Whether the two values are shown to differ."""
        return self.apart <= ALPHA
