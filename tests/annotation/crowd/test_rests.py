"""Tests of what a study promises about time, pay and help: on the consent page, in breaks, and within 24 hours."""

import random
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

import pytest
from helpers.crowds import NOW
from helpers.records import bakers
from helpers.servers.crowd_server import Visitor, opened, shown_truth
from helpers.servers.postgres_server import BOTH

from catsofa.annotation.crowd import databases, seats, settings
from catsofa.annotation.crowd.rules import Rules
from catsofa.annotation.crowd.seats import Given, Rest
from catsofa.annotation.crowd.store import Store
from catsofa.annotation.study import Study, create
from catsofa.data.digests import hex_digest
from catsofa.data.files import BadInput, jsonl

NONE = (0, 0)
LATER = date.today() + timedelta(days=100)
TOML = f"""
[people]
session = 6
break_every = 2
minutes_a_day = 40
[practice]
file = "practice.jsonl"
pay = 0.25
[pace]
seconds = 2.0
[ethics]
legal_basis = "consent"
withdraw_until = {LATER}
retention_days = 90
helpline = ["Pellora: 116 000, day and night", "https://help.example.org"]
"""


def study_in(folder: Path, toml: str = TOML) -> Study:
    """Returns a study of six CATs for one person, with two checks and a practice item."""
    study = create(
        folder / "study", kind="validate-cats", items=bakers(6), checks=bakers(2, "miller"), overlap=1, seconds=60,
        pay=12.0, contact="study@example.org",
    )  # fmt: skip
    (study.folder / "study.toml").write_text(toml)
    taught = [replace(cat, extra={"reason": "Cubic is no trait."}) for cat in bakers(1, "weaver")]
    jsonl.write(taught, study.folder / "practice.jsonl")
    return study


def stored(folder: Path, url: str) -> Store:
    """Returns an empty store with its own identity, in this database if a URL is given."""
    identity = hex_digest(str(folder), 32)
    if url:
        databases.choose(folder, identity, url)
    return Store(folder, identity)


def came(store: Store, rules: Rules, items: int) -> None:
    """Adds so many items and lets a person arrive."""
    rows = [(f"item{n}", "item", "") for n in range(items)]
    store.do(lambda held: seats.add(held, rows, 1, random.Random(1)))
    store.do(lambda held: seats.arrive(held, rules, "a", "s", "c", NOW))


def ask(store: Store, rules: Rules, now: float, rested: bool = False) -> Given | Rest | str:
    """Returns what the person is given next."""
    return store.do(lambda held: seats.next_task(held, rules, "a", now, rested))


def answer(store: Store, rules: Rules, given: Given | Rest | str, now: float) -> None:
    """Answers the task."""
    assert isinstance(given, Given)
    store.do(lambda held: seats.answer(held, rules, "a", given.nonce, {"q": "x"}, NONE, now))


@BOTH
def test_a_break_comes_after_so_many_tasks_and_once(tmp_path: Path, store: str) -> None:
    """Breaks come after two tasks and after four; a person who rested continues, and no break interrupts a task."""
    rules = Rules(session=6, break_every=2)
    with stored(tmp_path, store) as database:
        came(database, rules, 6)
        now, met, rested = float(NOW), list[int](), False
        while (task := ask(database, rules, now, rested)) != "finished":
            if isinstance(task, Rest):
                met.append(task.answered)
                assert task == ask(database, rules, now) == Rest(answered=task.answered)
                rested = True
                continue
            rested = False
            assert ask(database, rules, now) == task
            answer(database, rules, task, now := now + 30)
        assert met == [2, 4]


@BOTH
def test_a_break_is_over_for_every_window_of_the_person(tmp_path: Path, store: str) -> None:
    """Once a task came after the break, no window asks for the break again, even after the task was skipped."""
    rules = Rules(session=6, break_every=2)
    with stored(tmp_path, store) as database:
        came(database, rules, 6)
        for n in range(2):
            answer(database, rules, ask(database, rules, NOW), NOW + n)
        assert ask(database, rules, NOW + 5) == Rest(answered=2)
        task = ask(database, rules, NOW + 5, rested=True)
        assert isinstance(task, Given)
        assert ask(database, rules, NOW + 6) == task
        database.do(lambda held: seats.skip(held, "a", task.nonce))
        assert isinstance(ask(database, rules, NOW + 7), Given)


