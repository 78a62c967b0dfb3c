"""What the owner decided about people, and why: rows of the store, numbered, with a checksum each."""

import json

from catsofa.annotation.crowd.store import Row, Rows


def acts(rows: Rows) -> list[Row]:
    """Every decision, in order: number, at, person, act and reason."""
    found = rows.all("SELECT value FROM about WHERE name LIKE 'act %' ORDER BY name")
    return [json.loads(row["value"]) for row in found]


def note(rows: Rows, person: str, act: str, reason: str, at: str) -> None:
    """Keep a further decision."""
    _put(rows, {"number": len(acts(rows)) + 1, "at": at, "person": person, "act": act, "reason": reason})


def forget(rows: Rows, person: str, nobody: str) -> None:
    """Leave neither the person nor the reasons in the decisions."""
    for act in acts(rows):
        if act["person"] == person:
            _put(rows, {**act, "person": nobody, "reason": ""})


def _put(rows: Rows, act: Row) -> None:
    """Write one decision."""
    rows.put("about", {"name": f"act {act['number']:06}", "value": json.dumps(act)})
