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
    """Options for the scoring of attributes and next sentences, and for the counting of CATs."""

    masked: Masked = "left-to-right"
    pieces: Pieces = "mean-log"
    masks: Masks = "one"
    blank: Blank = "refuse"
    causal_pair: CausalPair = "pmi"
    masked_pair: MaskedPair = "nsp"
    rule: Rule = "pairwise"
    average: Average = "terms"
    padding_text: str | None = None
    """The padding text that an XLNet reads before each sentence; it then scores attributes in both directions."""
