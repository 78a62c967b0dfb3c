"""Tests of the budget before a study starts, and of the payment lists: both are exact to the cent."""

import csv
import json
import os
import sqlite3
from contextlib import closing
from decimal import Decimal
from pathlib import Path

import pytest
from helpers.crowds import come
from helpers.records import bakers
from typer.testing import CliRunner

from catsofa.annotation.crowd import home, money, seats, settings
from catsofa.annotation.crowd.owner.facts import facts as owed
from catsofa.annotation.crowd.rules import Rules
from catsofa.annotation.crowd.store import identity, reading
from catsofa.annotation.study import Study, create
from catsofa.cli import app
from catsofa.data.files import BadInput


def a_study(folder: Path, items: int, gold: int = 0, checks: int = 0) -> Study:
    """Returns a study of so many CATs for five people, at 12 an hour and 30 seconds each."""
    extra = {"gold": bakers(gold, "florist"), "checks": bakers(checks, "miller")}
    study = create(folder / "s", kind="validate-cats", items=bakers(items), contact="a@example.org", pay=12.0, **extra)
    (study.folder / "study.toml").write_text("[quality]\nfirst = 3\nchecks_every = 4\n")
    return study


def test_the_budget_counts_checks_gold_and_whole_submissions(tmp_path: Path) -> None:
    """1,000 CATs by 5, sessions of 30 with 2 checks and 2 gold items: 26 own tasks, 193 places at 3.00."""
    study = a_study(tmp_path, 10, gold=4, checks=4)
    rules = Rules(session=30, seconds=30, check_every=15, gold_every=15)
    budget = money.budget(study, rules, 5000)
    assert budget.reward == 300  # 30 tasks of half a minute at 12 an hour
    assert budget.places == 193  # two checks and two gold items leave 26 own tasks
    assert budget.total == budget.places * 300
    assert money.budget(study, rules, 0).total == 0
    assert money.budget(study, rules, 10).places == 5  # two of these would do the work, but five must agree


def test_an_item_that_lacks_two_people_costs_two_places(tmp_path: Path) -> None:
    """All four CATs have five judgements; one needs two more: two places of 4 tasks at 0.10, not five again."""
    study = a_study(tmp_path, 4)
    (study.folder / "study.toml").write_text("[adaptive]\nmost = 9\n")
    rules = settings.rules(study, settings.read(study))
    come(study, rules, {f"p{n}": (4, 0, True) for n in range(5)})
    home.reopen(study, [next(iter(study.keys.values())).item], 2)
    with reading(study.folder, identity(study.settings.secret)) as held:
        budget = money.budget(study, rules, home.missing(held), home.lacking(held))
        assert home.lacking(held, most=9) == 4
    assert (budget.judgements, budget.places, budget.total) == (2, 2, 80)
    sums = owed(study).money
    assert (sums.owed, sums.missing, sums.worst) == (200, 80, 200 + 4 * 40)  # 16 judgements at worst, by four people


@pytest.mark.parametrize(("items", "gold", "session"), [(4, 20, 5), (20, 20, 21), (40, 2, 30), (1, 0, 1)])
def test_a_session_is_no_longer_than_the_tasks_that_one_person_can_get(
    items: int, gold: int, session: int, tmp_path: Path
) -> None:
    """Twenty gold items and 4 CATs: gold at 2 to 10 and then every 15, so 4 + 1 tasks; 20 + 1; 30 by default; 1."""
    study = a_study(tmp_path, items, gold=gold)
    (study.folder / "study.toml").unlink()
    rules = settings.rules(study, settings.read(study))
    assert rules.session == session
    come(study, rules, {"first": (session, 3, True)})
    with reading(study.folder, identity(study.settings.secret)) as held:
        (person,) = held.all("SELECT * FROM person")
    assert (person["done"], person["quota"], person["outcome"]) == (session, session, "completed")


@pytest.fixture
def paid(tmp_path: Path) -> Study:
    """Returns a study with five people: one does all, one stops, one fails, one is at work, one declines."""
    study = a_study(tmp_path, 8, checks=6)
    people = {"all": (10, 3, True), "stops": (3, 3, True), "fails": (10, 0, False), "works": (2, 3, False)}
    come(study, Rules(session=10, first=3, check_every=4), people)
    with home.open_store(study) as store:
        store.do(lambda held: seats.decline(held, "declines", "s", 1_700_000_000))
    return study


def test_nobody_is_paid_by_a_changed_store(paid: Study) -> None:
    """An outcome that was edited in the database is refused, and no payment is listed."""
    with closing(sqlite3.connect(paid.folder / "study.db", isolation_level=None)) as database:
        database.execute("UPDATE person SET outcome = 'completed' WHERE outcome = 'failed_checks'")
    with pytest.raises(BadInput, match="checksums"):
        money.payable(paid)


def test_everybody_is_owed_what_they_did(paid: Study, tmp_path: Path) -> None:
    """The completion code is worth the whole reward; people who failed are owed each task; people at work are not paid
    yet.
    """
    dues = {due.person: due for due in money.dues(paid)}
    assert {name: (due.outcome, due.due, due.paid_by) for name, due in dues.items()} == {
        "PID-all": ("completed", 100, "approval"),
        "PID-stops": ("completed", 100, "approval"),
        "PID-fails": ("failed_checks", 10 * dues["PID-fails"].tasks, "bonus"),
        "PID-works": ("at work", 20, ""),
    }
    assert 100 <= len(dues["PID-fails"].reason) <= 500  # Prolific accepts no message below 100 characters


