"""Seats: who gets which task, and which judgements count.

Only this module writes tasks, seats and answers; people are written here and by the decisions of the owner.

Each function is one job of the store. `now` is the server's clock, in seconds since 1970.
"""

import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from random import Random
from typing import Any

from catsofa.annotation.crowd import acts
from catsofa.annotation.crowd.quality import SET_ASIDE, fails_practice, fast, is_excluded, is_hasty, practice
from catsofa.annotation.crowd.rules import Rules, places
from catsofa.annotation.crowd.store import Row, Rows

WAVE = 200
"""Items with free seats that are handed out at once, at least."""
FREED = 20
"""Expired seats that are freed in one job."""
ENDED = {"finished", "failed", "paused", "voided", "screened", "full", "declined", "withdrawn"}
"""States in which a person gets no further task."""
ANSWERED = {"valid", "checked", "void", "surplus"}
"""States of a seat with an answer."""


class NotYours(ValueError):
    """What was sent is no answer to a task of this person."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """A task in a person's hands."""

    token: str
    nonce: str
    place: int
    """Tasks that the person has answered, and this one."""
    quota: int
    draft: str = ""
    practice: bool = False
    """Whether the task is a practice item; practice items and the others are numbered apart."""
    warn: bool = False
    """Whether the person answered too fast until now, and hears so with this task."""


def add(rows: Rows, tasks: Sequence[tuple[str, str, str]], need: int, order: Random) -> None:
    """Add tasks that are not there yet: token, kind (item, gold, check) and writer."""
    there = {row["token"] for row in rows.all("SELECT token FROM task")}
    for token, kind, writer in tasks:
        if token not in there:
            active = int(kind != "item")
            new = {"token": token, "kind": kind, "writer": writer, "active": active, "rnd": order.random()}
            rows.put("task", {**new, "need": need if kind == "item" else 0, "valid": 0, "held": 0})


def arrive(rows: Rows, rules: Rules, name: str, submission: str, consent: str, now: float) -> str:
    """The state of a person who consents; a new one gets a plan. Empty: known by another submission."""
    if person := rows.get("person", name):
        return str(person["state"]) if person["submission"] == submission else ""
    order = Random(secrets.randbits(64))
    free = rows.first("SELECT token FROM task WHERE kind = 'item' AND valid + held < need LIMIT 1")
    if free is None or rows.get("about", "closed"):
        rows.put("person", _new_person(rows, name, "full", "screened_out", submission, consent, now))
        return "full"
    person = _new_person(rows, name, "working", "", submission, consent, now)
    rows.put("person", {**person, "start": order.random(), "quota": rules.tasks})
    for place, token in enumerate(rules.practice, 1):
        rows.put("plan", {"person": name, "position": place, "task": token})
    taken, before = set[int](), len(rules.practice)
    for kind, every in (("check", rules.check_every), ("gold", rules.gold_every)):
        tokens = [row["token"] for row in rows.all("SELECT token FROM task WHERE kind = ? ORDER BY token", kind)]
        order.shuffle(tokens)
        for token, place in zip(tokens, places(rules.session, rules.first, every, order), strict=False):
            while place in taken:
                place += 1
            taken.add(place)
            rows.put("plan", {"person": name, "position": before + place, "task": token})
    for task in rows.all("SELECT token FROM task WHERE writer = ? AND kind = 'item'", name):
        _seat(rows, task["token"], name, 0, "own", now, now)
    return "working"


def decline(rows: Rows, name: str, submission: str, now: float) -> str:
    """The state of a person who does not consent; who began already is not changed."""
    if person := rows.get("person", name):
        return str(person["state"]) if person["submission"] == submission else ""
    rows.put("person", _new_person(rows, name, "declined", "no_consent", submission, "", now))
    return "declined"


