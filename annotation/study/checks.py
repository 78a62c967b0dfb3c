"""Checks a study for `catsofa verify`."""

from pathlib import Path

from catsofa.annotation.crowd.databases import PLACE, STORE, Unwritten, has_store
from catsofa.annotation.crowd.faults import faults as faults_of
from catsofa.annotation.crowd.people import background
from catsofa.annotation.crowd.store import identity, reading
from catsofa.annotation.results import adjudications, releases
from catsofa.annotation.results.answers import FORGETTING, FORGOTTEN, RETIRED
from catsofa.annotation.study import BEFORE, open_study
from catsofa.data.files import BadInput
from catsofa.data.files.append_log import LogReader
from catsofa.data.percentages import quantity
from catsofa.data.verify.stores import check_log
from catsofa.data.verify.verdicts import Fault, Verdict

LOGS = (
    *("raw.jsonl", "people.jsonl", "reopened.jsonl", "identity.jsonl", "prolific.jsonl"),
    *(FORGOTTEN, releases.FILE, adjudications.FILE, RETIRED),
)
"""The files of a study that only grow, with a checksum in every line."""
OLD = "study.json, items and key of an earlier version, without checksums"


def check_study(folder: Path) -> Verdict | None:
    """Returns the verdict on a study: its settings, unchanging files, logs and store; None for any other folder."""
    if sum((folder / name).is_file() for name in {"study.json", *BEFORE}) < 2:
        return None
    store = folder / (PLACE if (folder / PLACE).is_file() else STORE)
    faults, checked, unchecked = list[Fault](), list[str](), list[str]()
    try:
        study = open_study(folder)
        files = study.settings.files
        checked += ["study.json", *files] if files else []
        unchecked += [] if files else [OLD]
        if has_store(folder):
            with reading(folder, identity(study.settings.secret)) as rows:
                store_faults = [Fault(store, fault) for fault in faults_of(rows, study.sealed)]
                answers = rows.all("SELECT count(*) AS n FROM answer")[0]["n"]
            faults += store_faults
            checked += [] if store_faults else [f"{quantity(answers, 'answer')} of {store.name}"]
        if (folder / background.STORE).is_file():
            changed = background.Background(study).changed()
            faults += [Fault(folder / background.STORE, f"{changed} rows whose checksums do not fit")] * bool(changed)
            checked += [] if changed else [background.STORE]
    except Unwritten as error:
        unchecked.append(f"{store.name}: {error}")
    except BadInput as error:
        faults.append(Fault(error.path, error.complaint))
    if (folder / FORGETTING).is_file():
        faults.append(Fault(folder / FORGETTING, "an erasure was cut off: catsofa annotate forget finishes it"))
    for path in (folder / name for name in LOGS if (folder / name).is_file()):
        try:
            log = check_log(LogReader(path, f"{path.name} of a study", chained=True), "study")
        except BadInput as error:
            faults.append(Fault(path, error.complaint))
            continue
        checked += (f"{part} of {path.name}" for part in log.checked)
        unchecked += (f"{path.name}: {part}" for part in log.unchecked)
    return Verdict(path=folder, kind="study", checked=tuple(checked), unchecked=tuple(unchecked), faults=tuple(faults))
