"""Checks of the stored replies of model servers for `catsofa verify`."""

from pathlib import Path

from catsofa.data import json_files
from catsofa.data.append_log import LogReader
from catsofa.data.store_checks import check_log
from catsofa.data.verdicts import Verdict
from catsofa.scoring import forced_choice, run_manifest, served_requests, served_runs


def check_replies(path: Path) -> Verdict | None:
    """The verdict on a store of replies, bound to the server that gave them; None for anything else."""
    if not path.is_file() or not path.stat().st_size:
        return None
    if path.name == served_runs.REPLIES and (path.parent / run_manifest.MANIFEST).is_file():
        model = run_manifest.read_manifest(path.parent)["identity"].get("model")
    elif path.name == forced_choice.CHOICES and (path.parent / forced_choice.ASKED).is_file():
        model = json_files.read(path.parent / forced_choice.ASKED, "who was asked")
    else:
        return None
    server = str(model.get("at", "")) if isinstance(model, dict) else ""
    return check_log(LogReader(path, served_requests.EXPECTED, bound_to=server), "replies")
