"""The options of StereoSet."""

from dataclasses import dataclass
from typing import Literal

from catsofa.scoring.choices import Average, Rule

Masked = Literal["left-to-right", "pseudo"]
Pieces = Literal["mean-log", "mean-prob", "sum"]
Masks = Literal["one", "all"]
Blank = Literal["refuse", "code"]
CausalPair = Literal["pmi", "ratio-code", "nsp"]
MaskedPair = Literal["nsp", "pseudo"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StereoSetOptions:
    """How attributes and next sentences are scored, and how CATs are counted."""

    masked: Masked = "left-to-right"
    pieces: Pieces = "mean-log"
    masks: Masks = "one"
    blank: Blank = "refuse"
    causal_pair: CausalPair = "pmi"
    masked_pair: MaskedPair = "nsp"
    rule: Rule = "pairwise"
    average: Average = "terms"
    padding_text: str | None = None
    """What an XLNet reads before each sentence, whose attribute it then scores in both directions."""
