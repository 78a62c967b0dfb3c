"""The store of a crowd study: seats, counters and answers under every order of events, at once and after kills."""

import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import pairwise
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from helpers.servers.postgres_server import scratch
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from catsofa.annotation.crowd import seats
from catsofa.annotation.crowd.databases import Connection
from catsofa.annotation.crowd.faults import faults
from catsofa.annotation.crowd.rules import Rules, places, planned
from catsofa.annotation.crowd.seats import Given, NotYours
from catsofa.annotation.crowd.store import Row, Rows, Store, create_tables, reading

IDENTITY = "ab" * 16
RIGHT, WRONG, NONE = (3, 3), (0, 3), (0, 0)


def kind_of(token: str) -> str:
    """What the name of a task of these tests begins with."""
    return token.rstrip("0123456789")


def tasks(items: int, gold: int = 0, checks: int = 0) -> list[tuple[str, str, str]]:
    """So many tasks of each kind."""
    counts = {"item": items, "gold": gold, "check": checks}
    return [(f"{kind}{n}", kind, "") for kind, count in counts.items() for n in range(count)]


@contextmanager
def opened(folder: Path, known: list[tuple[str, str, str]], need: int = 5) -> Iterator[Store]:
    """A store with these tasks, which has no fault at the end."""
    with Store(folder, IDENTITY) as store:
        store.do(lambda rows: seats.add(rows, known, need, random.Random(1)))
        yield store
        assert store.do(lambda rows: [*faults(rows, [token for token, _, _ in known])]) == []


def work(do: Callable[..., Any], rules: Rules, name: str, *, right: tuple[int, int] = RIGHT) -> int:
    """Have a person come and answer until nothing is left; how often they answered. `do` does each job."""
    do(lambda rows: seats.arrive(rows, rules, name, f"s-{name}", "c", 0))
    done = 0
    while isinstance(given := do(lambda rows: seats.next_task(rows, rules, name, 0)), Given):
        mark, nonce = NONE if given.token.startswith("item") else right, given.nonce
        do(lambda rows, n=nonce, m=mark: seats.answer(rows, rules, name, n, {"q": "yes"}, m, 0))
        done += 1
    return done


def works(store: Store, rules: Rules, name: str, *, right: tuple[int, int] = RIGHT) -> int:
    """The same in one transaction."""
    return store.do(lambda rows: work(lambda job: job(rows), rules, name, right=right))


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
        with pytest.raises(NotYours, match="not the task you have"):
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


def state_of(store: Store, name: str) -> list[str]:
    """The states of a person's seats, in the order they got them."""
    query = "SELECT state FROM seat WHERE person = ? ORDER BY position"
    return [row["state"] for row in store.do(lambda rows: rows.all(query, name))]


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


def test_who_fails_two_checks_is_replaced_and_gets_nothing_more(tmp_path: Path) -> None:
    """Their judgements are set aside, their items open again, and others fill them up to five."""
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
    """1 of 3 right, later 25 of 27: nothing before counts, then all of it; the person works on meanwhile."""
    rules = Rules(session=40, gold_every=4, first=3)
    with opened(tmp_path, tasks(40, gold=12)) as store:
        store.do(lambda rows: seats.arrive(rows, rules, "a", "s", "c", 0))
        right = iter([(1, 3)] + [RIGHT] * 20)
        seen = []
        while isinstance(given := store.do(lambda rows: seats.next_task(rows, rules, "a", 0)), Given):
            mark, nonce = next(right) if given.token.startswith("gold") else NONE, given.nonce
            store.do(lambda rows, n=nonce, m=mark: seats.answer(rows, rules, "a", n, {}, m, 0))
            seen.append(sum(store.do(seats.counted).values()))
        assert 0 in seen[3:]
        assert seen[-1] == state_of(store, "a").count("valid") > 25
        assert "void" not in state_of(store, "a")


