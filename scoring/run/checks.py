"""Checks of run folders and reports for `catsofa verify`."""

import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from catsofa.data.digests import FIELD, json_digest
from catsofa.data.files import BadInput, json_files
from catsofa.data.files.append_log import LogReader
from catsofa.data.files.json_files import check_seal
from catsofa.data.percentages import quantity
from catsofa.data.servers.reply_store import EXPECTED
from catsofa.data.verify.stores import check_log
from catsofa.data.verify.verdicts import Fault, NotChecked, Verdict
from catsofa.scoring.dataset import place_of
from catsofa.scoring.models.files import digest_of, earlier_digest_of
from catsofa.scoring.run import blocks, history
from catsofa.scoring.run.history import JOURNAL
from catsofa.scoring.run.manifest import MANIFEST, read_manifest
from catsofa.scoring.run.origins import is_data, is_earlier_data
from catsofa.scoring.run.reports import is_finished, read_report, refuse_changed
from catsofa.scoring.run.rows import REMEDY, SCORES, Unchecked, connect, sentences, wrong
from catsofa.scoring.run.store import MADE_FROM, REPORT, Run
from catsofa.scoring.served.replies import REPLIES

NO_SEAL = "whether its last lines are there, for an earlier version did not keep how many it wrote"
OLD = "an earlier version wrote its scores and its report without checksums; only their form was checked"


def check_run(folder: Path) -> Verdict | None:
    """The verdict on a run folder, in which every part must exist; None for any other folder."""
    if not _is_run(folder):
        return None
    faults: list[Fault] = []
    checked: list[str] = []
    unchecked: list[str] = []
    if not (folder / MANIFEST).is_file():
        if _try(lambda: _holds_scores(folder), faults) is False and not (folder / REPORT).exists():
            return Verdict(path=folder, kind="run", unchecked=("a run that was stopped before its first score",))
        faults.append(_missing(folder / MANIFEST, "the manifest of the run"))
    elif (manifest := _try(lambda: read_manifest(folder), faults)) is not None:
        unchecked += [OLD] if FIELD not in manifest else []
        checked += [MANIFEST]
        with warnings.catch_warnings(action="ignore", category=Unchecked):
            checked += _parts(folder, manifest, faults, unchecked)
        for name, place, right in _origins(folder, manifest):
            if _try(right, faults) is False:
                faults.append(Fault(place, f"this is not the {name} that {folder} was made with: it has another hash"))
            else:
                checked.append(name)
    return Verdict(
        path=folder, kind="run", checked=tuple(checked), unchecked=tuple(unchecked), faults=tuple(dict.fromkeys(faults))
    )


def _is_run(folder: Path) -> bool:
    """Returns True if `catsofa score` wrote a folder: the folder has scores, or other parts of a run without scores."""
    if (folder / SCORES).exists():
        return True
    if (folder / REPORT).exists():
        return (folder / MANIFEST).is_file() or (folder / JOURNAL).is_file()
    with suppress(BadInput):
        manifest = json_files.read(folder / MANIFEST, "a manifest") if (folder / MANIFEST).is_file() else None
        return isinstance(manifest, dict) and {"identity", "about"} <= manifest.keys()
    return False


def _holds_scores(folder: Path) -> bool:
    """Returns True if the database of a folder without a manifest has at least one score."""
    connection = connect(folder, make=False)
    try:
        with sentences(folder):
            rows = connection.execute("SELECT EXISTS (SELECT 1 FROM scores)").fetchone()[0]
            return bool(rows or blocks.count(connection))
    finally:
        connection.close()


def _missing(path: Path, content: str) -> Fault:
    """The fault for a missing file that `catsofa score` always writes."""
    again = "copy it back, or score again with another --out"
    return Fault(path, f"found no such file; expected {content}, which catsofa always writes: {again}")


def _parts(folder: Path, manifest: Mapping[str, Any], faults: list[Fault], unchecked: list[str]) -> Iterator[str]:
    """Yield the unchanged parts of a run; add changed parts to `faults`, parts without checksums to `unchecked`."""
    if (count := _try(lambda: _count(folder), faults)) is not None:
        yield from [quantity(count, "score")] * bool(count)
    if verdict := _try(lambda: _history(folder, manifest), faults):
        unchecked += (f"{JOURNAL}: {part}" for part in verdict.unchecked)
        yield from (f"{part} of {JOURNAL}" for part in verdict.checked)
    if replies := check_replies(folder / REPLIES):
        faults += replies.faults
        unchecked += replies.unchecked
        yield from replies.checked
    elif count and manifest["identity"].get("model", {}).get("at"):
        faults.append(_missing(folder / REPLIES, "the replies of the server"))
    if count is not None and _try(lambda: _report(folder, unchecked), faults):
        results = read_report(folder)["results"] if not count and (folder / REPORT).exists() else None
        yield from [quantity(len(results), "test")] if isinstance(results, list) else []
        yield REPORT


