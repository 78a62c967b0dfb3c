"""Tests of an open study's pages in Chromium: a phone by touch, a screen by keyboard, every kind of task."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from helpers.annotation.work_pages import LINK, TOML, agree
from helpers.browser import PATIENCE, new_page, shot
from helpers.records import bakers, paraphrased, probes, terms
from helpers.servers.crowd_server import Visitor, opened, shown_truth

from catsofa.annotation.crowd import home
from catsofa.annotation.crowd.people.background import Background
from catsofa.annotation.results import answers
from catsofa.annotation.results.answers import Raw
from catsofa.annotation.study import Study, create, open_study, rows
from catsofa.data.files.jsonl import read
from catsofa.data.records import LABELS, Association, Cat, Term

pytestmark = [pytest.mark.browser, pytest.mark.slow]
ASK = """fetch("/next", {method: "POST", headers: {"Content-Type": "application/json"}, body: "{}"})
    .then((answer) => answer.json())"""


@pytest.fixture
def phone(browser: Any) -> Iterator[Any]:
    """Opens a page on a phone with a touch screen."""
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    context.set_default_timeout(PATIENCE)
    yield context.new_page()
    context.close()


def test_somebody_works_on_a_phone_by_touch(study: Study, address: str, phone: Any) -> None:
    """Consent with a tick, five tasks, the code and the way back work by touch, and nothing is wider
    than the screen.
    """
    phone.goto(address + LINK)
    phone.get_by_text("Example University (ethics protocol 2027-014)").wait_for()
    phone.get_by_label("I am 18 or older").tap()
    phone.get_by_role("button", name="I have read this and agree").tap()
    for place in range(1, 6):
        phone.get_by_text(f"{place} of 5").wait_for()
        if place == 1:
            phone.get_by_role("button", name="Submit").tap()
            phone.get_by_text("Please answer what is marked").wait_for()
        assert phone.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        for question in (1, 2, 3):
            phone.locator(f"[data-question=label_{question}]").get_by_text("unrelated").tap()
        with phone.expect_response("**/next"):
            phone.get_by_role("button", name="Submit").tap()
    back = phone.get_by_role("link", name="Back to Prolific")
    back.wait_for()
    assert back.get_attribute("href") == "https://app.prolific.com/submissions/complete?cc=DONE1"
    assert phone.get_by_text("Nobody said them.").is_visible()
    phone.goto(address + "/work")
    phone.get_by_text("You answered 5 tasks").wait_for()
    home.pull(study)
    assert {a.label for a in answers.annotations(study)} == {"unrelated"}
    assert len(list(rows.read(study.folder / "raw.jsonl", Raw))) == 5


def test_somebody_works_by_keyboard_and_no_page_has_a_barrier(study: Study, address: str, browser: Any) -> None:
    """Number keys and Enter give the right answers; every page passes axe on a screen and a phone, light and dark."""
    truth = shown_truth(study)
    with new_page(browser) as page:
        page.goto(address + LINK)
        shot(page, "work-consent")
        page.get_by_label("I am 18 or older").press("Space")
        page.get_by_role("button", name="I have read this and agree").press("Enter")
        for place in range(1, 6):
            page.get_by_text(f"{place} of 5").wait_for()
            page.wait_for_timeout(300)  # the server refuses a burst of requests, as nobody works so fast
            shown = page.evaluate(ASK)["task"]
            for question, label in enumerate(truth(shown).values()):
                place_of = ("stereotype", "anti-stereotype", "unrelated").index(label)
                page.keyboard.press(str(1 + 3 * question + place_of))
            if place == 2:
                shot(page, "work-answered")
            with page.expect_response("**/answer"):
                page.keyboard.press("Enter")
        page.get_by_role("link", name="Back to Prolific").wait_for()
        shot(page, "work-done")
        page.get_by_text("Withdraw", exact=True).press("Enter")
        page.get_by_label("Delete my answers").press("Space")
        page.locator("details").get_by_role("button", name="Continue").press("Enter")
        page.get_by_text("Your answers are deleted").wait_for()
        shot(page, "work-withdrawn")


def test_questions_about_people_are_answered_by_finger_and_by_keyboard(study: Study, phone: Any, browser: Any) -> None:
    """All five questions are answered on a phone, and three by keyboard; the page has no barrier, and work follows."""
    names = ["age_band", "gender", "country", "first_language", "relation_to_target"]
    (study.folder / "study.toml").write_text(f"{TOML}[questionnaire]\nbundled = {names}\n")
    with opened(study) as address, new_page(browser) as page:
        agree(page, address)
        page.get_by_role("heading", name="About you").wait_for()
        shot(page, "work-about-you")
        page.get_by_label("25–34").press("Space")
        page.get_by_label("In which country").press("F")
        page.get_by_label("no, but somebody close to me does").press("Space")
        page.get_by_role("button", name="Continue").press("Enter")
        page.get_by_text("1 of 5").wait_for()
        phone.goto(address + LINK.replace("1", "2"))
        phone.get_by_label("I am 18 or older").tap()
        phone.get_by_role("button", name="I have read this and agree").tap()
        phone.get_by_text("non-binary").tap()
        assert phone.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        phone.get_by_role("button", name="Continue").tap()
        phone.get_by_text("1 of 5").wait_for()
        with home.reading(study.folder, home.identity(study.settings.secret)) as held:
            people = [row["name"] for row in held.all("SELECT name FROM person ORDER BY number")]
    silent = "prefer not to say"
    assert [list(each.values()) for each in Background(study).said(people).values()] == [
        ["25–34", silent, "Fiji", silent, "no, but somebody close to me does"],
        [silent, "non-binary", silent, silent, silent],
    ]


def test_notes_stand_beside_a_text_while_it_is_written(tmp_path: Path, browser: Any) -> None:
    """A missing target is noted while the next text is written; only texts that pull accepts are accepted."""
    made = create(tmp_path / "w", kind="write-intrasentence", items=terms(1), overlap=1, contact="a@example.org")
    (made.folder / "study.toml").write_text(TOML.replace('debriefing = "after.txt"', ""))
    with opened(made) as address, new_page(browser) as page:
        agree(page, address)
        page.get_by_text("1 of 1").wait_for()
        page.keyboard.type("They are BLANK.")
        page.get_by_text("does not name the target").wait_for()
        shot(page, "work-notes")
        for text in ("early", "late", "cubic"):
            page.keyboard.press("Enter")
            page.keyboard.type(text)
        page.keyboard.press("Enter")
        page.get_by_role("alert").get_by_text("does not name the target").wait_for()
        page.get_by_role("textbox", name="context").fill("The baker is BLANK.")
        page.keyboard.press("Enter")
        page.get_by_role("link", name="Back to Prolific").wait_for()
    assert home.pull(made).records == 1


@pytest.mark.parametrize(
    ("kind", "items", "keys", "told"),
    [
        ("validate-cats", bakers(1, writer="ls-7"), "159", {"stereotype", "anti-stereotype", "unrelated"}),
        ("review-paraphrases", paraphrased(1), "146", {"same", "incorrect", "not about it"}),
        ("judge-probes", probes(1), "24", {"implausible", "a little"}),
        ("judge-associations", [Association(identity="Zorbs", attribute="tidy")], "35", {"unsure", "a little"}),
    ],
)
def test_nothing_tells_and_every_kind_can_be_judged(
    kind: str, items: list[Any], keys: str, told: set[str], tmp_path: Path, browser: Any
) -> None:
    """Page and task contain no id, label, bias type or writer of an item; the chosen labels are pulled."""
    made = create(tmp_path / "k", kind=kind, items=items, overlap=1, contact="a@example.org")
    (made.folder / "study.toml").write_text(TOML.replace('debriefing = "after.txt"', ""))
    ids = [made.settings.secret, *made.items, *(c.id for item in items for c in getattr(item, "candidates", ()))]
    with opened(made) as address, new_page(browser) as page:
        page.goto(address + LINK)
        page.get_by_label("I am 18 or older").check()
        with page.expect_response("**/next") as came:
            page.get_by_role("button", name="I have read this and agree").click()
        page.get_by_text("1 of 1").wait_for()
        source = page.content() + came.value.text()
        assert not any(word in source for word in (*ids, "profession", "ls-7", '"gold"'))
        assert not set(LABELS) & set(came.value.json()["task"].values())
        page.get_by_role("button", name="Submit").press("Enter")
        shot(page, f"work-{kind}-missing")
        for key in keys:
            page.keyboard.press(key)
        assert not page.locator(".missing").count()
        page.keyboard.press("Enter")
        page.get_by_role("link", name="Back to Prolific").wait_for()
    home.pull(made)
    assert {a.label for a in answers.annotations(made)} == told


@pytest.mark.parametrize(
    ("kind", "texts", "context"),
    [
        ("write-intrasentence", ("early", "late", "cubic"), "The {} is very BLANK."),
        (
            "write-intersentence",
            ("They are up early.", "They sleep until noon.", "The lake is frozen."),
            "We met a {}.",
        ),
    ],
)
def test_people_write_by_keyboard(
    kind: str, texts: tuple[str, ...], context: str, tmp_path: Path, browser: Any
) -> None:
    """Enter moves to the next missing text and submits only at the end, as the instructions say."""
    made = create(tmp_path / "w", kind=kind, items=terms(1), overlap=1, contact="a@example.org")
    (made.folder / "study.toml").write_text(TOML.replace('debriefing = "after.txt"', ""))
    with opened(made) as address, new_page(browser) as page:
        agree(page, address)
        page.get_by_text("1 of 1").wait_for()
        for text in (context.format("baker"), *texts):
            assert not page.get_by_text("Please answer what is marked").is_visible()
            page.keyboard.type(text)
            page.keyboard.press("Enter")
        page.get_by_role("link", name="Back to Prolific").wait_for()
    home.pull(made)
    (draft,) = read(made.folder / "drafts.jsonl", Cat)
    assert draft.context == context.format("baker")
    said = tuple(draft[label].fill or draft[label].text for label in ("stereotype", "anti-stereotype", "unrelated"))
    assert said == texts


def test_people_write_and_judge_on_a_phone(tmp_path: Path, phone: Any) -> None:
    """The page changes between the two kinds of task; nearly the same text by another person is shown."""
    targets = [Term(category="origin", term=name, region="Pellora") for name in ("Dravians", "Zorbs")]
    made = create(tmp_path / "w", kind="write-and-judge-associations", items=targets, overlap=1, contact="a@b.example")
    (made.folder / "study.toml").write_text(TOML.replace('debriefing = "after.txt"', "[people]\nsession = 5"))
    with opened(made) as address:
        for name in ("ANA", "BEN"):
            other = Visitor(address, name)
            other.come()
            task = other.next()
            other.post("/answer", {"nonce": task["nonce"], "answers": {"attribute": f"hard-working {name}"}})
            if name == "ANA":
                about = task["task"]["target"]
        agree(phone, address)
        phone.get_by_text("1 of 5").wait_for()
        while phone.get_by_text(about).count() == 0:
            phone.get_by_role("button", name="Skip").tap()
            phone.wait_for_timeout(300)
        phone.get_by_text("Write in this language: English").wait_for()
        phone.get_by_role("textbox").fill("hardworking ana")
        phone.get_by_text("which is nearly the same").wait_for()
        assert phone.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        shot(phone, "work-write")
        phone.get_by_role("textbox").fill("fond of soup")
        phone.get_by_role("button", name="Submit").tap()
        phone.get_by_text("5 of 5").wait_for()
        phone.get_by_text("Do people in Pellora make this association?").wait_for()
        assert phone.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        shot(phone, "work-judge")
        phone.locator("[data-question=association]").get_by_text("yes").tap()
        phone.locator("[data-question=severity]").get_by_text("a little").tap()
        phone.get_by_role("button", name="Submit").tap()
        phone.get_by_role("link", name="Back to Prolific").wait_for()
    home.pull(made)
    assert {text.attribute for text in read(made.folder / "drafts.jsonl", Association)} >= {"fond of soup"}
    assert {a.label for a in answers.annotations(open_study(made.folder))} == {"yes", "a little"}
