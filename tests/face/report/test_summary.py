"""Tests of the opening of a report on runs: its findings, the table of all models, and the matrix of differences."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from helpers.gate_runs import cats, number, planted
from helpers.report_runs import association, measures, pairs, probes, run
from helpers.report_runs import cats as results

from catsofa.data.files import jsonl
from catsofa.data.records import Cat
from catsofa.report import document
from catsofa.report.elements import Document, Number
from catsofa.report.formats import WRITE
from catsofa.report.summary.standings import SHOWN
from catsofa.scoring.run.score_files import compare_on

LMS, SS, ICAT = SHOWN["stereoset"]


def share(tenths: int, turned: Sequence[str] = ()) -> Any:
    """Returns a stereotype preference for about so many of ten items, one more or less per term; `turned` items are
    reversed.
    """

    def prefers(cat: Cat) -> str:
        term, item = number(cat)
        more = (item * 7 + term * 3) % 10 < tenths + term % 3 - 1
        return "+-"[more == (cat.id in turned)]

    return prefers


@pytest.fixture(scope="module")
def four(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Writes runs of four models on 300 CATs with ss 80, 50, 70 and about 70."""
    folder = tmp_path_factory.mktemp("four")
    jsonl.write(cats(30), folder / "cats.jsonl")
    for name, prefers in {"a": share(8), "b": share(5), "c": share(7), "d": share(7, ["3-1"])}.items():
        planted(folder / "runs" / name, folder / "cats.jsonl", prefers, model=name)
    return folder


@pytest.fixture(scope="module")
def opened(four: Path) -> Document:
    """Returns the report of the four runs."""
    return document([four / "runs"])


def test_a_report_opens_with_what_planted_runs_show(opened: Document) -> None:
    """ss 80, 50, 70 and 70: three are beyond chance, the two equal ones are not distinguished, and 50 is
    nearest to 50.
    """
    (finding,) = opened.findings
    assert finding.about == "StereoSet"
    assert finding.sentences[:3] == (
        "Of 4 models, 3 prefer the stereotype (a, c and d) beyond chance on ss; for 1 neither is shown (b).",
        "On ss, c and d cannot be told apart; every other two can.",
        "b is nearer than every other model to the ideal ss of 50.",
    )


def test_the_summary_has_a_row_for_each_model_and_marks_the_best_alone(opened: Document) -> None:
    """The summary has four rows; lms is 100 for all four, so no model is best on it."""
    assert opened.summary
    assert opened.summary.columns == ("model", "lms", "ss", "icat")
    assert [row[0] for row in opened.summary.rows] == ["a", "b", "c", "d"]
    marked = [(row[0], index) for row in opened.summary.rows for index, cell in enumerate(row) if "★" in str(cell)]
    assert marked == [("b", 2), ("b", 3)]


def test_the_matrix_has_every_pair_once_with_the_difference_of_compare(opened: Document, four: Path) -> None:
    """Three rows of three columns have an empty lower half; a minus b is the negative change of `catsofa compare`."""
    (table,) = (one for one in opened.sections[0].tables if one.name == "s1-pairs-ss")
    assert table.columns == ("model", "b", "c", "d")
    assert [[bool(str(cell)) for cell in row[1:]] for row in table.rows] == [
        [True] * 3,
        [False, True, True],
        [False, False, True],
    ]
    change = next(row for row in compare_on([four / "runs/a", four / "runs/b"]).rows() if row["measure"] == "ss")
    assert isinstance(cell := table.rows[0][1], Number)
    assert cell.value == pytest.approx(-change["change"])
    assert cell.mark == "**"


def test_runs_without_scores_of_items_are_not_compared(tmp_path: Path) -> None:
    """The table has both models; no finding compares them, and a note gives the reason."""
    for name in "ab":
        run(tmp_path / name, results("d"), name)
    report = document([tmp_path])
    assert said_in(report) == ["Coverage is below 90 % for 2 of 2 models (a 80 % and b 80 %)."]
    assert report.summary
    assert len(report.summary.rows) == 2
    assert report.summary.notes[-1].startswith("No two models are compared on lms, ss, icat: ")


def test_two_sets_of_one_measure_are_told_apart_in_the_summary(tmp_path: Path) -> None:
    """With two data sets, each column names its own; a model without a run on one has a dash."""
    run(tmp_path / "a", results("d"), "one", data="old@0123456789ab")
    run(tmp_path / "b", results("d"), "one", data="new@ba9876543210")
    run(tmp_path / "c", results("d"), "two", data="new@ba9876543210")
    report = document([tmp_path])
    assert report.summary
    assert report.summary.columns[1:] == tuple(f"{m}, {data}" for data in ("old", "new") for m in ("lms", "ss", "icat"))
    assert [str(cell) for cell in report.summary.rows[1][1:4]] == ["—"] * 3
    assert [one.about for one in report.findings] == ["StereoSet (old)", "StereoSet (new)"]


