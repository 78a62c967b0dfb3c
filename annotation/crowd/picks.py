"""Which task a person gets: to write or to judge, in waves of items, each person from a start of their own."""

from catsofa.annotation.crowd.quality import practice
from catsofa.annotation.crowd.rules import WRITING, Rules
from catsofa.annotation.crowd.store import Row, Rows

WAVE = 200
"""Items with free seats that are handed out at once, at least."""


def pick(rows: Rows, rules: Rules, person: Row) -> str:
    """A task that the person has not seen: to write or to judge, whichever the study needs more, else the other."""
    if not rules.judges:
        return _first(rows, person, "item")
    query = "SELECT kind, sum(need - valid - held) AS free FROM task WHERE open = 1 GROUP BY kind"
    free = {row["kind"]: row["free"] for row in rows.all(query)}
    planned = (
        "SELECT count(*) AS n FROM plan p WHERE person = ? AND "
        "NOT EXISTS (SELECT 1 FROM seat s WHERE s.task = p.task AND s.person = p.person)"
    )
    # a text as the last task would leave no place for the checks and gold items that are planned
    left = (rows.first(planned, person["name"]) or {"n": 0})["n"]
    kinds = ["item", "write"] if person["done"] + WRITING + left <= person["quota"] else ["item"]
    if free.get("write", 0) * rules.judges > free.get("item", 0):
        kinds.reverse()
    return next(filter(None, (_first(rows, person, kind) for kind in kinds)), "")


def missed_check(rows: Rows, person: Row) -> str:
    """The check of a person for whom no work is left before the place of their first check; empty: they met one."""
    planned = (
        "SELECT p.task, s.nonce FROM plan p JOIN task t ON t.token = p.task "
        "LEFT JOIN seat s ON s.task = p.task AND s.person = p.person "
        "WHERE p.person = ? AND t.kind = 'check' ORDER BY p.position"
    )
    worked = person["done"] > practice(rows, person["name"]).answered
    checks = rows.all(planned, person["name"]) if worked else []
    return str(checks[0]["task"]) if checks and not any(check["nonce"] for check in checks) else ""


def _first(rows: Rows, person: Row, kind: str) -> str:
    """An open task that the person has not seen, the first after their own start; more come when too few are open."""
    for least in (1, 2):  # all of a wave may have been seen: then a further wave
        working = rows.first("SELECT count(*) AS n FROM seat WHERE state = 'held'") or {"n": 0}
        there = rows.first("SELECT count(*) AS n FROM task WHERE open = 1") or {"n": 0}
        if (more := max(WAVE, 4 * working["n"]) * least - there["n"]) > 0 or least == 2:
            waiting = "SELECT * FROM task WHERE kind = 'item' AND active = 0 ORDER BY rnd LIMIT ?"
            for task in rows.all(waiting, max(more, WAVE)):
                rows.put("task", {**task, "active": 1})
        unseen = "NOT EXISTS (SELECT 1 FROM seat s WHERE s.task = t.token AND s.person = ?) ORDER BY rnd LIMIT 1"
        for part in ("rnd >= ?", "rnd < ?"):
            query = f"SELECT token FROM task t WHERE open = 1 AND {part} AND kind = ? AND {unseen}"
            if found := rows.first(query, person["start"], kind, person["name"]):
                return str(found["token"])
    return ""
