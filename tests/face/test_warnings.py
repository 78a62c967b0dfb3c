"""Warnings: a sentence beside a number is shown wherever the number is."""

from dataclasses import replace
from pathlib import Path

import pytest
from small_cats import cat
from test_report import association, cats, pairs, probes, run

from catsofa.cli.score_tables import show
from catsofa.data.records import Score
from catsofa.report import document
from catsofa.report_formats import FORMATS, WRITE
from catsofa.scoring.protocols import named
from catsofa.scoring.results import Report, report

SAID = "all zorbs tie in 7 of 9 CATs"


def measured() -> Report:
    """The measures of one CAT, with a warning."""
    cats = [cat("a")]
    scores = [Score(item=each.id, score=float(at)) for at, each in enumerate(cats[0].candidates)]
    return replace(report(cats, scores, named("catsofa"), data="d", model="m"), warnings=(SAID,))


def test_a_warning_stands_in_json_in_a_notebook_and_on_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    """JSON lists it, a notebook shows it above the table, and the terminal prints it where the numbers go."""
    found = measured()
    assert found.to_dict()["warnings"] == [SAID]
    assert SAID in found._repr_html_()
    show(found)
    assert SAID in capsys.readouterr().out


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("results", [cats("d"), pairs("d"), probes("d"), association("d", 0.5)])
def test_a_warning_of_a_run_stands_in_its_report(tmp_path: Path, form: str, results: object) -> None:
    """Of every measure and in every format."""
    made = document([run(tmp_path / "a", results, warnings=[SAID])])
    assert SAID in WRITE[form](made)
