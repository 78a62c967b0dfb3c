"""Tests of the section of a report about checkpoints of a model."""

from dataclasses import replace
from pathlib import Path

import pytest
from helpers.report_pages import EVIL
from helpers.report_runs import association, cats, pairs, probes, run

from catsofa.report import document, figures
from catsofa.report.formats import html, latex
from catsofa.report.inputs import read
from catsofa.report.sections import seat
from catsofa.report.sections.series import NUMBERS, series

RESULTS = {"cats": cats("d"), "pairs": pairs("d"), "probes": probes("d")}


@pytest.mark.parametrize("kind", RESULTS)
def test_checkpoints_are_lines_in_the_order_of_their_numbers(tmp_path: Path, kind: str) -> None:
    """Steps 500, 1000 and 20000 of two models are lines; a model without a number stays in its own section."""
    for model in ("a", "b"):
        for step in (20000, 500, 1000):
            run(tmp_path / f"{model}{step}", RESULTS[kind], f"{model}-step{step}")
    run(tmp_path / "final", RESULTS[kind], "final")
    report = document([tmp_path], x="step")
    (table,) = report.sections[0].tables
    assert [row[:2] for row in table.rows] == [(model, step) for model in "ab" for step in (500, 1000, 20000)]
    drawn = figures.draw(report.sections[0].figures[0].draw)
    lines = [list(line.get_xdata()) for line in drawn.axes[0].get_lines() if line.get_linestyle() == "-"]
    assert lines == [[500, 1000, 20000]] * 2
    left, right = drawn.axes[0].get_xlim()
    assert left < 500 < 20000 < right
    assert not any(section.name.startswith("series") for section in document([tmp_path]).sections)


def test_tests_of_association_have_a_column_each(tmp_path: Path) -> None:
    """Each checkpoint is a row; page and LaTeX are written, and no text of the data is markup."""
    for step in (1, 2):
        run(tmp_path / str(step), [*association(EVIL, 0.01)], f"m@step{step}")
    report = document([tmp_path], x="step")
    assert report.sections[0].tables[0].columns == ("model", "step", EVIL)
    assert EVIL not in html(report)
    assert "step" in latex(report)


def test_association_tests_of_several_data_sets_are_one_row(tmp_path: Path) -> None:
    """Two checkpoints on two sets have a column for each test; equal names get the data set, and repeated sets are
    refused.
    """
    for step in (1, 2):
        for data, test in (("a@1", "one"), ("b@2", "two"), ("c@3", "two")):
            run(tmp_path / f"{data[0]}/{step}", [*association(test, 0.01)], f"m-step{step}", data=data)
    section = document([tmp_path], x="step").sections[0]
    (table,) = section.tables
    assert section.title == "Along the training (protocol catsofa)"
    assert table.columns == ("model", "step", "one", "two (b@2)", "two (c@3)")
    assert [row[1] for row in table.rows] == [1, 2]
    assert all(str(cell).startswith("1.00") for row in table.rows for cell in row[2:])


def test_questions_and_choices_are_lines(tmp_path: Path) -> None:
    """BBQ has four numbers, and choices have preference and position, as far as the runs have them."""
    names = ("acc_amb", "acc_dis", "s_amb", "s_dis")
    values = dict.fromkeys((*names, "diff_amb", "diff_dis"), 0.5)
    limits = {name: {"low": 0.4, "high": 0.6} for name in values}
    part = {**values, "intervals": limits, "templates": 2, "coverage": 1.0, "ambig": {"questions": 2},
            "disambig": {"questions": 2}}  # fmt: skip
    results = {"overall": part, "categories": {"tea": part}}
    assert list(NUMBERS["bbq"](results)) == list(names)
    half = {"value": 0.5, "low": 0.4, "high": 0.6}
    chosen = {"overall": {"preference": half, "position": half}, "associations": {"tea": half}, "answers": results}
    assert list(NUMBERS["choices"](chosen)) == ["preference", "position effect", "tea", *names]
    chosen = {"overall": {"preference": dict.fromkeys(half), "position": half}}
    assert list(NUMBERS["choices"](chosen)) == ["position effect"]


def test_a_measure_without_lines_is_refused_with_what_it_is(tmp_path: Path) -> None:
    """The names have numbers, but no measure with lines exists."""
    runs = [replace(read(run(tmp_path / f"{n}", cats("d"), f"m-step{n}")), kind="own") for n in (1, 2)]
    with pytest.raises(ValueError, match=r"checkpoints.*own alone"):
        list(series("series", [("own", runs)], "step", seat.tests_of))


def test_names_without_numbers_are_refused_with_what_was_found(tmp_path: Path) -> None:
    """The error names the word and the names; two runs of one step are refused too."""
    run(tmp_path / "a", cats("d"), "m-epoch1")
    run(tmp_path / "b", cats("d"), "m-epoch2")
    with pytest.raises(ValueError, match=r"'step'.*m-epoch1, m-epoch2"):
        document([tmp_path], x="step")
    run(tmp_path / "c", cats("d"), "m-epoch02")
    with pytest.raises(ValueError, match="one epoch, 2"):
        document([tmp_path], x="epoch")


@pytest.mark.parametrize("name", ["m-step1k", "m-step1.5", "m-step1e5", "m-step1,000", "m-step2B"])
def test_a_number_that_goes_on_is_refused(tmp_path: Path, name: str) -> None:
    """1k is not 1: the checkpoint would come before step 500, or be left out beside whole numbers."""
    for step in (500, 900):
        run(tmp_path / str(step), cats("d"), f"m-step{step}")
    run(tmp_path / "more", cats("d"), name)
    with pytest.raises(ValueError, match=f"{name}.*whole number.*'step'"):
        document([tmp_path], x="step")


def test_a_word_within_another_is_not_the_word(tmp_path: Path) -> None:
    """The name has a warm-up of 200 steps, then steps 1 and 2, followed by a seed."""
    for step in (1, 2):
        run(tmp_path / str(step), cats("d"), f"warmstep200-step{step}-seed7")
    assert [row[1] for row in document([tmp_path], x="step").sections[0].tables[0].rows] == [1, 2]
