"""Tests of studies in which people write and judge: nobody judges their own text, each text has its judges, no data is
lost.
"""

import json
import random
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from helpers.servers.crowd_server import Visitor, opened
from helpers.servers.postgres_server import scratch
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from typer.testing import CliRunner

from catsofa.annotation.crowd import home, money, pages, seats, texts
from catsofa.annotation.crowd import settings as opening
from catsofa.annotation.crowd.databases import Connection
from catsofa.annotation.crowd.faults import faults
from catsofa.annotation.crowd.http import site
from catsofa.annotation.crowd.people import forgetting
from catsofa.annotation.crowd.rules import WRITING, Rules
from catsofa.annotation.crowd.seats import Given, NotYours
from catsofa.annotation.crowd.store import Rows, Store, create_tables
from catsofa.annotation.results import drafts
from catsofa.annotation.study import Study, create, open_study
from catsofa.annotation.study.checks import check_study
from catsofa.cli import app
from catsofa.data import formats
from catsofa.data.files.jsonl import read, write
from catsofa.data.records import Association, Pair, Term

IDENTITY = "ab" * 16
RULES = Rules(session=60, judges=5)
TARGETS = [(f"target{n}", "write", "") for n in range(4)]
TOML = '[platform]\nname = "prolific"\ncodes = { completed = "DONE1" }\n'


@contextmanager
def store_of(folder: Path, targets: list[tuple[str, str, str]], wanted: int) -> Iterator[Store]:
    """Opens a store in which so many texts of each target are wanted, and checks for faults at the end."""
    with Store(folder, IDENTITY) as store:
        store.do(lambda rows: seats.add(rows, targets, 5, random.Random(1), wanted))
        yield store
        assert store.do(lambda rows: [*faults(rows, [token for token, _, _ in targets])]) == []


def kind_of(rows: Rows, token: str) -> str:
    """Returns the kind of a task."""
    return str((rows.get("task", token) or {})["kind"])


def work(store: Store, name: str, rules: Rules = RULES) -> None:
    """Has a person arrive, write and judge until no task is left, each step in its own transaction."""
    store.do(lambda rows: seats.arrive(rows, rules, name, f"s-{name}", "c", 0))
    while (task := store.do(lambda rows: seats.next_task(rows, rules, name, 0))) == "wait" or isinstance(task, Given):
        if isinstance(task, Given):
            nonce = task.nonce
            store.do(lambda rows, n=nonce: seats.answer(rows, rules, name, n, {"attribute": n}, (0, 0), 0))
        else:
            time.sleep(0.005)


def judged(rows: Rows) -> list[int]:
    """Returns the number of judgements of each text."""
    return [row["valid"] for row in rows.all("SELECT valid FROM task WHERE kind = 'item'")]


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


class Histories(RuleBasedStateMachine):
    """All events on two targets with two texts each and two judges of each, with five people."""

    people = st.sampled_from(["p0", "p1", "p2", "p3", "p4"])

    def connected(self) -> Connection:
        """Returns a connection to a store in memory."""
        import sqlite3

        connection = sqlite3.connect(":memory:", isolation_level=None)
        create_tables(connection)
        return connection

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

    def teardown(self) -> None:
        """Closes the database."""
        if hasattr(self, "connection"):
            self.connection.close()


class HistoriesOnPostgres(Histories):
    """The same events in PostgreSQL, in one transaction that is rolled back."""

    def connected(self) -> Connection:
        """Returns a connection to the fixture's server, which the environment names."""
        return scratch(IDENTITY)


TestHistories = Histories.TestCase
TestHistories.settings = settings(
    max_examples=30, stateful_step_count=30, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)


