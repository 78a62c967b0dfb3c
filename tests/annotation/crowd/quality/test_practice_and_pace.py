"""Tests of quality control during a study in the store: the practice round, the pace of answers, and pauses."""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from helpers.crowds import NOW
from helpers.records import bakers

from catsofa.annotation.crowd import home, seats
from catsofa.annotation.crowd.faults import faults
from catsofa.annotation.crowd.owner.decisions import decide
from catsofa.annotation.crowd.rules import Rules
from catsofa.annotation.crowd.seats import Given
from catsofa.annotation.crowd.store import Store
from catsofa.annotation.study import create

RIGHT, WRONG, NONE = (3, 3), (2, 3), (0, 0)
PRACTISED = Rules(session=4, practice=("practice0", "practice1", "practice2"), practice_pass=2)
HASTE = Rules(session=20, fast=3.0, fast_limit=2)


@contextmanager
def stored(folder: Path, items: int = 8, checks: int = 0) -> Iterator[Store]:
    """Opens a store with items for two people and three practice items, and checks for faults at the end."""
    items_ = [(f"{kind}{n}", kind, "") for kind, most in (("item", items), ("check", checks)) for n in range(most)]
    practice = [(f"practice{n}", "practice", "") for n in range(3)]
    with Store(folder, "ab" * 16) as store:
        store.do(lambda held: seats.add(held, [*items_, *practice], 2, random.Random(1)))
        yield store
        assert store.do(lambda held: [*faults(held, [token for token, _, _ in items_])]) == []


def work(
    store: Store, rules: Rules, name: str, marks: list[tuple[int, int]], seconds: list[float], at_most: int = 99
) -> list[Given]:
    """Has a person answer with these marks and times, repeating the last ones. Returns the tasks that they got."""
    store.do(lambda held: seats.arrive(held, rules, name, f"s-{name}", "c", NOW))
    met, now = list[Given](), float(NOW)
    for _ in range(at_most):
        if not isinstance(task := store.do(lambda held, at=now: seats.next_task(held, rules, name, at)), Given):
            break
        mark = marks[min(len(met), len(marks) - 1)] if not task.token.startswith("item") else NONE
        now += seconds[min(len(met), len(seconds) - 1)]
        store.do(lambda held, n=task.nonce, m=mark, at=now: seats.answer(held, rules, name, n, {"q": "x"}, m, at))
        met.append(task)
    return met


def person(store: Store, name: str) -> dict[str, Any]:
    """Returns a person's row."""
    return store.do(lambda held: held.get("person", name)) or {}


def test_practice_comes_first_and_is_numbered_apart(tmp_path: Path) -> None:
    """Three practice items are numbered 1 to 3 of 3, then four tasks 1 to 4 of 4; all seven are paid."""
    with stored(tmp_path) as store:
        met = work(store, PRACTISED, "a", [RIGHT], [9])
        assert [(task.practice, task.place, task.quota) for task in met] == [
            *((True, n, 3) for n in (1, 2, 3)),
            *((False, n, 4) for n in (1, 2, 3, 4)),
        ]
        assert [task.token for task in met[:3]] == [*PRACTISED.practice]
        assert (person(store, "a")["outcome"], person(store, "a")["done"]) == ("completed", 7)
        assert sum(store.do(seats.counted).values()) == 4


@pytest.mark.parametrize(("marks", "state"), [([RIGHT, WRONG, WRONG], "screened"), ([WRONG, RIGHT, RIGHT], "finished")])
def test_who_has_too_few_practice_items_right_gets_no_task(
    marks: list[tuple[int, int]], state: str, tmp_path: Path
) -> None:
    """The threshold is two of three: one right answer ends with the outcome's code, two continue."""
    with stored(tmp_path) as store:
        met = work(store, PRACTISED, "a", marks, [9])
        assert person(store, "a")["state"] == state
        assert len(met) == (3 if state == "screened" else 7)
        assert sum(store.do(seats.counted).values()) == (0 if state == "screened" else 4)


def test_a_practice_item_that_is_skipped_is_not_right(tmp_path: Path) -> None:
    """With two of three items skipped, the threshold of two cannot be reached."""
    with stored(tmp_path) as store:
        store.do(lambda held: seats.arrive(held, PRACTISED, "a", "s", "c", NOW))
        for step in range(3):
            task = store.do(lambda held: seats.next_task(held, PRACTISED, "a", NOW))
            assert isinstance(task, Given)
            assert task.place == step + 1
            if step:
                store.do(lambda held, n=task.nonce: seats.skip(held, "a", n))
            else:
                store.do(lambda held, n=task.nonce: seats.answer(held, PRACTISED, "a", n, {}, RIGHT, NOW))
        assert store.do(lambda held: seats.next_task(held, PRACTISED, "a", NOW)) == "screened"


def test_who_stops_in_practice_has_not_completed(tmp_path: Path) -> None:
    """One finished practice item is paid, and the whole reward is not."""
    with stored(tmp_path) as store:
        store.do(lambda held: seats.arrive(held, PRACTISED, "a", "s", "c", NOW))
        task = store.do(lambda held: seats.next_task(held, PRACTISED, "a", NOW))
        assert isinstance(task, Given)
        store.do(lambda held: seats.answer(held, PRACTISED, "a", task.nonce, {}, RIGHT, NOW))
        assert store.do(lambda held: seats.stop(held, "a")) == "finished"
        assert person(store, "a")["outcome"] == "failed_practice"


