"""Compares identities of runs, so that a folder is resumed only by the same run.

The folder's store (an AppendLog, or the database of scores) holds the lock.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any


def refuse_difference(folder: Path | str, kind: str, before: Any, now: Any) -> None:
    """Raise a ValueError that shows the differences if a folder holds a run with another identity than `now`."""
    if changed := "; ".join(differences(before, now)):
        raise ValueError(
            f"{folder} contains a different {kind} ({changed}); use another folder, or delete this one to begin again"
        )


def differences(before: Any, now: Any, name: str = "") -> Iterator[str]:
    """The differences between two identities, each as `name: then → now`."""
    if isinstance(before, Mapping) and isinstance(now, Mapping):
        for key in sorted({*before, *now}):
            yield from differences(before.get(key), now.get(key), f"{name}.{key}" if name else key)
    elif before != now:
        yield f"{name}: {_shown(before)} → {_shown(now)}"


def _shown(value: Any) -> str:
    """A value as text for users."""
    return "none" if value is None else str(value)