@pytest.mark.slow
@pytest.mark.usefixtures("cluster")
class TestHistoriesOnPostgres(HistoriesOnPostgres.TestCase):  # type: ignore[misc,name-defined]
    """Runs the state machine as a test."""

    settings = settings(
        max_examples=8, stateful_step_count=30, deadline=None, suppress_health_check=[HealthCheck.too_slow]
    )


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
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            acknowledged |= {process.stdout.readline().strip() for _ in range(11)}
            time.sleep(draw.uniform(0, 0.4))
            process.kill()
            acknowledged |= {line.strip() for line in process.stdout if line.endswith("\n")}
    with store_of(tmp_path, targets, 5) as store:
        stored = [row["nonce"] for row in store.do(lambda rows: rows.all("SELECT nonce FROM answer"))]
    assert len(acknowledged) > 10 * rounds
    assert acknowledged <= set(stored)
    assert len(stored) == len(set(stored))


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Study:
    """Returns a study of two targets, two texts of each, two judgements of each text, one gold item and one check."""
    monkeypatch.setattr(site, "BY_SESSION", (1000.0, 1000.0))
    monkeypatch.setattr(site, "BY_ADDRESS", (1000.0, 1000.0))
    study_ = create(
        tmp_path / "study",
        kind="write-and-judge-associations",
        items=[Term(category="origin", term=name, region="Pellora", language="en") for name in ("Dravians", "Zorbs")],
        gold=[known("florists", "made of glass")],
        checks=[known("millers", "Choose no and not at all")],
        overlap=2,
        texts=2,
        contact="study@example.org",
    )
    (study_.folder / "study.toml").write_text(TOML + "[quality]\nfirst = 2\n[people]\nsession = 10\n")
    return study_


def test_people_are_asked_about_the_region_in_the_language_of_the_study(tmp_path: Path) -> None:
    """The page names the people whose associations are asked for and the language to write in, in the
    study's language.
    """
    items = [Term(category="origin", term="Dravier", region="Pellora", language="de")]
    writing = create(tmp_path / "w", kind="write-and-judge-associations", items=items, language="de")
    (task,) = writing.tasks()
    assert (task.data["people"], task.data["language"]) == ("die Leute in Pellora", "Deutsch")
    judged = create(tmp_path / "j", kind="judge-associations", items=[known("Zorben", "früh auf")], language="de")
    assert [task.data["people"] for task in judged.tasks()] == ["die Leute"]
    assert judged.tasks().__next__().key == next(iter(judged.keys.values()))


def known(identity: str, attribute: str) -> Association:
    """Returns a gold association that no one makes."""
    return Association(
        identity=identity, attribute=attribute, extra={"gold": {"association": "no", "severity": "not at all"}}
    )


class Worker:
    """Writes and judges according to the shown task."""

    def __init__(self, name: str) -> None:
        """Starts with empty lists of written and judged texts."""
        self.name, self.wrote, self.judged = name, list[str](), list[str]()

    def __call__(self, shown: Mapping[str, str]) -> dict[str, str]:
        """Writes a text, or judges: gold items and checks rightly."""
        if "text" not in shown:
            assert shown["people"] == "people in Pellora"
            assert shown["language"] == "English"
            self.wrote.append(f"  fond of {shown['target']}  soup number {self.name}")
            return {"attribute": self.wrote[-1]}
        if shown["identity"] in {"florists", "millers"}:
            return {"association": "no", "severity": "not at all"}
        self.judged.append(shown["text"])
        return {"association": "yes", "severity": "a little"}


def visited(address: str, people: int) -> list[Worker]:
    """Lets so many people arrive at once and work until no task is left."""

    def visit(n: int) -> Worker:
        visitor, worker = Visitor(address, f"PID{n}"), Worker(f"{'abcdefghij'[n]}")
        visitor.come()
        visitor.work(worker)
        return worker

    with ThreadPoolExecutor(people) as pool:
        return list(pool.map(visit, range(people)))


def run(*words: object) -> Any:
    """Returns the JSON output of a command."""
    done = CliRunner().invoke(app, [*map(str, words), "--json"])
    assert done.exit_code == 0, done.output
    return json.loads(done.output)


