"""Moves of seats from state to state, with the counters of their tasks."""

import secrets

from catsofa.annotation.crowd.store import Row, Rows

ANSWERED = {"valid", "checked", "void", "surplus"}
"""States of a seat with an answer."""
LIMITED = {"item", "write"}
"""Kinds of task that so many people do and no more. A text that was erased is `gone`, and counts for nothing."""

LATE = "late "
"""How the names of rows begin that say how many late texts a target took beyond those that were wanted."""


def new_seat(rows: Rows, task: str, person: str, position: int, state: str, until: float, now: float) -> Row:
    """A new seat."""
    new = {"task": task, "person": person, "position": position, "state": "new"}
    seat = {**new, "nonce": secrets.token_urlsafe(16), "until": until, "given": now}
    return move(rows, seat, state)


def move(rows: Rows, seat: Row, state: str) -> Row:
    """Change the state of a seat and the counters of its task; a seat that is freed goes to a surplus answer."""
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
    """Room for a late text of somebody who was replaced; where nobody has it, it is one more than was wanted."""
    task = rows.get("task", token)
    if task and task["valid"] + task["held"] == task["need"]:
        rows.put("task", {**task, "need": task["need"] + 1})
        rows.put("about", {"name": LATE + token, "value": str(_late(rows, token) + 1)})


def _take_back(rows: Rows, token: str) -> None:
    """Ask for no more texts than were wanted at first, when somebody leaves a target that took a late one."""
    task, late = rows.get("task", token), _late(rows, token)
    if task and (back := min(late, task["need"] - task["valid"] - task["held"])) > 0:
        rows.put("task", {**task, "need": task["need"] - back})
        rows.put("about", {"name": LATE + token, "value": str(late - back)})


def _late(rows: Rows, token: str) -> int:
    """Late texts of a target beyond those that were wanted."""
    return int((rows.get("about", LATE + token) or {"value": 0})["value"])


def fill(rows: Rows, token: str) -> None:
    """Count surplus answers of people who count, as long as there is room."""
    for seat in rows.all("SELECT * FROM seat WHERE task = ? AND state = 'surplus' ORDER BY given", token):
        if has_room(rows, token):
            move(rows, seat, "valid")


def recount(rows: Rows, name: str, *, counts: bool) -> None:
    """Set a person's judgements aside, or count them again where there is room."""
    query = (
        "SELECT s.* FROM seat s JOIN task t ON t.token = s.task AND t.kind = 'item' "  # others judge what was written
        "WHERE s.person = ? AND s.state IN ('valid', 'surplus', 'void')"
    )
    for seat in rows.all(query, name):
        state = "void" if not counts else "valid" if has_room(rows, seat["task"]) else "surplus"
        if seat["state"] != state and not (counts and seat["state"] == "valid"):
            move(rows, seat, state)


def has_room(rows: Rows, token: str) -> bool:
    """Whether a task has a free seat; gold items and checks always have, a text that was erased never."""
    task = rows.get("task", token)
    assert task is not None, "a seat has a task"
    return bool(task["kind"] not in {*LIMITED, "gone"} or task["valid"] + task["held"] < task["need"])
