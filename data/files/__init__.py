"""Reads files line by line, writes files atomically, and reports a faulty file in one sentence."""

__all__ = ["BadInput", "atomic_write", "lines", "short"]

import errno
import gzip
import io
import os
import re
import shutil
import stat
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path
from typing import IO, Any, cast

MAX_LINE = 64 * 1024 * 1024
"""Maximum bytes in one line; a longer line is not a record and could fill the memory."""

MAX_DOCUMENT = 512 * 1024 * 1024
"""Maximum bytes in a file that is read whole, such as a JSON document; larger data belongs in JSONL."""

MAX_SAID = 400
"""Maximum characters of each part of an error: a file may contain a field name of a million characters."""

GZIP = b"\x1f\x8b"
"""The first bytes of a gzip file."""

ENCODINGS = ("cp1252", "mac_roman")
"""The likely encodings of text that is not UTF-8: Windows, and older Macs."""

OLD = "old"
"""The name, in the temporary folder, of the target's old version while the new version is moved into place."""
NAME = 40
"""Characters of the target's name in the name of its temporary file; file systems limit the length of names."""

_PARTIAL = ".partial"
_WORD = re.compile(rb'[^\s,;"]+')
_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


class BadInput(ValueError):
    """An error about unexpected file content: one sentence with the file, the line, the content and the expectation."""

    def __init__(self, path: Path | str, found: str, expected: str, line: int | None = None) -> None:
        place = f"{path}:{line}" if line else str(path)
        found, expected = (" ".join(part.split())[:MAX_SAID] for part in (found, expected))
        self.complaint = f"found {found}; expected {expected}"
        """The sentence without the place."""
        super().__init__(f"{place}: {self.complaint}")
        self.path, self.line, self.found, self.expected = Path(path), line, found, expected

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the arguments; the default would pass the sentence alone to `__init__`."""
        return type(self), (self.path, self.found, self.expected, self.line)


def listed(paths: Path | str | Iterable[Path | str]) -> list[Path]:
    """Returns a list of paths; a single one counts as a list, and an iterator is read once."""
    several = list(paths) if isinstance(paths, Iterable) and not isinstance(paths, str) else [paths]
    for wrong in (each for each in several if not isinstance(each, str | Path)):
        expected = "expected the path of a run (`evaluate` with `out`), of a folder of runs, or of a file"
        raise ValueError(f"found a {type(wrong).__name__}; {expected}")
    return [*map(Path, several)]


def short(value: object) -> str:
    """Returns the repr of a value for an error message, cut to 60 characters."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def stem(path: Path) -> str:
    """Returns the name of a file without its suffix, and without `.gz`."""
    return Path(path.name.removesuffix(".gz")).stem


def existing_file(path: Path | str, expected: str) -> Path:
    """Returns the path of a non-empty file; raises a BadInput that says what was found instead."""
    path = Path(path)
    try:
        status = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        raise BadInput(path, "no such file", f"a file with {expected}") from None
    except OSError as error:
        raise BadInput(path, f"a path that cannot be read ({error.strerror})", f"a file with {expected}") from None
    if stat.S_ISDIR(status.st_mode):
        raise BadInput(path, "a folder", f"a file with {expected}")
    if not stat.S_ISREG(status.st_mode):
        # a stream can be read only once, and detecting the format would consume its beginning
        raise BadInput(path, "a pipe or device", f"a file with {expected}; save the stream to a file first")
    if status.st_size == 0:
        raise BadInput(path, "an empty file", expected)
    return path


def stamp(path: Path | str) -> tuple[str, int, int, int]:
    """The place, size and time stamps of a file, which change if anybody writes or replaces it."""
    status = os.stat(path)
    return os.path.realpath(path), status.st_size, status.st_mtime_ns, status.st_ctime_ns


def lines(path: Path | str, expected: str, max_line: int = MAX_LINE) -> Iterator[tuple[int, str]]:
    """Yields each line with its number, from 1; decodes UTF-8, drops a byte-order mark and skips blank lines."""
    path = existing_file(path, expected)
    any_text = False
    for number, raw in raw_lines(path, expected, "record", max_line):
        text = decode(raw, path, expected, number)
        if text.strip():
            any_text = True
            yield number, text.rstrip("\r\n")
    if not any_text:
        raise BadInput(path, "nothing but blank lines", expected)


def raw_lines(path: Path, expected: str, unit: str, max_line: int) -> Iterator[tuple[int, bytes]]:
    """Yields each line as bytes, with its number and line ending but no byte-order mark; refuses overlong lines."""
    with open_to_read(path, expected) as file:
        number = 0
        while raw := file.readline(max_line + 1):
            number += 1
            if len(raw) > max_line:
                raise BadInput(path, f"a line of over {max_line:,} bytes", f"{expected}, one {unit} a line", number)
            yield number, raw.removeprefix(b"\xef\xbb\xbf") if number == 1 else raw


def read_text(path: Path | str, expected: str, max_bytes: int = MAX_DOCUMENT) -> str:
    """Returns the whole text of a UTF-8 file, without its byte-order mark."""
    path = existing_file(path, expected)
    too_long = BadInput(path, f"a file of over {max_bytes:,} bytes", expected)
    if path.stat().st_size > max_bytes:
        raise too_long
    with open_to_read(path, expected) as file:
        raw = file.read(max_bytes + 1)
    if len(raw) > max_bytes:
        raise too_long
    text = decode(raw.removeprefix(b"\xef\xbb\xbf"), path, expected, None)
    if not text.strip():
        raise BadInput(path, "nothing but blank space", expected)
    return text


