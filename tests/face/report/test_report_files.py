"""The file that a report is written to, the runs that it takes, and the names of their models."""

import json
import shutil
from pathlib import Path

import pytest
from helpers.report_runs import cats, measures, pairs, run
from typer.testing import CliRunner

from catsofa.cli import app
from catsofa.data.files import BadInput
from catsofa.data.visible import without_folders
from catsofa.report import document
from catsofa.report.formats import FORMATS
from catsofa.report.inputs import find
from catsofa.scoring.run.store import Run


@pytest.mark.parametrize("form", FORMATS)
def test_the_command_writes_each_format(tmp_path: Path, form: str) -> None:
    """`catsofa report RUN --out FILE --format F` writes the file."""
    runs, out = run(tmp_path / "a", pairs("d")), tmp_path / "out"
    assert CliRunner().invoke(app, ["report", str(runs), "--out", str(out), "--format", form]).exit_code == 0
    assert "60.0" in out.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "begins"),
    [("r.md", "# "), ("r.csv", "section"), ("r.json", "{"), ("r.tex", "%"), ("r.HTML", "<!"), ("r", "<!")],
)
def test_the_name_of_a_report_says_its_format(tmp_path: Path, name: str, begins: str) -> None:
    """Where no --format is named; nobody gets HTML in a file for LaTeX."""
    runs = run(tmp_path / "a", pairs("d"))
    assert CliRunner().invoke(app, ["report", str(runs), "--out", str(tmp_path / name)]).exit_code == 0
    assert (tmp_path / name).read_text(encoding="utf-8").startswith(begins)


def test_a_name_that_says_another_format_is_refused_unless_one_is_named(tmp_path: Path) -> None:
    """A page of HTML under the name of a Word document opens nowhere; with --format the name is one's own affair."""
    runs, out = run(tmp_path / "a", pairs("d")), tmp_path / "r.docx"
    asked = ["report", str(runs), "--out", str(out)]
    with pytest.raises(BadInput, match=r"'\.docx'.*--format"):
        CliRunner().invoke(app, asked, catch_exceptions=False)
    assert not out.exists()
    assert CliRunner().invoke(app, [*asked, "--format", "html"]).exit_code == 0


def test_figures_are_kept_for_papers(tmp_path: Path) -> None:
    """`--figures` writes each figure as PDF, PNG and SVG."""
    runs, kept = run(tmp_path / "a", cats("d")), tmp_path / "figures"
    CliRunner().invoke(app, ["report", str(runs), "--out", str(tmp_path / "r.html"), "--figures", str(kept)])
    assert sorted(path.name for path in kept.iterdir()) == ["s1-map.pdf", "s1-map.png", "s1-map.svg"]


@pytest.mark.parametrize("place", ["models/mine", "../models/mine", "./mine", "/home/me/models/mine", "me/mine"])
def test_a_model_has_no_path_in_a_report(place: str) -> None:
    """Where a folder lies outside the working directory is nobody's business; hub ids keep their owner."""
    assert without_folders(place) == (place if place in ("models/mine", "me/mine") else "mine")


@pytest.mark.parametrize(("given", "signed"), [("runs/models/mine", "mine"), ("mine", "mine"), ("me/mine", "me/mine")])
def test_a_model_is_named_as_in_its_signature(given: str, signed: str, tmp_path: Path) -> None:
    """A folder loses its parents, a hub id keeps its owner."""
    with Run.begin(tmp_path / "run", {}, {"model": given}) as kept:
        kept.finish(
            {"results": cats("d"), "signature": {"data": "d@1", "model": f"{signed}@ab12", "protocol": "catsofa"}}
        )
    (found,) = find([tmp_path / "run"]).runs
    assert found.model == signed


def test_a_copy_of_a_run_counts_once(tmp_path: Path) -> None:
    """`score` and `multiverse` both run a protocol: the second run is left out and named, unless a number differs."""
    whole = run(tmp_path / "a", cats("d"))
    copy = Path(shutil.copytree(whole, tmp_path / "cells"))
    once, both = document([whole]), document([whole, copy])
    assert [table.rows for table in both.sections[0].tables] == [table.rows for table in once.sections[0].tables]
    (note,) = set(both.notes) - set(once.notes)
    assert "cells" in note
    report = json.loads((whole / "report.json").read_text())
    report["results"]["intrasentence"]["overall"]["ss"] = 1.0
    del report["checksum"]
    printed = tmp_path / "other.json"
    printed.write_text(json.dumps(report))
    with pytest.raises(ValueError, match="give one"):
        document([whole, printed])


def test_what_is_no_finished_run_is_refused(tmp_path: Path) -> None:
    """An empty folder, a run without its end and the same run twice are errors that say what to do."""
    whole = run(tmp_path / "a", cats("d"))
    with pytest.raises(BadInput, match="no such file"):
        document([tmp_path / "nowhere"])
    with pytest.raises(ValueError, match="give one"):
        document([whole, whole])
    (whole / "report.json").unlink()
    with pytest.raises(BadInput, match=r"report\.json.*`catsofa score` again"):
        document([whole])


def test_an_error_names_four_folders_at_most(tmp_path: Path) -> None:
    """Of six runs whose results lack their intervals, the error names four, and counts two."""
    whole = {key: value for key, value in measures(90, 60).items() if key != "intervals"}
    for number in range(6):
        run(tmp_path / f"run{number}", {"intrasentence": {"overall": whole}, "overall": whole}, f"m{number}")
    with pytest.raises(BadInput) as error:
        document([tmp_path])
    assert sum(f"run{number}" in str(error.value) for number in range(6)) == 4
    assert " or 2 more" in str(error.value)
