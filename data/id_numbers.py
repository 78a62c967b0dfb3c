"""A memory-saving map from ids to numbers: a 16-byte digest replaces each id.

The first ids are in a table of some 40 bytes per id. Beyond `IN_MEMORY` ids, all are in an unnamed temporary SQLite
file, which disappears with the process.
"""

import sqlite3
from array import array
from collections.abc import Iterable, Iterator
from hashlib import blake2b

WIDTH = 16
"""Bytes of a digest: the probability of a collision among 10⁹ ids is 10⁻²¹."""
FIRST = 1024
"""Initial number of slots of a table; at most half of the slots are taken."""
IN_MEMORY = 200_000
"""Maximum number of ids without a file; the file costs a few microseconds more per id."""
CACHE = 8192
"""KiB of the file that SQLite caches in memory."""


class IdNumbers:
    """A map that only grows; an id keeps the number it first got."""

    def __init__(self) -> None:
        self._few = _Table()
        self._many: _File | None = None

    def __len__(self) -> int:
        """The number of ids."""
        return len(self._many or self._few)

    def get(self, item: str) -> int | None:
        """The number of an id, or None."""
        return (self._many or self._few).get(_digest(item))

    def setdefault(self, item: str, number: int) -> int:
        """The number of an id; an unknown id gets the given number."""
        if self._many is None and len(self._few) == IN_MEMORY:
            self._many, self._few = _File(self._few), _Table()
        return (self._many or self._few).setdefault(_digest(item), number)


class _Table:
    """An open-addressing hash table from digests to numbers, in memory."""

    def __init__(self) -> None:
        self._digests, self._numbers = bytearray(), array("Q")
        self._slots = array("I", bytes(4 * FIRST))
        # a slot holds a position among the digests, counted from 1; 0 means free

    def __len__(self) -> int:
        return len(self._numbers)

    def items(self) -> Iterator[tuple[bytes, int]]:
        """All digests with their numbers."""
        return ((self._digest(place), number) for place, number in enumerate(self._numbers))

    def get(self, digest: bytes) -> int | None:
        """The number of a digest."""
        place = self._slots[self._slot(digest)]
        return self._numbers[place - 1] if place else None

    def setdefault(self, digest: bytes, number: int) -> int:
        """The number of a digest; an unknown digest gets the given number."""
        slot = self._slot(digest)
        if place := self._slots[slot]:
            return self._numbers[place - 1]
        self._digests += digest
        self._numbers.append(number)
        self._slots[slot] = len(self._numbers)
        if 2 * len(self._numbers) > len(self._slots):
            self._slots = array("I", bytes(8 * len(self._slots)))
            for index in range(len(self._numbers)):
                self._slots[self._slot(self._digest(index))] = index + 1
        return number

    def _slot(self, digest: bytes) -> int:
        """The slot of a digest, or the free slot for it."""
        slots, digests, last = self._slots, self._digests, len(self._slots) - 1
        slot = int.from_bytes(digest[:8], "little") & last
        while place := slots[slot]:
            end = place * WIDTH
            if digests[end - WIDTH : end] == digest:
                break
            slot = (slot + 1) & last
        return slot

    def _digest(self, place: int) -> bytes:
        """The digest at this position, counted from 0."""
        return bytes(self._digests[place * WIDTH : (place + 1) * WIDTH])


class _File:
    """A map from digests to numbers in a temporary file, which is not needed after a kill."""

    def __init__(self, table: _Table) -> None:
        self._connection = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        self._count = len(table)
        for pragma in ("journal_mode = OFF", "synchronous = OFF", f"cache_size = -{CACHE}"):
            self._connection.execute(f"PRAGMA {pragma}")
        self._connection.execute("CREATE TABLE ids (id BLOB PRIMARY KEY, number INTEGER NOT NULL) WITHOUT ROWID")
        self._connection.execute("BEGIN")
        self._run("INSERT INTO ids VALUES (?, ?)", table.items())

    def __len__(self) -> int:
        return self._count

    def get(self, digest: bytes) -> int | None:
        """The number of a digest."""
        row = self._connection.execute("SELECT number FROM ids WHERE id = ?", (digest,)).fetchone()
        return None if row is None else int(row[0])

    def setdefault(self, digest: bytes, number: int) -> int:
        """The number of a digest; an unknown digest gets the given number."""
        if self._run("INSERT OR IGNORE INTO ids VALUES (?, ?)", [(digest, number)]):
            self._count += 1
            return number
        before = self.get(digest)
        assert before is not None
        return before

    def _run(self, command: str, rows: Iterable[tuple[bytes, int]]) -> int:
        """Execute a command for each row; returns the number of rows written."""
        try:
            return self._connection.executemany(command, rows).rowcount
        except sqlite3.OperationalError as error:
            raise ValueError(f"no room for temporary files ({error}); set TMPDIR to a folder with more of it") from None


def _digest(item: str) -> bytes:
    """The digest of an id."""
    return blake2b(item.encode("utf-8", "surrogatepass"), digest_size=WIDTH).digest()
