"""Quality of a person's answers so far: practice, pace and gold items. This module only reads the store."""

from typing import NamedTuple

from catsofa.annotation.crowd.rules import Rules
from catsofa.annotation.crowd.store import Row, Rows

GOLD_PASS = 0.75
"""Share of gold questions that a person must answer right for their judgements to count, as in `validate votes`."""
RETIRED = "retired "
"""Prefix of the rows that mark retired gold items."""
SET_ASIDE = {"failed", "paused", "voided"}
"""States of people whose judgements do not count."""


DAY = 24 * 3600.0


class Practice(NamedTuple):
    """Counts of a person's practice items: planned, met (answered or skipped), answered, and answered right."""

    planned: int
    met: int
    answered: int
    right: int


def is_excluded(person: Row) -> bool:
    """True if the gold questions so far exclude a person's judgements."""
    return bool(person["gold_right"] < GOLD_PASS * person["gold_asked"])


def practice(rows: Rows, name: str) -> Practice:
    """Returns the counts of a person's practice items."""
    entries = rows.all(
        "SELECT s.nonce, a.gold_right, a.gold_asked FROM plan p "
        "JOIN task t ON t.token = p.task AND t.kind = 'practice' "
        "LEFT JOIN seat s ON s.task = p.task AND s.person = p.person AND s.state IN ('checked', 'skipped') "
        "LEFT JOIN answer a ON a.nonce = s.nonce WHERE p.person = ?",
        name,
    )
    answered = [row for row in entries if row["gold_asked"] is not None]
    right = sum(row["gold_right"] == row["gold_asked"] for row in answered)
    return Practice(len(entries), sum(row["nonce"] is not None for row in entries), len(answered), right)


def latest(rows: Rows, name: str) -> Row | None:
    """Returns the seat that a person got last, with the kind of its task."""
    query = "SELECT s.*, t.kind FROM seat s JOIN task t ON t.token = s.task WHERE s.person = ? AND s.state <> 'own' "
    return rows.first(query + "ORDER BY s.given DESC, s.position DESC LIMIT 1", name)


def answered(rows: Rows, name: str) -> int:
    """Returns the number of tasks that a person answered.

    A text is one task here, although the session and the pay count it as more.
    """
    query = "SELECT count(*) AS n FROM seat WHERE person = ? AND state IN ('valid', 'checked', 'void', 'surplus')"
    return int((rows.first(query, name) or {"n": 0})["n"])


def outcome(rows: Rows, person: Row) -> str:
    """Returns the outcome of a person who stops now."""
    practised = practice(rows, person["name"])
    if person["done"] > practised.answered:
        return "completed"
    return "screened_out" if practised.met == practised.planned else "failed_practice"


def fails_practice(rows: Rows, rules: Rules, person: Row) -> bool:
    """True if a person has met all practice items and nothing else, and too few of their answers were right."""
    done = practice(rows, person["name"])
    return 0 < done.planned == done.met == person["given"] and done.right < rules.practice_pass


def fast(rows: Rows, rules: Rules, name: str) -> tuple[int, bool]:
    """Returns the number of a person's too fast answers, without practice, and True if the last one was too fast."""
    if not rules.fast:
        return 0, False
    took = rows.all(
        "SELECT a.seconds FROM answer a JOIN seat s ON s.nonce = a.nonce JOIN task t ON t.token = s.task "
        "WHERE s.person = ? AND t.kind <> 'practice' ORDER BY a.at, s.position",
        name,
    )
    were = [row["seconds"] < rules.fast for row in took]
    return sum(were), were[-1:] == [True]


def is_hasty(rows: Rows, rules: Rules, name: str) -> bool:
    """True if the last answer was too fast, and the person reached the number of fast answers that pauses them."""
    answers, last = fast(rows, rules, name)
    return last and answers >= 2 * rules.fast_limit


def free_again(rows: Rows, rules: Rules, name: str, now: float) -> float:
    """Returns the time when a person who did the maximum minutes of 24 hours may go on; 0 means now.

    Tasks with a future time do not count, because the clock was set back since.
    """
    if not rules.minutes_a_day:
        return 0.0
    took = rows.all(
        "SELECT s.given + a.seconds AS until, a.seconds FROM answer a JOIN seat s ON s.nonce = a.nonce "
        "WHERE s.person = ? AND s.given + a.seconds > ? AND s.given <= ? ORDER BY s.given",
        name,
        now - DAY,
        now,
    )
    total, again = sum(row["seconds"] for row in took), 0.0
    for row in took:
        if total < 60 * rules.minutes_a_day:
            break
        total, again = total - row["seconds"], row["until"] + DAY
    return float(again)
