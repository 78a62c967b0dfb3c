"""Seats: assigns tasks to people, and decides which judgements count.

Only this module, `moves` and `texts` write tasks, seats and answers. People are written here and by the decisions of
the owner. Each function is one job of the store. `now` is the server's clock, in seconds since 1970.
"""

import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from random import Random
from typing import Any

from catsofa.annotation.crowd import acts, moves, texts
from catsofa.annotation.crowd.picks import missed_check, pick
from catsofa.annotation.crowd.quality import (
    SET_ASIDE,
    fails_practice,
    fast,
    free_again,
    is_excluded,
    is_hasty,
    latest,
    outcome,
    practice,
)
from catsofa.annotation.crowd.rules import WRITING, Rules, nearest, places
from catsofa.annotation.crowd.store import Row, Rows

FREED = 20
"""Maximum number of expired seats that are freed in one job."""
SET_BACK = 60.0
"""Seconds by which the clock may be set back without harm."""
ENDED = {"finished", "failed", "paused", "voided", "screened", "full", "declined", "withdrawn"}
"""States in which a person gets no further task."""


class NotYours(ValueError):
    """Raised when a request does not answer a task of this person."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """Task in a person's hands."""

    token: str
    nonce: str
    place: int
    """Place of this task: the number of tasks that the person has answered, plus one."""
    quota: int
    draft: str = ""
    practice: bool = False
    """True for a practice item; practice items are numbered apart from the others."""
    warn: bool = False
    """True if the person answered too fast until now, and gets a warning with this task."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rest:
    """Rest instead of a task: a break, or, until the time `until`, the rest of 24 hours with the maximum minutes."""

    answered: int
    until: float = 0.0


def add(rows: Rows, tasks: Sequence[tuple[str, str, str]], need: int, order: Random, texts: int = 0) -> None:
    """Adds tasks that the store lacks: token, kind (item, write, gold, check, practice) and writer.

    An item needs `need` judgements; a target to write about needs `texts` texts.
    """
    needs = {"item": need, "write": texts}
    tokens = {row["token"] for row in rows.all("SELECT token FROM task")}
    for token, kind, writer in tasks:
        if token not in tokens:
            active = int(kind != "item")
            new = {"token": token, "kind": kind, "writer": writer, "active": active, "rnd": order.random()}
            rows.put("task", {**new, "need": needs.get(kind, 0), "valid": 0, "held": 0})


def arrive(rows: Rows, rules: Rules, name: str, submission: str, consent: str, now: float) -> str:
    """Returns the state of a person who consents; a new person gets a plan. Empty: known by another submission."""
    if person := rows.get("person", name):
        return str(person["state"]) if person["submission"] == submission else ""
    order = Random(secrets.randbits(64))
    _free(rows, rules, now)
    # texts that are being written now need judges later
    needed = "(kind = 'item' AND valid + held < need) OR (kind = 'write' AND valid < need)"
    free = rows.first(f"SELECT token FROM task WHERE {needed} LIMIT 1")
    if free is None or rows.get("about", "closed"):
        rows.put("person", _new_person(rows, name, "full", "screened_out", submission, consent, now))
        return "full"
    person = _new_person(rows, name, "working", "", submission, consent, now)
    rows.put("person", {**person, "start": order.random(), "quota": rules.tasks})
    for place, token in enumerate(rules.practice, 1):
        rows.put("plan", {"person": name, "position": place, "task": token})
    occupied, before = set[int](), len(rules.practice)
    for kind, every in (("check", rules.check_every), ("gold", rules.gold_every)):
        tokens = [row["token"] for row in rows.all("SELECT token FROM task WHERE kind = ? ORDER BY token", kind)]
        order.shuffle(tokens)
        for token, place in zip(tokens, places(rules.session, rules.first, every, order), strict=False):
            occupied.add(place := nearest(place, rules.session, occupied))
            rows.put("plan", {"person": name, "position": before + place, "task": token})
    for task in rows.all("SELECT token FROM task WHERE writer = ? AND kind = 'item'", name):
        moves.new_seat(rows, task["token"], name, 0, "own", now, now)
    return "working"


def decline(rows: Rows, name: str, submission: str, now: float) -> str:
    """Returns the state of a person who declines; an earlier state stays. Empty: known by another submission."""
    if person := rows.get("person", name):
        return str(person["state"]) if person["submission"] == submission else ""
    rows.put("person", _new_person(rows, name, "declined", "no_consent", submission, "", now))
    return "declined"


def next_task(rows: Rows, rules: Rules, name: str, now: float, rested: bool = False) -> Given | Rest | str:
    """Returns the person's current or next task; else a rest, `wait`, or the state in which their work ended.

    A break lasts until the person asks for the task after it (`rested`), in any window.
    """
    _free(rows, rules, now)
    person = known(rows, name)
    if person["state"] in ENDED:
        return str(person["state"])
    if rules.practice and fails_practice(rows, rules, person):
        return end(rows, person, "screened", "failed_practice")
    if person["done"] >= person["quota"] or rows.get("about", "closed"):
        return stop(rows, name)
    if seat := rows.first("SELECT * FROM seat WHERE person = ? AND state = 'held'", name):
        return _given(rows, rules, person, seat, now)
    answered = person["done"] - practice(rows, name).answered
    if until := free_again(rows, rules, name, now):
        return Rest(answered=answered, until=until)
    last = latest(rows, name) if rules.break_every and answered and not rested else None
    if last and last["state"] in moves.ANSWERED:
        before = answered - (WRITING if last["kind"] == "write" else 1)
        if answered // rules.break_every > before // rules.break_every:
            return Rest(answered=answered)
    expired = rows.all("SELECT * FROM seat WHERE person = ? AND state = 'expired' ORDER BY position DESC", name)
    if seat := next((seat for seat in expired if moves.has_room(rows, seat["task"])), None):
        return _given(rows, rules, person, moves.move(rows, {**seat, "given": now}, "held"), now)
    unseen = "NOT EXISTS (SELECT 1 FROM seat s WHERE s.task = t.{} AND s.person = ?)"
    plan = f"SELECT task FROM plan t WHERE person = ? AND position <= ? AND {unseen.format('task')} ORDER BY position"
    if planned := rows.first(plan, name, max(person["done"] + 1, len(rules.practice)), name):
        token = planned["task"]
    elif not (token := pick(rows, rules, person)):
        waiting = (
            "SELECT 1 FROM seat h JOIN task t ON t.token = h.task WHERE h.state = 'held' AND "
            f"(t.kind = 'write' OR t.kind = 'item' AND {unseen.format('token')}) LIMIT 1"
        )
        if rows.first(waiting, name):
            return "wait"
        if not (token := missed_check(rows, person)):
            return stop(rows, name)
    person["given"] += 1
    rows.put("person", person)
    return _given(rows, rules, person, moves.new_seat(rows, token, name, person["given"], "held", now, now), now)


def explained(rows: Rows, name: str) -> Given | None:
    """Returns the practice item that the page explains, with the person's answer, until they ask for the next task."""
    last = latest(rows, name)
    if last is None or last["kind"] != "practice" or last["state"] != "checked" or known(rows, name)["state"] in ENDED:
        return None
    practised, reply = practice(rows, name), rows.get("answer", last["nonce"])
    about = {"token": last["task"], "nonce": last["nonce"], "draft": str(reply["said"]) if reply else ""}
    return Given(place=practised.met, quota=practised.planned, practice=True, **about)


