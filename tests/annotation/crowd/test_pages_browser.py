"""The pages for crowds elsewhere in a real browser, by keyboard: warning first, nothing that tells, answers home."""

import csv
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest
from helpers.browser import new_page, shot
from helpers.records import bakers, paraphrased, probes, terms

from catsofa.annotation.crowd.pages import completion_code, export, import_results
from catsofa.annotation.results import answers
from catsofa.annotation.study import Study, create
from catsofa.data.files.jsonl import read
from catsofa.data.records import LABELS, Association, Cat

pytestmark = [pytest.mark.browser, pytest.mark.slow]
ANSWERS = "https://example.org/answers"
PEOPLE = "?PROLIFIC_PID=P1&SESSION_ID=S1"


def results(path: Path, row: dict[str, str]) -> Path:
    """A platform's CSV with one row."""
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(row))
        writer.writeheader()
        writer.writerow(row)
    return path


@pytest.fixture
def prolific(browser: Any) -> Iterator[Any]:
    """A page that asks nobody but the address of the study's own, which fails once and then takes what it is sent."""
    with new_page(browser, ANSWERS) as page:
        page.sent = []

        def answer(route: Any) -> None:
            page.sent.append(route.request.post_data)
            route.fulfill(
                status=503 if len(page.sent) == 1 else 200, body="", headers={"Access-Control-Allow-Origin": "*"}
            )

        page.route(ANSWERS, answer)
        yield page


def only_page(study: Study, out: Path) -> Path:
    """The one page of a study for Prolific."""
    export(study, out, "prolific", submit_to=ANSWERS)
    (page,) = out.glob("*.html")
    return page


def came_home(study: Study, page: Any, folder: Path) -> None:
    """Import what the page sent."""
    import_results(study, results(folder / "answers.csv", {name: v[0] for name, v in parse_qs(page.sent[-1]).items()}))


def test_prolifics_page_is_filled_in_by_keyboard_and_shows_the_code(prolific: Any, tmp_path: Path) -> None:
    """Warning and consent, two items and a gold one, a server that fails once, the code: all by keyboard."""
    page = prolific
    study = create(tmp_path / "study", kind="validate-cats", items=bakers(2), gold=bakers(1, "florist"))
    file = only_page(study, tmp_path / "out")
    page.goto(f"file://{file}")
    page.keyboard.press("Enter")
    page.get_by_text("Open this page from the study's link").wait_for()
    page.goto(f"file://{file}{PEOPLE}")
    shot(page, "prolific-warning")
    said = page.get_by_role("main").inner_text()
    warning, consent, skip = (said.index(w) for w in ("Content warning", "Your consent", "Opting out"))
    assert warning < consent < skip
    assert "Our neighbour, the florist" not in said
    page.keyboard.press("Enter")
    for n in range(3):
        page.get_by_text(f"{n + 1} of 3").wait_for()
        for key in ("1", "5", "9"):
            page.keyboard.press(key)
        page.keyboard.press("Enter")
    page.get_by_role("button", name="Send my answers").wait_for()
    shot(page, "prolific-send")
    code = completion_code(study, list(study.tasks()))
    assert not page.get_by_text(code).is_visible()
    page.keyboard.press("Enter")
    page.get_by_text("could not be sent").wait_for()
    shot(page, "prolific-not-sent")
    page.get_by_role("button", name="Send my answers").press("Enter")
    page.get_by_text(code).wait_for()
    shot(page, "prolific-code")
    came_home(study, page, tmp_path)
    made = list(answers.annotations(study))
    assert {(a.annotator, a.label) for a in made} == {("P1", label) for label in LABELS}
    assert sum("gold" in a.extra for a in made) == 3


def test_who_stops_early_sends_what_they_did_and_may_think_better_of_it(prolific: Any, tmp_path: Path) -> None:
    """Stopping after one of two keeps the choice begun, takes no key meanwhile, and sends the one that was finished."""
    page = prolific
    study = create(tmp_path / "study", kind="validate-cats", items=bakers(2))
    page.goto(f"file://{only_page(study, tmp_path / 'out')}{PEOPLE}")
    page.keyboard.press("Enter")
    stop = page.get_by_role("button", name="Stop here")
    assert not stop.is_visible()
    page.keyboard.type("159")
    page.keyboard.press("Enter")
    page.keyboard.press("2")
    shot(page, "prolific-may-stop")
    stop.press("Enter")
    page.get_by_text("You stopped after 1 of 2").wait_for()
    page.keyboard.press("3")
    shot(page, "prolific-stopped")
    page.get_by_role("button", name="Go on instead").press("Enter")
    assert page.locator("#task input:checked").input_value() == "anti-stereotype"
    stop.press("Enter")
    for _ in range(2):
        page.get_by_role("button", name="Send my answers").press("Enter")
        page.wait_for_function("!document.getElementById('send').disabled || !document.getElementById('code').hidden")
    page.get_by_text(completion_code(study, list(study.tasks()))).wait_for()
    came_home(study, page, tmp_path)
    assert [a.label for a in answers.annotations(study)] == ["stereotype", "anti-stereotype", "unrelated"]


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
def test_people_write_on_a_page_by_keyboard(
    kind: str, texts: tuple[str, ...], context: str, prolific: Any, tmp_path: Path
) -> None:
    """Enter goes on to the next text that is missing and submits only at the end, as the instructions say."""
    study = create(tmp_path / "study", kind=kind, items=terms(1))
    page = prolific
    page.goto(f"file://{only_page(study, tmp_path / 'out')}{PEOPLE}")
    page.keyboard.press("Enter")
    for text in (context.format("baker"), *texts):
        assert not page.get_by_text("Please answer what is marked").is_visible()
        shot(page, kind)
        page.keyboard.type(text)
        page.keyboard.press("Enter")
    for _ in range(2):
        page.get_by_role("button", name="Send my answers").press("Enter")
        page.wait_for_function("!document.getElementById('send').disabled || !document.getElementById('code').hidden")
    page.get_by_text("Your completion code is").wait_for()
    came_home(study, page, tmp_path)
    (draft,) = read(study.folder / "drafts.jsonl", Cat)
    assert draft.context == context.format("baker")
    said = tuple(draft[label].fill or draft[label].text for label in ("stereotype", "anti-stereotype", "unrelated"))
    assert said == texts