@pytest.mark.parametrize("length", [5, 30, 200])
def test_checks_stand_where_planned_for_everybody(length: int) -> None:
    """The first at 2 to 10, then every 15 ± 25 %; each draw has as many."""
    for seed in range(300):
        found = places(length, 10, 15, random.Random(seed))
        assert 2 <= found[0] <= 10
        assert all(11 <= b - a <= 19 for a, b in pairwise(found))
        assert len(found) == planned(length, 10, 15)
        assert found[-1] <= length


def test_each_person_meets_gold_and_checks_at_their_places(tmp_path: Path) -> None:
    """Twenty people with 30 tasks each: everybody has the first check by the tenth task, as their plan says."""
    rules = Rules()
    with opened(tmp_path, tasks(200, gold=6, checks=6)) as store:
        for n in range(20):
            assert works(store, rules, f"p{n}") == 30
        query = "SELECT s.position AS at, p.position AS planned FROM seat s JOIN plan p USING (person, task)"
        found = store.do(lambda rows: rows.all(query))
        assert all(row["at"] == row["planned"] for row in found)
        assert len(found) >= 20 * 4


def met(store: Store, name: str) -> set[str]:
    """The kinds of task that a person answered."""
    query = "SELECT DISTINCT t.kind FROM seat s JOIN task t ON t.token = s.task WHERE s.person = ? AND s.state <> 'own'"
    return {row["kind"] for row in store.do(lambda rows: rows.all(query, name))}


@pytest.mark.parametrize("session", [2, 3, 8])
def test_a_short_session_has_its_check_and_its_gold_item_too(session: int, tmp_path: Path) -> None:
    """Where both may stand at any place, neither stands after the last task: 40 people meet both."""
    with opened(tmp_path, tasks(9, gold=1, checks=1), need=99) as store:
        for n in range(40):
            assert works(store, Rules(session=session), f"p{n}") == session
            assert met(store, f"p{n}") >= {"check", "gold"}


def test_who_runs_out_of_work_meets_a_check_first(tmp_path: Path) -> None:
    """One item and two checks: everybody has two tasks, wherever the first check was planned; who did none has none."""
    with opened(tmp_path, tasks(1, checks=2), need=20) as store:
        store.do(lambda rows: seats.arrive(rows, Rules(), "late", "s-late", "c", 0))
        for n in range(20):
            assert works(store, Rules(), f"p{n}") == 2
            assert met(store, f"p{n}") == {"item", "check"}
        assert store.do(lambda rows: seats.next_task(rows, Rules(), "late", 0)) == "finished"


def test_a_text_as_the_last_task_takes_the_place_of_no_check(tmp_path: Path) -> None:
    """Who writes two texts of four tasks each in a session of twelve meets the check, wherever it stands."""
    known = [*tasks(0, checks=1), *((f"target{n}", "write", "") for n in range(9))]
    with Store(tmp_path, IDENTITY) as store:
        store.do(lambda rows: seats.add(rows, known, 5, random.Random(1), 99))
        for n in range(40):
            works(store, Rules(session=12, first=12, judges=5), f"p{n}")
            assert met(store, f"p{n}") >= {"write", "check"}


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


def test_twenty_at_once_in_two_stores_never_share_a_seat(tmp_path: Path) -> None:
    """Twenty threads, by two connections that know nothing of each other, judge 15 items: five each, no more."""
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
    """People come one after another until every item has five judgements."""
    now, given_up, people = 0.0, list[tuple[str, str]](), 0
    while min(seats.counted(rows).values()) < 5:
        people, name, fails = people + 1, f"p{people}", draw.random() < 0.1
        assert people < 200
        seats.arrive(rows, rules, name, "s", "c", now)
        while isinstance(given := seats.next_task(rows, rules, name, now), Given):
            now += draw.expovariate(1 / 20)
            if (what := draw.random()) < 0.03:
                seats.skip(rows, name, given.nonce)
            elif what < 0.06:
                given_up.append((name, given.nonce))
                break
            else:
                mark = NONE if given.token.startswith("item") else WRONG if fails else RIGHT
                seats.answer(rows, rules, name, given.nonce, {}, mark, now)
        if given_up and draw.random() < 0.3:  # somebody comes back with what they had
            name, nonce = given_up.pop(0)
            now += rules.hold
            seats.answer(rows, rules, name, nonce, {}, NONE, now)


