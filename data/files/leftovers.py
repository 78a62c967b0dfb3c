"""What a killed writer left beside its target: known by a lock that died with it, and cleared by the next writer."""

import os
import shutil
import sys
from collections.abc import Callable
from contextlib import suppress
from glob import escape
from pathlib import Path

SUFFIX = ".partial"
OLD = "old"
"""Where in a folder beside the target its old state stands while the new one takes its place."""
NAME = 40
"""Characters of the target's name in that of a file beside it, which must not become too long for the disk."""


def beside(target: Path, make: Callable[[str, str, Path], str]) -> tuple[str, int | None]:
    """A new file or folder beside the target, and the lock that says somebody works on it.

    `make` is given a beginning and an end of its name, and the folder. What others left there goes first.
    """
    _clear(target)
    while True:
        made = make(f".{target.name[:NAME]}.", SUFFIX, target.parent)
        lock = _hold(made)
        if os.path.lexists(made):  # another writer can have cleared it before it was locked
            return made, lock
        let_go(lock)


def let_go(lock: int | None) -> None:
    """Give the lock back."""
    if lock is not None:
        os.close(lock)


def _clear(target: Path) -> None:
    """Delete what lies beside the target and nobody works on; a disk without locks keeps it."""
    for found in target.parent.glob(f".{escape(target.name[:NAME])}.????????{SUFFIX}"):
        lock = _hold(found, wait=False)
        if lock is not None:
            with suppress(OSError):
                if (found / OLD).exists() and not target.exists():
                    os.rename(found / OLD, target)
                shutil.rmtree(found) if found.is_dir() else found.unlink()
            let_go(lock)


def _hold(path: str | Path, wait: bool = True) -> int | None:
    """A lock on a file or folder, until it is let go or the process ends; None where it cannot be had."""
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
