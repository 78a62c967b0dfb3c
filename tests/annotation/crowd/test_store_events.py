"""Tests of a crowd study's store under any order of events, simultaneous or after kills."""

import random
import sys
from collections import Counter
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from helpers.annotation.store_events import IN_MEMORY, IN_POSTGRES, InPostgres, StoreEvents, acknowledged_before_kill
from helpers.seats import IDENTITY, NONE, RIGHT, WRONG, kind_of, opened, tasks, work, works
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, rule

from catsofa.annotation.crowd import seats
from catsofa.annotation.crowd.faults import faults
from catsofa.annotation.crowd.rules import Rules
from catsofa.annotation.crowd.seats import Given, NotYours
from catsofa.annotation.crowd.store import Row, Rows, Store, reading


def test_twenty_at_once_in_two_stores_never_share_a_seat(tmp_path: Path) -> None:
    """Twenty threads judge 15 items over two independent connections: each item gets exactly five judgements."""
    rules = Rules(session=15)
    with opened(tmp_path, tasks(15, gold=2, checks=2)) as one, Store(tmp_path, IDENTITY) as two:
        threads = [
            Thread(target=work, args=(store.do, rules, f"p{n}-{m}"))
            for n in range(10)
            for m, store in enumerate((one, two))
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert set(one.do(seats.counted).values()) == {5}


def simulate(rows: Rows, rules: Rules, draw: random.Random) -> None:
    """Lets people arrive one after another until every item has five judgements."""
    now, given_up, people = 0.0, list[tuple[str, str]](), 0
    while min(seats.counted(rows).values()) < 5:
        people, name, fails = people + 1, f"p{people}", draw.random() < 0.1
        assert people < 200
        seats.arrive(rows, rules, name, "s", "c", now)
        while isinstance(task := seats.next_task(rows, rules, name, now), Given):
            now += draw.expovariate(1 / 20)
            if (chance := draw.random()) < 0.03:
                seats.skip(rows, name, task.nonce)
            elif chance < 0.06:
                given_up.append((name, task.nonce))
                break
            else:
                mark = NONE if task.token.startswith("item") else WRONG if fails else RIGHT
                seats.answer(rows, rules, name, task.nonce, {}, mark, now)
        if given_up and draw.random() < 0.3:  # a person returns with their old task
            name, nonce = given_up.pop(0)
            now += rules.hold
            seats.answer(rows, rules, name, nonce, {}, NONE, now)


def test_simulated_people_who_leave_sleep_and_fail_cost_what_the_design_says(tmp_path: Path) -> None:
    """60 items, 5 judgements, people who skip, leave, come late or fail: exactly 300 count, few are wasted."""
    rules, draw = Rules(session=20, check_every=8, gold_every=8), random.Random(3)
    with opened(tmp_path, tasks(60, gold=6, checks=6)) as store:
        store.do(lambda rows: simulate(rows, rules, draw))
        states = Counter(row["state"] for row in store.do(lambda rows: rows.all("SELECT state FROM seat")))
        assert states["valid"] == 300
        assert states["surplus"] <= 30
        assert states["void"] <= 60


class Events(StoreEvents):
    """All events on four items for two judgements, with four people, in any order."""

    @initialize()
    def begin(self) -> None:
        """Creates a separate store, without the writer thread."""
        self.connection = self.connected()
        self.rows, self.now = Rows(self.connection, IDENTITY), 0.0
        practice = ("practice0", "practice1")
        self.rules = Rules(
            session=7, first=3, check_every=4, gold_every=5, practice=practice, practice_pass=1, fast=1.0, fast_limit=2
        )
        self.known = [*tasks(4, gold=2, checks=2), ("item9", "item", "p0")]
        seats.add(self.rows, [*self.known, *((token, "practice", "") for token in practice)], 2, random.Random(1))
        self.seen: dict[str, str] = {}
        for n in range(4):
            self.arrive(f"p{n}", "s")

    people = st.sampled_from(["p0", "p1", "p2", "p3", "p4"])

    def task_of(self, name: str) -> Given | str:
        """Returns the task that the person is given."""
        try:
            task = seats.next_task(self.rows, self.rules, name, self.now)
        except NotYours:
            return "unknown"
        if isinstance(task, Given):
            self.seen[task.nonce] = name
        return task

    @rule(name=people, again=st.sampled_from(["s", "s", "t"]))
    def arrive(self, name: str, again: str) -> None:
        """A person consents."""
        seats.arrive(self.rows, self.rules, name, again, "c", self.now)

    @rule(names=st.sets(people, min_size=1))
    def ask(self, names: set[str]) -> None:
        """Some people load the page twice."""
        for name in sorted(names):
            assert self.task_of(name) == self.task_of(name)

    @rule(
        name=people,
        mark=st.sampled_from([RIGHT, RIGHT, RIGHT, WRONG]),
        times=st.integers(1, 3),
        took=st.sampled_from([0.0, 5.0, 5.0]),
    )
    def answers(self, name: str, mark: tuple[int, int], times: int, took: float = 5.0) -> None:
        """A person answers their task and some more, too fast or not."""
        for _ in range(times):
            if isinstance(task := self.task_of(name), Given):
                self.now += took
                used = NONE if kind_of(task.token) == "item" else mark
                seats.answer(self.rows, self.rules, name, task.nonce, {"q": "x"}, used, self.now)

    @rule(place=st.integers(0, 40))
    def late(self, place: int) -> None:
        """A page that was open for a long time sends its answer, or the same answer again."""
        if self.seen:
            nonce = [*self.seen][place % len(self.seen)]
            token = (self.rows.first("SELECT task FROM seat WHERE nonce = ?", nonce) or {})["task"]
            used = NONE if kind_of(token) == "item" else RIGHT
            with suppress(NotYours):
                seats.answer(self.rows, self.rules, self.seen[nonce], nonce, {"q": "late"}, used, self.now)

    @rule(name=people)
    def sleeps(self, name: str) -> None:
        """A person holds a task for hours; the others do all they can; then the answer comes."""
        if isinstance(task := self.task_of(name), Given):
            self.wait(5.0)
            for other in sorted({"p0", "p1", "p2", "p3"} - {name}):
                self.answers(other, RIGHT, 7)
            self.late([*self.seen].index(task.nonce))

    @rule(name=people)
    def skips(self, name: str) -> None:
        """A person skips a task."""
        if isinstance(task := self.task_of(name), Given):
            seats.skip(self.rows, name, task.nonce)

    @rule(hours=st.sampled_from([0.05, 5.0, 5.0]))
    def wait(self, hours: float) -> None:
        """Time passes."""
        self.now += 3600 * hours

    @rule(name=st.sampled_from(["p2", "p3"]), leave=st.sampled_from([seats.stop, seats.withdraw]))
    def leaves(self, name: str, leave: Any) -> None:
        """A person stops or withdraws."""
        if self.rows.get("person", name):
            leave(self.rows, name)

    @rule(token=st.sampled_from(["item0", "item1"]))
    def reopens(self, token: str) -> None:
        """The researcher asks for one more judgement."""
        seats.reopen(self.rows, [token], 3)

    @invariant()
    def nothing_is_wrong(self) -> None:
        """The rows are consistent, and no surplus judgement exists where an item has room."""
        if not hasattr(self, "rows"):
            return
        assert [*faults(self.rows, [token for token, _, _ in self.known])] == []
        left_out = (
            "SELECT * FROM seat s JOIN task t ON t.token = s.task WHERE s.state = 'surplus' AND valid + held < need"
        )
        assert self.rows.all(left_out) == []


class EventsOnPostgres(InPostgres, Events):
    """The same events in PostgreSQL."""


TestEvents = Events.TestCase
TestEvents.settings = IN_MEMORY


@pytest.mark.slow
@pytest.mark.usefixtures("cluster")
class TestEventsOnPostgres(EventsOnPostgres.TestCase):  # type: ignore[misc,name-defined]
    """Runs the state machine as a test."""

    settings = IN_POSTGRES


KILLED = """
import os, random, sys, threading
from pathlib import Path
from catsofa.annotation.crowd import seats
from catsofa.annotation.crowd.rules import Rules
from catsofa.annotation.crowd.seats import Given
from catsofa.annotation.crowd.store import Store
who, practice, limit = sys.argv[2], sys.argv[3:], 5 if sys.argv[3:] else 10**6
rules = Rules(session=1000, seconds=1, practice=tuple(practice), fast=1.0, fast_limit=limit)
store = Store(Path(sys.argv[1]), "ab" * 16)
store.do(lambda rows: seats.add(rows, [(token, "practice", "") for token in practice], 0, random.Random(1)))
def works(name):
    for n in range(10**6):  # who was paused makes room for the next
        work(f"{name}-{n}")
def work(name):
    store.do(lambda rows: seats.arrive(rows, rules, name, "s", "c", 0))
    while isinstance(given := store.do(lambda rows: seats.next_task(rows, rules, name, 0)), Given):
        store.do(lambda rows: seats.answer(rows, rules, name, given.nonce, {"q": name}, (0, 0), 0))
        os.write(1, (given.nonce + chr(10)).encode())
for n in range(8):
    threading.Thread(target=works, args=(f"{who}-{n}",)).start()
"""


@pytest.mark.parametrize("practice", [(), ("practice0", "practice1")])
@pytest.mark.parametrize("rounds", [3, pytest.param(12, marks=pytest.mark.slow)])
def test_a_kill_loses_no_acknowledged_answer(rounds: int, practice: tuple[str, ...], tmp_path: Path) -> None:
    """Eight threads answer until the process is killed, repeatedly: all acknowledged answers exist, and no row is
    wrong.

    With practice, everybody has it first and is paused after ten answers, so that kills happen in both phases.
    """
    acknowledged, draw = set[str](), random.Random(7)
    all_tasks = tasks(3000)
    with opened(tmp_path, all_tasks):
        pass
    for n in range(rounds):
        command = [sys.executable, "-c", KILLED, str(tmp_path), f"r{n}", *practice]
        acknowledged |= acknowledged_before_kill(command, draw)
    with opened(tmp_path, all_tasks) as store:
        stored = {row["nonce"] for row in store.do(lambda rows: rows.all("SELECT nonce FROM answer"))}
    assert len(acknowledged) > 10 * rounds
    assert acknowledged <= stored


def test_a_changed_row_is_found(tmp_path: Path) -> None:
    """After one label was edited in the database or one row deleted, `faults` names the table."""
    import sqlite3

    all_tasks = tasks(4)
    with opened(tmp_path, all_tasks) as store:
        works(store, Rules(), "p")
    for change, fault_text in (
        ('UPDATE answer SET said = \'{"q": "no"}\' WHERE nonce = (SELECT min(nonce) FROM answer)', "a answer whose"),
        ("DELETE FROM answer WHERE nonce = (SELECT max(nonce) FROM answer)", "without an answer"),
        ("DELETE FROM seat WHERE position = 4", "a seat is missing"),
    ):
        connection = sqlite3.connect(tmp_path / "study.db")
        connection.execute(change)
        connection.commit()
        connection.close()
        with reading(tmp_path, IDENTITY) as rows:
            assert any(fault_text in fault for fault in faults(rows, [token for token, _, _ in all_tasks]))


def test_a_job_that_fails_changes_nothing_and_the_others_go_on(tmp_path: Path) -> None:
    """Of three simultaneous jobs the second fails after its write: only the rows of the other two are stored."""

    def job(name: str, fail: bool) -> Any:
        def put(rows: Rows) -> Row | None:
            rows.put("about", {"name": name, "value": "x"})
            if fail:
                raise NotYours("no")
            return rows.get("about", name)

        return put

    with opened(tmp_path, tasks(1)) as store:
        futures = [store.submit(job(name, name == "b")) for name in "abc"]
        with pytest.raises(NotYours):
            futures[1].result()
        names = [row["name"] for row in store.do(lambda rows: rows.all("SELECT name FROM about ORDER BY name"))]
    assert names == ["a", "c"]
