"""Tests of the LaTeX table of all models and measures."""

import re
from pathlib import Path

import pytest
from helpers.report_runs import cats, measures, pairs, probes, run

from catsofa.report import document
from catsofa.report.formats import WRITE


def summary(folder: Path) -> str:
    """Returns the LaTeX up to the end of its first floating table."""
    return WRITE["latex"](document([folder])).partition("\\end{table}")[0]


NAMES = [f"pelloran-{size}" for size in ("small", "base", "large", "chat")]


@pytest.mark.parametrize(("sets", "panels"), [(1, 1), (2, 2)])
def test_the_summary_is_one_table(tmp_path: Path, sets: int, panels: int) -> None:
    """Five numbers of four models fit a line, and eight are two panels of one float with one label."""
    runs = [(cats("a"), "d@1"), (pairs("a"), "p@2"), (probes("a"), "q@3"), (cats("a"), "e@4")]
    for number, (results, data) in enumerate(runs[: 2 + sets]):
        for name in NAMES:
            run(tmp_path / str(number) / name, results, name, data)
    text = summary(tmp_path)
    assert (text.count("\\begin{table}"), text.count("\\label{")) == (1, 1)
    assert [len(re.findall(rf"^\{{\}}{name} &", text, re.M)) for name in NAMES] == [panels] * 4
    heads = [head for line in re.findall(r"^model & (.*) \\\\$", text, re.M) for head in line.split(" & ")]
    assert len(heads) == len(set(heads)) == 2 + 3 * sets


def test_limits_are_below_their_number(tmp_path: Path) -> None:
    """A paper may define the command that sets a number and its limits."""
    whole = measures(90, 60)
    run(tmp_path / "a", {"intrasentence": {"overall": whole}, "overall": whole}, "a")
    text = summary(tmp_path)
    assert "\\withlimits{90.0}{[88.0,~92.0]}" in text
    assert text.index("\\providecommand{\\withlimits}") < text.index("\\begin{table}")
