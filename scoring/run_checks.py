"""Checks of a run folder for `catsofa verify`."""

from pathlib import Path

from catsofa.data.files import BadInput
from catsofa.data.verdicts import Verdict
from catsofa.scoring import runs


def check_run(folder: Path) -> Verdict | None:
    """The verdict on a run folder; None for anything else."""
    if not (folder / runs.MANIFEST).is_file() or not (folder / runs.SCORES).is_file():
        return None
    runs.read_manifest(folder)
    try:
        scores = runs.read_scores(folder)
    except ValueError as error:
        raise BadInput(folder / runs.SCORES, str(error), "the scores as they were written") from None
    return Verdict(path=folder, kind="run", checked=("manifest", f"{len(scores):,} scores"))
