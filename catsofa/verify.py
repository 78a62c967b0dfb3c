"""The stores that `catsofa verify` can check, by kind, and the check of a path or of all stores below it."""

import os
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from pathlib import Path

from catsofa.data.files import BadInput
from catsofa.data.verify.verdicts import Check, Fault, NotChecked, Verdict

CHECKS: Mapping[str, str] = {
    "run": "catsofa.scoring.run.checks:check_run",
    "choices": "catsofa.scoring.choosing.checks:check_choices",
    "report": "catsofa.scoring.run.checks:check_report",
    "baseline": "catsofa.gate.snapshots:check_baseline",
    "probe shards": "catsofa.data.verify.stores:check_shards",
    "release": "catsofa.data.verify.stores:check_release",
    "study": "catsofa.annotation.study.checks:check_study",
    "released set": "catsofa.data.verify.stores:check_released_set",
    "replies": "catsofa.scoring.run.checks:check_replies",
    "history": "catsofa.scoring.run.checks:check_history",
    "journal": "catsofa.data.verify.stores:check_journal",
}
"""Kind of store to the function that checks it, in the order in which the functions are tried."""
EXPECTED = f"a store of catsofa ({', '.join(CHECKS)}), or a folder that holds some"


Outcome = Verdict | BadInput | NotChecked
"""The verdict on a store, or the reason why a path could not be checked."""


def verify(paths: Iterable[Path | str]) -> Iterator[Outcome]:
    """Yields the verdict on each store at these paths, or on each store below a folder that is no store itself.

    For a path that cannot be checked it yields an error, and continues with the others.
    """
    for path in map(Path, paths):
        if not os.path.lexists(path):
            yield BadInput(path, "no such file or folder", f"one of {', '.join(CHECKS)}")
            continue
        outcomes = iter(_outcomes(path))
        if (first := next(outcomes, None)) is None:
            yield BadInput(path, _nothing(path), f"{EXPECTED}; what `catsofa report` writes has no checksum")
        else:
            yield first
            yield from outcomes


def _nothing(path: Path) -> str:
    """Returns a sentence about a path without a store."""
    if path.is_dir():
        return "a folder in which catsofa wrote nothing" if any(path.iterdir()) else "an empty folder"
    return "an empty file" if path.is_file() and not path.stat().st_size else "a file that is no store of catsofa"


def _outcomes(path: Path) -> Iterator[Outcome]:
    """Yields the verdict on this path, or those on the stores below it; in a store it searches only for replies."""
    if outcome := _outcome(path):
        yield outcome
        if (replies := path / "replies.jsonl").is_file():
            yield from _outcomes(replies)
    elif path.is_dir():
        for below in sorted(path.iterdir()):
            yield from _outcomes(below)


def _outcome(path: Path) -> Outcome | None:
    """Returns the verdict of the first check that recognises this store, or the reason why it cannot be checked now."""
    for kind, place in CHECKS.items():
        module, _, name = place.partition(":")
        check: Check = getattr(import_module(module), name)
        try:
            verdict = check(path)
        except NotChecked as error:
            return error
        except BadInput as error:
            return Verdict(path=path, kind=kind, faults=(Fault(error.path, error.complaint),))
        if verdict is not None:
            return verdict
    return None
