"""Decisions of the owner about people, with reasons: numbered rows of the store, each with a checksum."""

import json

from catsofa.annotation.crowd.store import Row, Rows


def acts(rows: Rows) -> list[Row]:
    """Returns every decision in order: number, at, person, act and reason."""
    records = rows.all("SELECT value FROM about WHERE name LIKE 'act %' ORDER BY name")
    return [json.loads(row["value"]) for row in records]


def note(rows: Rows, person: str, act: str, reason: str, time: str) -> None:
    """Appends a decision."""
    _put(rows, {"number": len(acts(rows)) + 1, "at": time, "person": person, "act": act, "reason": reason})


def forget(rows: Rows, person: str, nobody: str) -> None:
    """Replaces the person's name by `nobody` in their decisions, and deletes the reasons."""
    for act in acts(rows):
        if act["person"] == person:
            _put(rows, {**act, "person": nobody, "reason": ""})


def _put(rows: Rows, act: Row) -> None:
    """Writes one decision."""
    rows.put("about", {"name": f"act {act['number']:06}", "value": json.dumps(act)})
