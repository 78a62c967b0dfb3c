"""Tests of who writes and who judges in one store: nobody judges their own text, each text has its judges, no data is
lost.
"""

import random
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

import pytest
from helpers.annotation.growing_studies import TARGETS, judged, kind_of
from helpers.annotation.store_events import acknowledged_before_kill
from helpers.seats import IDENTITY

from catsofa.annotation.crowd import seats
from catsofa.annotation.crowd.faults import faults
from catsofa.annotation.crowd.rules import WRITING, Rules
from catsofa.annotation.crowd.seats import Given
from catsofa.annotation.crowd.store import Rows, Store

RULES = Rules(session=60, judges=5)


@contextmanager
def store_of(folder: Path, targets: list[tuple[str, str, str]], wanted: int) -> Iterator[Store]:
    """Opens a store in which so many texts of each target are wanted, and checks for faults at the end."""
    with Store(folder, IDENTITY) as store:
        store.do(lambda rows: seats.add(rows, targets, 5, random.Random(1), wanted))
        yield store
        assert store.do(lambda rows: [*faults(rows, [token for token, _, _ in targets])]) == []


def work(store: Store, name: str, rules: Rules = RULES) -> None:
    """Has a person arrive, write and judge until no task is left, each step in its own transaction."""
    store.do(lambda rows: seats.arrive(rows, rules, name, f"s-{name}", "c", 0))
    while (task := store.do(lambda rows: seats.next_task(rows, rules, name, 0))) == "wait" or isinstance(task, Given):
        if isinstance(task, Given):
            nonce = task.nonce
            store.do(lambda rows, n=nonce: seats.answer(rows, rules, name, n, {"attribute": n}, (0, 0), 0))
        else:
            time.sleep(0.005)


