"""Tests of a study on a simulated Prolific: the draft, its cost and state, and payments that are made once."""

import json
import logging
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from helpers.crowds import come
from helpers.records import bakers
from helpers.servers import prolific_server
from helpers.servers.prolific_server import TOKEN
from typer.testing import CliRunner

from catsofa.annotation.crowd import settings
from catsofa.annotation.crowd.backups import backup
from catsofa.annotation.crowd.http import service
from catsofa.annotation.crowd.rules import Rules
from catsofa.annotation.crowd.screening import Screening
from catsofa.annotation.prolific import client
from catsofa.annotation.prolific.client import Prolific, ProlificError
from catsofa.annotation.prolific.journal import Journal
from catsofa.annotation.results.data_statement import work_of
from catsofa.annotation.study import Study, create, open_study
from catsofa.annotation.study.checks import check_study
from catsofa.cli import app
from catsofa.data.files import BadInput

ADDRESS = "https://study.example.org"
TOML = """
[people]
session = 10
[quality]
first = 3
checks_every = 4
[platform]
name = "prolific"
devices = ["desktop", "mobile"]
filters = [{ filter_id = "handedness", selected_values = ["0"] }]
codes.completed = "DONE1"
codes.no_consent = "NOPE2"
codes.failed_checks = "FAIL3"
codes.screened_out = "FULL4"
codes.failed_practice = "PRAC5"
codes.paused = "PAUS6"
"""


@pytest.fixture
def there(monkeypatch: pytest.MonkeyPatch) -> Iterator[prolific_server.Prolific]:
    """Starts a Prolific on this machine that asks for short waits."""
    with prolific_server.serving() as server:
        monkeypatch.setattr(client, "API", server.url)
        monkeypatch.setattr(client, "WAITS", (0.01,) * 6)
        monkeypatch.setenv(client.TOKEN, TOKEN)
        yield server


@pytest.fixture
def study(tmp_path: Path) -> Study:
    """Returns a study of eight CATs for five people at 12 an hour: ten tasks of half a minute, 1.00 for all."""
    settings_: dict[str, Any] = {"items": bakers(8), "checks": bakers(6, "miller"), "contact": "a@example.org"}
    study_ = create(tmp_path / "study", kind="validate-cats", title="What sentences say", pay=12.0, **settings_)
    (study_.folder / "study.toml").write_text(TOML)
    return study_


def run(command: str, study: Study, *more: str) -> Result:
    """Runs one command about Prolific."""
    return CliRunner().invoke(app, ["annotate", "prolific", command, str(study.folder), *more])


def said(done: Result) -> str:
    """Returns the output of a command and its error."""
    return f"{done.output} {done.exception or ''}"


def published(study: Study, places: int = 20) -> None:
    """Publishes the study on Prolific."""
    assert run("create", study, "--address", ADDRESS, "--places", str(places)).exit_code == 0
    assert run("state", study, "publish", "--yes").exit_code == 0


def test_the_draft_has_everything_and_costs_what_the_calculator_says(
    there: prolific_server.Prolific, study: Study
) -> None:
    """40 judgements, 8 own tasks a person: 5 places at 1.00, fee a third, tax a fifth of it; nothing is published."""
    done = run("create", study, "--address", ADDRESS, "--json")
    cost = json.loads(done.output)
    (draft,) = there.studies.values()
    assert (draft["total_available_places"], cost["fees"], cost["total"]) == (5, 167 + 33, 700)
    assert (draft["status"], draft["reward"], draft["estimated_completion_time"]) == ("UNPUBLISHED", 100, 5)
    assert "{{%PROLIFIC_PID%}}" in draft["external_study_url"]
    assert draft["external_study_url"].startswith(f"{ADDRESS}/?")
    assert {c["code"]: (c["code_type"], c["actions"][0]["action"]) for c in draft["completion_codes"]} == {
        "DONE1": ("COMPLETED", "MANUALLY_REVIEW"),
        "NOPE2": ("NO_CONSENT", "REQUEST_RETURN"),
        "FAIL3": ("FAILED_ATTENTION_CHECK", "MANUALLY_REVIEW"),
        "FULL4": ("SCREENED_OUT", "REQUEST_RETURN"),
        "PRAC5": ("SCREENED_OUT", "REQUEST_RETURN"),
        "PAUS6": ("OTHER", "MANUALLY_REVIEW"),
    }
    assert draft["device_compatibility"] == ["desktop", "mobile"]
    assert draft["filters"] == [{"filter_id": "handedness", "selected_values": ["0"]}]
    assert draft["content_warnings"] == ["sensitive"]
    assert "Content warning" in draft["description"]
    again = run("create", study, "--address", ADDRESS)
    assert "already" in said(again)
    assert len(there.studies) == 1
    assert not there.paid


