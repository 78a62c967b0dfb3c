"""Tests of the owner's page of an open study over HTTP: access, and the same figures as `annotate status`."""

import json
import random
import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest
from helpers.records import bakers
from helpers.servers.crowd_owner import Owner, served
from helpers.servers.crowd_server import Visitor, opened, shown_truth
from typer.testing import CliRunner

from catsofa.annotation.crowd import acts, home, money, quality, store
from catsofa.annotation.crowd.owner import facts, states, suspicion
from catsofa.annotation.crowd.people.forgetting import forget
from catsofa.annotation.study import Study, create
from catsofa.annotation.study.checks import check_study
from catsofa.cli import app
from catsofa.cli.annotate.judging import look
from catsofa.data.files import csv_files

pytestmark = pytest.mark.usefixtures("watched")

TOML = """
[platform]
name = "prolific"
codes = { completed = "DONE1", failed_checks = "FAIL3" }
[quality]
first = 3
"""


@pytest.fixture
def study(tmp_path: Path) -> Study:
    """Returns a study of four CATs for two people, with gold items and checks."""
    gold, checks = bakers(2, "florist"), bakers(2, "miller")
    study_ = create(
        tmp_path / "study",
        kind="validate-cats",
        items=bakers(4),
        gold=gold,
        checks=checks,
        overlap=2,
        contact="a@example.org",
    )
    (study_.folder / "study.toml").write_text(TOML)
    return study_


def status_of(study: Study) -> dict[str, Any]:
    """Returns the JSON of `annotate status --json`."""
    report: dict[str, Any] = json.loads(
        CliRunner().invoke(app, ["annotate", "status", str(study.folder), "--json"]).output
    )
    return report


def test_the_link_works_once_and_its_secret_is_in_no_file(study: Study) -> None:
    """Signing in needs the secret of the link; a second use is refused, and the folder contains only a hash."""
    with served(study) as owner:
        first = owner.browser.get("/owner")
        assert (first.status_code, study.settings.title in first.text) == (401, False)
        entered = owner.enter()
        assert (entered.status_code, entered.headers["location"]) == (303, "/owner")
        cookie = entered.headers["set-cookie"].casefold()
        assert "httponly" in cookie
        assert "samesite=strict" in cookie
        assert study.settings.title in owner.page()
        other = Owner(owner.address, owner.key)
        assert other.enter().status_code == 403
        assert other.browser.get("/owner").status_code == 401
        secrets = [owner.key.encode(), owner.browser.cookies["owner"].encode()]
        for path in (path for path in study.folder.rglob("*") if path.is_file()):
            assert not any(secret in path.read_bytes() for secret in secrets), path
    with served(study) as again:
        assert (again.enter(owner.key).status_code, again.enter().status_code) == (403, 303)


def test_guesses_are_limited_and_an_earlier_link_does_not_work(study: Study) -> None:
    """After five tries the server answers 429, also for the right secret until the limit allows another try."""
    with served(study) as owner:
        assert [owner.enter("guess").status_code for _ in range(5)] == [403] * 5
        assert [owner.enter(key).status_code for key in ("guess", "")] == [429] * 2


def test_without_a_session_there_is_no_content_and_participants_have_none(study: Study) -> None:
    """A participant has no owner session; other owner pages redirect to the sign-in, and sign-out ends the session."""
    with served(study) as owner:
        ana = Visitor(owner.address)
        ana.come()
        for browser in (ana.browser, owner.browser):
            assert browser.get("/owner").status_code == 401
            assert browser.get("/owner/person/p1").headers["location"] == "/owner"
        owner.enter()
        assert owner.browser.post("/owner/out", data={"token": "0"}).status_code == 403
        foreign = {"Origin": "https://elsewhere.example"}
        assert owner.browser.post("/owner/out", data={"token": owner.token()}, headers=foreign).status_code == 403
        cookie = owner.browser.cookies["owner"]
        assert ana.browser.get("/work", cookies={"seat": cookie}).status_code == 401
        assert owner.browser.post("/owner/out", data={"token": owner.token()}).status_code == 303
        assert owner.browser.get("/owner", cookies={"owner": cookie}).status_code == 401


def test_the_page_shows_no_number_of_a_changed_store_and_says_why(study: Study) -> None:
    """After one answer was edited in the database, the page refuses its numbers, and people work on."""
    with served(study) as owner:
        ana = Visitor(owner.address)
        ana.come()
        ana.work(shown_truth(study), at_most=1)
        with closing(sqlite3.connect(study.folder / "study.db", isolation_level=None)) as database:
            database.execute("UPDATE answer SET seconds = 99")
        owner.enter()
        shown = owner.browser.get("/owner")
        assert (shown.status_code, "1 of answer" in shown.text) == (409, True)
        assert "task" in ana.next()


