"""Checks of the stored replies of model servers for `catsofa verify`."""

from pathlib import Path

from catsofa.data.files import json_files
from catsofa.data.files.append_log import LogReader
from catsofa.data.servers.reply_store import EXPECTED
from catsofa.data.verify.stores import check_log
from catsofa.data.verify.verdicts import Verdict
from catsofa.scoring.executors.texts import REPLIES
from catsofa.scoring.measures import forced_choice
from catsofa.scoring.run import manifest


def check_replies(path: Path) -> Verdict | None:
    """The verdict on a store of replies, bound to the server that gave them; None for anything else."""
    if not path.is_file() or not path.stat().st_size:
        return None
    if path.name == REPLIES and (path.parent / manifest.MANIFEST).is_file():
        model = manifest.read_manifest(path.parent)["identity"].get("model")
    elif path.name == forced_choice.CHOICES and (path.parent / forced_choice.ASKED).is_file():
        model = json_files.read(path.parent / forced_choice.ASKED, "who was asked")
    else:
        return None
    server = str(model.get("at", "")) if isinstance(model, dict) else ""
    return check_log(LogReader(path, EXPECTED, bound_to=server), "replies")