KILLED = """
import os, signal, sys
from catsofa.annotation.prolific import client, draft
from catsofa.annotation.study import open_study
client.API = sys.argv[1]
draft.Journal.note = lambda journal, entry: os.kill(os.getpid(), signal.SIGKILL)
with client.Prolific() as there:
    draft.create(open_study(sys.argv[2]), there, sys.argv[3], 20)
"""


def test_a_command_killed_before_it_noted_the_draft_leaves_one_draft(
    there: prolific_server.Prolific, study: Study
) -> None:
    """The next command reuses the draft with its own places, but not another study of the same title."""
    killed = subprocess.run([sys.executable, "-c", KILLED, there.url, str(study.folder), ADDRESS], check=False)
    assert killed.returncode == -signal.SIGKILL
    there.studies["other"] = {**there.studies["study1"], "id": "other", "internal_name": "What sentences say"}
    assert not Journal(study).has_study()
    done = run("create", study, "--address", ADDRESS, "--places", "30", "--json")
    assert json.loads(done.output)["id"] == Journal(study).study() == "study1"
    assert [each["total_available_places"] for each in there.studies.values()] == [30, 20]


@pytest.mark.parametrize("where", ["", "-"])
def test_a_draft_whose_reply_was_lost_is_made_once(there: prolific_server.Prolific, study: Study, where: str) -> None:
    """Whether the draft was created or not, exactly one exists after the next command."""
    there.lose = f"{where}/studies/"
    assert "run the command again" in said(run("create", study, "--address", ADDRESS))
    assert run("create", study, "--address", ADDRESS).exit_code == 0
    assert [*there.studies] == ["study1"]


def test_a_study_of_the_same_internal_name_that_is_no_single_draft_is_left_alone(
    there: prolific_server.Prolific, study: Study
) -> None:
    """For a published or duplicate study the error names the studies, and nothing is created or changed."""
    published(study)
    (study.folder / "prolific.jsonl").unlink()
    before = json.dumps(there.studies)
    assert "study1 (ACTIVE)" in said(run("create", study, "--address", ADDRESS))
    assert json.dumps(there.studies) == before
    there.studies["study1"]["status"] = "UNPUBLISHED"
    there.studies["study2"] = {**there.studies["study1"], "id": "study2"}
    assert "study1 (UNPUBLISHED) and study2 (UNPUBLISHED)" in said(run("create", study, "--address", ADDRESS))


def test_a_study_is_published_after_its_cost_was_shown_and_agreed_to(
    there: prolific_server.Prolific, study: Study
) -> None:
    """Without a confirmation no request is sent; then the study is published, paused, started and stopped."""
    run("create", study, "--address", ADDRESS, "--places", "20")
    refused = CliRunner().invoke(app, ["annotate", "prolific", "state", str(study.folder), "publish"], input="n\n")
    assert "USD 28.00 together" in refused.output  # 20.00, a third of it, and a fifth of that
    assert there.studies["study1"]["status"] == "UNPUBLISHED"
    for action, status in (("publish", "ACTIVE"), ("pause", "PAUSED"), ("start", "ACTIVE"), ("stop", "COMPLETED")):
        shown = json.loads(run("state", study, action, "--yes", "--json").output)
        assert shown["status"] == there.studies["study1"]["status"] == status
    assert "409" in said(run("state", study, "start"))


def test_a_study_with_one_place_is_told_in_the_singular(there: prolific_server.Prolific, study: Study) -> None:
    """The documentation recommends starting with one place."""
    assert "1 place at USD 1.00" in run("create", study, "--address", ADDRESS, "--places", "1").output
    assert "1 place at USD 1.00" in run("state", study).output


