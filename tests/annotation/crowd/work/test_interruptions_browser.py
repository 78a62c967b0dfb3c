"""Tests of an open study's pages in Chromium: reload, a lost connection, a page that was left, stopping, waiting."""

from pathlib import Path
from typing import Any

import pytest
from helpers.annotation.work_pages import TOML, agree, answer_first
from helpers.browser import new_page, shot
from helpers.records import bakers
from helpers.servers.crowd_server import Visitor, opened

from catsofa.annotation.crowd import home
from catsofa.annotation.crowd.rules import Rules
from catsofa.annotation.study import Study, create

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_a_reload_and_another_device_keep_the_place_and_what_was_chosen(
    address: str, study: Study, browser: Any
) -> None:
    """With one answer sent and one question filled in, a reload and a second device show the same state."""
    with new_page(browser) as page, new_page(browser) as other:
        answer_first(page, address)
        page.keyboard.press("2")
        page.reload()
        page.get_by_text("2 of 5").wait_for()
        assert page.locator("#task input:checked").input_value() == "anti-stereotype"
        agree(other, address)
        other.get_by_text("2 of 5").wait_for()
        assert other.locator("#task input:checked").input_value() == "anti-stereotype"


def test_a_lost_connection_loses_nothing(address: str, study: Study, browser: Any) -> None:
    """An answer submitted without a connection is sent once when the connection is back, and the next task comes."""
    with new_page(browser) as page:
        agree(page, address)
        page.get_by_text("1 of 5").wait_for()
        page.keyboard.type("159")
        page.context.set_offline(True)
        page.keyboard.press("Enter")
        page.get_by_text("No connection").wait_for()
        page.context.set_offline(False)
        page.get_by_text("2 of 5").wait_for()
    assert home.pull(study).new == 1


def test_what_did_not_reach_the_server_is_there_after_a_reload(address: str, study: Study, browser: Any) -> None:
    """A choice that the server did not store is still there after a reload, and sent on submission."""
    with new_page(browser) as page:
        page.context.route("**/draft", lambda route: route.abort())
        agree(page, address)
        page.get_by_text("1 of 5").wait_for()
        page.keyboard.press("2")
        page.reload()
        page.get_by_text("1 of 5").wait_for()
        assert page.locator("#task input:checked").input_value() == "anti-stereotype"
        page.keyboard.type("159")
        page.keyboard.press("Enter")
        page.get_by_text("2 of 5").wait_for()
        assert page.locator("#task input:checked").count() == 0
        assert page.evaluate("localStorage.length") == 0


def test_a_page_that_was_left_says_when_its_task_goes_to_others(address: str, study: Study, browser: Any) -> None:
    """The warning appears two minutes before the task expires without a connection; with one the server holds it
    longer.
    """
    with new_page(browser) as page:
        page.clock.install()
        agree(page, address)
        page.get_by_text("1 of 5").wait_for()
        title, hold = page.title(), Rules(seconds=study.settings.seconds).hold
        page.context.set_offline(True)
        page.clock.run_for(1000 * (hold - 150))
        assert page.title() == title
        page.clock.run_for(60_000)
        page.get_by_text("This task waits for you until").wait_for()
        assert page.title().startswith("This task waits for you until")
        page.context.set_offline(False)
        page.clock.run_for(61_000)
        page.wait_for_function("title => document.title === title", arg=title)
        assert page.get_by_text("This task waits for you until").count() == 0


def test_who_stops_may_think_better_of_it(address: str, study: Study, browser: Any) -> None:
    """`Stop here` asks first; continuing keeps the begun choice; stopping shows the code."""
    with new_page(browser) as page:
        answer_first(page, address)
        page.keyboard.press("3")
        page.get_by_role("button", name="Stop here").press("Enter")
        page.keyboard.press("1")
        shot(page, "work-stop")
        page.get_by_role("button", name="Go on instead").press("Enter")
        assert page.locator("#task input:checked").input_value() == "unrelated"
        page.get_by_role("button", name="Stop here").press("Enter")
        page.get_by_role("button", name="Stop", exact=True).press("Enter")
        page.get_by_text("You answered 1 task").wait_for()


def test_who_finds_all_tasks_in_other_hands_waits_for_one(tmp_path: Path, browser: Any) -> None:
    """Ana holds one of two tasks; Ben answers the other and waits, and gets hers when she skips it."""
    made = create(tmp_path / "two", kind="validate-cats", items=bakers(2), overlap=1, contact="a@example.org")
    (made.folder / "study.toml").write_text(TOML.replace('debriefing = "after.txt"', ""))
    with opened(made) as address, new_page(browser) as page:
        ana = Visitor(address, "ANA")
        ana.come()
        hers = ana.next()
        agree(page, address)
        page.get_by_text("1 of 2").wait_for()
        page.keyboard.type("159")
        page.keyboard.press("Enter")
        page.get_by_text("Others are at the last tasks").wait_for()
        shot(page, "work-waiting")
        ana.post("/skip", {"nonce": hers["nonce"]})
        page.get_by_text("2 of 2").wait_for()