def _report(folder: Path, unchecked: list[str]) -> bool:
    """Returns True if a run is finished with an unchanged report; an unfinished run has no report, or a smaller one."""
    with Run.open(folder) as run:
        finished, progress, held = is_finished(run), run.progress(), run.check()
    if finished:
        read_report(folder)
        return True
    if (folder / REPORT).exists():
        report = json_files.read(folder / REPORT, "the report of a run")
        check_seal(report if isinstance(report, dict) else {}, folder / REPORT, REMEDY)
        made_from = report.get(MADE_FROM, {})
        if {**made_from, **held} == made_from:
            raise wrong(folder, f"a run without its end, though {REPORT} was made of all these scores")
    unchecked.append(f"{REPORT}: the run is not finished ({progress})")
    return False


def check_history(path: Path) -> Verdict | None:
    """The verdict on a run's history, checked with the manifest and database in its folder; None for other files."""
    if path.name != JOURNAL or not path.is_file() or not (path.parent / MANIFEST).is_file() or not _is_run(path.parent):
        return None
    return _history(path.parent, read_manifest(path.parent))


def _history(folder: Path, manifest: Mapping[str, Any]) -> Verdict | None:
    """The verdict on the history of a run; None for a run without a history file."""
    log, sealed = history.reader(folder, json_digest(manifest["identity"])), False
    if FIELD in manifest:
        with Run.open(folder) as run:
            sealed = run.check_history()
    if not log.path.is_file():
        return None
    verdict = check_log(log, "history")
    return verdict if sealed or not verdict.checked else replace(verdict, unchecked=(*verdict.unchecked, NO_SEAL))


def check_report(path: Path) -> Verdict | None:
    """The verdict on the report of a run, in any folder; None for any other file."""
    if not path.is_file() or path.suffix != ".json":
        return None
    try:
        report = json_files.read(path, "the report of a run")
    except BadInput:
        if path.name == REPORT:
            raise
        return None
    if not isinstance(report, dict) or (path.name != REPORT and MADE_FROM not in report):
        return None
    if not refuse_changed(report, path):
        if MADE_FROM not in report:
            return Verdict(path=path, kind="report", unchecked=(OLD,))
        check_seal(report, path, REMEDY)
    return Verdict(path=path, kind="report", checked=("its checksum",))


def check_replies(path: Path) -> Verdict | None:
    """The verdict on a reply store, whose checksums cover the server address; None for any other file."""
    if not path.is_file() or not path.stat().st_size:
        return None
    if path.name != REPLIES or not (path.parent / MANIFEST).is_file():
        return None
    model = read_manifest(path.parent)["identity"].get("model")
    server = str(model.get("at", "")) if isinstance(model, dict) else ""
    return check_log(LogReader(path, EXPECTED, bound_to=server), "replies")


def _try(check: Callable[[], Any], faults: list[Fault]) -> Any:
    """The result of a check; None if the check finds a fault, which is added to `faults`."""
    try:
        return check()
    except BadInput as error:
        faults.append(Fault(error.path, f"found {error.found}; expected {error.expected}"))
    except ValueError as error:
        raise NotChecked(str(error)) from None
    return None


def _count(folder: Path) -> int:
    """The number of scores of a run, after a check of every database page and row."""
    with Run.open(folder) as run:
        run.check_pages()
        run.check()
        return run.count()


def _origins(folder: Path, manifest: Mapping[str, Any]) -> Iterator[tuple[str, Path, Callable[[], bool]]]:
    """The model and the data of a run that still exist at their recorded paths, each with its check."""
    about, model = manifest.get("about", {}), manifest["identity"].get("model", {})
    digest, runs_code = model.get("digest"), bool(model.get("remote_code"))
    place = Path(str(about.get("place")))
    if about.get("place") and place.exists() and str(digest).startswith("sha256:"):
        now = digest_of(place, runs_code=runs_code)
        if now != digest and place.is_dir() and earlier_digest_of(place) == digest:
            yield "model but for files that an earlier version did not hash", place, lambda: True
        else:
            yield "model", place, lambda: now == digest
    data_path = place_of(folder.resolve(), about.get("on"))
    if data_path and Path(data_path).is_absolute() and Path(data_path).exists():
        if is_data(data_path, manifest) or not is_earlier_data(data_path, manifest):
            yield "data", Path(data_path), lambda: is_data(data_path, manifest)
        else:
            yield "data but for the order of candidates", Path(data_path), lambda: True