def test_what_people_write_is_judged_and_released_with_both(study: Study, tmp_path: Path) -> None:
    """Six people over HTTP write four texts with two judges each, never the writer; status, votes, release, verify
    agree.
    """
    with opened(study) as address:
        workers = visited(address, 6)
    wrote = {" ".join(text.split()) for worker in workers for text in worker.wrote}
    assert len(wrote) == 4
    for worker in workers:
        assert not {" ".join(text.split()) for text in worker.wrote} & {*worker.judged}
    report = run("annotate", "status", study.folder)
    assert (report["counted"], report["wanted"], report["missing"], report["over"]) == (12, 12, 0, 0)
    written = study.folder / "drafts.jsonl"
    wanted = {text.id: text for text in read(written, Association)}
    assert {text.attribute for text in wanted.values()} == wrote
    assert {(text.region, text.language, text.extra["bias_type"]) for text in wanted.values()} == {
        ("Pellora", "en", "origin")
    }
    said = [a for a in formats.read(study.folder / "annotations.jsonl") if not a.extra.get("gold")]  # type: ignore[union-attr]
    assert not [a for a in said if a.annotator == wanted[a.extra["of"]].source["writer"]]  # type: ignore[union-attr]
    assert len(said) == 4 * 2 * 2
    done = CliRunner().invoke(
        app, ["validate", "votes", "--on", str(study.folder / "annotations.jsonl"), "--need", "2"]
    )
    assert done.exit_code == 0, done.output
    out = tmp_path / "release"
    words = ["release", written, "--study", study.folder, "--out", out, "--name", "Soups", "--need", "2", "--of", "2"]
    assert run(*words)["kept"] == 4
    released = {item.id: item for item in formats.read(out)}
    assert released.keys() == wanted.keys()
    for item in released.values():
        assert isinstance(item, Association)
        (votes,) = item.votes
        assert item.offensiveness == (1.0, 1.0)
        assert (votes.raters, votes.yes, item.region, item.language) == ("region", 2, "Pellora", "en")
        judges = {vote["annotator"] for vote in item.extra["review"]["association"]["votes"]}
        assert len(judges | {item.source["writer"]}) == 3
    card = (out / "README.md").read_text()
    assert "people wrote 4 items" in card
    assert "PID" not in card
    verdict = check_study(study.folder)
    assert verdict
    assert verdict.faults == ()


def test_the_last_page_and_a_break_count_what_a_person_answered(study: Study) -> None:
    """The last page and the break count a text as one task, though the session and the pay count it as four."""
    settings = study.folder / "study.toml"
    settings.write_text(settings.read_text() + "break_every = 4\n")
    with opened(study) as address:
        visitor, worker = Visitor(address, "ANA"), Worker("a")
        visitor.come()
        task = visitor.next()
        while "rest" not in task:
            worked = visitor.post("/answer", {"nonce": task["nonce"], "answers": worker(task["task"])})
            assert worked.status_code == 200
            visitor.acknowledged.append(task["nonce"])
            task = visitor.next()
        assert task["rest"]["answered"] == len(visitor.acknowledged) < 4
        visitor.browser.post("/stop", data={"sure": "yes"})
        shown = visitor.browser.get("/done").text
        assert re.search(r"You answered (\d+) task", shown)[1] == str(len(visitor.acknowledged))  # type: ignore[index]


def test_a_near_duplicate_is_shown_while_typing_and_the_same_words_are_not_taken(study: Study) -> None:
    """The check covers other people's texts about the same group, language and region; an answer sent twice is stored
    once.
    """
    with opened(study) as address:
        ana, ben = Visitor(address, "ANA"), Visitor(address, "BEN")
        for who in (ana, ben):
            who.come()
        first = ana.next()
        assert [part["name"] for part in first["parts"] if "name" in part] == ["attribute"]
        other = ben.next()
        while other["task"] != first["task"]:
            ben.post("/skip", {"nonce": other["nonce"]})
            other = ben.next()
        for _ in range(2):
            sent = ana.post("/answer", {"nonce": first["nonce"], "answers": {"attribute": "Hard-working"}})
            assert sent.status_code == 200
        began = time.monotonic()
        reply = ben.post("/draft", {"nonce": other["nonce"], "answers": {"attribute": "hardworking"}}).json()
        assert time.monotonic() - began < 10
        assert reply["problems"] == []
        assert "nearly the same" in reply["warnings"][0]
        reply = ben.post("/draft", {"nonce": other["nonce"], "answers": {"attribute": "HARD-working"}}).json()
        assert "already" in reply["problems"][0]
        same = ben.post("/answer", {"nonce": other["nonce"], "answers": {"attribute": " hard-working "}})
        assert (same.status_code, "already" in same.json()["error"]) == (422, True)
        fine = ben.post("/answer", {"nonce": other["nonce"], "answers": {"attribute": "fond of soup"}})
        assert fine.status_code == 200
    assert home.pull(study).records == 2


