"""A memory-saving map from ids to numbers: a 16-byte digest replaces each id.

The first ids are in a dict of up to 200 bytes per id, which is fast. Beyond `IN_A_DICT` ids, all are in a table of some
40 bytes per id.
"""

from array import array
from hashlib import blake2b

WIDTH = 16
"""Bytes of a digest: the probability of a collision among 10⁹ ids is 10⁻²¹."""
IN_A_DICT = 200_000
"""Maximum number of ids in a dict; the table costs a few microseconds more per id."""


class IdNumbers:
    """A map that only grows; an id keeps the number it first got."""

    def __init__(self) -> None:
        self._ids: dict[bytes, int] | _Table = {}

    def __len__(self) -> int:
        """The number of ids."""
        return len(self._ids)

    def setdefault(self, item: str, number: int) -> int:
        """The number of an id; an unknown id gets the given number."""
        if len(self._ids) == IN_A_DICT and isinstance(self._ids, dict):
            self._ids = _Table(self._ids)
        return self._ids.setdefault(_digest(item), number)


class _Table:
    """An open-addressing hash table from digests to numbers."""

    def __init__(self, numbers: dict[bytes, int]) -> None:
        self._digests, self._numbers = bytearray(b"".join(numbers)), array("Q", numbers.values())
        self._rehash()

    def __len__(self) -> int:
        return len(self._numbers)

    def setdefault(self, digest: bytes, number: int) -> int:
        """The number of a digest; an unknown digest gets the given number."""
        slot = self._slot(digest)
        if place := self._slots[slot]:
            return self._numbers[place - 1]
        self._digests += digest
        self._numbers.append(number)
        self._slots[slot] = len(self._numbers)
        if 2 * len(self._numbers) > len(self._slots):
            self._rehash()
        return number

    def _rehash(self) -> None:
        """Make so many slots that at most a quarter is taken; a slot holds a position counted from 1, or 0 if free."""
        self._slots = array("I", bytes(4 << (4 * len(self._numbers)).bit_length()))
        for end in range(WIDTH, len(self._digests) + 1, WIDTH):
            self._slots[self._slot(self._digests[end - WIDTH : end])] = end // WIDTH

    def _slot(self, digest: bytes | bytearray) -> int:
        """The slot of a digest, or the free slot for it."""
        slots, digests, last = self._slots, self._digests, len(self._slots) - 1
        slot = int.from_bytes(digest[:8], "little") & last
        while place := slots[slot]:
            end = place * WIDTH
            if digests[end - WIDTH : end] == digest:
                break
            slot = (slot + 1) & last
        return slot


def _digest(item: str) -> bytes:
    """The digest of an id."""
    return blake2b(item.encode("utf-8", "surrogatepass"), digest_size=WIDTH).digest()