def test_the_page_is_for_this_machine_alone_unless_the_owner_says_otherwise(study: Study) -> None:
    """Under the public name the page answers like any missing path; `remote` serves the page there, `off` never."""
    public = {"Host": "study.example.org", "Origin": "https://study.example.org"}
    with served(study, address="https://study.example.org") as owner:
        assert owner.browser.get("/owner", headers=public).text == owner.browser.get("/nothing", headers=public).text
        far = {"X-Forwarded-For": "192.0.2.7"}
        assert owner.browser.get("/owner", headers=far).status_code == 404
        assert owner.enter().status_code == 303
        assert study.settings.title in owner.page()
        assert owner.browser.get("/", params={"PROLIFIC_PID": "a", "SESSION_ID": "b"}).status_code == 421
    with served(study, address="https://study.example.org", owner="remote") as owner:
        entered = owner.browser.post("/owner/in", data={"key": owner.key}, headers=public)
        assert entered.headers["set-cookie"].startswith("__Host-owner=")
        assert "Secure" in entered.headers["set-cookie"]
        assert owner.browser.get("/owner").status_code == 421
    with opened(study, look=look, owner="off") as address:
        assert httpx.get(f"{address}/owner", trust_env=False).status_code == 404


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_after_any_history_the_page_says_what_status_says(study: Study, seed: int) -> None:
    """With people who work well, badly, stop, skip or fail, the figures equal those of `status --json` and `pay`."""
    order, truth = random.Random(seed), shown_truth(study)
    wrong = shown_truth(study, "item gold")
    with served(study) as owner:
        owner.enter()
        for n in range(6):
            visitor = Visitor(owner.address, f"PID{n}")
            visitor.come(agree=order.choice(["yes", "yes", "yes", "no"]))
            visitor.work(order.choice([truth, truth, wrong]), order.randint(0, 9))
            if order.random() < 0.3:
                visitor.browser.post("/stop", data={})
            report = status_of(study)
            assert owner.shown("done") == f"{report['done']} of {report['items']}"
            assert owner.shown("counted") == f"{report['counted']} of {report['wanted']}"
            assert owner.shown("missing") == f"{report['missing']}"
            owed = sum(due.due for due in money.dues(study))
            assert (report["crowd"]["money"]["owed"], owner.shown("owed")) == (owed, f"USD {money.decimal(owed)}")
            items = [int(n) for n in re.findall(r'<th scope="row">\d+</th><td>(\d+)</td>', owner.page())]
            assert items == report["crowd"]["items"]
            assert sum(n * count for n, count in enumerate(items)) == report["counted"]
            suspects = {each["name"] for each in report["crowd"]["standings"] if each["reasons"]}
            cards = owner.page().partition('id="suspicious"')[2].partition("</section>")[0].partition("<details>")[0]
            assert set(re.findall(r"/owner/person/(\w+)", cards)) == suspects


def test_suspicious_work_has_its_reasons_and_careful_work_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One of four people gives the same answer to every item and is listed with their agreement; the others are not."""
    monkeypatch.setattr(suspicion, "LEAST", 6)
    study = create(tmp_path / "s", kind="validate-cats", items=bakers(8), overlap=4, contact="a@example.org")
    (study.folder / "study.toml").write_text(TOML)
    truth = shown_truth(study)
    with served(study) as owner:
        for n in range(4):
            visitor = Visitor(owner.address, f"PID{n}")
            visitor.come()
            same = {f"label_{place}": "unrelated" for place in (1, 2, 3)}
            visitor.work(truth if n else lambda shown, same=same: same)
    reasons_by_name = {each.name: each.reasons for each in facts.facts(study).standings if each.reasons}
    ((reasons),) = reasons_by_name.values()
    assert reasons[0] == "gave the same answers to all 8 items (unrelated)"
    assert reasons[1].startswith("agrees with most others in 33% of 24 judgements")


def names_of(study: Study) -> list[str]:
    """Returns the names of everybody who took part."""
    return [each.name for each in facts.facts(study).standings]


def test_a_person_is_paused_and_taken_back_with_reasons(study: Study) -> None:
    """A pause frees the seats and discounts all answers; after a restore the person works on and all answers count."""
    with served(study) as owner:
        owner.enter()
        ana = Visitor(owner.address)
        ana.come()
        ana.work(shown_truth(study), 3)
        before = status_of(study)["counted"]
        (name,) = names_of(study)
        path, sent = f"/owner/person/{name}", {"token": owner.token(), "act": "pause", "reason": "answers look copied"}
        assert owner.browser.post(path, data={**sent, "token": "0"}).status_code == 403
        assert owner.browser.post(path, data={**sent, "reason": " "}).status_code == 422
        assert ana.browser.post(path, data=sent).status_code == 403
        assert status_of(study)["counted"] == before > 0
        assert owner.browser.post(path, data=sent).status_code == 303
        assert owner.browser.post(path, data=sent).status_code == 422
        assert ana.next() == {"done": True}
        assert "answers look copied" in owner.page(path)
        report = status_of(study)
        assert (report["counted"], report["people"][0]["standing"]) == (0, home.VOID["paused_by_owner"])
        assert money.dues(study).__next__().paid_by == "bonus"
        assert owner.browser.post(path, data={**sent, "act": "restore", "reason": "they explained"}).status_code == 303
        assert status_of(study)["counted"] == before
        assert ana.work(shown_truth(study)) > 0
        assert "cc=DONE1" in ana.browser.get("/done").text
    decided = [each["act"] for each in status_of(study)["crowd"]["standings"][0]["acts"]]
    assert decided == ["pause", "restore"]
    verdict = check_study(study.folder)
    assert verdict
    assert verdict.right


def test_the_page_says_in_words_how_people_stand(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    """A person at the daily limit is shown as resting, and may be paused; `status` names the time they may continue."""
    with served(study) as owner:
        owner.enter()
        Visitor(owner.address, "ANA").come()
        Visitor(owner.address, "BEN").come(agree="no")
        (name,) = names_of(study)
        assert '"state">at work<' in owner.page()
        assert "did not agree<" in owner.page()
        monkeypatch.setattr(quality, "free_again", lambda *_: 4e9)
        assert status_of(study)["crowd"]["people"] == {"declined": 1, "resting": 1, "working": 0}
        (standing,) = status_of(study)["crowd"]["standings"]
        assert (standing["state"], standing["until"]) == ("resting", "2096-10-02T07:06:40Z")
        page = owner.page(f"/owner/person/{name}")
        assert "2096-10-02 07:06:40 UTC" in page
        assert "Pause this person" in page


def test_the_page_of_somebody_who_failed_the_checks_has_the_message_of_the_list(study: Study, tmp_path: Path) -> None:
    """The page shows the message that `pay` writes into return.csv; no other person's page has one."""
    (study.folder / "study.toml").write_text(f"{TOML}fail_after = 1\n")
    with served(study) as owner:
        owner.enter()
        for person, kinds in (("ANA", "item gold"), ("BEN", "item gold check")):
            visitor = Visitor(owner.address, person)
            visitor.come()
            visitor.work(shown_truth(study, kinds))
        money.write([*money.dues(study)], tmp_path / "out")
        (line,) = csv_files.rows(tmp_path / "out" / "return.csv", (), "a list")
        messages = [each.message for each in facts.facts(study).standings if each.outcome == "failed_checks"]
        assert messages == [line[1]["message"]]
        pages = [owner.page(f"/owner/person/{name}") for name in names_of(study)]
        assert sum(messages[0] in page for page in pages) == 1


