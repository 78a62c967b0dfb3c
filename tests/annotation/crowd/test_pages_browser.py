"""Tests of the Mechanical Turk page in a real browser, by keyboard: the warning comes first, and answers
are imported.
"""

import csv
from pathlib import Path
from typing import Any

import pytest
from helpers.browser import shot
from helpers.records import bakers

from catsofa.annotation.crowd.pages import export, import_results
from catsofa.annotation.results import answers
from catsofa.annotation.study import create

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def results(path: Path, row: dict[str, str]) -> Path:
    """Writes a platform's CSV with one row."""
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(row))
        writer.writeheader()
        writer.writerow(row)
    return path


def test_mechanical_turks_page_is_filled_in_by_keyboard(page: Any, tmp_path: Path) -> None:
    """The page is filled in as Mechanical Turk fills it in; the form that it would send is imported with the right
    labels.
    """
    study = create(tmp_path / "study", kind="validate-cats", items=bakers(2), title="Bakers")
    export(study, tmp_path / "out")
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
        sentences = page.locator("#task .shown").all_inner_texts()[-3:]
        assert [page.get_by_role("group", name=text, exact=True).count() for text in sentences] == [1, 1, 1]
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
