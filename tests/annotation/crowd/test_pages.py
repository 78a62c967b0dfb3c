"""Tests of the HTML pages for other crowd platforms and of the import of their results."""

import csv
import json
import re
from pathlib import Path

import pytest
from helpers.records import bakers

from catsofa.annotation.crowd.pages import export, import_results
from catsofa.annotation.results import answers as judged
from catsofa.annotation.study import Study, create
from catsofa.annotation.study.checks import check_study
from catsofa.data.files import BadInput


@pytest.fixture
def study(tmp_path: Path) -> Study:
    """Returns a study of twelve CATs and one gold CAT."""
    return create(tmp_path / "study", kind="validate-cats", items=bakers(12), gold=bakers(1, "florist"))


def batch(path: Path, rows: list[dict[str, str]]) -> Path:
    """Writes a CSV as a platform exports it."""
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), quoting=csv.QUOTE_ALL)
        writer.writeheader()
        writer.writerows(rows)
    return path


def sent(study: Study, tokens: list[str]) -> str:
    """Returns the form data of a page on which every sentence was called unrelated."""
    answers = {f"label_{k}": "unrelated" for k in (1, 2, 3)}
    return json.dumps({t: {"answers": answers, "seconds": 9.0, "at": "2026-01-02T03:04:05Z"} for t in tokens})


def test_mechanical_turk_gets_one_page_and_a_row_for_each_five_tasks(study: Study, tmp_path: Path) -> None:
    """Twelve items by five are three rows; each row contains the gold item, and no label and no internal id."""
    exported = export(study, tmp_path / "out", per_page=5)
    assert exported.pages == 3
    with (tmp_path / "out" / "input.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    gold = next(key.token for key in study.keys.values() if key.gold)
    assert [len(json.loads(row["tasks"])) for row in rows] == [6, 6, 3]
    assert all(gold in [task["item"] for task in json.loads(row["tasks"])] for row in rows)
    assert not re.search(r"stereotype|gold|[0-9a-f]{32}", "".join(row["tasks"] for row in rows))
    page = (tmp_path / "out" / "task.html").read_text()
    assert "${tasks}" in page
    assert "https://www.mturk.com/mturk/externalSubmit" in page
    assert not re.search(r"(src|href)=\"(?!data:)", page)


def test_words_that_look_like_html_stay_words(tmp_path: Path) -> None:
    """A sentence cannot end the script element that contains it."""
    from dataclasses import replace

    evil = replace(bakers(1)[0], id="", target="baker</script><script>alert(1)</script>")
    export(create(tmp_path / "study", kind="validate-cats", items=[evil]), tmp_path / "out")
    batch = (tmp_path / "out" / "input.csv").read_text()
    assert "<script>alert" not in batch
    assert "\\u003c/script>" in batch


def test_results_come_home_once_and_rejected_ones_not_at_all(study: Study, tmp_path: Path) -> None:
    """Two workers' rows are two answers per task; importing the file again adds nothing; a rejected row is counted."""
    tokens = [key.token for key in study.keys.values()][:3]
    rows = [
        {
            "HITId": "h",
            "AssignmentId": f"a{n}",
            "WorkerId": f"W{n}",
            "AssignmentStatus": status,
            "Input.page": "p",
            "Answer.catsofa": sent(study, tokens),
        }
        for n, status in enumerate(("Approved", "Submitted", "Rejected"))
    ]
    pulled, refused = import_results(study, batch(tmp_path / "batch.csv", rows))
    assert (pulled.new, pulled.records, refused) == (6, 18, 1)
    again, _ = import_results(study, tmp_path / "batch.csv")
    assert (again.new, again.records) == (0, 18)
    assert {(a.annotator, a.label, a.extra["seconds"]) for a in judged.annotations(study)} == {
        ("W0", "unrelated", 3.0),
        ("W1", "unrelated", 3.0),
    }


def test_work_that_is_rejected_after_it_was_imported_counts_no_more(study: Study, tmp_path: Path) -> None:
    """Rejected work counts again when the rejection is withdrawn; each file may be imported twice."""
    tokens = [key.token for key in study.keys.values()][:3]
    row = {"AssignmentId": "a1", "WorkerId": "W1", "Answer.catsofa": sent(study, tokens)}
    for status, counts, changed in (("Submitted", 9, 0), ("Rejected", 0, 3), ("Approved", 9, 3), ("Rejected", 0, 3)):
        path = batch(tmp_path / "batch.csv", [{**row, "AssignmentStatus": status}])
        pulled, refused = import_results(study, path)
        assert (pulled.changed, refused) == (changed, int(status == "Rejected")), status
        assert (import_results(study, path)[0].changed, pulled.records) == (0, 9), status
        records = list(judged.annotations(study))
        assert sum(bool(a.label) and "invalid" not in a.extra for a in records) == counts, status
    path = batch(tmp_path / "batch.csv", [{**row, "AssignmentStatus": "Rejected", "Answer.catsofa": ""}])
    assert import_results(study, path)[0].changed == 0
    assert check_study(study.folder).right  # type: ignore[union-attr]


def test_invalid_answers_of_a_page_are_kept_and_do_not_count(study: Study, tmp_path: Path) -> None:
    """An answer to an unknown question and an incomplete answer are imported as invalid."""
    token = next(iter(study.keys))
    answers = json.dumps({token: {"answers": {"label_1": "rude", "rating": "5"}, "seconds": 1}})
    rows = [{"PROLIFIC_PID": "p", "SESSION_ID": "s", "catsofa": answers}]
    pulled, _ = import_results(study, batch(tmp_path / "answers.csv", rows))
    assert pulled.new == 1
    assert all("label_1 has no choice 'rude'" in a.extra["invalid"] for a in judged.annotations(study) if not a.label)


@pytest.mark.parametrize(
    ("row", "found"),
    [
        ({"WorkerId": "W", "AssignmentId": "a", "Answer.catsofa": "{half"}, "'{half' as answers"),
        ({"WorkerId": "W", "AssignmentId": "a", "Answer.catsofa": '{"x": {"answers": 5}}'}, "as answers"),
        ({"WorkerId": "W", "AssignmentId": "a", "Answer.catsofa": '{"x": {}}'}, "an answer to 'x'"),
        *(
            ({"WorkerId": "W", "AssignmentId": "a", "Answer.catsofa": f'{{"x": {{{field}}}}}'}, "as answers")
            for field in (
                '"seconds": 1e999',
                '"seconds": NaN',
                f'"seconds": {10**400}',
                '"seconds": -1',
                '"seconds": true',
                '"at": "soon"',
                '"at": 5',
                '"answers": {"label_1": null}',
                '"answers": {"label_1": {"x": 1}}',
                '"answers": {"label_1": "\\ud800"}',
            )
        ),
        ({"WorkerId": "", "AssignmentId": "a", "Answer.catsofa": "{}"}, "a row without a person"),
        ({"name": "W", "more": "a"}, "a row without a person"),
    ],
)
def test_a_file_of_other_results_is_refused(row: dict[str, str], found: str, study: Study, tmp_path: Path) -> None:
    """The error names file, line, the value found and the value expected; no row is appended."""
    with pytest.raises(BadInput, match=re.escape(found)):
        import_results(study, batch(tmp_path / "batch.csv", [row]))
    assert not (study.folder / "raw.jsonl").exists()