def decode(raw: bytes, path: Path, expected: str, line: int | None) -> str:
    """Returns the UTF-8 text; raises a BadInput that names the first byte that is not UTF-8."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line_number = line if line else raw.count(b"\n", 0, error.start) + 1
        problem = f"byte 0x{raw[error.start]:02x}, which is not UTF-8"
        raise BadInput(path, problem, f"{expected} in UTF-8{_other_encodings(raw, error.start)}", line_number) from None


def _other_encodings(raw: bytes, start: int) -> str:
    """Returns the word around a byte in each possible encoding, so that the user sees which one is right."""
    words = [
        word[0] for word in _WORD.finditer(raw, max(0, start - 20), start + 20) if word.start() <= start < word.end()
    ]
    shown = []
    for encoding in ENCODINGS:
        with suppress(UnicodeDecodeError):
            shown += [f"if {word.decode(encoding)!r} is right, it is {encoding}" for word in words]
    return f"; {', '.join(shown)}: convert it with 'catsofa convert --encoding'" if shown else ""


@contextmanager
def open_to_read(path: Path, expected: str) -> Iterator[IO[bytes]]:
    """Opens a binary file, decompressed if it is gzip; a refused permission or damaged gzip becomes a BadInput."""
    try:
        file = path.open("rb")
    except OSError as error:
        raise BadInput(path, f"a file that cannot be read ({error.strerror})", expected) from None
    with file:
        if file.peek(len(GZIP))[: len(GZIP)] != GZIP:
            yield file
            return
        try:
            yield io.BufferedReader(cast("io.RawIOBase", gzip.GzipFile(fileobj=file)))
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise BadInput(path, f"a damaged gzip file ({error})", f"{expected}; pack or fetch it again") from None


@contextmanager
def writing(path: Path | str) -> Iterator[None]:
    """Turns an OSError while writing into a BadInput that says what to do."""
    try:
        yield
    except OSError as error:
        if error.errno in _NO_ROOM:
            raise BadInput(path, f"no room for it ({error.strerror})", "a disk with enough room") from None
        problem = f"a place that cannot be written ({error.strerror})"
        raise BadInput(path, problem, "a folder you may write to") from None


@contextmanager
def atomic_write(path: Path | str) -> Iterator[IO[bytes]]:
    """Writes a file beside `path` and moves it into place at the end; readers see the old or the whole new file."""
    target = Path(os.path.realpath(path))  # follow a link, so that the link itself is kept
    with _new_folders_for(target, path):
        temporary, lock = _open_beside(target, path)
        try:
            with open(temporary, "w+b") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            # mkstemp makes private files; a result gets the default permissions
            mask = os.umask(0)
            os.umask(mask)
            os.chmod(temporary, 0o666 & ~mask)
            os.replace(temporary, target)
        except BaseException as error:
            with suppress(FileNotFoundError):
                os.unlink(temporary)
            if isinstance(error, OSError) and error.errno in _NO_ROOM:
                raise BadInput(path, f"no room for it ({error.strerror})", "a disk with enough room") from None
            raise
        finally:
            let_go(lock)


def _open_beside(target: Path, path: Path | str) -> tuple[str, int | None]:
    """Makes a new private file in the target's folder, and its lock; refuses a folder, device or pipe as the target."""
    with writing(path):
        if target.is_dir():
            raise BadInput(path, "a folder", "the name of a file to write")
        if os.path.exists(path) and not os.path.isfile(path):
            raise BadInput(path, "a pipe or device", "the name of a file to write")
        return beside(target, _make_private)


def _make_private(beginning: str, end: str, folder: Path) -> str:
    """Makes a new empty file that no other user may read; returns its path."""
    handle, path = tempfile.mkstemp(end, beginning, folder)
    os.close(handle)
    return path


@contextmanager
def _new_folders_for(target: Path, path: Path | str) -> Iterator[None]:
    """Makes the missing parent folders of the target; if writing fails, removes the new folders that are empty."""
    new_folders: list[Path] = []
    with writing(path):
        for folder in reversed([folder for folder in target.parents if not folder.exists()]):
            folder.mkdir(exist_ok=True)
            new_folders.append(folder)
    try:
        yield
    except BaseException:
        for folder in reversed(new_folders):
            with suppress(OSError):
                folder.rmdir()
        raise


def beside(target: Path, make: Callable[[str, str, Path], str]) -> tuple[str, int | None]:
    """Makes a new temporary file or folder beside the target, and the lock that marks it as in use.

    `make` gets the prefix and suffix of the name, and the folder. Leftovers of dead writers are removed first.
    """
    # a file system without locks keeps the leftovers
    for leftover in target.parent.glob(f".{escape(target.name[:NAME])}.????????{_PARTIAL}"):
        held = _hold(leftover, wait=False)
        if held is not None:
            with suppress(OSError):
                if (leftover / OLD).exists() and not target.exists():
                    os.rename(leftover / OLD, target)
                shutil.rmtree(leftover) if leftover.is_dir() else leftover.unlink()
            let_go(held)
    while True:
        path = make(f".{target.name[:NAME]}.", _PARTIAL, target.parent)
        lock = _hold(path)
        if os.path.lexists(path):  # another writer can have removed the new file before it was locked
            return path, lock
        let_go(lock)


def let_go(lock: int | None) -> None:
    """Releases the lock."""
    if lock is not None:
        os.close(lock)


def _hold(path: str | Path, wait: bool = True) -> int | None:
    """Locks a file or folder until release or the end of the process; None if the lock cannot be taken."""
    if sys.platform == "win32":
        return None
    import fcntl

    with suppress(OSError):
        opened = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            return opened
        except OSError:
            os.close(opened)
    return None