def test_simulated_people_who_leave_sleep_and_fail_cost_what_the_design_says(tmp_path: Path) -> None:
    """60 items, 5 judgements, people who skip, leave, come late or fail: exactly 300 count, few are in vain."""
    rules, draw = Rules(session=20, check_every=8, gold_every=8), random.Random(3)
    with opened(tmp_path, tasks(60, gold=6, checks=6)) as store:
        store.do(lambda rows: simulate(rows, rules, draw))
        states = Counter(row["state"] for row in store.do(lambda rows: rows.all("SELECT state FROM seat")))
        assert states["valid"] == 300
        assert states["surplus"] <= 30
        assert states["void"] <= 60


class Events(RuleBasedStateMachine):
    """Everything that can happen to four items for two judgements, with four people, in any order."""

    def connected(self) -> Connection:
        """A store in memory."""
        import sqlite3

        connection = sqlite3.connect(":memory:", isolation_level=None)
        create_tables(connection)
        return connection

    @initialize()
    def begin(self) -> None:
        """A store of its own, without the thread that writes."""
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
        """What the person is given."""
        try:
            given = seats.next_task(self.rows, self.rules, name, self.now)
        except NotYours:
            return "unknown"
        if isinstance(given, Given):
            self.seen[given.nonce] = name
        return given

    @rule(name=people, again=st.sampled_from(["s", "s", "t"]))
    def arrive(self, name: str, again: str) -> None:
        """Somebody consents."""
        seats.arrive(self.rows, self.rules, name, again, "c", self.now)

    @rule(names=st.sets(people, min_size=1))
    def ask(self, names: set[str]) -> None:
        """Some load the page, twice."""
        for name in sorted(names):
            assert self.task_of(name) == self.task_of(name)

    @rule(
        name=people,
        mark=st.sampled_from([RIGHT, RIGHT, RIGHT, WRONG]),
        times=st.integers(1, 3),
        took=st.sampled_from([0.0, 5.0, 5.0]),
    )
    def answers(self, name: str, mark: tuple[int, int], times: int, took: float = 5.0) -> None:
        """Somebody answers what they have, and some more, too fast or not."""
        for _ in range(times):
            if isinstance(given := self.task_of(name), Given):
                self.now += took
                used = NONE if kind_of(given.token) == "item" else mark
                seats.answer(self.rows, self.rules, name, given.nonce, {"q": "x"}, used, self.now)

    @rule(place=st.integers(0, 40))
    def late(self, place: int) -> None:
        """A page that was open for a long time sends its answer, or the same again."""
        if self.seen:
            nonce = [*self.seen][place % len(self.seen)]
            token = (self.rows.first("SELECT task FROM seat WHERE nonce = ?", nonce) or {})["task"]
            used = NONE if kind_of(token) == "item" else RIGHT
            with suppress(NotYours):
                seats.answer(self.rows, self.rules, self.seen[nonce], nonce, {"q": "late"}, used, self.now)

    @rule(name=people)
    def sleeps(self, name: str) -> None:
        """Somebody falls asleep over a task; the others do all they can; then the answer comes."""
        if isinstance(given := self.task_of(name), Given):
            self.wait(5.0)
            for other in sorted({"p0", "p1", "p2", "p3"} - {name}):
                self.answers(other, RIGHT, 7)
            self.late([*self.seen].index(given.nonce))

    @rule(name=people)
    def skips(self, name: str) -> None:
        """Somebody passes a task on."""
        if isinstance(given := self.task_of(name), Given):
            seats.skip(self.rows, name, given.nonce)

    @rule(hours=st.sampled_from([0.05, 5.0, 5.0]))
    def wait(self, hours: float) -> None:
        """Time passes."""
        self.now += 3600 * hours

    @rule(name=st.sampled_from(["p2", "p3"]), leave=st.sampled_from([seats.stop, seats.withdraw]))
    def leaves(self, name: str, leave: Any) -> None:
        """Somebody stops or withdraws."""
        if self.rows.get("person", name):
            leave(self.rows, name)

    @rule(token=st.sampled_from(["item0", "item1"]))
    def reopens(self, token: str) -> None:
        """The researcher asks for one more judgement."""
        seats.reopen(self.rows, [token], 3)

    @invariant()
    def nothing_is_wrong(self) -> None:
        """The rows fit one another, and whoever counts has a place that counts where there is room."""
        if not hasattr(self, "rows"):
            return
        assert [*faults(self.rows, [token for token, _, _ in self.known])] == []
        left_out = (
            "SELECT * FROM seat s JOIN task t ON t.token = s.task WHERE s.state = 'surplus' AND valid + held < need"
        )
        assert self.rows.all(left_out) == []

    def teardown(self) -> None:
        """Close the database."""
        if hasattr(self, "connection"):
            self.connection.close()


