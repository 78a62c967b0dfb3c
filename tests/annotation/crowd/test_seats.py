"""Seats of a crowd study: who gets which task, and which judgements count."""

from collections import Counter
from pathlib import Path

import pytest
from helpers.seats import NONE, opened, state_of, tasks, works

from catsofa.annotation.crowd import seats
from catsofa.annotation.crowd.rules import Rules
from catsofa.annotation.crowd.seats import Given, NotYours


def test_five_people_finish_every_item_and_a_sixth_finds_no_work(tmp_path: Path) -> None:
    """Seven items and five people: 35 judgements that count, each item five; whoever comes then is told so."""
    rules = Rules(session=10)
    with opened(tmp_path, tasks(7)) as store:
        assert [works(store, rules, f"p{n}") for n in range(5)] == [7] * 5
        assert set(store.do(seats.counted).values()) == {5}
        assert store.do(lambda rows: seats.arrive(rows, rules, "p5", "s", "c", 0)) == "full"


def test_nobody_has_two_tasks_and_a_second_device_gets_the_same_one(tmp_path: Path) -> None:
    """Asked again, by whatever browser, the task is the same; with another submission nobody comes in."""
    rules = Rules()
    with opened(tmp_path, tasks(3)) as store:
        assert store.do(lambda rows: seats.arrive(rows, rules, "p", "first", "c", 0)) == "working"
        assert store.do(lambda rows: seats.arrive(rows, rules, "p", "other", "c", 0)) == ""
        one, two = (store.do(lambda rows: seats.next_task(rows, rules, "p", 1)) for _ in range(2))
        assert one == two
        assert isinstance(one, Given)


def test_an_answer_sent_twice_is_one(tmp_path: Path) -> None:
    """The second changes nothing, and another person's nonce is refused."""
    rules = Rules()
    with opened(tmp_path, tasks(2)) as store:
        for name in "ab":
            store.do(lambda rows, name=name: seats.arrive(rows, rules, name, "s", "c", 0))
        given = store.do(lambda rows: seats.next_task(rows, rules, "a", 0))
        assert isinstance(given, Given)
        for said in ("yes", "no"):
            store.do(lambda rows, s=said: seats.answer(rows, rules, "a", given.nonce, {"q": s}, NONE, 1))
        assert [row["said"] for row in store.do(lambda rows: rows.all("SELECT said FROM answer"))] == ['{"q": "yes"}']
        with pytest.raises(NotYours, match="not the task"):
            store.do(lambda rows: seats.answer(rows, rules, "b", given.nonce, {"q": "no"}, NONE, 1))


def test_a_late_answer_counts_while_its_seat_is_free_and_else_is_surplus(tmp_path: Path) -> None:
    """One item for one: an answer of somebody who was replaced is kept, and counts once the other has gone."""
    rules = Rules()
    with opened(tmp_path, tasks(1), need=1) as store:
        for name in "ab":
            store.do(lambda rows, name=name: seats.arrive(rows, rules, name, "s", "c", 0))
        first = store.do(lambda rows: seats.next_task(rows, rules, "a", 0))
        second = store.do(lambda rows: seats.next_task(rows, rules, "b", rules.hold + 1))
        assert isinstance(first, Given)
        assert isinstance(second, Given)
        store.do(lambda rows: seats.answer(rows, rules, "a", first.nonce, {}, NONE, rules.hold + 2))
        assert state_of(store, "a") == ["surplus"]
        store.do(lambda rows: seats.withdraw(rows, "b"))
        assert state_of(store, "a") == ["valid"]


def test_who_comes_when_the_last_task_was_left_is_not_turned_away(tmp_path: Path) -> None:
    """Nobody else is at work to free it; an hour before, the task was in somebody's hands."""
    rules = Rules()
    with opened(tmp_path, tasks(1)) as store:
        store.do(lambda rows: [rows.put("task", {**task, "need": 1}) for task in rows.all("SELECT * FROM task")])
        for name, now in (("a", 0), ("early", 1), ("b", 3600)):
            state = store.do(lambda rows, name=name, at=now: seats.arrive(rows, rules, name, f"s-{name}", "c", at))
            assert state == ("full" if name == "early" else "working")
            given = store.do(lambda rows, name=name, at=now: seats.next_task(rows, rules, name, at))
            assert isinstance(given, Given) is (name != "early")


