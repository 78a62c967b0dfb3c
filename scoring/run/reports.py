"""Reads reports and scores of finished runs; unfinished runs and invalid reports are refused."""

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
    """The error for a run that is not finished."""


def open_finished(folder: Path | str) -> Run:
    """Open a finished run for reading, after a check of its report; an unfinished run is refused."""
    run = Run.open(folder)
    try:
        _refuse_unfinished(run)
        _report_of(run)
    except BaseException:
        run.close()
        raise
    return run


def finished_report(folder: Path | str) -> dict[str, Any]:
    """The report of a finished run, after a check of its checksum; scores are checked when they are read."""
    with open_finished(folder) as run:
        return _report_of(run)


def read_report(folder: Path | str) -> dict[str, Any]:
    """The report of a finished run, after a check of its checksum, its manifest and every score behind it."""
    return read_with(folder, Run.check)[0]


def read_with(folder: Path | str, read_run: Callable[[Run], T]) -> tuple[dict[str, Any], T | None]:
    """The report of a finished run, checked as in `read_report`, and the result of `read_run(run)`.

    `read_run` must read every score. A run of an earlier version may have no scores; the result is then None.
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
        result = read_run(run)
        return _report_of(run), result


def refuse_changed(report: Mapping[str, Any], path: Path) -> bool:
    """Returns True if a report has a checksum; a wrong one is refused. Printed reports and earlier versions have none.

    A report in a run folder must have a checksum if the run has checksums.
    """
    folder = path.parent
    of_choices, of_scores = ((folder / name).is_file() and path.name == REPORT for name in (CHOICES, MANIFEST))
    if FIELD not in report and not of_choices and not (of_scores and is_checked(read_manifest(folder))):
        return False
    check_seal(report, path, REMEDY)
    return True


def subset_in(path: Path | str) -> str:
    """The subset of records that a finished run scored, as in its signature; empty for all, and for score files."""
    if not Path(path).is_dir():
        return ""
    with open_finished(path) as run:
        return str(_report_of(run).get("signature", {}).get("subset", ""))


def is_finished(run: Run) -> bool:
    """Returns True if a run is finished; a run of an earlier version is finished if it has a report."""
    assert run.folder is not None
    return run.finished_with() is not None if run.checked else (run.folder / REPORT).is_file()


def _refuse_unfinished(run: Run) -> None:
    """Refuse an unfinished run, whose results would cover only some of the records."""
    if not is_finished(run):
        raise _unfinished(str(run.folder), run.progress())


def _unfinished(folder: Path | str, progress: str) -> Unfinished:
    """The error for a run that is not finished."""
    problem = f"a run that is not finished ({progress})"
    return Unfinished(folder, problem, "a finished one; run its `catsofa score` again to go on")


def _report_of(run: Run) -> dict[str, Any]:
    """The report of a finished run, checked by its checksum, the run's identity, its final scores and its history."""
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
    """The report in the folder of a finished run, without a check of its checksum."""
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