class EventsOnPostgres(Events):
    """The same in PostgreSQL, in one transaction that is rolled back."""

    def connected(self) -> Connection:
        """The server of the fixture, which the environment names."""
        return scratch(IDENTITY)


TestEvents = Events.TestCase
TestEvents.settings = settings(
    max_examples=30, stateful_step_count=30, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)


@pytest.mark.slow
@pytest.mark.usefixtures("cluster")
class TestEventsOnPostgres(EventsOnPostgres.TestCase):  # type: ignore[misc,name-defined]
    """The machine as a test."""

    settings = settings(
        max_examples=8, stateful_step_count=30, deadline=None, suppress_health_check=[HealthCheck.too_slow]
    )


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
    """Eight threads answer until the process is killed, again and again: all acknowledged is there, no row is wrong.

    With practice, everybody has it first and is paused after ten answers, so that kills fall into both.
    """
    said, draw = set[str](), random.Random(7)
    known = tasks(3000)
    with opened(tmp_path, known):
        pass
    for n in range(rounds):
        command = [sys.executable, "-c", KILLED, str(tmp_path), f"r{n}", *practice]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            said |= {process.stdout.readline().strip() for _ in range(11)}
            time.sleep(draw.uniform(0, 0.4))
            process.kill()
            said |= {line.strip() for line in process.stdout if line.endswith("\n")}
    with opened(tmp_path, known) as store:
        there = {row["nonce"] for row in store.do(lambda rows: rows.all("SELECT nonce FROM answer"))}
    assert len(said) > 10 * rounds
    assert said <= there


def test_a_changed_row_is_found(tmp_path: Path) -> None:
    """One label edited in the database, or one row deleted: `faults` names the table."""
    import sqlite3

    known = tasks(4)
    with opened(tmp_path, known) as store:
        works(store, Rules(), "p")
    for change, found in (
        ('UPDATE answer SET said = \'{"q": "no"}\' WHERE nonce = (SELECT min(nonce) FROM answer)', "a answer whose"),
        ("DELETE FROM answer WHERE nonce = (SELECT max(nonce) FROM answer)", "without an answer"),
        ("DELETE FROM seat WHERE position = 4", "a seat is missing"),
    ):
        connection = sqlite3.connect(tmp_path / "study.db")
        connection.execute(change)
        connection.commit()
        connection.close()
        with reading(tmp_path, IDENTITY) as rows:
            assert any(found in fault for fault in faults(rows, [token for token, _, _ in known]))


def test_a_job_that_fails_changes_nothing_and_the_others_go_on(tmp_path: Path) -> None:
    """Of three jobs at once the second fails after it wrote: its row is not there, those of the others are."""

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