def test_the_lists_have_what_platforms_take(paid: Study, tmp_path: Path) -> None:
    """approve.txt has submissions, bonuses.csv `id,1.50`, and the sum of payments.csv is the sum that the command
    prints.
    """
    out = tmp_path / "pay"
    shown = CliRunner().invoke(app, ["annotate", "pay", str(paid.folder), "--out", str(out), "--json"])
    summary = json.loads(shown.output)
    assert (out / "approve.txt").read_text() == "S-all\nS-stops\n"
    (bonus,) = (out / "bonuses.csv").read_text().splitlines()
    person, amount = bonus.split(",")
    assert person == "PID-fails"
    with (out / "payments.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    sums = {
        name: sum(round(100 * float(row["due"])) for row in rows if row["paid_by"] == name)
        for name in ("approval", "bonus")
    }
    assert (round(100 * summary["approval"]), round(100 * summary["bonus"])) == (sums["approval"], sums["bonus"])
    assert sums["bonus"] == round(100 * float(amount))
    with (out / "return.csv").open(newline="") as file:
        assert [row["submission"] for row in csv.DictReader(file)] == ["S-fails"]


def test_a_command_that_ends_amid_its_lists_leaves_none_of_an_earlier_day(
    paid: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """payments.csv is written last, so if it exists, the other lists exist too."""
    due, moved = money.payable(paid), os.replace
    names = sorted(money.write(due, tmp_path / "whole"))
    (tmp_path / "pay").mkdir()
    for n in range(len(names)):
        for name in names:
            (tmp_path / "pay" / name).write_text("of yesterday")
        replaced_files = list[str]()

        def replaced(source: str, target: str, at: int = n, done: list[str] = replaced_files) -> None:
            if len(done) == at:
                raise KeyboardInterrupt
            done.append(Path(target).name)
            moved(source, target)

        with monkeypatch.context() as patched:
            patched.setattr(os, "replace", replaced)
            with pytest.raises(KeyboardInterrupt):
                money.write(due, tmp_path / "pay")
        files = {path.name: path.read_bytes() for path in (tmp_path / "pay").iterdir()}
        assert "payments.csv" not in files
        assert files == {name: (tmp_path / "whole" / name).read_bytes() for name in replaced_files}


def test_who_was_invited_beside_a_platform_is_in_payments_alone(tmp_path: Path) -> None:
    """Lists for the platform never contain the addresses of people who were invited directly."""
    about = {"name": "p1", "outcome": "paused", "tasks": 3, "due": 30, "paid_by": "bonus"}
    invited = money.Due(person="ana@example.org", submission="ana@example.org", platform="invitation", **about)
    other = money.Due(person="PID1", submission="S1", platform="prolific", **about)
    for people, holding in (([invited, other], 1), ([invited], 2)):
        money.write(people, tmp_path)
        assert sum("ana@" in file.read_text() for file in tmp_path.iterdir()) == holding


def test_a_study_to_which_nobody_came_has_no_lists(tmp_path: Path) -> None:
    """The error names the command that opens the study."""
    study = a_study(tmp_path, 2)
    shown = CliRunner().invoke(app, ["annotate", "pay", str(study.folder), "--out", str(tmp_path / "pay")])
    assert "annotate open" in str(shown.exception)


def test_people_of_mechanical_turk_are_in_its_own_columns(tmp_path: Path) -> None:
    """Approve has an x, Reject the reason; the bonus pays the tasks of a person who failed. Prolific's
    lists are empty.
    """
    study = a_study(tmp_path, 8, checks=6)
    people = {"all": (10, 3, True), "fails": (10, 0, False), "works": (2, 3, False)}
    come(study, Rules(session=10, first=3, check_every=4), people, platform="mturk")
    out = tmp_path / "pay"
    lines = money.write(list(money.dues(study)), out)
    with (out / "mturk_review.csv").open(newline="") as file:
        review = {row["AssignmentId"]: row for row in csv.DictReader(file)}
    assert {name: row["Approve"] for name, row in review.items()} == {"S-all": "x", "S-fails": ""}
    assert "checks" not in review["S-all"]["Reject"]
    assert "chose other answers" in review["S-fails"]["Reject"]
    with (out / "mturk_bonuses.csv").open(newline="") as file:
        (bonus,) = csv.DictReader(file)
    assert (bonus["WorkerId"], bonus["AssignmentId"]) == ("PID-fails", "S-fails")
    assert 0 < float(bonus["BonusAmount"]) < 1
    assert (lines["approve.txt"], lines["bonuses.csv"], lines["return.csv"]) == (0, 0, 0)


@pytest.mark.parametrize("items", [100, pytest.param(1000, marks=pytest.mark.slow)])
def test_the_budget_is_the_sum_of_the_payments_to_the_cent(tmp_path: Path, items: int) -> None:
    """With five judgements per item, checks and gold, everybody who fills a budgeted place has work and is paid."""
    study = a_study(tmp_path, items, gold=4, checks=4)
    rules = Rules(session=30, seconds=30, check_every=15, gold_every=15)
    budget = money.budget(study, rules, items * 5)
    come(study, rules, {f"p{n:03}": (30, 3, True) for n in range(budget.places)})
    dues = list(money.dues(study))
    assert {due.paid_by for due in dues} == {"approval"}
    money.write(dues, tmp_path / "pay")
    with (tmp_path / "pay" / "payments.csv").open(newline="") as file:
        paid = sum(Decimal(row["due"]) for row in csv.DictReader(file))
    assert paid * 100 == budget.total == {100: 20 * 300, 1000: 193 * 300}[items]
