"""Decisions of the owner about people."""

from catsofa.annotation.crowd import acts, moves, seats
from catsofa.annotation.crowd.quality import is_excluded
from catsofa.annotation.crowd.seats import NotYours
from catsofa.annotation.crowd.store import Rows


def decide(rows: Rows, name: str, act: str, reason: str, at: str) -> None:
    """Do what the owner decided about a person, and note it with the reason.

    `pause` ends the work of somebody at it. `void` sets aside the judgements of somebody who ended, and changes no pay.
    `restore` takes back either, or a pause by the server; a further fast answer or failed check pauses again.
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
    acts.note(rows, name, act, reason, at)
