"""The options of SoFa."""

from dataclasses import dataclass
from math import isfinite
from typing import Literal

from catsofa.scoring.choices import refuse_outside

Normalisation = Literal["identity", "conditional", "none"]
FORMULAS: dict[Normalisation, str] = {
    "identity": "PPL(i + s) / PPL(i)",
    "conditional": "PPL(s | i)",
    "none": "PPL(i + s)",
}
"""Maps a normalisation to its formula of PPL*."""
Padding = Literal["none", "tokenizer"]
Weights = Literal["none", "severity"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SofaOptions:
    """Options for the perplexity of a probe, its normalisation, and the measure of its spread."""

    normalisation: Normalisation = "identity"
    log_base: float = 10.0
    ddof: int = 1
    padding: Padding = "none"
    ppl_digits: int | None = None
    weights: Weights = "none"

    def __post_init__(self) -> None:
        """Refuse numbers for which no score is defined."""
        base = self.log_base
        refuse_outside("log_base", base, isfinite(base) and base > 0 and base != 1, "a number above 0 other than 1")
        refuse_outside("ddof", self.ddof, self.ddof in (0, 1), "0 or 1")
        digits = self.ppl_digits
        refuse_outside("ppl_digits", digits, digits is None or digits >= 0, "a whole number from 0, or none")
