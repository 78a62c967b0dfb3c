"""Verdicts of `catsofa verify`: which store was checked, what was checked in it, and what is wrong with which file."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Fault:
    """A file that is not what was written, with one sentence that says what is wrong and what to do."""

    path: Path
    wrong: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The outcome of checking one store; without faults the store is all right."""

    path: Path
    kind: str
    """The kind of store: run, report, release, probe shards, released set."""
    checked: tuple[str, ...] = ()
    """Parts that were checked: `manifest`, `12,687 scores`."""
    unchecked: tuple[str, ...] = ()
    """Parts that could not be checked, each with its reason: an old store has no checksums."""
    faults: tuple[Fault, ...] = ()

    @property
    def right(self) -> bool:
        """Whether nothing is wrong."""
        return not self.faults

    def to_dict(self) -> dict[str, Any]:
        """The verdict as JSON."""
        faults = [{"file": str(fault.path), "wrong": fault.wrong} for fault in self.faults]
        return {**asdict(self), "path": str(self.path), "right": self.right, "faults": faults}


Check = Callable[[Path], Verdict | None]
"""Checks the store at a path; None if the path holds another kind of store. Faults of files may also be raised as
`BadInput`, which becomes a fault of the file that it names."""


class NotChecked(ValueError):
    """The store cannot be checked now, and nothing is known to be wrong: another process holds it."""
