"""StereoSet's clusters as rows: those of its JSON, and those of the Hugging Face Hub, which have numbers as labels."""

from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any

COLUMNS = {"id", "target", "bias_type", "context", "sentences"}
"""The columns of a row."""
LABELS = ("anti-stereotype", "stereotype", "unrelated", "related")
"""The labels by their numbers on the Hub."""


def document_of(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """StereoSet JSON with these rows; a context with a BLANK belongs to the intrasentence task."""
    tasks: dict[str, list[Any]] = {}
    for row in rows:
        task = "intrasentence" if "BLANK" in str(row.get("context")) else "intersentence"
        sentences = [_sentence(sentence) for sentence in _rows_of(row.get("sentences"))]
        tasks.setdefault(task, []).append({**row, "sentences": sentences})
    return {"version": "1.0", "data": tasks}


def _rows_of(columns: Any) -> list[Any]:
    """Rows from a mapping of columns; other rows as they are, and none if the value is missing."""
    if not isinstance(columns, Mapping):
        return [] if columns is None else list(columns)
    filled = {name: cells for name, cells in columns.items() if cells is not None}
    if len({len(cells) for cells in filled.values()}) > 1:
        lengths = ", ".join(f"{name} {len(cells)}" for name, cells in filled.items())
        raise ValueError(f"columns of several lengths ({lengths})")
    return [dict(zip(filled, cells, strict=True)) for cells in zip(*filled.values(), strict=True)]


def _sentence(sentence: Any) -> Any:
    """A sentence with the names of its labels."""
    if not isinstance(sentence, Mapping):
        return sentence
    votes = [{**vote, "label": _name(vote.get("label"))} for vote in _rows_of(sentence.get("labels"))]
    return {**sentence, "gold_label": _name(sentence.get("gold_label")), "labels": votes}


def _name(label: Any) -> Any:
    """The name of a label."""
    return LABELS[int(label)] if isinstance(label, Integral) and int(label) in range(len(LABELS)) else label