@BOTH
def test_nobody_works_longer_than_the_limit_within_24_hours(tmp_path: Path, store: str) -> None:
    """Two tasks of 60 s reach a limit of 2 minutes; another task comes when the first is 24 hours old."""
    rules = Rules(session=9, minutes_a_day=2)
    with stored(tmp_path, store) as database:
        came(database, rules, 9)
        now = float(NOW)
        for _ in range(2):
            answer(database, rules, ask(database, rules, now), now := now + 60)
        first_again = NOW + 60 + 24 * 3600
        assert ask(database, rules, now) == Rest(answered=2, until=first_again)
        assert ask(database, rules, first_again - 1) == Rest(answered=2, until=first_again)
        task = ask(database, rules, first_again + 1)
        answer(database, rules, task, first_again + 61)
        assert isinstance(ask(database, rules, first_again + 61), Given)  # the second is 24 hours old too


@BOTH
def test_the_limit_counts_the_time_of_answers_and_not_the_time_between(tmp_path: Path, store: str) -> None:
    """An hour away between two tasks is not working time."""
    rules = Rules(session=9, minutes_a_day=2)
    with stored(tmp_path, store) as database:
        came(database, rules, 9)
        answer(database, rules, ask(database, rules, NOW), NOW + 60)
        answer(database, rules, ask(database, rules, NOW + 3600), NOW + 3630)
        assert isinstance(ask(database, rules, NOW + 3700), Given)


@BOTH
def test_nobody_waits_for_a_clock_that_was_set_back(tmp_path: Path, store: str) -> None:
    """Tasks with times a year ahead keep nobody from working today."""
    rules = Rules(session=9, minutes_a_day=2)
    with stored(tmp_path, store) as database:
        came(database, rules, 9)
        ahead = float(NOW + 365 * 24 * 3600)
        for _ in range(2):
            answer(database, rules, ask(database, rules, ahead), ahead := ahead + 60)
        assert isinstance(ask(database, rules, ahead), Rest)
        assert isinstance(ask(database, rules, NOW), Given)


def test_the_consent_page_says_what_follows_from_the_settings(tmp_path: Path) -> None:
    """The page has the pay for all tasks, practice, checks, pace, the limit, the legal basis, the last day and the
    helpline.
    """
    study = study_in(tmp_path)
    rules = settings.rules(study, settings.read(study))
    with opened(study) as address:
        page = Visitor(address).browser.get("/", params={"PROLIFIC_PID": "P", "SESSION_ID": "S"}).text
        assert "link of the study" in page  # only an invitation leads in
    (study.folder / "study.toml").write_text(TOML + '[platform]\nname = "prolific"\ncodes = { completed = "C" }\n')
    with opened(study) as address:
        ana = Visitor(address)
        page = ana.browser.get("/", params=ana.names).text
        promised = f"{study.settings.cents(rules.tasks) / 100:.2f}"
        for promise in (
            f"up to {rules.tasks}. All of them take about {rules.minutes} minutes and pay USD {promised}.",
            "which come first: 1.",
            "Who answers practice tasks and ends there is paid USD 0.25.",
            "chooses another answer in 2 of them",
            "faster than they can be read",
            "for up to 40 minutes",
            "legal basis: consent",
            f"deleted until {LATER}",
            "how long each took. The address of your network is not kept.",
            "deleted at most 90 days after the end of the study",
            "<li>Pellora: 116 000, day and night</li>",
        ):
            assert promise in page, promise
        ana.come()
        assert "https://help.example.org" in ana.browser.get("/work").text
        ana.browser.post("/stop", data={"sure": "yes"})
        end = ana.browser.get("/done").text
        assert "https://help.example.org" in end
        assert f"deleted until {LATER}" in end


