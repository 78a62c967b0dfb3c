"""Tests of checks and gold items of a crowd study: their places, and the effect of wrong answers."""

import random
from itertools import pairwise
from pathlib import Path

import pytest
from helpers.seats import IDENTITY, NONE, RIGHT, WRONG, opened, state_of, tasks, works

from catsofa.annotation.crowd import seats
from catsofa.annotation.crowd.rules import Rules, places, planned
from catsofa.annotation.crowd.seats import Given
from catsofa.annotation.crowd.store import Store


def test_who_fails_two_checks_is_replaced_and_gets_nothing_more(tmp_path: Path) -> None:
    """The person's judgements are set aside, their items open again, and others fill them up to five."""
    rules = Rules(session=30, check_every=4, first=3)
    with opened(tmp_path, tasks(12, checks=10)) as store:
        works(store, rules, "bad", right=WRONG)
        bad = store.do(lambda rows: rows.get("person", "bad")) or {}
        assert (bad["state"], bad["checks_failed"]) == ("failed", 2)
        assert "void" in state_of(store, "bad")
        assert "valid" not in state_of(store, "bad")
        for n in range(5):
            works(store, rules, f"p{n}")
        assert set(store.do(seats.counted).values()) == {5}


def test_who_fails_gold_is_set_aside_and_counted_again_when_above_three_quarters(tmp_path: Path) -> None:
    """With 1 of 3 right, and later 25 of 27, no judgement counts at first, then all do; the person works
    on meanwhile.
    """
    rules = Rules(session=40, gold_every=4, first=3)
    with opened(tmp_path, tasks(40, gold=12)) as store:
        store.do(lambda rows: seats.arrive(rows, rules, "a", "s", "c", 0))
        right = iter([(1, 3)] + [RIGHT] * 20)
        totals = []
        while isinstance(task := store.do(lambda rows: seats.next_task(rows, rules, "a", 0)), Given):
            mark, nonce = next(right) if task.token.startswith("gold") else NONE, task.nonce
            store.do(lambda rows, n=nonce, m=mark: seats.answer(rows, rules, "a", n, {}, m, 0))
            totals.append(sum(store.do(seats.counted).values()))
        assert 0 in totals[3:]
        assert totals[-1] == state_of(store, "a").count("valid") > 25
        assert "void" not in state_of(store, "a")


@pytest.mark.parametrize("length", [5, 30, 200])
def test_checks_stand_where_planned_for_everybody(length: int) -> None:
    """The first check comes at 2 to 10, then one every 15 ± 25 %; each draw has the same number of checks."""
    for seed in range(300):
        positions = places(length, 10, 15, random.Random(seed))
        assert 2 <= positions[0] <= 10
        assert all(11 <= b - a <= 19 for a, b in pairwise(positions))
        assert len(positions) == planned(length, 10, 15)
        assert positions[-1] <= length


def test_each_person_meets_gold_and_checks_at_their_places(tmp_path: Path) -> None:
    """Twenty people with 30 tasks each have the first check by the tenth task, as their plan says."""
    rules = Rules()
    with opened(tmp_path, tasks(200, gold=6, checks=6)) as store:
        for n in range(20):
            assert works(store, rules, f"p{n}") == 30
        query = "SELECT s.position AS at, p.position AS planned FROM seat s JOIN plan p USING (person, task)"
        checks = store.do(lambda rows: rows.all(query))
        assert all(row["at"] == row["planned"] for row in checks)
        assert len(checks) >= 20 * 4


def met(store: Store, name: str) -> set[str]:
    """Returns the kinds of task that a person answered."""
    query = "SELECT DISTINCT t.kind FROM seat s JOIN task t ON t.token = s.task WHERE s.person = ? AND s.state <> 'own'"
    return {row["kind"] for row in store.do(lambda rows: rows.all(query, name))}


@pytest.mark.parametrize("session", [2, 3, 8])
def test_a_short_session_has_its_check_and_its_gold_item_too(session: int, tmp_path: Path) -> None:
    """Both may have any place, but never after the last task: 40 people meet both."""
    with opened(tmp_path, tasks(9, gold=1, checks=1), need=99) as store:
        for n in range(40):
            assert works(store, Rules(session=session), f"p{n}") == session
            assert met(store, f"p{n}") >= {"check", "gold"}


def test_who_runs_out_of_work_meets_a_check_first(tmp_path: Path) -> None:
    """With one item and two checks, everybody has two tasks, wherever the first check was planned; late people have
    none.
    """
    with opened(tmp_path, tasks(1, checks=2), need=20) as store:
        store.do(lambda rows: seats.arrive(rows, Rules(), "late", "s-late", "c", 0))
        for n in range(20):
            assert works(store, Rules(), f"p{n}") == 2
            assert met(store, f"p{n}") == {"item", "check"}
        assert store.do(lambda rows: seats.next_task(rows, Rules(), "late", 0)) == "finished"


def test_a_text_as_the_last_task_takes_the_place_of_no_check(tmp_path: Path) -> None:
    """A person who writes two texts of four tasks each in a session of twelve meets the check at any place."""
    all_tasks = [*tasks(0, checks=1), *((f"target{n}", "write", "") for n in range(9))]
    with Store(tmp_path, IDENTITY) as store:
        store.do(lambda rows: seats.add(rows, all_tasks, 5, random.Random(1), 99))
        for n in range(40):
            works(store, Rules(session=12, first=12, judges=5), f"p{n}")
            assert met(store, f"p{n}") >= {"write", "check"}
