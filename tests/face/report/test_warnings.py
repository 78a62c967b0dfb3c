"""Tests that a warning is shown wherever its number is."""

import csv
import json
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.records import cat
from helpers.report_runs import association, cats, pairs, probes, run
from typer.testing import CliRunner

from catsofa.cli import app
from catsofa.cli.score.tables import show
from catsofa.data.files import jsonl
from catsofa.data.records import Score
from catsofa.report import document
from catsofa.report.cells import warned
from catsofa.report.elements import Number
from catsofa.report.formats import FORMATS, WRITE
from catsofa.report.summary import Standing
from catsofa.report.summary.sentences import findings
from catsofa.report.summary.standings import SHOWN
from catsofa.report.summary.tables import summary
from catsofa.scoring.protocols import named
from catsofa.scoring.results import Report, report

SIDES = ("more", "less")
SAID = "all zorbs tie in 7 of 9 CATs"


def measured() -> Report:
    """Returns the measures of one CAT, with a warning."""
    cats = [cat("a")]
    scores = [Score(item=each.id, score=float(index)) for index, each in enumerate(cats[0].candidates)]
    return replace(report(cats, scores, named("catsofa"), data="d", model="m"), warnings=(SAID,))


def test_a_warning_stands_in_json_in_a_notebook_and_on_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    """JSON lists the warning, a notebook shows it above the table, and the terminal prints it with the numbers."""
    result = measured()
    assert result.to_dict()["warnings"] == [SAID]
    assert SAID in result._repr_html_()
    show(result)
    assert SAID in capsys.readouterr().out


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("results", [cats("d"), pairs("d"), probes("d"), association("d", 0.5)])
def test_a_warning_of_a_run_stands_in_its_report(tmp_path: Path, form: str, results: object) -> None:
    """The warning is shown for every measure and in every format."""
    document_ = document([run(tmp_path / "a", results, warnings=[SAID])])
    assert SAID in WRITE[form](document_)


def test_a_warning_that_models_share_stands_once(tmp_path: Path) -> None:
    """A shared warning names the models that have it; if all six have it, it names none."""
    rows = [(f"m{number}", {"warnings": ["rough", *["odd"] * (number < 2)]}, None) for number in range(6)]
    assert warned(rows) == ("all 6 models: rough", "m0, m1: odd")
    assert warned(rows[:1]) == ("m0: rough", "m0: odd")


def odd_pairs(folder: Path) -> tuple[Path, Path]:
    """Writes 60 pairs, one without a sentence, and tied scores of 59 pairs and of three unknown texts."""
    with (folder / "odd.csv").open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["", "sent_more", "sent_less", "stereo_antistereo", "bias_type"])
        out.writerows(
            [n, f"Zorb {n} sings.", "" if n == 7 else f"Florin {n} sings.", "stereo", "music"] for n in range(60)
        )
    names = [str(n) for n in range(63) if n != 7]
    made = [Score(item=name, score=float(side == "more" or name < "3"), task=side) for name in names for side in SIDES]
    jsonl.write(made, folder / "scores.jsonl")
    return folder / "odd.csv", folder / "scores.jsonl"


def printed(*words: object) -> str:
    """Returns the output of a command on stdout."""
    done = CliRunner().invoke(app, list(map(str, words)))
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.mark.filterwarnings("ignore::catsofa.data.formats.pairs.SkippedRows")
def test_every_warning_stands_in_terminal_json_html_and_latex(tmp_path: Path) -> None:
    """An omitted row, scores of other texts and many ties are each reported with their number in all four."""
    pairs_of, scores = odd_pairs(tmp_path)
    arguments = ["score", "--predictions", scores, "--on", pairs_of]
    (tmp_path / "result.json").write_text(printed(*arguments, "--json"))
    warnings = json.loads((tmp_path / "result.json").read_text())["warnings"]
    for name in ("report.html", "report.tex"):
        printed("report", tmp_path / "result.json", "--out", tmp_path / name)
    shown = {name: (tmp_path / name).read_text() for name in ("result.json", "report.html", "report.tex")}
    shown["terminal"] = printed(*arguments)
    for part in ("1 of 60 rows lack a cell", "6 scores are of texts that are not in the data", "equal scores in"):
        assert sum(part in sentence for sentence in warnings) == 1
        assert [name for name, text in shown.items() if part in " ".join(text.split())] == list(shown)
    assert len(warnings) == 3
    assert not any(str(tmp_path) in sentence for sentence in warnings)


def test_a_model_with_a_warning_is_marked_and_named_in_the_findings() -> None:
    """A number under a warning looks no better than it is; a table without warnings has no such mark and no note."""
    numbers = {"a": Number(60.0, 58.0, 62.0), "b": Number(50.0, 48.0, 52.0)}
    plain = Standing(kind="stereoset", about="", of=SHOWN["stereoset"][1], values=numbers, sides={"a": 1})
    one = replace(plain, warned=frozenset({"a"}))
    marks = {row[0]: row[1].mark for row in summary([one], ()).rows if isinstance(row[1], Number)}
    assert marks == {"a": "†", "b": ""}
    assert any(note.startswith("†") for note in summary([one], ()).notes)
    assert findings([one])[0].sentences[-1] == "Warnings are about a: read them first."
    assert not any("†" in note for note in summary([plain], ()).notes)
    assert "arning" not in " ".join(findings([plain])[0].sentences)
