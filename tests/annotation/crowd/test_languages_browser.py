"""Tests of the pages of an open study in other languages, on a phone: no text of catsofa stays English."""

from pathlib import Path
from typing import Any

import pytest
from helpers.browser import PATIENCE, resize, shot
from helpers.servers.crowd_server import opened

from catsofa.annotation.study import create, page_language
from catsofa.data.files import toml_files
from catsofa.data.languages import find
from catsofa.data.records import Candidate, Cat, Term

pytestmark = [pytest.mark.browser, pytest.mark.slow]
ENGLISH = toml_files.read(find("en").folder / "interface.toml", "texts")["pages"]
TOML = """
[platform]
name = "prolific"
codes = { completed = "DONE1", no_consent = "NOPE2" }
[ethics]
institution = "Example University"
protocol = "2027-014"
"""
SENTENCES = {
    "es": ("panadero", "El panadero es BLANK.", ("amable", "severo", "verde")),
    "de": ("Bäcker", "Der Bäcker ist BLANK.", ("freundlich", "streng", "grün")),
    "fr": ("boulanger", "Le boulanger est BLANK.", ("aimable", "sévère", "vert")),
    "zh": ("医生", "隔壁的医生很BLANK。", ("友好", "严肃", "绿")),
}


def cats_in(language: str) -> list[Cat]:
    """Returns three CATs."""
    target, context, fills = SENTENCES[language]
    cats = []
    for number in range(3):
        sentence = context if not number else f"{number}. {context}"
        one, two, three = (
            Candidate(text=sentence.replace("BLANK", fill), label=label, fill=fill)
            for fill, label in zip(fills, ("stereotype", "anti-stereotype", "unrelated"), strict=True)
        )
        cats.append(
            Cat(
                kind="intrasentence", bias_type="profession", target=target, context=sentence, language=language,
                candidates=(one, two, three),
            )
        )  # fmt: skip
    return cats


@pytest.mark.parametrize("language", SENTENCES)
def test_somebody_works_in_their_language_on_a_phone(language: str, browser: Any, tmp_path: Path) -> None:
    """Consent, work, stopping, the end and an error are translated, and nothing is wider than the screen."""
    texts, _ = page_language.texts_of(find(language))

    def english(page: Any) -> list[str]:
        text_ = page.evaluate("document.body.innerText")
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        assert page.evaluate("document.documentElement.lang") == language
        return [text for text in ENGLISH if len(text) > 9 and "{" not in text and texts[text] != text and text in text_]

    study = create(
        tmp_path / "s", kind="validate-cats", items=cats_in(language), overlap=1, contact="a@example.org",
        language=language,
    )  # fmt: skip
    (study.folder / "study.toml").write_text(TOML)
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    with opened(study) as address:
        page.goto(address + "/")
        page.get_by_text(texts["Open this page from the link of the study, which says who you are."]).wait_for()
        assert english(page) == []
        page.goto(f"{address}/?PROLIFIC_PID=P1&SESSION_ID=S1")
        page.get_by_label(texts["I am {age} or older"].format(age=18)).wait_for()
        assert english(page) == []
        assert "Example University" in page.evaluate("document.body.innerText")
        shot(page, f"{language}-consent")
        resize(page, 390, 844)
        page.get_by_label(texts["I am {age} or older"].format(age=18)).tap()
        page.get_by_role("button", name=texts["I have read this and agree"]).tap()
        page.get_by_text(texts["{place} of {of}"].format(place=1, of=3)).wait_for()
        page.get_by_role("button", name=texts["Submit"]).tap()
        page.get_by_text(texts["Please answer what is marked, or skip this one."]).wait_for()
        assert english(page) == []
        shot(page, f"{language}-work")
        resize(page, 390, 844)
        for question in (1, 2, 3):
            page.locator(f"[data-question=label_{question}]").get_by_text(texts["unrelated"]).tap()
        page.get_by_role("button", name=texts["Submit"]).tap()
        page.get_by_text(texts["{place} of {of}"].format(place=2, of=3)).wait_for()
        page.get_by_role("button", name=texts["Stop here"]).tap()
        pay_notice = texts["If you stop now, you are paid {pay} of {reward}. After stopping you cannot come back."]
        reward = f"USD {study.settings.cents(3) / 100:.2f}"
        pay_notice = pay_notice.format(pay=reward, reward=reward)
        page.get_by_text(pay_notice).wait_for()
        assert english(page) == []
        page.get_by_role("button", name=texts["Stop"], exact=True).tap()
        page.get_by_text(texts["You answered {done} task."].format(done=1)).wait_for()
        assert english(page) == []
        shot(page, f"{language}-done")
    context.close()


def test_a_note_on_a_text_is_in_the_language_of_the_study(browser: Any, tmp_path: Path) -> None:
    """While somebody writes, the server reports in the study's language what is wrong with a sentence."""
    terms = [
        Term(category="profession", term="医生", language="zh"),
        Term(category="profession", term="老师", language="zh"),
    ]
    study = create(
        tmp_path / "s", kind="write-intrasentence", items=terms, overlap=1, contact="a@example.org", language="zh"
    )
    (study.folder / "study.toml").write_text(TOML)
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    texts, _ = page_language.texts_of(find("zh"))
    with opened(study) as address:
        page.goto(f"{address}/?PROLIFIC_PID=P1&SESSION_ID=S1")
        page.get_by_label(texts["I am {age} or older"].format(age=18)).tap()
        page.get_by_role("button", name=texts["I have read this and agree"]).tap()
        page.locator("[name=context]").fill("有人很高")
        page.get_by_text("提示：句子中有 0 个 BLANK").wait_for()
        page.get_by_text("句子没有提到群体").wait_for()
        shot(page, "zh-note")
    context.close()