def test_a_clock_that_was_set_back_locks_no_task(tmp_path: Path) -> None:
    """A task given out three days ahead of the clock goes to the next person; the late answer does no harm."""
    rules, ahead = Rules(), 3 * 86400
    with opened(tmp_path, tasks(1)) as store:
        store.do(lambda rows: seats.arrive(rows, rules, "a", "s-a", "c", ahead))
        first = store.do(lambda rows: seats.next_task(rows, rules, "a", ahead))
        store.do(lambda rows: [rows.put("task", {**task, "need": 1}) for task in rows.all("SELECT * FROM task")])
        assert store.do(lambda rows: seats.arrive(rows, rules, "b", "s-b", "c", 0)) == "working"
        then = store.do(lambda rows: seats.next_task(rows, rules, "b", 0))
        assert isinstance(first, Given)
        assert isinstance(then, Given)
        store.do(lambda rows: seats.answer(rows, rules, "b", then.nonce, {"q": "x"}, NONE, 1))
        store.do(lambda rows: seats.answer(rows, rules, "a", first.nonce, {"q": "x"}, NONE, 2))
        assert store.do(seats.counted) == {"item0": 1}


def test_who_comes_back_after_a_sleep_finds_the_same_task_with_its_draft(tmp_path: Path) -> None:
    """The task was free for a while; nobody took it."""
    rules = Rules()
    with opened(tmp_path, tasks(3)) as store:
        store.do(lambda rows: seats.arrive(rows, rules, "a", "s", "c", 0))
        given = store.do(lambda rows: seats.next_task(rows, rules, "a", 0))
        assert isinstance(given, Given)
        store.do(lambda rows: seats.keep_draft(rows, rules, "a", given.nonce, {"q": "half"}, 1))
        again = store.do(lambda rows: seats.next_task(rows, rules, "a", 10 * rules.hold))
        assert isinstance(again, Given)
        assert (again.nonce, again.draft) == (given.nonce, '{"q": "half"}')
        at = 10 * rules.hold + 7
        store.do(lambda rows: seats.answer(rows, rules, "a", given.nonce, {"q": "all"}, NONE, at))
        assert store.do(lambda rows: rows.all("SELECT seconds FROM answer")) == [{"seconds": 7.0}]


def test_a_writer_never_judges_their_own(tmp_path: Path) -> None:
    """Of three items one is theirs: they are given two."""
    known = [("item0", "item", "a"), ("item1", "item", ""), ("item2", "item", "b")]
    with opened(tmp_path, known) as store:
        assert works(store, Rules(), "a") == 2
        assert state_of(store, "a") == ["own", "valid", "valid"]


def test_who_withdraws_leaves_nothing_behind_in_any_file(tmp_path: Path) -> None:
    """The words are in no file of the store, nor in its log, and the items wait for others."""
    rules, word = Rules(), "Krumplstiltz"
    with opened(tmp_path, tasks(2)) as store:
        store.do(lambda rows: seats.arrive(rows, rules, "a", "s", "c", 0))
        for _ in range(2):
            given = store.do(lambda rows: seats.next_task(rows, rules, "a", 0))
            assert isinstance(given, Given)
            store.do(lambda rows, n=given.nonce: seats.keep_draft(rows, rules, "a", n, {"q": word}, 0))
            store.do(lambda rows, n=given.nonce: seats.answer(rows, rules, "a", n, {"q": word}, NONE, 0))
        assert any(word in file.read_bytes().decode("latin-1") for file in tmp_path.iterdir())
        store.do(lambda rows: seats.withdraw(rows, "a"))
        assert not any(word in file.read_bytes().decode("latin-1") for file in tmp_path.iterdir())
        assert store.do(seats.counted) == {"item0": 0, "item1": 0}


def test_items_come_in_waves(tmp_path: Path) -> None:
    """Of 1,000 items 200 are handed out at once: after 900 judgements over 50 have five, not two."""
    rules = Rules(session=30)
    with opened(tmp_path, tasks(1000)) as store:
        for n in range(30):
            works(store, rules, f"p{n}")
        counts = Counter(store.do(seats.counted).values())
        assert counts[5] > 50
        assert counts[0] > 550


def test_the_pick_uses_the_index_of_open_tasks(tmp_path: Path) -> None:
    """SQLite reads neither the whole table nor sorts."""
    query = (
        "EXPLAIN QUERY PLAN SELECT token FROM task t WHERE open = 1 AND rnd >= ? AND NOT EXISTS "
        "(SELECT 1 FROM seat s WHERE s.task = t.token AND s.person = ?) ORDER BY rnd LIMIT 1"
    )
    with opened(tmp_path, tasks(300)) as store:
        plan = " ".join(row["detail"] for row in store.do(lambda rows: rows.all(query, 0.5, "p")))
    assert "task_open" in plan
    assert "SCAN" not in plan
    assert "TEMP" not in plan
