"""The numbers of probes by their ids, for a million ids at once: 24 bytes for each, and no loop over them."""

from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]
NONE = -1
"""The number of an unknown id."""


class ProbeNumbers:
    """The ids that are added get the numbers 0, 1, 2, …; each is kept as two 64-bit hashes of this process."""

    def __init__(self) -> None:
        self._parts = [_hashes(())]

    def add(self, ids: Sequence[str]) -> None:
        """Add the next ids."""
        self._parts.append(_hashes(ids))

    @cached_property
    def _sorted(self) -> tuple[Numbers, Numbers, Numbers]:
        """Both hashes of each id, and its number, in the order of the hashes; no id can be added afterwards."""
        first, second = map(np.concatenate, zip(*self._parts, strict=True))
        self._parts.clear()  # 24 bytes for each id are left
        order = np.lexsort((second, first))
        return first[order], second[order], order

    @property
    def repeated(self) -> int:
        """The number of an id that was added before; NONE if all are different."""
        first, second, numbers = self._sorted
        again = (first[1:] == first[:-1]) & (second[1:] == second[:-1])
        return int(numbers[1:][again].min()) if again.any() else NONE

    def find(self, ids: Sequence[str]) -> Numbers:
        """The number of each id; NONE for an id that was not added."""
        held, held_second, numbers = self._sorted
        first, second = _hashes(ids)
        found = np.full(len(first), NONE)
        places = np.searchsorted(held, first)
        # ids with the same first hash follow one another
        while len(at := np.flatnonzero((found == NONE) & (places < len(held)))):
            same = held[places[at]] == first[at]
            right = at[same & (held_second[places[at]] == second[at])]
            found[right] = numbers[places[right]]
            places[at] = np.where(same, places[at] + 1, len(held))
        return found


def _hashes(ids: Iterable[str]) -> tuple[Numbers, Numbers]:
    """Two hashes of each id."""
    every = [*ids]
    first = np.fromiter(map(hash, every), np.int64, len(every))
    return first, np.fromiter((hash(one + "\0") for one in every), np.int64, len(every))
