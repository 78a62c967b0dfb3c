"""A model that only counts letters."""

from collections.abc import Sequence
from math import log


class Letters:
    """Gives each word the probability 2 to the power of minus its letters times BITS: `letters:BITS`."""

    def __init__(self, bits: str) -> None:
        if not bits.isdigit():
            raise ValueError(f"found {bits!r} after the colon; expected the bits of a letter, as letters:2")
        self.bits = int(bits)

    @property
    def name(self) -> str:
        """The name in signatures."""
        return f"letters:{self.bits}"

    @property
    def digest(self) -> str:
        """A text that changes whenever the model gives other numbers."""
        return "1"

    def loglikelihood(self, queries: Sequence[tuple[str, str]]) -> list[list[float]]:
        """Returns for each (context, text) the natural log-probability of each word of the text."""
        return [[-len(word) * self.bits * log(2) for word in text.split()] for _, text in queries]
