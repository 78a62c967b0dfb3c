"""Checks of runs of choices, and of their files, for `catsofa verify`."""

from pathlib import Path

from catsofa.data.files import BadInput, json_files
from catsofa.data.files.append_log import LogReader
from catsofa.data.servers.reply_store import EXPECTED as RECEIVED_EXPECTED
from catsofa.data.verify.stores import check_log
from catsofa.data.verify.verdicts import Fault, Verdict
from catsofa.scoring.choosing.measured import ASKED as RUN_EXPECTED
from catsofa.scoring.choosing.measured import MADE_FROM, REMEDY, REPORT, RUN, read_report
from catsofa.scoring.choosing.replies import ASKED, EXPECTED, RECEIVED, REPLIES

OLD = "whether lines are missing, for an earlier version did not keep of how many its report was made"
SEALED = {RUN: RUN_EXPECTED, REPORT: "a report"}
"""Files that are one JSON document with a checksum, and what they contain."""


def check_choices(path: Path) -> Verdict | None:
    """Returns the verdict on a run of choices, which must be complete, or on one of its files; None for other paths."""
    if path.is_file() and path.stat().st_size and any((path.parent / name).is_file() for name in (RUN, ASKED)):
        return _check_file(path)
    if not (path / RUN).is_file():
        return None
    verdicts, faults = [], []
    for name in (RUN, REPORT, REPLIES, RECEIVED):
        if not (path / name).is_file():
            if name != RECEIVED:  # a run on recorded replies received none itself
                faults.append(Fault(path / name, f"found no such file; expected a part of the run: {REMEDY}"))
            continue
        try:
            verdicts.append(_check_file(path / name))
        except BadInput as error:
            faults.append(Fault(error.path, error.complaint))
    unchecked = []
    try:
        unchecked += [] if MADE_FROM in read_report(path) else [OLD]
    except BadInput as error:
        faults += [] if error.path in [fault.path for fault in faults] else [Fault(error.path, error.complaint)]
    checked = tuple(f"{each.path.name}: {part}" for each in verdicts if each for part in each.checked)
    return Verdict(path=path, kind="choices", checked=checked, unchecked=tuple(unchecked), faults=tuple(faults))


def _check_file(path: Path) -> Verdict | None:
    """Returns the verdict on one file: received replies, replies with outcomes, report or questions; else None."""
    if path.name == RECEIVED and (path.parent / ASKED).is_file():
        fields = json_files.Node(json_files.read(path.parent / ASKED, "who was asked"), path, "who was asked").fields()
        server = str(fields.get("at") or fields.get("digest") or "")
        return check_log(LogReader(path, RECEIVED_EXPECTED, bound_to=server), "received replies")
    if path.name == REPLIES:
        return check_log(LogReader(path, EXPECTED), "replies")
    if path.name in SEALED:
        expected = SEALED[path.name]
        json_files.check_seal(json_files.Node(json_files.read(path, expected), path, expected).fields(), path, REMEDY)
        return Verdict(path=path, kind="choices", checked=("its checksum",))
    return None
