"""Moves seats from state to state, and updates the counters of their tasks."""

import secrets

from catsofa.annotation.crowd.store import Row, Rows

ANSWERED = {"valid", "checked", "void", "surplus"}
"""States of a seat with an answer."""
LIMITED = {"item", "write"}
"""Kinds of task that only a limited number of people do. An erased text has the kind `gone`, and counts for nothing."""

LATE = "late "
"""Prefix of the rows that count the late texts of a target beyond the number wanted."""


def new_seat(rows: Rows, task: str, person: str, position: int, state: str, until: float, now: float) -> Row:
    """Creates a seat in this state, and returns it."""
    new = {"task": task, "person": person, "position": position, "state": "new"}
    seat = {**new, "nonce": secrets.token_urlsafe(16), "until": until, "given": now}
    return move(rows, seat, state)


def move(rows: Rows, seat: Row, state: str) -> Row:
    """Changes the state of a seat and the counters of its task; a freed seat goes to a surplus answer."""
    task = rows.get("task", seat["task"])
    assert task is not None, "a seat has a task"
    moved = {**seat, "state": state}
    rows.put("seat", moved)
    if task["kind"] in LIMITED:
        before, after = (task[count] for count in ("valid", "held")), []
        for count, old in zip(("valid", "held"), before, strict=True):
            after.append(old - (seat["state"] == count) + (state == count))
        if after != [task["valid"], task["held"]]:
            rows.put("task", {**task, "valid": after[0], "held": after[1]})
            if sum(after) < task["valid"] + task["held"]:
                _take_back(rows, seat["task"])
                fill(rows, seat["task"])
    return moved


def make_room(rows: Rows, token: str) -> None:
    """Makes room for a late text of a person who was replaced.

    If the target has no free seat, the target then takes one text more than wanted.
    """
    task = rows.get("task", token)
    if task and task["valid"] + task["held"] == task["need"]:
        rows.put("task", {**task, "need": task["need"] + 1})
        rows.put("about", {"name": LATE + token, "value": str(_late(rows, token) + 1)})


def _take_back(rows: Rows, token: str) -> None:
    """Undoes the room for late texts when somebody leaves the target, down to the number first wanted."""
    task, late = rows.get("task", token), _late(rows, token)
    if task and (back := min(late, task["need"] - task["valid"] - task["held"])) > 0:
        rows.put("task", {**task, "need": task["need"] - back})
        rows.put("about", {"name": LATE + token, "value": str(late - back)})


def _late(rows: Rows, token: str) -> int:
    """Returns the number of late texts of a target beyond those wanted."""
    return int((rows.get("about", LATE + token) or {"value": 0})["value"])


def fill(rows: Rows, token: str) -> None:
    """Makes surplus answers valid, as long as the task has room."""
    for seat in rows.all("SELECT * FROM seat WHERE task = ? AND state = 'surplus' ORDER BY given", token):
        if has_room(rows, token):
            move(rows, seat, "valid")


def recount(rows: Rows, name: str, *, counts: bool) -> None:
    """Sets a person's judgements aside, or counts them again where tasks have room."""
    query = (
        "SELECT s.* FROM seat s JOIN task t ON t.token = s.task AND t.kind = 'item' "  # texts still count
        "WHERE s.person = ? AND s.state IN ('valid', 'surplus', 'void')"
    )
    for seat in rows.all(query, name):
        state = "void" if not counts else "valid" if has_room(rows, seat["task"]) else "surplus"
        if seat["state"] != state and not (counts and seat["state"] == "valid"):
            move(rows, seat, state)


def has_room(rows: Rows, token: str) -> bool:
    """True if a task has a free seat.

    Gold items, checks and practice items always have one; an erased text never has one.
    """
    task = rows.get("task", token)
    assert task is not None, "a seat has a task"
    return bool(task["kind"] not in {*LIMITED, "gone"} or task["valid"] + task["held"] < task["need"])
