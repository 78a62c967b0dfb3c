"""An append-only log: each line is a JSON object with a checksum, synced to disk, and valid after a kill."""

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from hashlib import sha256
from math import inf
from pathlib import Path
from typing import IO, Any

from catsofa.data.closing import Closing
from catsofa.data.digests import FIELD, hex_digest, json_digest
from catsofa.data.files import BadInput, lines, writing

REMEDY = "restore the file, or delete this line so that its work is done again"
RESTORE = "restore the file from a copy"
FIRST = "first"
"""Replaces the checksum of the previous line in the first line of a chained log."""
BLOCK = 65536
"""Bytes per read when searching backwards from the end of the file."""


class LogReader:
    """A log opened for reading only; another process may write it at the same time."""

    def __init__(
        self, path: Path | str, expected: str, *, bound_to: str = "", remedy: str = "", chained: bool = False
    ) -> None:
        """Checksums also cover `bound_to`: context that lines depend on but do not contain, such as the server asked.

        In a `chained` log, checksums also cover the previous line's checksum: only the loss of the last lines goes
        undetected. Logs of earlier versions begin with lines that are not chained.
        """
        self.path, self.expected, self._remedy = Path(path), expected, remedy or (RESTORE if chained else REMEDY)
        self._bound_to, self._chained, self._linked, self._before = bound_to, chained, False, ""
        self.checked = self.unchecked = 0
        """Lines of the last `read` whose checksum matched, and lines of earlier versions without a checksum."""

    def read(self, *needed: str, unchecked: bool = True) -> Iterator[dict[str, Any]]:
        """Every complete line as an object; each must have the `needed` fields and a valid checksum.

        Logs of earlier versions begin with lines without a checksum; these are skipped if `unchecked` is false.
        """
        self.checked = self.unchecked = 0
        self._linked, self._before = False, FIRST if self._chained else ""
        if not (ended := self._ended()):
            return
        for number, line in lines(self.path, self.expected):
            if number > ended:
                return
            value = None
            with suppress(ValueError, RecursionError):
                value = json.loads(line)
            if not isinstance(value, dict) or not set(needed) <= value.keys():
                problem = f"a line that is no object with {' and '.join(needed)}"
                raise BadInput(self.path, problem, f"{self.expected}; {self._remedy}", number)
            if self._fits(value, number) or unchecked:
                yield value

    def _fits(self, value: dict[str, Any], number: int) -> bool:
        """Remove and verify the checksum of a line; False for a line of an earlier version without one.

        A checksum that does not match, or that is missing after a checked line, is refused."""
        last = next(reversed(value.values()), None)
        if FIELD not in value and not self.checked and last != self._checksum(dict([*value.items()][:-1])):
            self.unchecked += 1
            return False
        held = value.pop(FIELD, None)
        if self._before and held == self._checksum(value, self._before):
            self._linked = True
        elif self._linked or held != self._checksum(value):
            problem = "a line that its checksum does not fit: it was changed after it was written, or is of another run"
            if self._chained:
                problem += ", or the line before it was lost, doubled or moved"
            raise BadInput(self.path, problem, f"{self.expected}; {self._remedy}", number)
        self.checked += 1
        self._before = held if self._chained else ""
        return True

    def _checksum(self, value: dict[str, Any], before: str = "") -> str:
        """The checksum of a line; `before` is the checksum of the previous line, or empty."""
        bound = [*filter(None, (self._bound_to, before))]
        return json_digest([*bound, value] if bound else value)

    def _ended(self) -> float:
        """The number of complete lines: infinity if all are, otherwise those before a cut or unfinished last line."""
        with self.path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            if size:
                file.seek(-1, os.SEEK_END)
                if file.read() == b"\n":
                    return inf
                self._refuse_changed_end(file, _end_of_lines(file))
                file.seek(0)
            return sum(block.count(b"\n") for block in iter(partial(file.read, 1 << 20), b""))

    def _refuse_changed_end(self, file: IO[bytes], place: int) -> None:
        """Refuse a last line without newline that has text after its object: a kill cannot cause such a line."""
        file.seek(place)
        text = file.read().decode(errors="replace")
        end = len(text)
        with suppress(ValueError, RecursionError):
            _, end = json.JSONDecoder().raw_decode(text)
        if end < len(text):
            file.seek(0)
            number = 1 + file.read(place).count(b"\n")
            problem = "a line without newline that goes on after its object: it was changed after it was written"
            raise BadInput(self.path, problem, f"{self.expected}; {self._remedy}", number)


