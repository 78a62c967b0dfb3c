"""A memory-saving map from ids to numbers: a 16-byte digest replaces each id.

The first ids are in a dict of up to 200 bytes per id. Beyond `IN_MEMORY` ids, all are in an unnamed temporary SQLite
file, which disappears with the process.
"""

import sqlite3
from collections.abc import Iterable
from hashlib import blake2b

WIDTH = 16
"""Bytes of a digest: the probability of a collision among 10⁹ ids is 10⁻²¹."""
IN_MEMORY = 200_000
"""Maximum number of ids without a file; the file costs a few microseconds more per id."""
CACHE = 8192
"""KiB of the file that SQLite caches in memory."""


class IdNumbers:
    """A map that only grows; an id keeps the number it first got."""

    def __init__(self) -> None:
        self._ids: dict[bytes, int] | _File = {}

    def __len__(self) -> int:
        """The number of ids."""
        return len(self._ids)

    def get(self, item: str) -> int | None:
        """The number of an id, or None."""
        return self._ids.get(_digest(item))

    def setdefault(self, item: str, number: int) -> int:
        """The number of an id; an unknown id gets the given number."""
        if len(self._ids) == IN_MEMORY and isinstance(self._ids, dict):
            self._ids = _File(self._ids)
        return self._ids.setdefault(_digest(item), number)


class _File:
    """A map from digests to numbers in a temporary file, which is not needed after a kill."""

    def __init__(self, few: dict[bytes, int]) -> None:
        self._connection = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        self._count = len(few)
        for pragma in ("journal_mode = OFF", "synchronous = OFF", f"cache_size = -{CACHE}"):
            self._connection.execute(f"PRAGMA {pragma}")
        self._connection.execute("CREATE TABLE ids (id BLOB PRIMARY KEY, number INTEGER NOT NULL) WITHOUT ROWID")
        self._connection.execute("BEGIN")
        self._run("INSERT INTO ids VALUES (?, ?)", few.items())

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
