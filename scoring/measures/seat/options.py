"""The options of SEAT."""

from dataclasses import dataclass
from math import comb
from typing import Literal

from catsofa.scoring.choices import Pooling, refuse_outside

PValue = Literal["permutation", "parametric", "characteristic"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatOptions:
    """Options for the vector of a text, and for the computation of p."""

    pooling: Pooling | None = None
    layer: int = -1
    unit_length: bool = False
    special_tokens: bool = True
    p_value: PValue = "permutation"
    counted: int = comb(40, 20)
    """The maximum number of splits of the targets that are all counted; more splits are sampled."""

    def __post_init__(self) -> None:
        """Refuse to count fewer than one split."""
        refuse_outside("counted", self.counted, self.counted >= 1, "a whole number from 1")
