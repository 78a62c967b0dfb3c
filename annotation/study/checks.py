"""Check of a study for `catsofa verify`."""

from pathlib import Path

from catsofa.annotation.study import BEFORE, open_study
from catsofa.data.files import BadInput
from catsofa.data.files.append_log import LogReader
from catsofa.data.verify.stores import check_log
from catsofa.data.verify.verdicts import Fault, Verdict

LOGS = ("raw.jsonl", "people.jsonl", "reopened.jsonl")
"""The files of a study that only grow, with a checksum in every line."""
OLD = "study.json, items and key of an earlier version, without checksums"


def check_study(folder: Path) -> Verdict | None:
    """The verdict on a study: its settings, the files that never change, and its logs; None for anything else."""
    if sum((folder / name).is_file() for name in {"study.json", *BEFORE}) < 2:
        return None
    faults, checked, unchecked = list[Fault](), list[str](), list[str]()
    try:
        files = open_study(folder).settings.files
        checked += ["study.json", *files] if files else []
        unchecked += [] if files else [OLD]
    except BadInput as error:
        faults.append(Fault(error.path, error.complaint))
    for path in (folder / name for name in LOGS if (folder / name).is_file()):
        try:
            found = check_log(LogReader(path, f"{path.name} of a study", chained=True), "study")
        except BadInput as error:
            faults.append(Fault(path, error.complaint))
            continue
        checked += (f"{part} of {path.name}" for part in found.checked)
        unchecked += (f"{path.name}: {part}" for part in found.unchecked)
    return Verdict(path=folder, kind="study", checked=tuple(checked), unchecked=tuple(unchecked), faults=tuple(faults))
