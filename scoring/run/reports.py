"""Finished runs: their reports and their scores, read only where the run is finished and its report is right."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from catsofa.data.digests import FIELD, json_digest
from catsofa.data.files import BadInput, json_files
from catsofa.data.files.json_files import check_seal
from catsofa.scoring.run.manifest import CHOICES, MANIFEST, is_checked, read_manifest
from catsofa.scoring.run.rows import REMEDY, SCORES, warn_unchecked
from catsofa.scoring.run.store import MADE_FROM, REPORT, Run

T = TypeVar("T")


class Unfinished(BadInput):
    """A run that has not come to its end."""


def open_finished(folder: Path | str) -> Run:
    """The finished run in this folder, to read, its report checked; an unfinished run is refused."""
    run = Run.open(folder)
    try:
        _refuse_unfinished(run)
        _report_of(run)
    except BaseException:
        run.close()
        raise
    return run


def finished_report(folder: Path | str) -> dict[str, Any]:
    """The report of a finished run, held against its checksum; the scores are checked by whoever reads them."""
    with open_finished(folder) as run:
        return _report_of(run)


def read_report(folder: Path | str) -> dict[str, Any]:
    """The report of a finished run, held against its checksum, its manifest and every score it was made from."""
    return read_with(folder, Run.check)[0]


def read_with(folder: Path | str, read: Callable[[Run], T]) -> tuple[dict[str, Any], T | None]:
    """The report of a finished run, checked as `read_report` does, and what `read` makes of all its scores.

    A run of an earlier version may have kept no scores.
    """
    folder = Path(folder)
    if FIELD not in read_manifest(folder) and not (folder / SCORES).exists():
        if not (folder / REPORT).is_file():
            raise _unfinished(folder, "no scores")
        warn_unchecked(folder)
        return _read(folder), None
    with Run.open(folder) as run:
        _refuse_unfinished(run)
        run.check_others()
        made = read(run)
        return _report_of(run), made


def refuse_changed(report: Mapping[str, Any], path: Path) -> bool:
    """Whether a report has a checksum, which must fit; what was printed, or is of an earlier version, has none.

    The report in the folder of a run has one if the run has.
    """
    folder = path.parent
    of_choices, of_scores = ((folder / name).is_file() and path.name == REPORT for name in (CHOICES, MANIFEST))
    if FIELD not in report and not of_choices and not (of_scores and is_checked(read_manifest(folder))):
        return False
    check_seal(report, path, REMEDY)
    return True


def subset_in(path: Path | str) -> str:
    """Which records a finished run scored, as its signature says; empty for all of them, and for a file of scores."""
    if not Path(path).is_dir():
        return ""
    with open_finished(path) as run:
        return str(_report_of(run).get("signature", {}).get("subset", ""))


def is_finished(run: Run) -> bool:
    """Whether a run came to its end; one of an earlier version then has a report."""
    assert run.folder is not None
    return run.finished_with() is not None if run.checked else (run.folder / REPORT).is_file()


def _refuse_unfinished(run: Run) -> None:
    """Refuse a run that has not come to its end: its numbers would be those of some records only."""
    if not is_finished(run):
        raise _unfinished(str(run.folder), run.progress())


def _unfinished(folder: Path | str, progress: str) -> Unfinished:
    """The error for a run that is not finished."""
    found = f"a run that is not finished ({progress})"
    return Unfinished(folder, found, "a finished one; run its `catsofa score` again to go on")


def _report_of(run: Run) -> dict[str, Any]:
    """The report of a finished run, held against its checksum, what the run was finished with, and its history."""
    assert run.folder is not None
    report = _read(run.folder)
    path = run.folder / REPORT
    if not run.checked:
        warn_unchecked(run.folder)
        return report
    run.check_history()
    check_seal(report, path, REMEDY)
    made_from = dict(report.get(MADE_FROM, {}))
    if made_from.pop("run", None) != json_digest(read_manifest(run.folder)["identity"]):
        raise BadInput(path, f"the report of another run than that of {MANIFEST} beside it", REMEDY)
    if made_from != run.finished_with():
        raise BadInput(path, f"a report of other scores than those of {SCORES} beside it", REMEDY)
    return report


def _read(folder: Path) -> dict[str, Any]:
    """The report in the folder of a finished run, unchecked."""
    path = folder / REPORT
    if not path.is_file():
        again = "the report of a finished run: run its `catsofa score` again to write it"
        raise BadInput(path, "no such file", again)
    report = json_files.read(path, "the report of a run")
    if not isinstance(report, dict):
        raise BadInput(path, "JSON that is no report", REMEDY)
    if MADE_FROM in report and FIELD not in read_manifest(folder):
        raise BadInput(path, "the report of another run", REMEDY)
    return report
