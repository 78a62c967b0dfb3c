"""Disaggregated judgements of a release: each counted judgement with the pseudonym and groups of its annotator."""

from collections.abc import Iterable
from pathlib import Path

from catsofa.annotation.crowd.people.background import Together
from catsofa.annotation.results.pseudonyms import Names
from catsofa.annotation.study import Study
from catsofa.data.files import csv_files
from catsofa.data.records import Annotation
from catsofa.data.release import JUDGEMENTS
from catsofa.data.visible import markdown


def write(votes: Iterable[Annotation], names: Names, groups: Together, study: Study, folder: Path) -> None:
    """Writes item, annotator, label and groups of each judgement; refuses a label that is no choice of the page."""
    choices = {choice for question in study.kind.interface.questions.values() for choice in question.choices}
    table = []
    for vote in votes:
        if free := set(vote.label.split("|")) - choices:
            raise ValueError(
                f"the judgement {min(free)!r} of item {vote.item!r} is no choice of {study.kind.name}: expected "
                f"{', '.join(sorted(choices))}; texts that people wrote are not released with their groups"
            )
        about = {"item": vote.item, "annotator": names(vote.annotator), "label": vote.label}
        table.append({**about, **groups.rows[vote.annotator]})
    csv_files.write(sorted(table, key=lambda row: tuple(row.values())), folder / JUDGEMENTS, table[0])


def described(groups: Together, judgements: int) -> str:
    """Returns the text of the card: how many judgements, which groups, and which answers were suppressed."""
    lines = [
        f"- {markdown(name.replace('_', ' '))}: {counts['wider']:,} answers are wider, {counts['withheld']:,} withheld"
        for name, counts in groups.changed.items()
    ]
    return (
        f"`{JUDGEMENTS}` holds the {judgements:,} judgements that count, a row each: item, annotator, label, and what "
        f"the annotator said of themselves. Each combination of these answers is shared by {groups.k} of the "
        f"{len(groups.rows):,} people or more, or withheld, also together with earlier releases of the study. "
        f"Suppressed for that:\n\n" + "\n".join(lines)
    )
