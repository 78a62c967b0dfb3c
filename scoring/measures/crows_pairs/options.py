"""The options of CrowS-Pairs."""

from dataclasses import dataclass
from typing import Literal

from catsofa.scoring.choices import refuse_outside

Crows = Literal["shared", "differing", "all", "aul", "aula", "modified", "modified-code"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CrowsPairsOptions:
    """Which tokens of a pair are scored, and whether its scores are rounded."""

    crows: Crows = "shared"
    rounding: int | None = None

    def __post_init__(self) -> None:
        """Refuse to round to fewer than no decimals."""
        digits = self.rounding
        refuse_outside("rounding", digits, digits is None or digits >= 0, "a whole number from 0, or none")
