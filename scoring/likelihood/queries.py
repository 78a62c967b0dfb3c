"""Questions to a model about token sequences: pure data, so that equal questions are asked once."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ids = tuple[int, ...]
Answer = NDArray[np.float64]
"""Natural logarithms, one for each requested token."""


@dataclass(frozen=True, slots=True)
class Continuation:
    """Asks how likely `ids[start:]` are from left to right, each given all ids before it."""

    ids: Ids
    start: int = 1

    def __post_init__(self) -> None:
        """Raises ValueError if the first token is requested, because nothing conditions it."""
        if not 1 <= self.start < len(self.ids):
            raise ValueError(f"cannot ask for tokens {self.start}… of {len(self.ids)}")


@dataclass(frozen=True, slots=True)
class Padded(Continuation):
    """A Continuation with masked padding between its start token and `ids[start:]`, as in released code."""


@dataclass(frozen=True, slots=True)
class Fill:
    """Asks how likely `targets` are at `positions` of a row that is read in both directions."""

    ids: Ids
    positions: Ids
    targets: Ids
    types: Ids = ()
    """Segment of each token; if empty, all tokens are in the first segment."""


@dataclass(frozen=True, slots=True)
class SingleFill(Fill):
    """A Fill with a softmax in single precision over the whole vocabulary, as in released code.

    It is off by up to 1.1e-5 of a probability, and released numbers include this error.
    """


@dataclass(frozen=True, slots=True)
class Attended:
    """The Fill of an unmasked row; each log-probability is multiplied by the mean attention its token receives."""

    ids: Ids
    positions: Ids
    types: Ids = ()


@dataclass(frozen=True, slots=True)
class Follows:
    """Asks how likely the second segment of a row follows the first, by a next-sentence head."""

    ids: Ids
    types: Ids


@dataclass(frozen=True, slots=True)
class Infill:
    """Asks how likely an encoder-decoder writes `ids[start:]` after `ids[:start]`, given the input `source`."""

    source: Ids
    ids: Ids
    start: int = 1


Question = Continuation | Padded | Fill | SingleFill | Attended | Follows | Infill