def test_a_text_in_a_list_is_not_taken_and_stops_nobody(study: Study) -> None:
    """A list is refused, because it would pass the text checks and give each later person of the group an error."""
    with opened(study) as address:
        ana, ben = Visitor(address, "ANA"), Visitor(address, "BEN")
        for who, text, status in ((ana, ["loud"], 422), (ana, "loud", 200), (ben, "quick", 200)):
            who.come()
            sent = who.post("/answer", {"nonce": who.next()["nonce"], "answers": {"attribute": text}})
            assert sent.status_code == status


def test_with_a_writer_the_texts_and_their_judgements_go(study: Study) -> None:
    """The writer's words are in no file of the study; the judges keep their pay; the target lacks a text."""
    with opened(study) as address:
        workers = visited(address, 6)
    home.pull(study)
    writer = next(worker for worker in workers if worker.wrote)
    number = workers.index(writer)
    before = {due.person: due.due for due in money.dues(study)}
    done = forgetting.forget(study, f"PID{number}")
    assert done
    assert done.left == ()
    assert set(done.short.values()) >= {(1, 2)}
    words = [" ".join(text.split()).encode() for text in writer.wrote]
    files = [path.read_bytes() for path in study.folder.rglob("*") if path.is_file()]
    assert not [word for word in words for file in files if word in file]
    assert {due.person: due.due for due in money.dues(study)} == {
        person: due for person, due in before.items() if person != f"PID{number}"
    }
    remaining = {text.id for text in read(study.folder / "drafts.jsonl", Association)}
    judged_texts = {a.extra["of"] for a in formats.read(study.folder / "annotations.jsonl") if not a.extra.get("gold")}  # type: ignore[union-attr]
    assert len(remaining) == 4 - len(writer.wrote)
    assert judged_texts <= remaining
    verdict = check_study(study.folder)
    assert verdict
    assert verdict.faults == ()
    with opened(open_study(study.folder)) as address:  # others write replacements
        late = [Visitor(address, f"LATE{n}") for n in range(4)]
        for visitor in late:
            visitor.come()
            visitor.work(Worker(visitor.person))
    assert run("annotate", "status", study.folder)["missing"] == 0


def test_the_budget_pays_a_text_as_four_judgements(study: Study) -> None:
    """Four texts at four tasks and eight judgements are 24 missing tasks, in sessions of ten with two known items."""
    rules = opening.rules(study, opening.read(study))
    with home.open_store(study) as store:
        missing = store.do(lambda held: home.missing(held, rules.judges))
    assert missing == 4 * (WRITING + 2)
    cost = money.budget(study, rules, missing)
    assert (cost.tasks, cost.places) == (10, 3)


def test_a_study_that_grows_is_given_out_by_open_alone(study: Study, tmp_path: Path) -> None:
    """Pages for Mechanical Turk and Label Studio need all tasks beforehand, so the export is refused."""
    with pytest.raises(ValueError, match="catsofa annotate open"):
        pages.export(study, tmp_path / "pages")


@pytest.mark.parametrize(("command", "source"), [("minimal-pairs", "--associations"), ("stereotypes", "--on")])
def test_texts_become_items_by_the_builders(command: str, source: str, tmp_path: Path) -> None:
    """The builders read drafts.jsonl unchanged; the category of the target is the domain of the item."""
    targets = [Term(category="nationality", term=name, region="Pellora") for name in ("Dravians", "Zorbs")]
    write(
        [drafts.association(term, ("lazy", "tidy")[n], f"{n:016x}") for n, term in enumerate(targets)],
        tmp_path / "drafts.jsonl",
    )
    out = tmp_path / "items.jsonl"
    words = ["build", command, source, str(tmp_path / "drafts.jsonl"), "--out", str(out)]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    items = [*formats.read(out)]
    assert items
    assert {item.bias_type if isinstance(item, Pair) else item.category for item in items} == {"nationality"}  # type: ignore[union-attr]
