"""The log of what the owner of a study, and whoever decides beside them, decided where votes did not."""

from collections.abc import Sequence

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


def latest_of(decisions: Sequence[Adjudicated]) -> list[Adjudicated]:
    """The last decision of each person."""
    return [*{decision.by.casefold(): decision for decision in decisions}.values()]


def agreed(decisions: Sequence[Adjudicated]) -> Adjudicated | None:
    """The latest decision, if the last decisions of all who decided name the same label; none without a label."""
    same = len({decision.label for decision in latest_of(decisions)}) == 1
    return decisions[-1] if same and decisions[-1].label else None


def adjudicated(study: Study) -> dict[str, Adjudicated]:
    """The decision of each item on which everybody agrees who decided it."""
    return {item: ruling for item, each in noted(study).items() if (ruling := agreed(each))}


def forget(study: Study) -> None:
    """Take out decisions about texts that are gone with their writers; the caller holds the lock of the study."""
    rows.rewrite(study.folder / FILE, Adjudicated, lambda row: row if row.token in study.keys else None)
