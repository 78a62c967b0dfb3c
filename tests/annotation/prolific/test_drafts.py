"""Tests of a study on a simulated Prolific: the draft, its cost, its state and its places."""

import json
import logging
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from helpers.annotation.prolific_commands import ADDRESS, TOML, published, run, said
from helpers.records import bakers
from helpers.servers import prolific_server
from helpers.servers.prolific_server import TOKEN
from typer.testing import CliRunner

from catsofa.annotation.prolific import client
from catsofa.annotation.prolific.client import Prolific, ProlificError
from catsofa.annotation.prolific.journal import Journal
from catsofa.annotation.study import Study, create
from catsofa.cli import app


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


def test_answers_of_another_form_are_sentences(there: prolific_server.Prolific, study: Study) -> None:
    """A changed API leads to an error without a traceback."""
    there.alters["/study-cost-calculator/"] = {"cost": 12}
    done = run("create", study, "--address", ADDRESS)
    assert isinstance(done.exception, ProlificError)
    assert "total_cost" in said(done)
