"""Texts that people write and others judge: each accepted one is a task, from which a seat keeps its writer."""

from random import Random

from catsofa.annotation.crowd.moves import ANSWERED, new_seat
from catsofa.annotation.crowd.rules import Rules
from catsofa.annotation.crowd.store import Row, Rows
from catsofa.data.digests import hex_digest


def publish(rows: Rows, rules: Rules, seat: Row, now: float) -> None:
    """Have a text judged: a task for others, and a seat of the writer that keeps them from it."""
    token = token_of(seat["nonce"])
    new = {"token": token, "kind": "item", "writer": seat["person"], "active": 1, "rnd": Random(token).random()}
    rows.put("task", {**new, "need": rules.judges, "valid": 0, "held": 0})
    new_seat(rows, token, seat["person"], 0, "own", now, now)


def token_of(nonce: str) -> str:
    """The name of the task in which others judge the text of a seat."""
    return hex_digest(nonce, 16)


def shown(rows: Rows, token: str) -> Row | None:
    """The text that people judge in this task: what was written (`said`) and about which target (`task`)."""
    task = rows.get("task", token)
    written = _written(rows, task["writer"]) if task and task["writer"] else []
    return next((row for row in written if token_of(row["nonce"]) == token), None)


def about(rows: Rows, target: str) -> list[Row]:
    """What was written about a target, the latest last."""
    query = "SELECT a.said FROM seat s JOIN answer a ON a.nonce = s.nonce WHERE s.task = ? ORDER BY a.at, a.nonce"
    return rows.all(query, target)


def _written(rows: Rows, name: str) -> list[Row]:
    """What a person wrote for others to judge."""
    query = (
        "SELECT s.task, s.nonce, a.said FROM seat s JOIN task t ON t.token = s.task AND t.kind = 'write' "
        "JOIN answer a ON a.nonce = s.nonce WHERE s.person = ?"
    )
    return rows.all(query, name)


def erase(rows: Rows, name: str) -> None:
    """Take a person's texts from the judges, whose answers to them stay in their own counts and nowhere else."""
    for token in [token_of(row["nonce"]) for row in _written(rows, name)]:
        for seat in rows.all("SELECT * FROM seat WHERE task = ?", token):
            if state := {"held": "expired", **dict.fromkeys(ANSWERED, "checked")}.get(seat["state"]):
                rows.put("seat", {**seat, "state": state})
        gone = {"kind": "gone", "writer": "", "need": 0, "valid": 0, "held": 0}
        rows.put("task", {**(rows.get("task", token) or {}), **gone})