def test_a_published_study_gets_more_places_and_never_fewer(there: prolific_server.Prolific, study: Study) -> None:
    """The refusal names the number of places, and no request is sent."""
    published(study)
    assert "only get more" in said(run("state", study, "--places", "10"))
    assert ("PATCH", "/studies/study1/") not in there.asked
    assert json.loads(run("state", study, "--places", "30", "--yes", "--json").output)["places"] == 30
    with Prolific() as direct, pytest.raises(ProlificError, match="only be increased"):
        direct.set_places("study1", 10)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"pay": 4.0}, "USD 8.00"),
        ({"currency": "EUR"}, "GBP 6.00 or USD 8.00"),
        ({"currency": "GBP"}, "pays in USD"),
        ({"toml": TOML.replace('"prolific"', '"connect"')}, "platform.name"),
        ({"address": "http://study.example.org"}, "https://"),
        ({"token": ""}, "PROLIFIC_TOKEN"),
        ({"token": "two words"}, "no token"),
        ({"token": "another"}, "401"),
    ],
)
def test_a_study_that_prolific_would_not_take_is_refused_in_a_sentence(
    there: prolific_server.Prolific,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    change: dict[str, Any],
    sentence: str,
) -> None:
    """Wrong pay, currency, platform, address or token is refused, and no study is recorded."""
    known: dict[str, Any] = {"items": bakers(8), "checks": bakers(6, "miller"), "contact": "a@example.org", "pay": 12.0}
    known |= {name: value for name, value in change.items() if name in ("pay", "currency")}
    made = create(tmp_path / "study", kind="validate-cats", **known)
    (made.folder / "study.toml").write_text(change.get("toml", TOML))
    monkeypatch.setenv(client.TOKEN, change.get("token", TOKEN))
    done = run("create", made, "--address", change.get("address", ADDRESS))
    assert isinstance(done.exception, ValueError)
    assert sentence in said(done)
    assert not Journal(made).has_study()


def test_a_storm_of_429_is_waited_out_and_the_token_appears_nowhere(
    there: prolific_server.Prolific, study: Study, caplog: pytest.LogCaptureFixture
) -> None:
    """Five refusals are retried, ten end with an error; the token does not appear even if the server's errors repeat
    it.
    """
    caplog.set_level(logging.DEBUG)
    there.busy = 5
    published(study)
    there.busy = 10
    done = run("state", study, "pause")
    assert "429" in said(done)
    assert "wait" in said(done)
    there.busy = 0
    refused = run("state", study, "start")
    assert "409" in said(refused)
    files = [path.read_bytes() for path in study.folder.rglob("*") if path.is_file()]
    assert TOKEN not in said(done) + said(refused) + caplog.text
    assert not [content for content in files if TOKEN.encode() in content]


def worked(study: Study, there: prolific_server.Prolific) -> None:
    """One person did all, one failed two checks, one is at work, one is unknown, one used a foreign name."""
    people = {"all": (10, 3, True), "fails": (10, 0, False), "works": (2, 3, False), "forged": (10, 3, True)}
    come(study, Rules(session=10, first=3, check_every=4), people)
    for name, status in (("all", "AWAITING REVIEW"), ("fails", "AWAITING REVIEW"), ("works", "ACTIVE")):
        there.hand_in(f"S-{name}", f"PID-{name}", status)
    there.hand_in("S-nowhere", "PID-nowhere")
    there.hand_in("S-forged", "PID-another")


