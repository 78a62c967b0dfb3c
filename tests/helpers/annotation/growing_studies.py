"""Stores of studies that grow by the texts that people write."""

from catsofa.annotation.crowd.store import Rows

TARGETS = [(f"target{n}", "write", "") for n in range(4)]


def kind_of(rows: Rows, token: str) -> str:
    """Returns the kind of a task."""
    return str((rows.get("task", token) or {})["kind"])


def judged(rows: Rows) -> list[int]:
    """Returns the number of judgements of each text."""
    return [row["valid"] for row in rows.all("SELECT valid FROM task WHERE kind = 'item'")]
