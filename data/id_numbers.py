"""Ids to numbers in some 40 bytes an id, however many there are: a digest of 16 bytes stands for the id."""

from array import array
from hashlib import blake2b

WIDTH = 16
"""Bytes of a digest: among 10⁹ ids two have the same one with a chance of 10⁻²¹."""
FIRST = 1024
"""Slots of a table to begin with; at most half of them are taken."""


class IdNumbers:
    """A mapping that only grows, in which an id keeps the number it was first given."""

    def __init__(self) -> None:
        self._digests, self._numbers = bytearray(), array("Q")
        self._slots = array("I", bytes(4 * FIRST))
        # what a slot holds is a place among the digests, counted from 1; 0 is free

    def __len__(self) -> int:
        """How many ids there are."""
        return len(self._numbers)

    def get(self, item: str) -> int | None:
        """The number of an id, None if it has none."""
        place = self._slots[self._slot(_digest(item))]
        return self._numbers[place - 1] if place else None

    def setdefault(self, item: str, number: int) -> int:
        """The number of an id, which is this one if it had none."""
        digest = _digest(item)
        slot = self._slot(digest)
        if place := self._slots[slot]:
            return self._numbers[place - 1]
        self._digests += digest
        self._numbers.append(number)
        self._slots[slot] = len(self._numbers)
        if 2 * len(self._numbers) > len(self._slots):
            self._widen()
        return number

    def _slot(self, digest: bytes) -> int:
        """Where a digest stands, or the free slot where it would."""
        slots, digests, last = self._slots, self._digests, len(self._slots) - 1
        slot = int.from_bytes(digest[:8], "little") & last
        while place := slots[slot]:
            end = place * WIDTH
            if digests[end - WIDTH : end] == digest:
                break
            slot = (slot + 1) & last
        return slot

    def _widen(self) -> None:
        """Twice the slots, each digest in its new one."""
        self._slots = array("I", bytes(8 * len(self._slots)))
        for at in range(len(self._numbers)):
            self._slots[self._slot(bytes(self._digests[at * WIDTH : (at + 1) * WIDTH]))] = at + 1


def _digest(item: str) -> bytes:
    """What stands for an id."""
    return blake2b(item.encode("utf-8", "surrogatepass"), digest_size=WIDTH).digest()
