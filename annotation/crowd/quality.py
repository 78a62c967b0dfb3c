"""What a person's answers so far say about their work: practice, pace and gold items. It reads the store alone."""

from typing import NamedTuple

from catsofa.annotation.crowd.rules import Rules
from catsofa.annotation.crowd.store import Row, Rows

GOLD_PASS = 0.75
"""The share of gold questions a person must answer rightly for their judgements to count, as in `validate votes`."""
RETIRED = "retired "
"""How the names of rows begin that say which gold items count no more."""
SET_ASIDE = {"failed", "paused", "voided"}
"""States of people whose judgements do not count."""


DAY = 24 * 3600.0


class Practice(NamedTuple):
    """A person's practice items: those planned, met (answered or skipped), answered, and answered rightly."""

    planned: int
    met: int
    answered: int
    right: int


def is_excluded(person: Row) -> bool:
    """Whether a person's judgements do not count, by the gold questions so far."""
    return bool(person["gold_right"] < GOLD_PASS * person["gold_asked"])


def practice(rows: Rows, name: str) -> Practice:
    """How a person did on their practice items."""
    found = rows.all(
        "SELECT s.nonce, a.gold_right, a.gold_asked FROM plan p "
        "JOIN task t ON t.token = p.task AND t.kind = 'practice' "
        "LEFT JOIN seat s ON s.task = p.task AND s.person = p.person AND s.state IN ('checked', 'skipped') "
        "LEFT JOIN answer a ON a.nonce = s.nonce WHERE p.person = ?",
        name,
    )
    answered = [row for row in found if row["gold_asked"] is not None]
    right = sum(row["gold_right"] == row["gold_asked"] for row in answered)
    return Practice(len(found), sum(row["nonce"] is not None for row in found), len(answered), right)


def latest(rows: Rows, name: str) -> Row | None:
    """The seat that a person got last, with the kind of its task."""
    query = "SELECT s.*, t.kind FROM seat s JOIN task t ON t.token = s.task WHERE s.person = ? AND s.state <> 'own' "
    return rows.first(query + "ORDER BY s.given DESC, s.position DESC LIMIT 1", name)


def answered(rows: Rows, name: str) -> int:
    """How many tasks a person answered: a text is one here, whatever it counts for in the session and the pay."""
    query = "SELECT count(*) AS n FROM seat WHERE person = ? AND state IN ('valid', 'checked', 'void', 'surplus')"
    return int((rows.first(query, name) or {"n": 0})["n"])


def outcome(rows: Rows, person: Row) -> str:
    """How the work of a person ends who stops now."""
    practised = practice(rows, person["name"])
    if person["done"] > practised.answered:
        return "completed"
    return "screened_out" if practised.met == practised.planned else "failed_practice"


def fails_practice(rows: Rows, rules: Rules, person: Row) -> bool:
    """Whether a person has met all practice items and nothing else, and too few of their answers were right."""
    done = practice(rows, person["name"])
    return 0 < done.planned == done.met == person["given"] and done.right < rules.practice_pass


def fast(rows: Rows, rules: Rules, name: str) -> tuple[int, bool]:
    """A person's answers that were faster than the bound, practice apart, and whether the last one was."""
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
    """Whether the last answer was too fast, and so many before that the person is paused."""
    answers, last = fast(rows, rules, name)
    return last and answers >= 2 * rules.fast_limit


def free_again(rows: Rows, rules: Rules, name: str, now: float) -> float:
    """When a person may go on who did as many minutes of tasks within 24 hours as anybody may; 0: at once.

    Tasks of a time to come do not count: the clock was set back since.
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
    left, again = sum(row["seconds"] for row in took), 0.0
    for row in took:
        if left < 60 * rules.minutes_a_day:
            break
        left, again = left - row["seconds"], row["until"] + DAY
    return float(again)
