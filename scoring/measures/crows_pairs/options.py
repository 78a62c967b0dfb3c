"""The options of CrowS-Pairs."""

from dataclasses import dataclass
from typing import Literal

from catsofa.scoring.choices import refuse_outside

Crows = Literal["shared", "differing", "all", "aul", "aula", "modified", "modified-code"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CrowsPairsOptions:
    """Options for the scored tokens of a pair, and for the rounding of its scores."""

    crows: Crows = "shared"
    rounding: int | None = None

    def __post_init__(self) -> None:
        """Refuse a negative number of decimals."""
        digits = self.rounding
        refuse_outside("rounding", digits, digits is None or digits >= 0, "a whole number from 0, or none")
