"""Writes folders atomically, as `files.atomic_write` writes files."""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from catsofa.data.files import OLD, BadInput, beside, let_go, writing


@contextmanager
def atomic_folder(path: Path | str, is_ours: Callable[[Path], bool]) -> Iterator[Path]:
    """A temporary folder to fill beside `path`, moved into place at the end.

    An existing folder is replaced only if `is_ours` accepts every file in it, so that a typing error cannot delete
    other work.
    """
    path = Path(path)
    if path.is_symlink() or (path.exists() and not path.is_dir()):
        raise BadInput(path, "a file or a link", "the name of a folder to write")
    if path.is_dir():
        for other in sorted(path.rglob("*")):
            if not other.is_dir() and not is_ours(other.relative_to(path)):
                conflict = f"a folder that holds {other.relative_to(path)}, which would be lost"
                raise BadInput(path, conflict, "a new folder, or one that was written here before")
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        name, lock = beside(path, lambda beginning, end, folder: tempfile.mkdtemp(end, beginning, folder))
    partial = Path(name)
    try:
        filled = partial / "new"
        filled.mkdir()
        yield filled
        _put_in_place(filled, path, partial / OLD)
    except OSError as error:
        problem = f"a folder that cannot be written ({error.strerror or error})"
        raise BadInput(path, problem, "a disk with enough room") from None
    finally:
        shutil.rmtree(partial, ignore_errors=True)
        let_go(lock)


def _put_in_place(filled: Path, path: Path, old: Path) -> None:
    """Move the filled folder to `path`; an existing folder is moved away first, and restored if the move fails."""
    for file in filled.rglob("*"):
        if file.is_file():
            with file.open("rb") as handle:
                os.fsync(handle.fileno())
    if not path.exists():
        os.rename(filled, path)
        return
    os.rename(path, old)
    try:
        os.rename(filled, path)
    except BaseException:
        os.rename(old, path)
        raise