def test_twenty_at_once_in_two_stores_give_each_text_five_judges(tmp_path: Path) -> None:
    """Four targets with three texts each give twelve texts and sixty judgements, none by the writer, in any order."""
    with store_of(tmp_path, TARGETS, 3) as one, Store(tmp_path, IDENTITY) as two:
        threads = [
            Thread(target=work, args=(store, f"p{n}-{m}")) for n in range(10) for m, store in enumerate((one, two))
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert one.do(judged) == [5] * 12
        own = "SELECT count(*) AS n FROM seat s JOIN task t ON t.token = s.task WHERE t.writer = s.person AND state = "
        assert [one.do(lambda rows, s=s: rows.all(own + s))[0]["n"] for s in ("'own'", "'valid'")] == [12, 0]


def test_whoever_comes_is_given_what_the_study_needs_more(tmp_path: Path) -> None:
    """With one text wanted for each of twenty targets, the first ten tasks are texts, then five judgements come per
    text.
    """
    targets = [(f"target{n}", "write", "") for n in range(20)]
    kinds = list[str]()
    with store_of(tmp_path, targets, 1) as store:

        def job(rows: Rows) -> None:
            for name in "abcdefgh":
                seats.arrive(rows, RULES, name, name, "c", 0)
            while len(kinds) < 120:
                before = len(kinds)
                for name in "abcdefgh":
                    if isinstance(task := seats.next_task(rows, RULES, name, 0), Given):
                        kinds.append(kind_of(rows, task.token))
                        seats.answer(rows, RULES, name, task.nonce, {"attribute": task.nonce}, (0, 0), 0)
                assert len(kinds) > before

        store.do(job)
        assert store.do(judged) == [5] * 20
    assert kinds[:10] == ["write"] * 10
    assert 5 <= kinds[10:70].count("write") <= 11


def test_nobody_is_left_to_write_and_the_last_end_with_full_pay(tmp_path: Path) -> None:
    """One person alone writes about each target once, has nothing to judge, and ends as completed."""
    with store_of(tmp_path, TARGETS, 3) as store:
        work(store, "a")
        person = store.do(lambda rows: rows.get("person", "a")) or {}
        assert (person["state"], person["outcome"], person["done"]) == ("finished", "completed", 4 * WRITING)


def test_who_writes_last_keeps_others_waiting_and_not_turned_away(tmp_path: Path) -> None:
    """While the only text is being written, new people wait; then they judge it."""
    with store_of(tmp_path, TARGETS[:1], 1) as store:

        def job(rows: Rows) -> None:
            seats.arrive(rows, RULES, "a", "s", "c", 0)
            task = seats.next_task(rows, RULES, "a", 0)
            assert isinstance(task, Given)
            assert seats.arrive(rows, RULES, "b", "s", "c", 0) == "working"
            assert seats.next_task(rows, RULES, "b", 0) == "wait"
            seats.answer(rows, RULES, "a", task.nonce, {"attribute": "tidy"}, (0, 0), 0)
            assert isinstance(seats.next_task(rows, RULES, "b", 0), Given)
            assert seats.next_task(rows, RULES, "a", 0) == "finished"

        store.do(job)


@pytest.mark.parametrize("leave", ["withdraw", "expire"])
def test_a_late_text_asks_for_none_too_many_when_somebody_leaves(leave: str, tmp_path: Path) -> None:
    """One text is wanted, and its replaced writer sends it late. When either person leaves, one text remains."""
    with store_of(tmp_path, TARGETS[:1], 1) as store:

        def job(rows: Rows) -> None:
            for name in "ab":
                seats.arrive(rows, RULES, name, name, "c", 0)
            first = seats.next_task(rows, RULES, "a", 0)
            second = seats.next_task(rows, RULES, "b", 10_000)  # the task of the first went to the second
            assert isinstance(first, Given)
            assert isinstance(second, Given)
            seats.answer(rows, RULES, "a", first.nonce, {"attribute": "tidy"}, (0, 0), 10_001)
            assert wanted_and_there(rows) == (2, 1, 1)
            if leave == "expire":
                seats.stop(rows, "b")
            else:
                seats.answer(rows, RULES, "b", second.nonce, {"attribute": "loud"}, (0, 0), 10_002)
                assert wanted_and_there(rows) == (2, 2, 0)
                seats.withdraw(rows, "a")
            assert wanted_and_there(rows) == (1, 1, 0)

        store.do(job)


def wanted_and_there(rows: Rows) -> tuple[int, int, int]:
    """Returns the number of texts wanted of the target, stored, and being written."""
    (target,) = rows.all("SELECT * FROM task WHERE kind = 'write'")
    return target["need"], target["valid"], target["held"]


KILLED = """
import os, sys, threading
from pathlib import Path
from catsofa.annotation.crowd import seats
from catsofa.annotation.crowd.rules import Rules
from catsofa.annotation.crowd.seats import Given
from catsofa.annotation.crowd.store import Store
rules, store = Rules(session=1000, seconds=1, judges=5), Store(Path(sys.argv[1]), "ab" * 16)
def work(name):
    store.do(lambda rows: seats.arrive(rows, rules, name, "s", "c", 0))
    while isinstance(given := store.do(lambda rows: seats.next_task(rows, rules, name, 0)), Given):
        store.do(lambda rows: seats.answer(rows, rules, name, given.nonce, {"attribute": given.nonce}, (0, 0), 0))
        os.write(1, (given.nonce + chr(10)).encode())
for n in range(8):
    threading.Thread(target=work, args=(f"{sys.argv[2]}-{n}",)).start()
"""


@pytest.mark.parametrize("rounds", [3, pytest.param(12, marks=pytest.mark.slow)])
def test_a_kill_loses_no_text_and_no_judgement(rounds: int, tmp_path: Path) -> None:
    """Eight threads write and judge until the process is killed: all acknowledged answers exist, and each text has its
    task.
    """
    targets, draw, acknowledged = [(f"target{n}", "write", "") for n in range(400)], random.Random(7), set[str]()
    with store_of(tmp_path, targets, 5):
        pass
    for n in range(rounds):
        command = [sys.executable, "-c", KILLED, str(tmp_path), f"r{n}"]
        acknowledged |= acknowledged_before_kill(command, draw)
    with store_of(tmp_path, targets, 5) as store:
        stored = [row["nonce"] for row in store.do(lambda rows: rows.all("SELECT nonce FROM answer"))]
    assert len(acknowledged) > 10 * rounds
    assert acknowledged <= set(stored)
    assert len(stored) == len(set(stored))
