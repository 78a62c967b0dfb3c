"""Checks of run folders and reports for `catsofa verify`."""

import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from catsofa.data import json_files
from catsofa.data.checksums import sha256_of
from catsofa.data.files import BadInput
from catsofa.data.seals import FIELD, check_seal
from catsofa.data.verdicts import Fault, NotChecked, Verdict
from catsofa.scoring.model_files import digest_of
from catsofa.scoring.reply_checks import check_replies
from catsofa.scoring.run_manifest import MANIFEST, read_manifest
from catsofa.scoring.run_reports import read_report
from catsofa.scoring.run_rows import REMEDY, SCORES, Unchecked
from catsofa.scoring.runs import MADE_FROM, REPORT, Run
from catsofa.scoring.score_origins import is_data
from catsofa.scoring.served_runs import REPLIES

OLD = "an earlier version wrote its scores and its report without checksums; only their form was checked"


def check_run(folder: Path) -> Verdict | None:
    """The verdict on a run folder; None for anything else."""
    if not (folder / MANIFEST).is_file() or not ((folder / SCORES).exists() or (folder / REPORT).exists()):
        return None
    faults: list[Fault] = []
    checked: list[str] = []
    unchecked: list[str] = []
    manifest = _try(lambda: read_manifest(folder), faults)
    if manifest is not None:
        old = FIELD not in manifest
        unchecked += [OLD] if old else []
        checked += [MANIFEST]
        with warnings.catch_warnings(action="ignore", category=Unchecked):
            checked += _parts(folder, faults, unchecked)
        if not (folder / REPORT).exists():
            unchecked.append(f"{REPORT}: the run is not finished")
        for name, place, right in _origins(manifest):
            if _try(right, faults) is False:
                faults.append(Fault(place, f"this is not the {name} that {folder} was made with: it has another hash"))
            else:
                checked.append(name)
    return Verdict(path=folder, kind="run", checked=tuple(checked), unchecked=tuple(unchecked), faults=tuple(faults))


def _parts(folder: Path, faults: list[Fault], unchecked: list[str]) -> Iterator[str]:
    """The parts of a run that are as they were written; those that are not are added to the faults."""
    if (count := _try(lambda: _count(folder), faults)) is not None:
        yield f"{count:,} scores"
    if replies := check_replies(folder / REPLIES):
        faults += replies.faults
        unchecked += replies.unchecked
        yield from replies.checked
    if (folder / REPORT).exists() and not faults and _try(lambda: read_report(folder), faults) is not None:
        yield REPORT


def check_report(path: Path) -> Verdict | None:
    """The verdict on the report of a run, wherever it lies; None for anything else."""
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
    if FIELD not in report and MADE_FROM not in report:
        return Verdict(path=path, kind="report", unchecked=(OLD,))
    check_seal(report, path, REMEDY)
    return Verdict(path=path, kind="report", checked=("its checksum",))


def _try(check: Callable[[], Any], faults: list[Fault]) -> Any:
    """What a check returns; None if it finds a fault, which is added."""
    try:
        return check()
    except BadInput as error:
        faults.append(Fault(error.path, f"found {error.found}; expected {error.expected}"))
    except ValueError as error:
        raise NotChecked(str(error)) from None
    return None


def _count(folder: Path) -> int:
    """How many scores a run holds, after every page and every row was checked."""
    with Run.open(folder) as run:
        run.check_pages()
        return int(run.check()["scores"])


def _origins(manifest: Mapping[str, Any]) -> Iterator[tuple[str, Path, Callable[[], bool]]]:
    """The model and the data of a run that are still where it read them, each with its check."""
    about, digest = manifest.get("about", {}), manifest["identity"].get("model", {}).get("digest")
    place = Path(str(about.get("place")))
    if about.get("place") and place.exists() and str(digest).startswith("sha256:"):
        yield "model", place, lambda: digest == (digest_of(place) if place.is_dir() else f"sha256:{sha256_of(place)}")
    on = about.get("on")
    if isinstance(on, str) and Path(on).is_absolute() and Path(on).exists():
        yield "data", Path(on), lambda: is_data(on, manifest)
