"""The log of decisions by the owner of a study and further adjudicators, where votes did not decide."""

from collections.abc import Sequence

from catsofa.annotation.study import Study, rows
from catsofa.data.judging.adjudicated import Adjudicated

FILE = "adjudicated.jsonl"


def note(study: Study, decision: Adjudicated) -> None:
    """Appends a decision; earlier decisions stay unchanged."""
    with study.locked():
        rows.append([decision], study.folder / FILE)


def noted(study: Study) -> dict[str, list[Adjudicated]]:
    """Returns all decisions about each item, in order of time."""
    decisions: dict[str, list[Adjudicated]] = {}
    for row in rows.read(study.folder / FILE, Adjudicated):
        decisions.setdefault(row.item, []).append(row)
    return decisions


def latest_of(decisions: Sequence[Adjudicated]) -> list[Adjudicated]:
    """Returns the last decision of each person."""
    return [*{decision.by.casefold(): decision for decision in decisions}.values()]


def agreed(decisions: Sequence[Adjudicated]) -> Adjudicated | None:
    """Returns the latest decision if the last decisions of all people name the same label, else None.

    Returns None also if the latest decision has no label.
    """
    same = len({decision.label for decision in latest_of(decisions)}) == 1
    return decisions[-1] if same and decisions[-1].label else None


def adjudicated(study: Study) -> dict[str, Adjudicated]:
    """Returns the decision about each item on which all its adjudicators agree."""
    return {item: ruling for item, each in noted(study).items() if (ruling := agreed(each))}


def forget(study: Study) -> None:
    """Removes decisions about texts that were erased with their writers; the caller holds the lock of the study."""
    rows.rewrite(study.folder / FILE, Adjudicated, lambda row: row if row.token in study.keys else None)