def next_task(rows: Rows, rules: Rules, name: str, now: float) -> Given | str:
    """The task a person has or now gets; else `wait`, or the state in which their work ended."""
    for late in rows.all("SELECT * FROM seat WHERE state = 'held' AND until < ? ORDER BY until LIMIT ?", now, FREED):
        _move(rows, late, "expired")
    person = known(rows, name)
    if person["state"] in ENDED:
        return str(person["state"])
    if rules.practice and fails_practice(rows, rules, person):
        return end(rows, person, "screened", "failed_practice")
    if person["done"] >= person["quota"] or rows.get("about", "closed"):
        return stop(rows, name)
    if seat := rows.first("SELECT * FROM seat WHERE person = ? AND state = 'held'", name):
        return _given(rows, rules, person, seat, now)
    left = rows.all("SELECT * FROM seat WHERE person = ? AND state = 'expired' ORDER BY position DESC", name)
    if seat := next((seat for seat in left if _has_room(rows, seat["task"])), None):
        return _given(rows, rules, person, _move(rows, {**seat, "given": now}, "held"), now)
    unseen = "NOT EXISTS (SELECT 1 FROM seat s WHERE s.task = t.{} AND s.person = ?)"
    planned = (
        f"SELECT task FROM plan t WHERE person = ? AND position <= ? AND {unseen.format('task')} ORDER BY position"
    )
    if found := rows.first(planned, name, max(person["done"] + 1, len(rules.practice)), name):
        token = found["task"]
    elif not (token := _pick(rows, person)):
        others = "SELECT 1 FROM seat h JOIN task t ON t.token = h.task WHERE h.state = 'held' AND t.kind = 'item' AND "
        return "wait" if rows.first(others + unseen.format("token") + " LIMIT 1", name) else stop(rows, name)
    person["given"] += 1
    rows.put("person", person)
    return _given(rows, rules, person, _seat(rows, token, name, person["given"], "held", now, now), now)