@pytest.mark.parametrize(
    ("marks", "seconds", "outcome", "done"),
    [
        ([], [], "no_consent", 0),
        ([RIGHT], [9], "failed_practice", 1),
        ([RIGHT, WRONG, WRONG], [9], "failed_practice", 3),
        ([RIGHT] * 4, [9], "completed", 4),
        ([RIGHT] * 3, [9, 9, 9, 1, 1, 1, 1], "paused_for_pace", 7),
    ],
)
def test_a_withdrawal_changes_no_pay(
    marks: list[tuple[int, int]], seconds: list[float], outcome: str, done: int, tmp_path: Path
) -> None:
    """The outcome is that of stopping now, or the earlier one, and the finished tasks are still owed."""
    rules = replace(PRACTISED, session=20, fast=3.0, fast_limit=2)
    with stored(tmp_path, items=12) as store:
        work(store, rules, "a", marks or [RIGHT], seconds or [9], at_most=done)
        store.do(lambda held: seats.withdraw(held, "a"))
        store.do(lambda held: seats.withdraw(held, "a"))
        ended = person(store, "a")
        assert (ended["state"], ended["outcome"], ended["done"]) == ("withdrawn", outcome, done)


def test_other_practice_items_are_refused_while_people_are_at_theirs(tmp_path: Path) -> None:
    """New practice items are refused, because the open page could not show the old ones; people who finished theirs
    work on.
    """
    study = create(tmp_path / "s", kind="validate-cats", items=bakers(4), overlap=2, contact="a@example.org")
    rules = Rules(session=3, practice=("old0", "old1"), practice_pass=0)
    with home.open_store(study, rules.practice) as store:
        work(store, rules, "a", [RIGHT], [9], at_most=1)
        with pytest.raises(ValueError, match="practice items"):
            store.do(lambda held: home.refuse_other_practice(held, study, ["new0"]))
        work(store, rules, "a", [RIGHT], [9], at_most=1)
        store.do(lambda held: home.refuse_other_practice(held, study, ["new0"]))


def test_who_passed_practice_and_finds_no_work_is_paid_for_practice(tmp_path: Path) -> None:
    """When others took the last seats meanwhile, the outcome is that no work was left, not a failed practice."""
    with stored(tmp_path, items=1) as store:
        store.do(lambda held: seats.arrive(held, PRACTISED, "late", "s-late", "c", NOW))
        work(store, PRACTISED, "a", [RIGHT], [9])
        work(store, PRACTISED, "b", [RIGHT], [9])
        assert len(work(store, PRACTISED, "late", [RIGHT], [9])) == 3
        assert (person(store, "late")["outcome"], person(store, "late")["done"]) == ("screened_out", 3)


def test_who_answers_too_fast_is_warned_once_and_then_paused(tmp_path: Path) -> None:
    """Two fast answers warn, two more pause: the seats are free again, and none of the answers counts."""
    with stored(tmp_path) as store:
        met = work(store, HASTE, "a", [NONE], [1, 9, 1, 9, 9, 1, 1])
        assert [task.warn for task in met] == [False, False, False, True, False, False, False]
        assert (person(store, "a")["state"], person(store, "a")["outcome"]) == ("paused", "paused_for_pace")
        assert sum(store.do(seats.counted).values()) == 0
        assert store.do(lambda held: seats.next_task(held, HASTE, "a", NOW)) == "paused"
        work(store, HASTE, "b", [NONE], [9])
        work(store, HASTE, "c", [NONE], [9])
        assert set(store.do(seats.counted).values()) == {2}


def test_a_fast_answer_in_practice_is_not_counted(tmp_path: Path) -> None:
    """Practice may be clicked through; only right answers decide there."""
    rules = replace(PRACTISED, fast=3.0, fast_limit=2)
    with stored(tmp_path) as store:
        assert not any(task.warn for task in work(store, rules, "a", [RIGHT], [1, 1, 1, 9]))
        assert person(store, "a")["state"] == "finished"


def test_failed_checks_pause_where_the_settings_say_so(tmp_path: Path) -> None:
    """Two failed checks pause, without the outcome that asks for a return."""
    rules = Rules(session=8, first=2, check_every=4, pause=True)
    with stored(tmp_path, checks=4) as store:
        work(store, rules, "a", [WRONG], [9])
        assert (person(store, "a")["state"], person(store, "a")["outcome"]) == ("paused", "paused_for_checks")
        assert sum(store.do(seats.counted).values()) == 0


def test_who_is_taken_back_works_on_until_the_next_fast_answer(tmp_path: Path) -> None:
    """Four fast answers pause; after a restore, slow answers continue and a fifth fast answer pauses again."""
    with stored(tmp_path) as store:
        work(store, HASTE, "a", [NONE], [1.0])
        assert person(store, "a")["outcome"] == "paused_for_pace"
        store.do(lambda held: decide(held, "a", "restore", "they explained", "2027-01-01T00:00:00Z"))
        assert sum(store.do(seats.counted).values()) == 4
        assert len(work(store, HASTE, "a", [NONE], [9.0, 9.0, 1.0])) == 3
        assert (person(store, "a")["state"], person(store, "a")["done"]) == ("paused", 7)


def test_who_is_taken_back_works_on_until_the_next_failed_check(tmp_path: Path) -> None:
    """Two failed checks pause; after a restore, a rightly answered check changes nothing."""
    rules = Rules(session=9, first=2, check_every=2, fail_after=2, pause=True)
    with stored(tmp_path, checks=6) as store:
        met = len(work(store, rules, "a", [WRONG], [9]))
        assert person(store, "a")["outcome"] == "paused_for_checks"
        store.do(lambda held: decide(held, "a", "restore", "they explained", "2027-01-01T00:00:00Z"))
        work(store, rules, "a", [RIGHT], [9])
        assert (person(store, "a")["state"], person(store, "a")["done"] > met) == ("finished", True)
