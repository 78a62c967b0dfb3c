"""Tests of the seats of a crowd study: who gets which task, and which judgements count."""

from collections import Counter
from pathlib import Path

import pytest
from helpers.seats import NONE, opened, state_of, tasks, works

from catsofa.annotation.crowd import seats
from catsofa.annotation.crowd.rules import Rules
from catsofa.annotation.crowd.seats import Given, NotYours


def test_five_people_finish_every_item_and_a_sixth_finds_no_work(tmp_path: Path) -> None:
    """Seven items and five people give 35 counted judgements, five per item; a sixth person finds the study full."""
    rules = Rules(session=10)
    with opened(tmp_path, tasks(7)) as store:
        assert [works(store, rules, f"p{n}") for n in range(5)] == [7] * 5
        assert set(store.do(seats.counted).values()) == {5}
        assert store.do(lambda rows: seats.arrive(rows, rules, "p5", "s", "c", 0)) == "full"


def test_nobody_has_two_tasks_and_a_second_device_gets_the_same_one(tmp_path: Path) -> None:
    """Every browser of a person gets the same task again; another submission of the same person is refused."""
    rules = Rules()
    with opened(tmp_path, tasks(3)) as store:
        assert store.do(lambda rows: seats.arrive(rows, rules, "p", "first", "c", 0)) == "working"
        assert store.do(lambda rows: seats.arrive(rows, rules, "p", "other", "c", 0)) == ""
        one, two = (store.do(lambda rows: seats.next_task(rows, rules, "p", 1)) for _ in range(2))
        assert one == two
        assert isinstance(one, Given)


def test_an_answer_sent_twice_is_one(tmp_path: Path) -> None:
    """The second answer changes nothing, and another person's nonce is refused."""
    rules = Rules()
    with opened(tmp_path, tasks(2)) as store:
        for name in "ab":
            store.do(lambda rows, name=name: seats.arrive(rows, rules, name, "s", "c", 0))
        task = store.do(lambda rows: seats.next_task(rows, rules, "a", 0))
        assert isinstance(task, Given)
        for choice in ("yes", "no"):
            store.do(lambda rows, s=choice: seats.answer(rows, rules, "a", task.nonce, {"q": s}, NONE, 1))
        assert [row["said"] for row in store.do(lambda rows: rows.all("SELECT said FROM answer"))] == ['{"q": "yes"}']
        with pytest.raises(NotYours, match="not the task"):
            store.do(lambda rows: seats.answer(rows, rules, "b", task.nonce, {"q": "no"}, NONE, 1))


def test_a_late_answer_counts_while_its_seat_is_free_and_else_is_surplus(tmp_path: Path) -> None:
    """With one item for one person, the answer of a replaced person is kept, and counts once the other
    has withdrawn.
    """
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
    """After an hour the abandoned task is given to a new person; earlier it was still held."""
    rules = Rules()
    with opened(tmp_path, tasks(1)) as store:
        store.do(lambda rows: [rows.put("task", {**task, "need": 1}) for task in rows.all("SELECT * FROM task")])
        for name, now in (("a", 0), ("early", 1), ("b", 3600)):
            state = store.do(lambda rows, name=name, at=now: seats.arrive(rows, rules, name, f"s-{name}", "c", at))
            assert state == ("full" if name == "early" else "working")
            task_ = store.do(lambda rows, name=name, at=now: seats.next_task(rows, rules, name, at))
            assert isinstance(task_, Given) is (name != "early")


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
    """The task was free for a while, but no one took it."""
    rules = Rules()
    with opened(tmp_path, tasks(3)) as store:
        store.do(lambda rows: seats.arrive(rows, rules, "a", "s", "c", 0))
        task = store.do(lambda rows: seats.next_task(rows, rules, "a", 0))
        assert isinstance(task, Given)
        store.do(lambda rows: seats.keep_draft(rows, rules, "a", task.nonce, {"q": "half"}, 1))
        again = store.do(lambda rows: seats.next_task(rows, rules, "a", 10 * rules.hold))
        assert isinstance(again, Given)
        assert (again.nonce, again.draft) == (task.nonce, '{"q": "half"}')
        now = 10 * rules.hold + 7
        store.do(lambda rows: seats.answer(rows, rules, "a", task.nonce, {"q": "all"}, NONE, now))
        assert store.do(lambda rows: rows.all("SELECT seconds FROM answer")) == [{"seconds": 7.0}]


def test_a_writer_never_judges_their_own(tmp_path: Path) -> None:
    """A person wrote one of three items and is given the other two."""
    items = [("item0", "item", "a"), ("item1", "item", ""), ("item2", "item", "b")]
    with opened(tmp_path, items) as store:
        assert works(store, Rules(), "a") == 2
        assert state_of(store, "a") == ["own", "valid", "valid"]


def test_who_withdraws_leaves_nothing_behind_in_any_file(tmp_path: Path) -> None:
    """After a withdrawal the words are in no file of the store, nor in its log, and the items wait for others."""
    rules, word = Rules(), "Krumplstiltz"
    with opened(tmp_path, tasks(2)) as store:
        store.do(lambda rows: seats.arrive(rows, rules, "a", "s", "c", 0))
        for _ in range(2):
            task = store.do(lambda rows: seats.next_task(rows, rules, "a", 0))
            assert isinstance(task, Given)
            store.do(lambda rows, n=task.nonce: seats.keep_draft(rows, rules, "a", n, {"q": word}, 0))
            store.do(lambda rows, n=task.nonce: seats.answer(rows, rules, "a", n, {"q": word}, NONE, 0))
        assert any(word in file.read_bytes().decode("latin-1") for file in tmp_path.iterdir())
        store.do(lambda rows: seats.withdraw(rows, "a"))
        assert not any(word in file.read_bytes().decode("latin-1") for file in tmp_path.iterdir())
        assert store.do(seats.counted) == {"item0": 0, "item1": 0}


def test_items_come_in_waves(tmp_path: Path) -> None:
    """Of 1,000 items 200 are handed out at once: after 900 judgements over 50 items have five."""
    rules = Rules(session=30)
    with opened(tmp_path, tasks(1000)) as store:
        for n in range(30):
            works(store, rules, f"p{n}")
        counts = Counter(store.do(seats.counted).values())
        assert counts[5] > 50
        assert counts[0] > 550


def test_the_pick_uses_the_index_of_open_tasks(tmp_path: Path) -> None:
    """SQLite neither scans the whole table nor sorts."""
    query = (
        "EXPLAIN QUERY PLAN SELECT token FROM task t WHERE open = 1 AND rnd >= ? AND NOT EXISTS "
        "(SELECT 1 FROM seat s WHERE s.task = t.token AND s.person = ?) ORDER BY rnd LIMIT 1"
    )
    with opened(tmp_path, tasks(300)) as store:
        plan = " ".join(row["detail"] for row in store.do(lambda rows: rows.all(query, 0.5, "p")))
    assert "task_open" in plan
    assert "SCAN" not in plan
    assert "TEMP" not in plan
