"""Tests of breaks and the daily limit in Chromium, on a phone and by keyboard."""

from pathlib import Path
from typing import Any

import pytest
from helpers.browser import new_page, shot
from helpers.records import bakers
from helpers.servers.crowd_server import opened

from catsofa.annotation.crowd import seats
from catsofa.annotation.study import create

pytestmark = [pytest.mark.browser, pytest.mark.slow]
LINK = "/?PROLIFIC_PID=P1&SESSION_ID=S1"
TOML = """
[people]
break_every = 1
minutes_a_day = 5
[ethics]
institution = "Example University"
legal_basis = "consent"
withdraw_until = 2099-06-30
helpline = ["Pellora: 116 000, day and night"]
[platform]
name = "prolific"
codes = { completed = "DONE1" }
"""


@pytest.mark.parametrize("language", ["English", "de"])
def test_somebody_rests_goes_on_and_stops_at_the_limit(
    language: str, browser: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The break waits for its button, also after a reload, and comes once; at the limit only stopping is offered."""
    study = create(
        tmp_path / "s", kind="validate-cats", items=bakers(4), overlap=1, contact="a@example.org", language=language
    )
    (study.folder / "study.toml").write_text(TOML)
    with opened(study) as address, new_page(browser) as page:
        page.goto(address + LINK)
        shot(page, f"promises-{language}")
        page.locator("#age").check()
        page.locator("#consent .main").click()
        page.locator("#place").get_by_text("4").wait_for()
        page.keyboard.type("147")
        page.keyboard.press("Enter")
        page.locator("#rest").wait_for()
        page.get_by_text("Pellora: 116 000").last.wait_for()
        shot(page, f"break-{language}")
        assert page.locator("#work").is_hidden()
        page.reload()
        page.locator("#rest").wait_for()
        page.locator("#enough").click()
        page.locator("#stay").click()
        page.locator("#onwards").click()
        page.locator("#work").wait_for()
        assert page.locator("#resting").is_hidden()
        page.reload()
        page.locator("#work").wait_for()
        monkeypatch.setattr(seats, "free_again", lambda *_: 4e9)
        page.keyboard.type("147")
        page.keyboard.press("Enter")
        page.locator("#rest").get_by_text("24").wait_for()
        shot(page, f"limit-{language}")
        assert page.locator("#onwards").is_hidden()
        page.locator("#enough").click()
        shot(page, f"limit-stop-{language}")
        page.locator("#leaving .main").click()
        page.get_by_text("DONE1").wait_for()
        page.get_by_text("Pellora: 116 000").wait_for()
