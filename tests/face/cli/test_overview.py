"""Tests of the table of all models at the end of a command: it fits the terminal, and no model is loaded."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from helpers.gate_runs import cats, planted, runs_of_two
from typer.testing import CliRunner

from catsofa.cli import app
from catsofa.data.files import jsonl
from catsofa.data.records import Cat

NAMES = ("dravian-small", "dravian-large", "pelloran-instruct-7b")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns runs of three models on the same CATs, and on others of the same form."""
    folder = tmp_path_factory.mktemp("runs")
    for name, terms in (("old", 10), ("new", 12)):
        jsonl.write(cats(terms, 4), folder / f"{name}.jsonl")
        for index, model in enumerate(NAMES):
            planted(folder / "runs" / model / name, folder / f"{name}.jsonl", prefers(index), model=model)
    return folder / "runs"


def prefers(model: int) -> Callable[[Cat], str]:
    """Returns a preference for the stereotype in all but so many items of each term."""
    return lambda cat: "-" if int(cat.id.partition("-")[2]) < model else "+"


def shown(runs: Path, columns: int, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Returns the output of `report` below its first line."""
    monkeypatch.setenv("COLUMNS", str(columns))
    result = CliRunner().invoke(app, ["report", str(runs), "--out", str(runs.parent / "report.md")])
    assert result.exit_code == 0, result.output
    return result.stdout.splitlines()[1:]


@pytest.mark.parametrize(("columns", "rows"), [(160, 3), (60, 18)])
def test_a_report_ends_with_one_table_that_fits(
    runs: Path, columns: int, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three models and six numbers get one row per model where six numbers fit, else one row per number."""
    title, _, *lines = shown(runs, columns, monkeypatch)
    assert title.startswith("each model on each measure")
    body = [line for line in lines if any(name in line for name in NAMES)]
    assert len(body) == rows
    assert all(len(line.rstrip()) <= columns for line in body)


@pytest.mark.parametrize("columns", [160, 60])
def test_the_table_says_how_many_items_are_behind_its_values(
    runs: Path, columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Below the table are the numbers of CATs and target terms of each data set, once."""
    text = " ".join(shown(runs, columns, monkeypatch))
    assert [text.count(items) for items in ("40 CATs of 10 target terms", "48 CATs of 12 target terms")] == [1, 1]


def test_a_narrow_table_has_no_row_for_a_measure_that_does_not_cover_a_model(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One model on one of two sets has three rows, and the others six."""
    for index, (model, data) in enumerate([(0, "old"), (0, "new"), (1, "new")]):
        planted(tmp_path / str(index), runs.parent / f"{data}.jsonl", prefers(model), model=NAMES[model])
    lines = shown(tmp_path, 60, monkeypatch)
    assert [sum(name in line for line in lines) for name in NAMES[:2]] == [6, 3]


def test_a_long_name_of_a_measure_is_above_its_rows(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In 40 columns, the name of a measure and its data is on a line of its own, once, and no word is broken."""
    lines = [line.rstrip() for line in shown(runs, 40, monkeypatch)]
    heads = [f"{number}, {data}.jsonl" for data in ("old", "new") for number in ("lms", "ss", "icat")]
    assert [lines.count(head) for head in heads] == [1] * 6
    assert [sum(line.startswith(name) for line in lines) for name in NAMES] == [6] * 3


def test_quiet_prints_no_table(runs: Path) -> None:
    """A quiet report prints nothing."""
    result = CliRunner().invoke(app, ["report", str(runs), "--out", str(runs.parent / "report.md"), "--quiet"])
    assert result.stdout == ""


def test_finished_runs_are_reported_without_torch(runs: Path) -> None:
    """A report of finished measurements loads no model."""
    code = (
        "import sys\nfrom catsofa.cli import app\n"
        f"app(['report', {str(runs)!r}, '--out', {str(runs.parent / 'r.md')!r}], standalone_mode=False)\n"
        "assert 'torch' not in sys.modules and 'transformers' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


@pytest.mark.slow
def test_several_models_are_scored_to_one_table(tmp_path: Path) -> None:
    """Two models on one set give one table of two rows; --details adds the sets of each model above it."""
    folder = runs_of_two(tmp_path)
    models = [str(folder / name) for name in ("gpt2", "llama")]
    command = ["score", *models, "--on", str(folder / "pairs.jsonl"), "--out", str(tmp_path / "out")]
    short, long = (CliRunner().invoke(app, [*command, *more]) for more in ((), ("--details",)))
    assert short.exit_code == long.exit_code == 0, short.output + long.output
    assert "pairs, catsofa" not in short.stdout
    assert long.stdout.count("pairs, catsofa") == 2
    for result in (short, long):
        assert result.stdout.count("each model on each measure") == 1
        assert result.stdout.count("data:pairs.jsonl@") == 2
    assert [short.stdout.count(f"{name} on pairs.jsonl") for name in ("gpt2", "llama")] == [1, 1]