def test_associations_are_counted_after_correction_over_all_tests(tmp_path: Path) -> None:
    """p = 0.03 and 0.001: after Holm both are at most 0.05; p = 0.03 and 0.04 leave none."""
    run(tmp_path / "a", association("t", 0.03), "one")
    run(tmp_path / "b", association("t", 0.001), "two")
    assert said_in(document([tmp_path])) == ["Of 2 models, 2 show a positive association (one 1 of 1 and two 1 of 1)."]
    run(tmp_path / "c" / "a", association("t", 0.03), "one")
    run(tmp_path / "c" / "b", association("t", 0.04), "two")
    assert said_in(document([tmp_path / "c"])) == ["No positive association is shown for any of 2 models."]


def said_in(found: Document) -> list[str]:
    """Returns all sentences of a report."""
    return [sentence for finding in found.findings for sentence in finding.sentences]


def test_an_unscored_measure_makes_no_claim(tmp_path: Path) -> None:
    """A run with only ties has no ss, as the only sentence says."""
    none = {**measures(90, 60), "ss": None, "ties": 50}
    none["intervals"] = {**none["intervals"], "ss": {"low": None, "high": None}}
    run(tmp_path / "a", {"intrasentence": {"overall": none}, "overall": none})
    assert said_in(document([tmp_path])) == ["m has no ss.", "Coverage is below 90 % for 1 of 1 model (m 80 %)."]


def test_every_format_opens_with_the_summary(opened: Document, tmp_path: Path) -> None:
    """HTML and Markdown have the sentences before the table, LaTeX the table of four rows before the long ones."""
    for form in ("html", "markdown"):
        text = WRITE[form](opened)  # type: ignore[index]
        assert text.index("cannot be told apart") < text.index("Each model on each measure") < text.index("all domains")
    tex = WRITE["latex"](opened)
    first = tex[tex.index("\\begin{tabular}{") : tex.index("\\bottomrule")]
    assert sum(line.endswith("\\\\") for line in first.splitlines()) == 5
    assert tex.index("\\end{tabular}") < tex.index("\\begin{longtable}")


def test_a_summary_wider_than_a_line_of_latex_is_several_tables(opened: Document) -> None:
    """For four sets of three numbers, every table begins with the model, and each column is in exactly one of them."""
    summary = opened.summary
    assert summary
    columns = (summary.columns[0], *(f"{name}, set {number_}" for number_ in range(4) for name in summary.columns[1:]))
    wide = replace(summary, columns=columns, rows=tuple((row[0], *row[1:] * 4) for row in summary.rows))
    heads = re.findall(
        r"\\toprule\n(.*?) \\\\\n\\midrule\n", WRITE["latex"](replace(opened, summary=wide, sections=()))
    )
    assert len(heads) > 1
    assert all(head.startswith("model & ") for head in heads)
    assert [name for head in heads for name in head.split(" & ")[1:]] == list(columns[1:])


def test_a_measure_of_one_end_has_no_chance(tmp_path: Path) -> None:
    """A SoFa score is never below 0, so the report has no finding about a single model's score."""
    run(tmp_path / "a", probes("d"))
    assert said_in(document([tmp_path])) == ["Coverage is below 90 % for 1 of 1 model (m 50 %)."]


@pytest.mark.slow
@pytest.mark.browser
def test_a_heading_sorts_its_table(opened: Document, browser: Any, tmp_path: Path) -> None:
    """A click on ss puts the highest first, a second click the lowest; by model, names are sorted."""
    (tmp_path / "report.html").write_text(WRITE["html"](opened), encoding="utf-8")
    window = browser.new_page()
    window.goto((tmp_path / "report.html").as_uri())
    table = window.locator(".summary table")
    orders = []
    for heading in ("ss", "ss", "model", "model"):
        table.locator("thead button", has_text=re.compile(f"^{heading}$")).click()
        orders.append("".join(table.locator("tbody th").all_inner_texts()))
    window.close()
    assert [sorted(order[:1] + order[-1:]) for order in orders[:2]] == [["a", "b"]] * 2
    assert [order[0] for order in orders] == ["a", "b", "d", "a"]


def test_one_domain_and_one_type_alone_make_no_second_row(tmp_path: Path) -> None:
    """A task of one domain is one row, and pairs of one type and direction are one."""
    run(tmp_path / "a", results("d"))
    run(tmp_path / "b", pairs("d"))
    assert [len(section.tables[0].rows) for section in document([tmp_path]).sections] == [1, 1]
