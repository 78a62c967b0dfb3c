"""What a model can be asked about token sequences: pure data, so that equal questions are asked once."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ids = tuple[int, ...]
Answer = NDArray[np.float64]
"""Natural logarithms, one for each token that was asked for."""


@dataclass(frozen=True, slots=True)
class Continuation:
    """How likely `ids[start:]` are from left to right, each given all ids before it."""

    ids: Ids
    start: int = 1

    def __post_init__(self) -> None:
        """Refuse to ask for a first token, which nothing conditions."""
        if not 1 <= self.start < len(self.ids):
            raise ValueError(f"cannot ask for tokens {self.start}… of {len(self.ids)}")


@dataclass(frozen=True, slots=True)
class Padded(Continuation):
    """A Continuation with unseen padding between its start token and `ids[start:]`, as released code leaves it."""


@dataclass(frozen=True, slots=True)
class Fill:
    """How likely `targets` are at `positions` of a row that is read in both directions."""

    ids: Ids
    positions: Ids
    targets: Ids
    types: Ids = ()
    """Segment of each token; the first one everywhere, if none are given."""


@dataclass(frozen=True, slots=True)
class SingleFill(Fill):
    """A Fill whose softmax is taken in single precision over the whole vocabulary, as released code takes it.

    That is up to 1.1e-5 of a probability off, and it is what released numbers hold.
    """


@dataclass(frozen=True, slots=True)
class Attended:
    """The Fill of an unmasked row, each log-probability times the mean attention its token receives."""

    ids: Ids
    positions: Ids
    types: Ids = ()


@dataclass(frozen=True, slots=True)
class Follows:
    """How likely the second segment of a row follows the first, by a next-sentence head."""

    ids: Ids
    types: Ids


@dataclass(frozen=True, slots=True)
class Infill:
    """How likely an encoder-decoder writes `ids[start:]` after `ids[:start]` when it has read `source`."""

    source: Ids
    ids: Ids
    start: int = 1


Question = Continuation | Padded | Fill | SingleFill | Attended | Follows | Infill
