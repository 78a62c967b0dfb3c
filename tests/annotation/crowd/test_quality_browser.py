"""Tests of practice, the pace warning and the ends of a session in Chromium: by keyboard, by touch, in the study's
language.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from helpers.browser import PATIENCE, new_page, shot
from helpers.records import bakers
from helpers.servers.crowd_server import opened

from catsofa.annotation.study import Study, create, page_language
from catsofa.data.files import jsonl, toml_files
from catsofa.data.languages import find

pytestmark = [pytest.mark.browser, pytest.mark.slow]
ENGLISH = toml_files.read(find("en").folder / "interface.toml", "texts")["pages"]
TOML = """
[platform]
name = "prolific"
codes = { completed = "DONE1", failed_practice = "PRAC3", paused = "PAUS4" }
[practice]
file = "practice.jsonl"
[pace]
seconds = 9999
limit = 1
"""
LINK = "/?PROLIFIC_PID=P1&SESSION_ID=S1"


def study_in(folder: Path, language: str = "English") -> Study:
    """Returns a study of three CATs and two practice items in which every answer is too fast."""
    study = create(
        folder / "s", kind="validate-cats", items=bakers(3), overlap=1, contact="a@example.org", language=language
    )
    (study.folder / "study.toml").write_text(TOML)
    taught = [replace(cat, extra={"reason": "Cubic is no trait of a person."}) for cat in bakers(2, "weaver")]
    jsonl.write(taught, study.folder / "practice.jsonl")
    return study


def test_practice_warning_and_pause_by_keyboard(browser: Any, tmp_path: Path) -> None:
    """A wrong practice item shows the right answer and the reason; a right one is confirmed; then one warning, and the
    end.
    """
    with opened(study_in(tmp_path)) as address, new_page(browser) as page:
        page.goto(address + LINK)
        page.get_by_label("I am 18 or older").press("Space")
        page.get_by_role("button", name="I have read this and agree").press("Enter")
        page.get_by_text("Practice 1 of 2").wait_for()
        shot(page, "practice-task")
        page.keyboard.type("147")
        page.keyboard.press("Enter")
        page.get_by_text("Not quite right.").wait_for()
        assert page.get_by_text("The right answer is:").count() == 2
        page.get_by_text("Cubic is no trait").wait_for()
        assert page.evaluate("document.activeElement.id") == "onward"
        shot(page, "practice-wrong")
        page.reload()
        page.get_by_text("Not quite right.").wait_for()
        assert page.locator("#task :checked:disabled").count() == 3
        page.wait_for_function("document.activeElement.id === 'onward'")
        with page.expect_response("**/next") as reply:
            page.keyboard.press("Enter")
        page.get_by_text("Practice 2 of 2").wait_for()
        shown = reply.value.json()["task"]
        for place, word in (("1", " early "), ("2", " late "), ("3", " cubic ")):
            question = next(n for n in (1, 2, 3) if word in shown[f"option_{n}"])
            page.keyboard.press(str(3 * (question - 1) + int(place)))
        page.keyboard.press("Enter")
        page.locator("#verdict").get_by_text("right").wait_for()
        shot(page, "practice-right")
        page.keyboard.press("Enter")
        page.get_by_text("1 of 3", exact=True).wait_for()
        page.keyboard.type("147")
        page.keyboard.press("Enter")
        page.get_by_text("2 of 3", exact=True).wait_for()
        page.get_by_text("Please take your time").wait_for()
        page.reload()
        page.get_by_text("Please take your time").wait_for()
        shot(page, "pace-warning")
        page.keyboard.type("147")
        page.keyboard.press("Enter")
        page.get_by_text("You are paid for the tasks you did.").wait_for()
        page.get_by_text("PAUS4").wait_for()
        shot(page, "pace-paused")


@pytest.mark.parametrize("language", ["es", "de", "fr", "zh"])
def test_who_fails_practice_reads_so_in_their_language_on_a_phone(language: str, browser: Any, tmp_path: Path) -> None:
    """With two wrong items by touch, the answers, the verdict and the last page are translated and fit the screen."""
    texts, _ = page_language.texts_of(find(language))
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    context.set_default_timeout(PATIENCE)
    page = context.new_page()

    def english() -> list[str]:
        text_ = page.evaluate("document.body.innerText")
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        return [text for text in ENGLISH if len(text) > 9 and "{" not in text and texts[text] != text and text in text_]

    with opened(study_in(tmp_path, language)) as address:
        page.goto(address + LINK)
        page.get_by_label(texts["I am {age} or older"].format(age=18)).tap()
        page.get_by_role("button", name=texts["I have read this and agree"]).tap()
        for place in (1, 2):
            page.get_by_text(texts["Practice {place} of {of}"].format(place=place, of=2)).wait_for()
            for question in (1, 2, 3):
                page.locator(f"[data-question=label_{question}]").get_by_text(texts["unrelated"]).tap()
            page.get_by_role("button", name=texts["Submit"]).tap()
            page.get_by_text(texts["Not quite right."]).wait_for()
            answer = texts["The right answer is: {answer}"].format(answer=texts["stereotype"])
            page.get_by_text(answer, exact=True).wait_for()
            assert english() == []
            page.get_by_role("button", name=texts["Continue"]).tap()
        page.get_by_text("PRAC3").wait_for()
        assert english() == []
        shot(page, f"practice-failed-{language}")
    context.close()
