"""Tests of the owner's page in Chromium: on a phone by touch, on a screen, in light and dark."""

from pathlib import Path
from typing import Any

import pytest
from helpers.browser import PATIENCE, new_page, resize, shot
from helpers.records import bakers
from helpers.servers.crowd_server import Visitor, opened, shown_truth

from catsofa.annotation.crowd.owner import suspicion
from catsofa.annotation.study import create
from catsofa.cli.annotate.judging import look

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_the_owner_looks_at_a_study_on_a_phone(tmp_path: Path, browser: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The link signs in and leaves no secret in the address; a person's page is one tap away; no page has a barrier."""
    monkeypatch.setattr(suspicion, "LEAST", 4)
    study = create(
        tmp_path / "s",
        kind="validate-cats",
        items=bakers(6),
        gold=bakers(1, "florist"),
        checks=bakers(2, "miller"),
        overlap=3,
        contact="a@example.org",
    )
    (study.folder / "study.toml").write_text('[platform]\nname = "prolific"\ncodes = { completed = "C1" }\n')
    says: list[str] = []
    with opened(study, says=says, look=look) as address:
        truth = shown_truth(study)
        for n in range(4):
            visitor = Visitor(address, f"PID{n}")
            visitor.come()
            visitor.work(shown_truth(study, "none") if n == 1 else truth, 9 if n else 3)
        link = next(line for line in says if "/owner#" in line).rpartition(" ")[2]
        with new_page(browser) as page:
            page.goto(f"{address}/owner")
            page.get_by_label("Secret").wait_for()
            shot(page, "owner-login")
        context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
        context.set_default_timeout(PATIENCE)
        phone = context.new_page()
        phone.goto(link)
        phone.get_by_text("Items done").wait_for()
        assert phone.url == f"{address}/owner"
        assert phone.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        shot(phone, "owner-overview")
        resize(phone, 390, 844)
        phone.locator("#suspicious a").first.tap()
        phone.get_by_text("Reasons to look").wait_for()
        phone.get_by_label("Reason, which is kept").fill("all checks failed")
        phone.get_by_role("button", name="Set the judgements aside").tap()
        phone.get_by_text("set aside. all checks failed").wait_for()
        shot(phone, "owner-person")
        phone.get_by_role("link", name="Back to the study").tap()
        phone.locator("#gold a").first.tap()
        phone.get_by_text("Show the item").tap()
        phone.get_by_text("The right answer: ").first.wait_for()
        assert phone.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        shot(phone, "owner-gold")
        resize(phone, 390, 844)
        phone.get_by_label("Reason, which is kept").fill("the key is wrong")
        phone.get_by_role("button", name="Retire the item").tap()
        phone.get_by_text("Retired. the key is wrong").wait_for()
        phone.get_by_role("link", name="Back to the study").tap()
        phone.get_by_role("button", name="Sign out").tap()
        phone.get_by_label("Secret").wait_for()
        context.close()


def test_the_owner_decides_an_item_on_a_phone_by_touch_and_by_keyboard(tmp_path: Path, browser: Any) -> None:
    """The text shows only behind the warning; each sentence has its form; after a decision the text stays open."""
    study = create(tmp_path / "s", kind="validate-cats", items=bakers(1), overlap=2, contact="a@example.org")
    (study.folder / "study.toml").write_text('[platform]\nname = "prolific"\ncodes = { completed = "C1" }\n')
    says: list[str] = []
    with opened(study, says=says, look=look) as address:
        for n, judge in enumerate((shown_truth(study), shown_truth(study, "none"))):
            visitor = Visitor(address, f"PID{n}")
            visitor.come()
            visitor.work(judge)
        context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
        context.set_default_timeout(PATIENCE)
        phone = context.new_page()
        phone.goto(next(line for line in says if "/owner#" in line).rpartition(" ")[2])
        phone.locator("#cases a").first.tap()
        cat = next(iter(study.items.values()))
        text = phone.get_by_text(cat.candidates[0].text)
        text.wait_for(state="hidden")
        phone.locator("summary").first.focus()
        phone.keyboard.press("Enter")
        text.wait_for()
        shot(phone, "owner-item")
        resize(phone, 360, 780)
        assert phone.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        region = phone.get_by_role("region", name=cat.candidates[0].text)
        region.get_by_label("anti-stereotype", exact=True).focus()
        phone.keyboard.press("Space")
        region.get_by_label("Why votes do not decide").select_option("people disagree")
        region.get_by_label("Reason, which is kept").focus()
        phone.keyboard.type("widely known")
        phone.keyboard.press("Tab")
        phone.keyboard.type("Ana")
        phone.keyboard.press("Enter")
        phone.get_by_text("Ana: anti-stereotype. people disagree: widely known").wait_for()
        assert text.is_visible()
        assert region.get_by_label("Your name").input_value() == "Ana"
        shot(phone, "owner-item-decided")
        resize(phone, 390, 844)
        region.locator(".who a").first.tap()
        phone.get_by_text("Reasons to look").wait_for()
        context.close()
