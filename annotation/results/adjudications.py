"""The log of what the owner of a study decided where votes did not."""

from catsofa.annotation.study import Study, rows
from catsofa.data.judging.adjudicated import Adjudicated

FILE = "adjudicated.jsonl"


def note(study: Study, decision: Adjudicated) -> None:
    """Add a decision; nothing of an earlier one is changed."""
    with study.locked():
        rows.append([decision], study.folder / FILE)


def noted(study: Study) -> dict[str, list[Adjudicated]]:
    """Every decision about each item, the last one last."""
    found: dict[str, list[Adjudicated]] = {}
    for row in rows.read(study.folder / FILE, Adjudicated):
        found.setdefault(row.item, []).append(row)
    return found


def adjudicated(study: Study) -> dict[str, Adjudicated]:
    """The label of each item as it was decided last; an item that was left undecided again has none."""
    last = (each[-1] for each in noted(study).values())
    return {decision.item: decision for decision in last if decision.label}


def forget(study: Study) -> None:
    """Take out decisions about texts that are gone with their writers; the caller holds the lock of the study."""
    rows.rewrite(study.folder / FILE, Adjudicated, lambda row: row if row.token in study.keys else None)