def test_submissions_are_settled_by_what_people_did_here(there: prolific_server.Prolific, study: Study) -> None:
    """Complete work is approved; failed checks lead to a return request and pay for the work; mismatches are left."""
    published(study)
    worked(study, there)
    shown = json.loads(run("settle", study, "--json").output)
    assert (shown["approve"], shown["ask_return"], shown["reject"], shown["bonus"]) == (["S-all"], ["S-fails"], [], {})
    assert set(shown["left"]) == {"S-nowhere", "S-forged"}
    assert not there.messages
    done = run("settle", study, "--yes")
    assert done.exit_code == 0, said(done)
    assert there.messages[0][0] == "S-fails"
    assert json.loads(run("state", study, "--json").output)["submissions"]["APPROVED"] == 1
    assert json.loads(run("settle", study, "--json").output)["ask_return"] == []  # one request is enough
    there.submissions["S-fails"]["status"] = "RETURNED"
    done = run("settle", study, "--yes")
    assert done.exit_code == 0, said(done)
    assert there.paid["S-fails"] in range(10, 100, 10)
    assert json.loads(run("settle", study, "--json").output)["bonus"] == {}
    assert [name for name, times in there.times.items() if times != 1] == []
    verdict = check_study(study.folder)
    assert verdict
    assert verdict.right


def test_only_who_failed_the_checks_and_was_asked_before_is_rejected(
    there: prolific_server.Prolific, study: Study
) -> None:
    """Prolific requires 100 characters and a category; a message of 99 is not sent."""
    published(study)
    worked(study, there)
    assert json.loads(run("settle", study, "--reject", "--json").output)["reject"] == []
    run("settle", study, "--yes")
    assert json.loads(run("settle", study, "--reject", "--json").output)["reject"] == ["S-fails"]
    assert run("settle", study, "--reject", "--yes").exit_code == 0
    assert there.submissions["S-fails"]["status"] == "REJECTED"
    with Prolific() as direct, pytest.raises(ValueError, match="99 characters"):
        direct.reject("S-fails", "x" * 99)


def test_one_failed_check_in_a_long_study_is_left_to_the_owner(there: prolific_server.Prolific, study: Study) -> None:
    """For studies of five minutes or more Prolific requires two failed checks, whatever study.toml says."""
    published(study)
    come(study, Rules(session=10, first=3, check_every=4, fail_after=1), {"fails": (10, 0, False)})
    there.hand_in("S-fails", "PID-fails")
    shown = json.loads(run("settle", study, "--json").output)
    assert shown["ask_return"] == []
    assert "2" in shown["left"]["S-fails"]


@pytest.mark.parametrize(
    "rules", [Rules(fast=9.0, fast_limit=2), Rules(session=10, first=3, check_every=4, pause=True)]
)
def test_who_was_paused_is_never_asked_for_a_return_and_is_paid_once_returned(
    rules: Rules, there: prolific_server.Prolific, study: Study
) -> None:
    """Paused people are left to the owner while the submission awaits review, then get a bonus for their tasks."""
    published(study)
    come(study, rules, {"paused": (10, 0, False)})
    there.hand_in("S-paused", "PID-paused")
    shown = json.loads(run("settle", study, "--reject", "--json").output)
    assert (shown["approve"], shown["ask_return"], shown["reject"], shown["bonus"]) == ([], [], [], {})
    assert "paused" in shown["left"]["S-paused"]
    there.submissions["S-paused"]["status"] = "RETURNED"
    assert json.loads(run("settle", study, "--json").output)["bonus"]["S-paused"] > 0


