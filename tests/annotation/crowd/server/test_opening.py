"""Tests of opening a study to other machines: HTTPS alone, and no server with wrong settings."""

import re
from pathlib import Path

import httpx
import pytest
from helpers.records import bakers
from helpers.servers.crowd_server import opened, study_in
from typer.testing import CliRunner

from catsofa.annotation.study import Study, create
from catsofa.cli import app
from catsofa.data.files import BadInput

pytestmark = pytest.mark.usefixtures("quick")


def test_behind_https_cookies_are_secure_and_only_the_public_name_is_answered(study: Study) -> None:
    """`--address https://…` sets a __Host- cookie and HSTS, and refuses other hosts."""
    with opened(study, "https://study.example.org") as address:
        browser = httpx.Client(
            base_url=address,
            trust_env=False,
            headers={"Host": "study.example.org", "Origin": "https://study.example.org"},
        )
        form = {"PROLIFIC_PID": "P", "SESSION_ID": "S", "agree": "yes", "age": "yes"}
        answer = browser.post("/consent", data=form)
        cookie = answer.headers["set-cookie"]
        assert all(part in cookie for part in ("__Host-seat=", "Secure", "HttpOnly", "SameSite=lax", "Path=/"))
        assert "max-age" in answer.headers["strict-transport-security"]
        assert browser.get("/", headers={"Host": address.removeprefix("http://")}).status_code == 421


@pytest.mark.parametrize(
    ("toml", "found"),
    [
        ("[quality]\nevery = 3", "an unknown key quality.every"),
        ("[pay]\nx = 1", "'pay'"),
        ("[quality]\nfirst = 0", "quality.first = 0"),
        ('[platform]\nname = "clickworker"', "platform.name"),
        ('[platform]\nname = "prolific"', "no platform.codes.completed"),
        ('[platform]\nname = "prolific"\ncodes = {done = "X"}', "a code for 'done'"),
        ('[ethics]\nconsent = "missing.md"', "no such file"),
        ('[people]\nsame_as = "../nowhere"', "no such file"),
        ("[people]\nsession = ", "no TOML"),
    ],
)
def test_settings_that_are_wrong_are_refused_by_name(toml: str, found: str, tmp_path: Path) -> None:
    """Wrong settings are refused before anybody can arrive."""
    with pytest.raises(BadInput, match=re.escape(found)), opened(study_in(tmp_path, toml)):
        pass


def test_a_study_that_cannot_be_opened_says_why(tmp_path: Path) -> None:
    """No contact, too few checks, no HTTPS for other machines, or a second server end with one error and
    exit code 2.
    """
    study = study_in(tmp_path, "[people]\nsession = 200\n", items=bakers(60), gold=(), checks=bakers(3, "miller"))
    without = create(tmp_path / "other", kind="validate-cats", items=bakers(1))
    for arguments, found in (
        ([str(without.folder)], "--contact"),
        ([str(study.folder)], "3 checks"),
        ([str(study.folder), "--host", "0.0.0.0"], "--address https://"),
        ([str(study.folder), "--address", "study.example.org"], "no address of a server"),
    ):
        shown = CliRunner().invoke(app, ["annotate", "open", *arguments])
        assert shown.exit_code != 0
        assert found in str(shown.exception)
    (study.folder / "study.toml").write_text("[people]\nminimum_age = 21\n")
    with opened(study), pytest.raises(ValueError, match="another process serves"), opened(study):
        pass
