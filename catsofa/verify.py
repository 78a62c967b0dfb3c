"""The stores that `catsofa verify` can check, by kind, and the check of a path or of all stores below it."""

import os
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from pathlib import Path

from catsofa.data.files import BadInput
from catsofa.data.verify.verdicts import Check, Fault, NotChecked, Verdict

CHECKS: Mapping[str, str] = {
    "run": "catsofa.scoring.run.checks:check_run",
    "report": "catsofa.scoring.run.checks:check_report",
    "probe shards": "catsofa.data.verify.stores:check_shards",
    "release": "catsofa.data.verify.stores:check_release",
    "released set": "catsofa.data.verify.stores:check_released_set",
    "replies": "catsofa.scoring.run.reply_checks:check_replies",
    "journal": "catsofa.data.verify.stores:check_journal",
}
"""Kind of store to the function that checks it, in the order in which a path is tried."""


def verify(paths: Iterable[Path | str]) -> Iterator[Verdict]:
    """The verdict on each store at these paths, or on each one below a folder that is no store itself."""
    for path in _existing(paths):
        seen = False
        for verdict in _verdicts(path):
            seen = True
            yield verdict
        if not seen:
            raise BadInput(
                path, _nothing(path), f"a store of catsofa ({', '.join(CHECKS)}), or a folder that holds some"
            )


def _nothing(path: Path) -> str:
    """Says that a path holds no store."""
    if path.is_dir():
        return "a folder in which catsofa wrote nothing" if any(path.iterdir()) else "an empty folder"
    return "an empty file" if path.is_file() and not path.stat().st_size else "a file that is no store of catsofa"


def _existing(paths: Iterable[Path | str]) -> list[Path]:
    """The paths; one that does not exist is refused before any work."""
    found = [Path(path) for path in paths]
    for path in found:
        if not os.path.lexists(path):
            raise BadInput(path, "no such file or folder", f"one of {', '.join(CHECKS)}")
    return found


def _verdicts(path: Path) -> Iterator[Verdict]:
    """The verdict on this path, or those on the stores below it; in a store only replies are searched for."""
    if verdict := _verdict(path):
        yield verdict
        if (replies := path / "replies.jsonl").is_file():
            yield from _verdicts(replies)
    elif path.is_dir():
        for below in sorted(path.iterdir()):
            yield from _verdicts(below)


def _verdict(path: Path) -> Verdict | None:
    """The verdict of the first check that knows this kind of store."""
    for kind, place in CHECKS.items():
        try:
            verdict = _check(place)(path)
        except NotChecked:
            raise
        except BadInput as error:
            return Verdict(path=path, kind=kind, faults=(Fault(error.path, _without_path(error)),))
        if verdict is not None:
            return verdict
    return None


def _check(place: str) -> Check:
    """The check of this name, whose module is imported now."""
    module, _, name = place.partition(":")
    found: Check = getattr(import_module(module), name)
    return found


def _without_path(error: BadInput) -> str:
    """What an error says, without the path that it begins with."""
    return f"found {error.found}; expected {error.expected}"
