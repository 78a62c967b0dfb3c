"""Picks the next task of a person: to write or to judge, in waves of items, from the person's random start."""

from catsofa.annotation.crowd.quality import practice
from catsofa.annotation.crowd.rules import WRITING, Rules
from catsofa.annotation.crowd.store import Row, Rows

WAVE = 200
"""Minimum number of items with free seats that are open at once."""


def pick(rows: Rows, rules: Rules, person: Row) -> str:
    """Returns a task that the person has not seen: writing or judging, as the study needs more, else the other."""
    if not rules.judges:
        return _first(rows, person, "item")
    query = "SELECT kind, sum(need - valid - held) AS free FROM task WHERE open = 1 GROUP BY kind"
    free = {row["kind"]: row["free"] for row in rows.all(query)}
    planned = (
        "SELECT count(*) AS n FROM plan p WHERE person = ? AND "
        "NOT EXISTS (SELECT 1 FROM seat s WHERE s.task = p.task AND s.person = p.person)"
    )
    # a text as the last task would leave no place for the planned checks and gold items
    remaining = (rows.first(planned, person["name"]) or {"n": 0})["n"]
    kinds = ["item", "write"] if person["done"] + WRITING + remaining <= person["quota"] else ["item"]
    if free.get("write", 0) * rules.judges > free.get("item", 0):
        kinds.reverse()
    return next(filter(None, (_first(rows, person, kind) for kind in kinds)), "")


def missed_check(rows: Rows, person: Row) -> str:
    """Returns the first check of a person who runs out of work before its place.

    Empty if the person already met a check, or answered only practice items.
    """
    planned = (
        "SELECT p.task, s.nonce FROM plan p JOIN task t ON t.token = p.task "
        "LEFT JOIN seat s ON s.task = p.task AND s.person = p.person "
        "WHERE p.person = ? AND t.kind = 'check' ORDER BY p.position"
    )
    worked = person["done"] > practice(rows, person["name"]).answered
    checks = rows.all(planned, person["name"]) if worked else []
    return str(checks[0]["task"]) if checks and not any(check["nonce"] for check in checks) else ""


def _first(rows: Rows, person: Row, kind: str) -> str:
    """Returns an open task that the person has not seen, the first after their own start; empty if none is left.

    Opens more items when too few are open.
    """
    for least in (1, 2):  # the person may have seen the whole wave: then a further wave opens
        working = rows.first("SELECT count(*) AS n FROM seat WHERE state = 'held'") or {"n": 0}
        available = rows.first("SELECT count(*) AS n FROM task WHERE open = 1") or {"n": 0}
        if (more := max(WAVE, 4 * working["n"]) * least - available["n"]) > 0 or least == 2:
            waiting = "SELECT * FROM task WHERE kind = 'item' AND active = 0 ORDER BY rnd LIMIT ?"
            for task in rows.all(waiting, max(more, WAVE)):
                rows.put("task", {**task, "active": 1})
        unseen = "NOT EXISTS (SELECT 1 FROM seat s WHERE s.task = t.token AND s.person = ?) ORDER BY rnd LIMIT 1"
        for part in ("rnd >= ?", "rnd < ?"):
            query = f"SELECT token FROM task t WHERE open = 1 AND {part} AND kind = ? AND {unseen}"
            if row := rows.first(query, person["start"], kind, person["name"]):
                return str(row["token"])
    return ""