def answer(
    rows: Rows, rules: Rules, name: str, nonce: str, said: Mapping[str, Any], right: tuple[int, int], now: float
) -> None:
    """Keep an answer, and count it where a seat is free; `right` are the right gold questions, and all.

    The same answer a second time changes nothing.
    """
    person, seat = known(rows, name), _own(rows, name, nonce)
    if seat["state"] in ANSWERED:
        return
    if seat["state"] not in {"held", "expired"} or person["state"] not in {"working", "finished"}:
        raise NotYours("this task is no longer yours; load the page again")
    task = rows.get("task", seat["task"])
    assert task is not None, "a seat has a task"
    at = datetime.fromtimestamp(now, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    seconds = round(min(max(0.0, now - seat["given"]), rules.hold), 3)  # not the night after a late answer
    kept = {"nonce": nonce, "said": json.dumps(said), "seconds": seconds, "at": at}
    rows.put("answer", {**kept, "gold_right": right[0], "gold_asked": right[1]})
    rows.run("DELETE FROM draft WHERE nonce = ?", nonce)
    person["done"] += 1
    if task["kind"] == "item":
        state = "valid" if seat["state"] == "held" or _has_room(rows, seat["task"]) else "surplus"
        _move(rows, seat, "void" if is_excluded(person) else state)
    elif task["kind"] == "practice":
        _move(rows, seat, "checked")
        rows.put("person", person)
        if person["state"] == "working" and fails_practice(rows, rules, person):
            end(rows, person, "screened", "failed_practice")
        return
    else:
        _move(rows, seat, "checked")
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
        recount(rows, name, counts=before)


def skip(rows: Rows, name: str, nonce: str) -> None:
    """Pass a task on to somebody else."""
    seat = _own(rows, name, nonce)
    if seat["state"] in {"held", "expired"}:
        _move(rows, seat, "skipped")
        rows.run("DELETE FROM draft WHERE nonce = ?", nonce)


def token_of(rows: Rows, name: str, nonce: str) -> str:
    """The task of this person's seat."""
    return str(_own(rows, name, nonce)["task"])


def keep_draft(rows: Rows, rules: Rules, name: str, nonce: str, said: Mapping[str, Any], now: float) -> None:
    """Keep what is written so far, and hold the task longer."""
    seat = _own(rows, name, nonce)
    if seat["state"] == "held":
        rows.put("seat", {**seat, "until": now + rules.hold})
        rows.run("DELETE FROM draft WHERE nonce = ?", nonce)
        rows.run("INSERT INTO draft VALUES (?, ?)", nonce, json.dumps(said))


def stop(rows: Rows, name: str) -> str:
    """End a person's work; what they did counts and is paid. The state in which it ended."""
    person = known(rows, name)
    if person["state"] == "working":
        practised = practice(rows, name)
        without = "screened_out" if practised.met == practised.planned else "failed_practice"
        return end(rows, person, "finished", "completed" if person["done"] > practised.answered else without)
    return str(person["state"])


def withdraw(rows: Rows, name: str) -> None:
    """Erase what a person said and wrote; items that counted it are open again."""
    person = known(rows, name)
    for seat in rows.all("SELECT * FROM seat WHERE person = ?", name):
        rows.run("DELETE FROM answer WHERE nonce = ?", seat["nonce"])
        rows.run("DELETE FROM draft WHERE nonce = ?", seat["nonce"])
        _move(rows, seat, "withdrawn")
    rows.run("DELETE FROM plan WHERE person = ?", name)
    none = dict.fromkeys(("done", "gold_right", "gold_asked", "checks_failed"), 0)
    outcome = person["outcome"] or ("completed" if person["done"] else "no_consent")
    rows.put("person", {**person, **none, "state": "withdrawn", "outcome": outcome, "consent": ""})
    rows.erased = True


def forget(rows: Rows, names: Sequence[str]) -> None:
    """Erase people altogether; what stays is a row with each number, which tells them from a lost row."""
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
    """Ask for more judgements of these tasks; a number that is asked for already is not lowered."""
    for token in tokens:
        task = rows.get("task", token)
        assert task is not None, "every item of the study is a task"
        rows.put("task", {**task, "need": max(need, task["need"])})
        _fill(rows, token)


def counted(rows: Rows) -> dict[str, int]:
    """How many judgements of each item count."""
    return {row["token"]: row["valid"] for row in rows.all("SELECT token, valid FROM task WHERE kind = 'item'")}


def _new_person(rows: Rows, name: str, state: str, outcome: str, submission: str, consent: str, now: float) -> Row:
    """A person without work."""
    found = rows.first("SELECT coalesce(max(number), 0) + 1 AS number FROM person")
    none = dict.fromkeys(("start", "given", "done", "quota", "gold_right", "gold_asked", "checks_failed"), 0)
    about = {"name": name, "state": state, "outcome": outcome, "submission": submission, "consent": consent}
    return {**none, **about, "arrived": now, **(found or {})}


def _pick(rows: Rows, person: Row) -> str:
    """An open item that the person has not seen, the first after their own start; more come when too few are open."""
    for least in (1, 2):  # all of a wave may have been seen: then a further wave
        working = rows.first("SELECT count(*) AS n FROM seat WHERE state = 'held'") or {"n": 0}
        there = rows.first("SELECT count(*) AS n FROM task WHERE open = 1") or {"n": 0}
        if (more := max(WAVE, 4 * working["n"]) * least - there["n"]) > 0 or least == 2:
            waiting = "SELECT * FROM task WHERE kind = 'item' AND active = 0 ORDER BY rnd LIMIT ?"
            for task in rows.all(waiting, max(more, WAVE)):
                rows.put("task", {**task, "active": 1})
        unseen = "NOT EXISTS (SELECT 1 FROM seat s WHERE s.task = t.token AND s.person = ?) ORDER BY rnd LIMIT 1"
        for part in ("rnd >= ?", "rnd < ?"):
            query = f"SELECT token FROM task t WHERE open = 1 AND {part} AND {unseen}"
            if found := rows.first(query, person["start"], person["name"]):
                return str(found["token"])
    return ""


def _seat(rows: Rows, task: str, person: str, position: int, state: str, until: float, now: float) -> Row:
    """A new seat."""
    new = {"task": task, "person": person, "position": position, "state": "new"}
    seat = {**new, "nonce": secrets.token_urlsafe(16), "until": until, "given": now}
    return _move(rows, seat, state)


def _given(rows: Rows, rules: Rules, person: Row, seat: Row, now: float) -> Given:
    """The task of a seat, held from now on."""
    rows.put("seat", {**seat, "until": now + rules.hold})
    draft = rows.first("SELECT said FROM draft WHERE nonce = ?", seat["nonce"])
    about = {"token": seat["task"], "nonce": seat["nonce"], "draft": str(draft["said"]) if draft else ""}
    practised = practice(rows, person["name"])
    if seat["task"] in rules.practice:
        return Given(place=practised.met + 1, quota=practised.planned, practice=True, **about)
    place, quota = person["done"] - practised.answered + 1, person["quota"] - practised.planned
    return Given(place=place, quota=quota, warn=fast(rows, rules, person["name"]) == (rules.fast_limit, True), **about)


def _move(rows: Rows, seat: Row, state: str) -> Row:
    """Change the state of a seat and the counters of its task; a seat that is freed goes to a surplus answer."""
    task = rows.get("task", seat["task"])
    assert task is not None, "a seat has a task"
    moved = {**seat, "state": state}
    rows.put("seat", moved)
    if task["kind"] == "item":
        before, after = (task[count] for count in ("valid", "held")), []
        for count, old in zip(("valid", "held"), before, strict=True):
            after.append(old - (seat["state"] == count) + (state == count))
        if after != [task["valid"], task["held"]]:
            rows.put("task", {**task, "valid": after[0], "held": after[1]})
            if sum(after) < task["valid"] + task["held"]:
                _fill(rows, seat["task"])
    return moved


def _fill(rows: Rows, token: str) -> None:
    """Count surplus answers of people who count, as long as there is room."""
    for seat in rows.all("SELECT * FROM seat WHERE task = ? AND state = 'surplus' ORDER BY given", token):
        if _has_room(rows, token):
            _move(rows, seat, "valid")


def recount(rows: Rows, name: str, *, counts: bool) -> None:
    """Set a person's judgements aside, or count them again where there is room."""
    for seat in rows.all("SELECT * FROM seat WHERE person = ? AND state IN ('valid', 'surplus', 'void')", name):
        state = "void" if not counts else "valid" if _has_room(rows, seat["task"]) else "surplus"
        if seat["state"] != state and not (counts and seat["state"] == "valid"):
            _move(rows, seat, state)


def end(rows: Rows, person: Row, state: str, outcome: str) -> str:
    """End a person's work: what they have in hand is free, and who failed or was paused does not count."""
    rows.put("person", {**person, "state": state, "outcome": outcome})
    for seat in rows.all("SELECT * FROM seat WHERE person = ? AND state = 'held'", person["name"]):
        _move(rows, seat, "expired")
    if state in SET_ASIDE:
        recount(rows, person["name"], counts=False)
    return state


def _has_room(rows: Rows, token: str) -> bool:
    """Whether a task has a free seat; gold items and checks always have."""
    task = rows.get("task", token)
    assert task is not None, "a seat has a task"
    return bool(task["kind"] != "item" or task["valid"] + task["held"] < task["need"])


def known(rows: Rows, name: str) -> Row:
    """A person who is in the store."""
    if person := rows.get("person", name):
        return person
    raise NotYours("open the link of the study again")


def _own(rows: Rows, name: str, nonce: str) -> Row:
    """The seat with this nonce, if it is this person's."""
    seat = rows.first("SELECT * FROM seat WHERE nonce = ?", nonce)
    if seat is None or seat["person"] != name:
        raise NotYours("this is not the task you have; load the page again")
    return seat