def answer(
    rows: Rows, rules: Rules, name: str, nonce: str, answers: Mapping[str, Any], right: tuple[int, int], now: float
) -> None:
    """Stores an answer, and counts it if a seat is free; `right` is the number of right gold questions, and of all.

    A second submission of the answer changes nothing.
    """
    person, seat = known(rows, name), _own(rows, name, nonce)
    if seat["state"] in moves.ANSWERED:
        return
    if seat["state"] not in {"held", "expired"} or person["state"] not in {"working", "finished"}:
        raise NotYours("this task is no longer yours; load the page again")
    task = rows.get("task", seat["task"])
    assert task is not None, "a seat has a task"
    time = datetime.fromtimestamp(now, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    seconds = round(min(max(0.0, now - seat["given"]), rules.hold), 3)  # caps late answers, e.g. after a night
    row = {"nonce": nonce, "said": json.dumps(answers), "seconds": seconds, "at": time}
    rows.put("answer", {**row, "gold_right": right[0], "gold_asked": right[1]})
    rows.run("DELETE FROM draft WHERE nonce = ?", nonce)
    person["done"] += WRITING if task["kind"] == "write" else 1
    if task["kind"] == "write":
        if seat["state"] != "held":
            moves.make_room(rows, seat["task"])
        texts.publish(rows, rules, moves.move(rows, seat, "valid"), now)
    elif task["kind"] == "item":
        state = "valid" if seat["state"] == "held" or moves.has_room(rows, seat["task"]) else "surplus"
        moves.move(rows, seat, "void" if is_excluded(person) else state)
    elif task["kind"] == "practice":
        moves.move(rows, seat, "checked")
        rows.put("person", person)
        if person["state"] == "working" and fails_practice(rows, rules, person):
            end(rows, person, "screened", "failed_practice")
        return
    else:
        moves.move(rows, seat, "checked")
    before = is_excluded(person)
    person["gold_right"] += right[0]
    person["gold_asked"] += right[1]
    person["checks_failed"] += task["kind"] == "check" and right[0] < right[1]
    rows.put("person", person)
    if task["kind"] == "check" and right[0] < right[1] and person["checks_failed"] >= rules.fail_after:
        end(rows, person, *(("paused", "paused_for_checks") if rules.pause else ("failed", "failed_checks")))
    elif person["state"] == "working" and is_hasty(rows, rules, name):
        end(rows, person, "paused", "paused_for_pace")
    elif is_excluded(person) != before:
        moves.recount(rows, name, counts=before)


def is_answered(rows: Rows, name: str, nonce: str) -> bool:
    """True if this person's seat already has its answer."""
    return _own(rows, name, nonce)["state"] in moves.ANSWERED


def skip(rows: Rows, name: str, nonce: str) -> None:
    """Passes a task on to somebody else."""
    seat = _own(rows, name, nonce)
    if seat["state"] in {"held", "expired"}:
        moves.move(rows, seat, "skipped")
        rows.run("DELETE FROM draft WHERE nonce = ?", nonce)


def token_of(rows: Rows, name: str, nonce: str) -> str:
    """Returns the task of this person's seat."""
    return str(_own(rows, name, nonce)["task"])


def keep_draft(rows: Rows, rules: Rules, name: str, nonce: str, answers: Mapping[str, Any], now: float) -> None:
    """Stores a draft of the answer, and extends the time of the task."""
    seat = _own(rows, name, nonce)
    if seat["state"] == "held":
        rows.put("seat", {**seat, "until": now + rules.hold})
        rows.run("DELETE FROM draft WHERE nonce = ?", nonce)
        rows.run("INSERT INTO draft VALUES (?, ?)", nonce, json.dumps(answers))


def stop(rows: Rows, name: str) -> str:
    """Ends a person's work, and returns its final state; what they did counts and is paid."""
    person = known(rows, name)
    if person["state"] == "working":
        return end(rows, person, "finished", outcome(rows, person))
    return str(person["state"])


def withdraw(rows: Rows, name: str) -> None:
    """Erases what a person said and wrote; items that counted it open again. Outcome and pay stay.

    Judgements of their texts stay in the counts of the judges, who are paid, and count for nothing else.
    """
    before, _ = known(rows, name), stop(rows, name)
    person = known(rows, name)
    texts.erase(rows, name)
    for seat in rows.all("SELECT * FROM seat WHERE person = ?", name):
        rows.run("DELETE FROM answer WHERE nonce = ?", seat["nonce"])
        rows.run("DELETE FROM draft WHERE nonce = ?", seat["nonce"])
        moves.move(rows, seat, "withdrawn")
    rows.run("DELETE FROM plan WHERE person = ?", name)
    none = dict.fromkeys(("gold_right", "gold_asked"), 0)
    ended = person["outcome"] if before["outcome"] or before["done"] else "no_consent"
    rows.put("person", {**person, **none, "state": "withdrawn", "outcome": ended, "consent": ""})
    rows.erased = True


def forget(rows: Rows, names: Sequence[str]) -> None:
    """Erases people completely; a row with each number stays, so that no row seems lost."""
    for person in filter(None, (rows.get("person", name) for name in names)):
        name = person["name"]
        withdraw(rows, name)
        for table, column in (("seat", "person"), ("session", "person"), ("person", "name")):
            rows.run(f"DELETE FROM {table} WHERE {column} = ?", name)
        nobody = _new_person(rows, f"forgotten-{person['number']}", "withdrawn", "", "", "", 0)
        acts.forget(rows, name, nobody["name"])
        rows.put("person", {**nobody, "number": person["number"]})
    rows.erased = True


def reopen(rows: Rows, tokens: Sequence[str], need: int) -> None:
    """Raises the number of judgements that these tasks need; never lowers it."""
    for token in tokens:
        task = rows.get("task", token)
        assert task is not None, "every item of the study is a task"
        rows.put("task", {**task, "need": max(need, task["need"])})
        moves.fill(rows, token)


def counted(rows: Rows) -> dict[str, int]:
    """Returns the number of judgements of each item that count."""
    return {row["token"]: row["valid"] for row in rows.all("SELECT token, valid FROM task WHERE kind = 'item'")}


def _free(rows: Rows, rules: Rules, now: float) -> None:
    """Frees seats that were held too long, or longer than possible because the clock was set back since."""
    query = "SELECT * FROM seat WHERE state = 'held' AND (until < ? OR until > ?) ORDER BY until LIMIT ?"
    for late in rows.all(query, now, now + rules.hold + SET_BACK, FREED):
        moves.move(rows, late, "expired")


def _new_person(rows: Rows, name: str, state: str, outcome: str, submission: str, consent: str, now: float) -> Row:
    """Returns the row of a person without work."""
    next_number = rows.first("SELECT coalesce(max(number), 0) + 1 AS number FROM person")
    none = dict.fromkeys(("start", "given", "done", "quota", "gold_right", "gold_asked", "checks_failed"), 0)
    about = {"name": name, "state": state, "outcome": outcome, "submission": submission, "consent": consent}
    return {**none, **about, "arrived": now, **(next_number or {})}


def _given(rows: Rows, rules: Rules, person: Row, seat: Row, now: float) -> Given:
    """Returns the task of a seat, and holds it from now on."""
    rows.put("seat", {**seat, "until": now + rules.hold})
    draft = rows.first("SELECT said FROM draft WHERE nonce = ?", seat["nonce"])
    about = {"token": seat["task"], "nonce": seat["nonce"], "draft": str(draft["said"]) if draft else ""}
    practised = practice(rows, person["name"])
    if seat["task"] in rules.practice:
        return Given(place=practised.met + 1, quota=practised.planned, practice=True, **about)
    place, quota = person["done"] - practised.answered + 1, person["quota"] - practised.planned
    return Given(place=place, quota=quota, warn=fast(rows, rules, person["name"]) == (rules.fast_limit, True), **about)


def end(rows: Rows, person: Row, state: str, outcome: str) -> str:
    """Ends a person's work, and frees their task; sets judgements aside if the person failed or was paused."""
    rows.put("person", {**person, "state": state, "outcome": outcome})
    for seat in rows.all("SELECT * FROM seat WHERE person = ? AND state = 'held'", person["name"]):
        moves.move(rows, seat, "expired")
    if state in SET_ASIDE:
        moves.recount(rows, person["name"], counts=False)
    return state


def known(rows: Rows, name: str) -> Row:
    """Returns the row of a person; refuses a person who is not in the store."""
    if person := rows.get("person", name):
        return person
    raise NotYours("open the link of the study again")


def _own(rows: Rows, name: str, nonce: str) -> Row:
    """Returns the seat with this nonce; refuses a seat of another person."""
    seat = rows.first("SELECT * FROM seat WHERE nonce = ?", nonce)
    if seat is None or seat["person"] != name:
        raise NotYours("this is not the task you have; load the page again")
    return seat