@pytest.mark.parametrize(
    ("state", "outcome", "told"),
    [
        ("paused", "paused_for_pace", "paused after answers that were too fast"),
        ("paused", "paused_by_owner", "paused"),
        ("finished", "completed", "finished"),
        ("finished", "screened_out", "stopped before the first task"),
        ("full", "screened_out", "came when no work was left"),
        ("screened", "failed_practice", "did not pass practice"),
    ],
)
def test_an_outcome_is_named_where_it_says_more_than_the_state(state: str, outcome: str, told: str) -> None:
    """State and outcome are shown as one phrase, never as two names of one thing."""
    assert states.of_person(state, outcome) == told


def test_judgements_are_set_aside_without_a_change_of_pay(study: Study) -> None:
    """Whoever finished keeps code, approval and the right to withdraw; their seats are given out again."""
    with served(study) as owner:
        owner.enter()
        ana = Visitor(owner.address)
        ana.come()
        ana.work(shown_truth(study))
        (before,), (name,) = money.dues(study), names_of(study)
        sent = {"token": owner.token(), "act": "void", "reason": "the same answer in other words"}
        assert owner.browser.post(f"/owner/person/{name}", data=sent).status_code == 303
        report = status_of(study)
        assert (report["counted"], report["people"][0]["standing"]) == (0, home.VOID["voided"])
        assert [*money.dues(study)] == [before]
        end = ana.browser.get("/done").text
        assert "cc=DONE1" in end
        assert "Delete my answers" in end
        ben = Visitor(owner.address, "BEN")
        ben.come()
        ben.work(shown_truth(study))
        assert status_of(study)["counted"] == 4
    assert forget(study, name) is not None
    with home.reading(study.folder, home.identity(study.settings.secret)) as held:
        assert [(act["person"], act["reason"]) for act in acts.acts(held)] == [("forgotten-1", "")]
    verdict = check_study(study.folder)
    assert verdict
    assert verdict.right


def test_a_decision_that_was_removed_by_hand_is_found(study: Study) -> None:
    """Without the line that gives the reason, `verify` reports a person who was set aside without a decision."""
    with served(study) as owner:
        owner.enter()
        ana = Visitor(owner.address)
        ana.come()
        ana.work(shown_truth(study))
        (name,) = names_of(study)
        owner.browser.post(f"/owner/person/{name}", data={"token": owner.token(), "act": "void", "reason": "doubt"})
    with store.Store(study.folder, home.identity(study.settings.secret)) as held:
        held.do(lambda rows: rows.run("DELETE FROM about WHERE name LIKE 'act %'"))
    verdict = check_study(study.folder)
    assert verdict
    assert [fault.wrong for fault in verdict.faults] == [
        f"person {name}: set aside by the owner, and no decision says so"
    ]