@pytest.mark.parametrize(
    ("kind", "items", "keys", "told"),
    [
        ("validate-cats", bakers(1, writer="ls-7"), "159", {"stereotype", "anti-stereotype", "unrelated"}),
        ("review-paraphrases", paraphrased(1), "146", {"same", "incorrect", "not about it"}),
        ("judge-probes", probes(1), "24", {"implausible", "a little"}),
        ("judge-associations", [Association(identity="Zorbs", attribute="tidy")], "35", {"unsure", "a little"}),
    ],
)
def test_no_page_tells_and_every_kind_can_be_judged(
    kind: str, items: list[Any], keys: str, told: set[str], prolific: Any, tmp_path: Path
) -> None:
    """The source holds no id, label, bias type or writer of an item; what the keys choose comes home."""
    study = create(tmp_path / "study", kind=kind, items=items)
    page, file = prolific, only_page(study, tmp_path / "out")
    source = file.read_text()
    ids = [study.settings.secret, *study.items, *(c.id for item in items for c in getattr(item, "candidates", ()))]
    assert not any(word in source for word in (*ids, "profession", "ls-7", '"gold"'))
    (shown,) = json.loads(re.search(r'id="tasks">(.*)</script>', source)[1])  # type: ignore[index]
    assert not set(LABELS) & set(shown.values())
    page.goto(f"file://{file}{PEOPLE}")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Submit").press("Enter")
    shot(page, f"{kind}-missing")
    for key in keys:
        page.keyboard.press(key)
    assert not page.locator(".missing").count()
    shot(page, f"{kind}-answered")
    page.keyboard.press("Enter")
    for _ in range(2):
        page.get_by_role("button", name="Send my answers").press("Enter")
        page.wait_for_function("!document.getElementById('send').disabled || !document.getElementById('code').hidden")
    came_home(study, page, tmp_path)
    assert {a.label for a in answers.annotations(study)} == told


def test_mechanical_turks_page_is_filled_in_by_keyboard(page: Any, tmp_path: Path) -> None:
    """Mechanical Turk's page, filled in as it fills it in: what it would send comes home as it was meant."""
    study = create(tmp_path / "study", kind="validate-cats", items=bakers(2), title="Bakers")
    export(study, tmp_path / "out", "mturk")
    with (tmp_path / "out" / "input.csv").open(newline="") as file:
        (row,) = csv.DictReader(file)
    text = (tmp_path / "out" / "task.html").read_text()
    for name, value in row.items():
        text = text.replace(f"${{{name}}}", value)
    (tmp_path / "task.html").write_text(text)
    page.goto(f"file://{tmp_path}/task.html?assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE")
    page.keyboard.press("Enter")
    page.get_by_text("Accept the task first").wait_for()
    page.goto(f"file://{tmp_path}/task.html?assignmentId=A1")
    page.keyboard.press("Enter")
    for _ in range(2):
        page.get_by_text("What does each sentence say").wait_for()
        for key in ("3", "6", "7"):
            page.keyboard.press(key)
        shot(page, "mturk-answered")
        page.get_by_role("button", name="Submit").press("Enter")
    page.get_by_text("That was all").wait_for()
    shot(page, "mturk-done")
    fields = {name: page.locator(f"input[name={name}]").input_value() for name in ("assignmentId", "page", "catsofa")}
    assert fields["assignmentId"] == "A1"
    row = {"AssignmentId": "A1", "WorkerId": "W1", "Answer.catsofa": fields["catsofa"]}
    pulled, _ = import_results(study, results(tmp_path / "batch.csv", row))
    assert pulled.records == 6
    labels = [a.label for a in answers.annotations(study)]
    assert labels == ["unrelated", "unrelated", "stereotype"] * 2
