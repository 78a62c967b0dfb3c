"""Texts that people write and others judge: each accepted text is a task, and a seat keeps it from its writer."""

from random import Random

from catsofa.annotation.crowd.moves import ANSWERED, new_seat
from catsofa.annotation.crowd.rules import Rules
from catsofa.annotation.crowd.store import Row, Rows
from catsofa.data.digests import hex_digest


def publish(rows: Rows, rules: Rules, seat: Row, now: float) -> None:
    """Creates the task in which others judge a text, and a seat that keeps the task from the writer."""
    token = token_of(seat["nonce"])
    new = {"token": token, "kind": "item", "writer": seat["person"], "active": 1, "rnd": Random(token).random()}
    rows.put("task", {**new, "need": rules.judges, "valid": 0, "held": 0})
    new_seat(rows, token, seat["person"], 0, "own", now, now)


def token_of(nonce: str) -> str:
    """Returns the token of the task in which others judge the text of a seat."""
    return hex_digest(nonce, 16)


def shown(rows: Rows, token: str) -> Row | None:
    """Returns the text that people judge in this task (`said`), and its target (`task`); None for other tasks."""
    task = rows.get("task", token)
    texts = _written(rows, task["writer"]) if task and task["writer"] else []
    return next((row for row in texts if token_of(row["nonce"]) == token), None)


def about(rows: Rows, target: str) -> list[Row]:
    """Returns the texts about a target, the latest last."""
    query = "SELECT a.said FROM seat s JOIN answer a ON a.nonce = s.nonce WHERE s.task = ? ORDER BY a.at, a.nonce"
    return rows.all(query, target)


def _written(rows: Rows, name: str) -> list[Row]:
    """Returns the texts that a person wrote for others to judge."""
    query = (
        "SELECT s.task, s.nonce, a.said FROM seat s JOIN task t ON t.token = s.task AND t.kind = 'write' "
        "JOIN answer a ON a.nonce = s.nonce WHERE s.person = ?"
    )
    return rows.all(query, name)


def erase(rows: Rows, name: str) -> None:
    """Removes a person's texts from judging; the judges keep these answers in their own counts, and nowhere else."""
    for token in [token_of(row["nonce"]) for row in _written(rows, name)]:
        for seat in rows.all("SELECT * FROM seat WHERE task = ?", token):
            if state := {"held": "expired", **dict.fromkeys(ANSWERED, "checked")}.get(seat["state"]):
                rows.put("seat", {**seat, "state": state})
        gone = {"kind": "gone", "writer": "", "need": 0, "valid": 0, "held": 0}
        rows.put("task", {**(rows.get("task", token) or {}), **gone})
