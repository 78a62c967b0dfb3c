"""Verdicts of `catsofa verify`: the store, the checked parts, and the faults of its files."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Fault:
    """A file that differs from what was written, with one sentence that says what is wrong and what to do."""

    path: Path
    wrong: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The result of checking one store, which is right if there are no faults."""

    path: Path
    kind: str
    """The kind of store: run, report, release, probe shards, released set."""
    checked: tuple[str, ...] = ()
    """Parts that were checked: `manifest`, `12,687 scores`."""
    unchecked: tuple[str, ...] = ()
    """Parts that could not be checked, each with its reason (an old store has no checksums)."""
    faults: tuple[Fault, ...] = ()

    @property
    def right(self) -> bool:
        """True if there are no faults."""
        return not self.faults

    def to_dict(self) -> dict[str, Any]:
        """The verdict as JSON."""
        faults = [{"file": str(fault.path), "wrong": fault.wrong} for fault in self.faults]
        return {**asdict(self), "path": str(self.path), "right": self.right, "faults": faults}


Check = Callable[[Path], Verdict | None]
"""Checks the store at a path; returns None for another kind of store. A check may also raise a fault of a file as
`BadInput`, which becomes a fault of the file that it names."""


class NotChecked(ValueError):
    """The store cannot be checked now because another process holds it; no fault is known."""
