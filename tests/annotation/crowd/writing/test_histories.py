"""Tests of random histories of people who write and judge, on SQLite and on PostgreSQL."""

import random
from contextlib import suppress

import pytest
from helpers.annotation.growing_studies import TARGETS, judged, kind_of
from helpers.annotation.store_events import IN_MEMORY, IN_POSTGRES, InPostgres, StoreEvents
from helpers.seats import IDENTITY
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, rule

from catsofa.annotation.crowd import seats, texts
from catsofa.annotation.crowd.faults import faults
from catsofa.annotation.crowd.rules import Rules
from catsofa.annotation.crowd.seats import Given, NotYours
from catsofa.annotation.crowd.store import Rows


class Histories(StoreEvents):
    """All events on two targets with two texts each and two judges of each, with five people."""

    people = st.sampled_from(["p0", "p1", "p2", "p3", "p4"])

    @initialize()
    def begin(self) -> None:
        """Creates a store in memory, without the writer thread."""
        self.connection = self.connected()
        self.rows, self.now, self.said = Rows(self.connection, IDENTITY), 0.0, dict[str, str]()
        self.rules = Rules(session=20, judges=2, first=3, check_every=6, practice=("practice0",), practice_pass=0)
        tasks = [*TARGETS[:2], *((f"check{n}", "check", "") for n in range(4))]
        self.known = [token for token, _, _ in tasks]
        seats.add(self.rows, [*tasks, ("practice0", "practice", "")], 2, random.Random(1), 2)
        for n in range(5):
            self.arrive(f"p{n}")

    @rule(name=people)
    def arrive(self, name: str) -> None:
        """A person consents."""
        seats.arrive(self.rows, self.rules, name, "s", "c", self.now)

    def given(self, name: str) -> Given | None:
        """Returns the task that a person holds."""
        with suppress(NotYours):
            task = seats.next_task(self.rows, self.rules, name, self.now)
            if isinstance(task, Given):
                self.said[task.nonce] = name
                return task
        return None

    def send(self, name: str, nonce: str, right: bool) -> None:
        """A person's page sends an answer."""
        seat = self.rows.first("SELECT * FROM seat WHERE nonce = ?", nonce)
        if seat is None:
            return
        marks = (int(right), 1) if kind_of(self.rows, seat["task"]) in {"check", "practice"} else (0, 0)
        with suppress(NotYours):
            seats.answer(self.rows, self.rules, name, nonce, {"attribute": nonce}, marks, self.now)

    @rule(name=people, right=st.sampled_from([True, True, True, False]), times=st.integers(1, 4))
    def answers(self, name: str, right: bool, times: int) -> None:
        """A person does some tasks."""
        for _ in range(times):
            if task := self.given(name):
                self.now += 5
                self.send(name, task.nonce, right)

    @rule(name=people)
    def holds(self, name: str) -> None:
        """A person loads the page and does nothing."""
        self.given(name)

    @rule(place=st.integers(0, 60))
    def late(self, place: int) -> None:
        """A page that was open for a long time sends its answer, or the same answer again."""
        if self.said:
            nonce = [*self.said][place % len(self.said)]
            self.send(self.said[nonce], nonce, True)

    @rule(name=people)
    def skips(self, name: str) -> None:
        """A person skips a task."""
        if task := self.given(name):
            seats.skip(self.rows, name, task.nonce)

    @rule()
    def wait(self) -> None:
        """Hours pass."""
        self.now += 18_000

    @rule(name=st.sampled_from(["p0", "p3"]), leave=st.sampled_from(["stop", "withdraw", "forget"]))
    def leaves(self, name: str, leave: str) -> None:
        """A person who may have written stops, withdraws, or is forgotten."""
        if leave == "forget":
            seats.forget(self.rows, [name])
        elif self.rows.get("person", name):
            (seats.stop if leave == "stop" else seats.withdraw)(self.rows, name)

    @invariant()
    def nothing_is_wrong(self) -> None:
        """The rows are consistent; each text has a task, at most two judges, and no judge wrote it."""
        if not hasattr(self, "rows"):
            return
        assert [*faults(self.rows, self.known)] == []
        own = (
            "SELECT * FROM seat s JOIN task t ON t.token = s.task WHERE t.writer = s.person AND s.state NOT IN "
            "('own', 'withdrawn')"
        )
        assert self.rows.all(own) == []
        tasks = self.rows.all("SELECT token FROM task WHERE kind = 'item'")
        assert all(texts.shown(self.rows, row["token"]) for row in tasks)
        assert all(n <= 2 for n in judged(self.rows))


class HistoriesOnPostgres(InPostgres, Histories):
    """The same events in PostgreSQL."""


TestHistories = Histories.TestCase
TestHistories.settings = IN_MEMORY


@pytest.mark.slow
@pytest.mark.usefixtures("cluster")
class TestHistoriesOnPostgres(HistoriesOnPostgres.TestCase):  # type: ignore[misc,name-defined]
    """Runs the state machine as a test."""

    settings = IN_POSTGRES