def test_what_changed_meanwhile_does_not_stop_the_rest(
    there: prolific_server.Prolific, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When a person returns between the list and the request, the others are still settled."""
    published(study)
    come(study, Rules(session=10, first=3, check_every=4), {"one": (10, 0, False), "two": (10, 0, False)})
    for name in ("one", "two"):
        there.hand_in(f"S-{name}", f"PID-{name}")
    act = Prolific.ask_return

    def late(self: Prolific, submission: str, reason: str) -> None:
        there.submissions["S-one"]["status"] = "RETURNED"
        act(self, submission, reason)

    monkeypatch.setattr(Prolific, "ask_return", late)
    done = run("settle", study, "--yes")
    assert done.exit_code == 0, said(done)
    assert [submission for submission, _ in there.messages] == ["S-two"]


def returned(there: prolific_server.Prolific, study: Study, count: int) -> dict[str, int]:
    """So many people fail the checks and return. Returns the cents owed to each."""
    published(study)
    names = [f"p{n:03}" for n in range(count)]
    come(study, Rules(session=10, first=3, check_every=4), dict.fromkeys(names, (10, 0, False)))
    for name in names:
        there.hand_in(f"S-{name}", f"PID-{name}", "RETURNED")
    owed: dict[str, int] = json.loads(run("settle", study, "--json").output)["bonus"]
    assert len(owed) == count
    return owed


def test_a_study_and_its_copy_pay_a_bonus_once(there: prolific_server.Prolific, study: Study, tmp_path: Path) -> None:
    """The copy was made before the payment; Prolific's record of the submission shows the paid bonus."""
    owed = returned(there, study, 3)
    backup(study, tmp_path / "copy")
    for folder in (study.folder, tmp_path / "copy"):
        done = run("settle", open_study(folder), "--yes")
        assert done.exit_code == 0, said(done)
    assert there.paid == owed
    assert set(there.times.values()) == {1}
    shown = json.loads(run("settle", open_study(tmp_path / "copy"), "--json").output)
    assert shown["bonus"] == {}
    assert {why.split(" for ")[0] for why in shown["left"].values()} == {"Prolific has paid bonuses"}


def test_no_bonus_is_paid_where_prolific_does_not_say_what_it_paid(
    there: prolific_server.Prolific, study: Study
) -> None:
    """Without the field it is unknown whether a copy of the study has paid."""
    returned(there, study, 1)
    there.alters["/submissions/S-p000/"] = {"bonus_payments": None}
    done = run("settle", study, "--yes")
    assert done.exit_code
    assert "another form than documented" in said(done)
    assert not there.paid


@pytest.mark.parametrize("where", ["", "-"])
def test_a_payment_whose_reply_was_lost_is_made_once(there: prolific_server.Prolific, study: Study, where: str) -> None:
    """200 people are owed a bonus. After a lost reply the second run asks the owner; then each is paid once."""
    owed = returned(there, study, 200)
    there.lose = f"{where}/bulk-bonus-payments/bonus1/pay/"
    assert "lost" in said(run("settle", study, "--yes"))
    for _ in range(2):
        again = run("settle", study, "--yes")
        assert again.exit_code
        assert "--lost-payment" in said(again)
    assert sum(path.endswith("/pay/") for _, path in there.asked) == 1
    done = run("settle", study, "--yes", "--lost-payment", "unpaid" if where else "paid")
    assert done.exit_code == 0, said(done)
    run("settle", study, "--yes")
    assert there.paid == owed
    assert set(there.times.values()) == {1}


def test_a_kill_between_the_note_and_the_payment_asks_the_owner(
    there: prolific_server.Prolific, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A payment that was recorded but never sent is not sent by the next run either."""
    returned(there, study, 2)

    def killed(self: Prolific, payment: str) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Prolific, "pay_bonuses", killed)
        run("settle", study, "--yes")
    assert "--lost-payment" in said(run("settle", study, "--yes"))
    assert not there.paid


def test_a_payment_that_prolific_refuses_or_misreads_is_not_made(there: prolific_server.Prolific, study: Study) -> None:
    """Bonuses set up with another sum than owed are not paid; the next run retries a refused payment."""
    owed = returned(there, study, 2)
    set_up = "/submissions/bonus-payments/"
    there.alters[set_up] = {"id": "bonus1", "amount": 100.0 * sum(owed.values())}
    assert "none was paid" in said(run("settle", study, "--yes"))
    there.alters[set_up] = {"id": "nowhere", "amount": float(sum(owed.values()))}
    assert "404" in said(run("settle", study, "--yes"))
    assert not there.paid
    there.alters.clear()
    assert run("settle", study, "--yes").exit_code == 0
    assert there.paid == owed


def test_answers_of_another_form_are_sentences(there: prolific_server.Prolific, study: Study) -> None:
    """A changed API leads to an error without a traceback."""
    there.alters["/study-cost-calculator/"] = {"cost": 12}
    done = run("create", study, "--address", ADDRESS)
    assert isinstance(done.exception, ProlificError)
    assert "total_cost" in said(done)


def test_who_may_take_part_is_asked_of_prolific_and_told_in_the_statement(
    there: prolific_server.Prolific, study: Study
) -> None:
    """Countries use Prolific's own ids, approvals are ranges, beside the other filters; the statement has the words."""
    wanted = 'countries = { US = "United States" }\napproval_rate = 95\napproved_tasks = 100\n'
    (study.folder / "study.toml").write_text(TOML + wanted)
    assert run("create", study, "--address", ADDRESS).exit_code == 0
    assert there.studies["study1"]["filters"][1:] == [
        {"filter_id": "current-country-of-residence", "selected_values": ["1"]},
        {"filter_id": "approval_rate", "selected_range": {"lower": 95, "upper": 100}},
        {"filter_id": "approval_numbers", "selected_range": {"lower": 100, "upper": 10000}},
    ]
    words = "living in United States, 95 % or more of earlier tasks approved, 100 or more tasks approved"
    assert work_of(study).screened == words


def test_a_country_or_filter_that_prolific_lacks_makes_no_draft(
    there: prolific_server.Prolific, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An unknown country, or a filter that Prolific no longer offers, is refused before a draft exists."""
    (study.folder / "study.toml").write_text(TOML + 'countries = { ZZ = "Dravia" }\n')
    assert "'Dravia'" in said(run("create", study, "--address", ADDRESS))
    (study.folder / "study.toml").write_text(TOML + "approved_tasks = 100\n")
    monkeypatch.setattr(prolific_server, "FILTERS", prolific_server.FILTERS[:2])
    assert "approval_numbers" in said(run("create", study, "--address", ADDRESS))
    assert not there.studies


@pytest.mark.parametrize(
    ("name", "more", "found"),
    [
        ("prolific", 'countries = { usa = "United States" }', "platform.countries.usa"),
        ("prolific", "approval_rate = 101", "platform.approval_rate = 101"),
        ("prolific", "approved_tasks = 0", "platform.approved_tasks = 0"),
        ("connect", "approval_rate = 95", "'connect'"),
    ],
)
def test_what_no_platform_checks_is_refused(name: str, more: str, found: str, study: Study) -> None:
    """A requirement that a data statement would print but no platform checks is an error."""
    (study.folder / "study.toml").write_text(TOML.replace('"prolific"', f'"{name}"') + more)
    with pytest.raises(BadInput, match=found):
        settings.read(study)


def test_mechanical_turk_gets_the_same_as_qualifications(study: Study) -> None:
    """Ids of the system qualifications; above 97 % is 98 % or more, since the qualification is a whole number."""
    chosen = Screening(countries={"US": "United States"}, approval_rate=98, approved_tasks=100)
    guarded = {"ActionsGuarded": "DiscoverPreviewAndAccept"}
    least = {"Comparator": "GreaterThanOrEqualTo"} | guarded
    assert chosen.on_mturk() == [
        {"QualificationTypeId": "00000000000000000071", "Comparator": "EqualTo", "LocaleValues": [{"Country": "US"}]}
        | guarded,
        {"QualificationTypeId": "000000000000000000L0", "IntegerValues": [98]} | least,
        {"QualificationTypeId": "00000000000000000040", "IntegerValues": [100]} | least,
    ]
    two = Screening(countries={"US": "United States", "GB": "United Kingdom"})
    assert two.on_mturk()[0]["Comparator"] == "In"
    (study.folder / "study.toml").write_text('[platform]\nname = "mturk"\napproval_rate = 98\n')
    with service.serving(study, "127.0.0.1", 0, "http://127.0.0.1:1", owner="off") as server:
        assert any("000000000000000000L0" in line for line in server.says)


def test_the_study_after_a_pilot_is_shown_to_nobody_of_the_pilot(
    there: prolific_server.Prolific, study: Study, tmp_path: Path
) -> None:
    """The filter names the pilot's study on Prolific, beside the filters of study.toml."""
    published(study)
    known: dict[str, Any] = {"items": bakers(8), "checks": bakers(6, "miller"), "contact": "a@example.org", "pay": 12.0}
    main = create(tmp_path / "main", kind="validate-cats", after_pilot=study.folder, **known)
    (main.folder / "study.toml").write_text(TOML)
    assert run("create", main, "--address", ADDRESS).exit_code == 0
    filters = there.studies["study2"]["filters"]
    assert filters[1:] == [{"filter_id": "previous_studies_blocklist", "selected_values": ["study1"]}]