class AppendLog(LogReader, Closing):
    """A log opened for appending; only one process at a time can open it."""

    def __init__(
        self,
        path: Path | str,
        expected: str,
        hide: Callable[[str], str] = str,
        *,
        bound_to: str = "",
        remedy: str = "",
        chained: bool = False,
    ) -> None:
        """Open or create the log at `path`; `hide` removes secrets from every line before the write."""
        super().__init__(path, expected, bound_to=bound_to, remedy=remedy, chained=chained)
        self._hide = hide
        with writing(path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file: IO[bytes] = self.path.open("a+b")
        _lock(self._file, self.path, expected)
        try:
            # remove a last line that a kill left incomplete
            size, end = self._file.seek(0, os.SEEK_END), _end_of_lines(self._file)
            if end < size:
                self._refuse_changed_end(self._file, end)
                self._file.truncate(end)
                self._file.seek(end)
        except BadInput:
            self._file.close()
            raise

    def append(self, *values: dict[str, Any], sync: bool = True) -> list[dict[str, Any]]:
        """Write values with their checksums, and return the values as written.

        Without `sync`, values are synced with later ones: a kill loses none, a power failure loses unsynced ones.
        """
        records = [json.loads(self._hide(json.dumps(value, ensure_ascii=False))) for value in values]
        before, text = self._last(), ""
        for value in records:
            checksum = self._checksum(value, before)
            text += json.dumps({**value, FIELD: checksum}, ensure_ascii=False) + "\n"
            before = checksum if self._chained else ""
        with writing(self.path):
            self._file.write(text.encode("utf-8", "surrogatepass"))
            self._file.flush()
        if sync:
            self.sync()
        return records

    def sync(self) -> None:
        """Sync all lines to disk."""
        with writing(self.path):
            os.fsync(self._file.fileno())

    def _last(self) -> str:
        """The checksum of the last line, which the next line is chained to; `read` verifies the last line itself."""
        if not self._chained:
            return ""
        end = self._file.seek(0, os.SEEK_END)
        self._file.seek(start := _end_of_lines(self._file, end - 1))
        with suppress(ValueError, RecursionError):
            return str(json.loads(self._file.read(end - start)).get(FIELD, FIRST))
        return FIRST

    def close(self) -> None:
        """Close the file, which releases its lock; an unwritten rest that the disk refuses raises the error again."""
        with writing(self.path):
            self._file.close()


def sum_of_lines(path: Path) -> dict[str, Any]:
    """The number of lines of a file and one SHA-256 over the digests of all lines."""
    return _sum(_digests(path))


def refuse_other_lines(path: Path, held: Mapping[str, Any], remedy: str) -> None:
    """Refuse a file that lost, doubled or changed a line since it had the sum `held`; new lines may follow."""
    digests = _digests(path) if path.is_file() else []
    old, new = digests[: held["lines"]], digests[held["lines"] :]
    if _sum(old) != held or len({*old, *new}) < len({*old}) + len(new):
        problem = f"{len(digests):,} lines, not the {held['lines']:,} that its run wrote"
        raise BadInput(path, problem if digests else "no lines", remedy)


def _digests(path: Path) -> list[bytes]:
    """The SHA-256 of each line."""
    with path.open("rb") as file:
        return [sha256(line).digest() for line in file]


def _sum(digests: Sequence[bytes]) -> dict[str, Any]:
    """The number of lines and the SHA-256 over these line digests."""
    return {"lines": len(digests), "sha256": hex_digest(b"".join(digests))}


def _end_of_lines(file: IO[bytes], end: int | None = None) -> int:
    """The offset after the last newline, or after the last newline before `end`."""
    end = file.seek(0, os.SEEK_END) if end is None else end
    while end > 0:
        start = max(0, end - BLOCK)
        file.seek(start)
        block = file.read(end - start)
        if b"\n" in block:
            return start + block.rindex(b"\n") + 1
        end = start
    return 0


def _lock(file: IO[bytes], path: Path, expected: str) -> None:
    """Lock the file for this process until the file is closed; Windows has no such lock, so the user must take care."""
    if sys.platform == "win32":
        return
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        raise BadInput(path, f"{expected} that another run is writing", "a folder of its own for each run") from None