def test_a_study_without_checks_practice_and_limits_says_nothing_of_them(tmp_path: Path) -> None:
    """The page shows only promises that apply."""
    study = create(tmp_path / "study", kind="validate-cats", items=bakers(2), overlap=1, contact="study@example.org")
    (study.folder / "study.toml").write_text('[platform]\nname = "prolific"\ncodes = { completed = "C" }\n')
    with opened(study) as address:
        ana = Visitor(address)
        page = ana.browser.get("/", params=ana.names).text
        for untold in (
            "practice",
            "another answer",
            "24 hours",
            "legal basis",
            "deleted until",
            "deleted at most",
            "Help, if",
        ):
            assert untold not in page, untold


@BOTH
def test_a_rest_by_http_waits_for_the_person_and_takes_no_task(tmp_path: Path, store: str) -> None:
    """After two tasks `/next` returns a rest until the page reports that the person rested."""
    study = study_in(
        tmp_path, '[people]\nbreak_every = 2\n[platform]\nname = "prolific"\ncodes = { completed = "C" }\n'
    )
    judge = shown_truth(study)
    with opened(study, store=store) as address:
        ana = Visitor(address)
        ana.come()
        for _ in range(2):
            task = ana.next()
            ana.post("/answer", {"nonce": task["nonce"], "answers": judge(task["task"])})
        assert ana.next() == ana.next()
        assert ana.next()["rest"] == {"answered": 2, "until": 0.0}
        assert "rest" in ana.post("/next", {"rested": "x" * 9}).json()
        assert "task" in ana.post("/next", {"rested": True}).json()
        assert "task" in ana.next()


def test_a_page_that_is_loaded_again_explains_the_practice_item_again(tmp_path: Path) -> None:
    """The explanation shows the given answer until the next task; a new task has no explanation."""
    study = study_in(tmp_path, TOML + '[platform]\nname = "prolific"\ncodes = { completed = "C" }\n')
    right = settings.read(study).lessons[0].right
    with opened(study) as address:
        ana = Visitor(address)
        ana.come()
        task = ana.post("/next", {"loaded": True}).json()
        assert "feedback" not in task
        feedback = ana.post("/answer", {"nonce": task["nonce"], "answers": right}).json()["feedback"]
        again = ana.post("/next", {"loaded": True}).json()
        assert (again["feedback"], again["draft"], again["place"]) == (feedback, right, 1)
        assert again["task"] == task["task"]
        assert "feedback" not in ana.next()
        assert "feedback" not in ana.post("/next", {"loaded": True}).json()


def test_who_stops_reads_what_they_are_paid(tmp_path: Path) -> None:
    """The pay is nothing at first, the practice pay after practice, and the whole reward after one more task."""
    study = study_in(tmp_path, TOML + '[platform]\nname = "prolific"\ncodes = { completed = "C" }\n')
    right, judge = settings.read(study).lessons[0].right, shown_truth(study)
    with opened(study) as address:
        ana = Visitor(address)
        ana.come()
        first = ana.next()
        assert (first["pay"], first["reward"]) == ("USD 0.00", "USD 1.40")
        ana.post("/answer", {"nonce": first["nonce"], "answers": right})
        second = ana.next()
        assert second["pay"] == "USD 0.20"  # a person who passed practice is owed the task
        ana.post("/answer", {"nonce": second["nonce"], "answers": judge(second["task"])})
        assert ana.next()["pay"] == "USD 1.40"


@pytest.mark.parametrize(
    ("toml", "found"),
    [
        ("[people]\nbreak_every = 0", "break_every = 0"),
        ('[people]\nminutes_a_day = "an hour"', "people.minutes_a_day"),
        ('[ethics]\nwithdraw_until = "summer"', "ethics.withdraw_until"),
        ('[ethics]\nhelpline = "116 000"', "ethics.helpline"),
        ("[ethics]\nwithdraw_until = 2020-01-01", "2020-01-01"),
        (
            '[people]\nminutes_a_day = 3\n[platform]\nname = "prolific"\ncodes = { completed = "C" }',
            "a session of 7 minutes",
        ),
    ],
)
def test_promises_that_cannot_hold_are_refused_before_anybody_comes(tmp_path: Path, toml: str, found: str) -> None:
    """A break after 0 tasks, a day in the past, and a limit within a submission are refused."""
    with pytest.raises(BadInput, match=found), opened(study_in(tmp_path, toml)):
        pass
