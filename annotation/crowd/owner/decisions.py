"""Decisions of the owner about people and gold items."""

from catsofa.annotation.crowd import acts, moves, seats
from catsofa.annotation.crowd.quality import RETIRED, SET_ASIDE, is_excluded
from catsofa.annotation.crowd.seats import NotYours
from catsofa.annotation.crowd.store import Rows


def decide(rows: Rows, name: str, act: str, reason: str, time: str) -> None:
    """Applies a decision of the owner about a person, and notes it with the reason.

    `pause` ends the work of a person at work. `void` sets aside the judgements of a person who finished, and does not
    change their pay. `restore` undoes either, or a pause by the server; a further fast answer or failed check pauses
    again.
    """
    person = seats.known(rows, name)
    match act, person["state"]:
        case "pause", "working":
            seats.end(rows, person, "paused", "paused_by_owner")
        case "void", "finished":
            seats.end(rows, person, "voided", person["outcome"])
        case "restore", ("paused" | "voided") as state:
            after, outcome = ("finished", person["outcome"]) if state == "voided" else ("working", "")
            rows.put("person", {**person, "state": after, "outcome": outcome})
            if not is_excluded(person):
                moves.recount(rows, name, counts=True)
        case _:
            raise NotYours(f"{name} is {person['state']} now; load the page again")
    acts.note(rows, name, act, reason, time)


def retire(rows: Rows, token: str) -> None:
    """Retires a gold item: past and future answers to it are neither right nor wrong.

    The item stays in the plans, so that everybody does and is paid what was promised.
    """
    rows.put("about", {"name": RETIRED + token, "value": ""})
    query = "SELECT s.person, a.* FROM seat s JOIN answer a ON a.nonce = s.nonce WHERE s.task = ? AND a.gold_asked > 0"
    for answer in rows.all(query, token):
        before = seats.known(rows, answer["person"])
        after = {**before, **{name: before[name] - answer[name] for name in ("gold_right", "gold_asked")}}
        rows.put("answer", {**answer, "gold_right": 0, "gold_asked": 0})
        rows.put("person", after)
        if is_excluded(after) != is_excluded(before) and after["state"] not in SET_ASIDE:
            moves.recount(rows, after["name"], counts=not is_excluded(after))
