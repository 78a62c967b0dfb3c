"""The table of all models that ends a command: it fits the terminal, and no model is loaded for it."""

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
    """Runs of three models on the same CATs, and on others of the same form."""
    folder = tmp_path_factory.mktemp("runs")
    for name, terms in (("old", 10), ("new", 12)):
        jsonl.write(cats(terms, 4), folder / f"{name}.jsonl")
        for at, model in enumerate(NAMES):
            planted(folder / "runs" / model / name, folder / f"{name}.jsonl", prefers(at), model=model)
    return folder / "runs"


def prefers(model: int) -> Callable[[Cat], str]:
    """The stereotype of all items but so many of each term."""
    return lambda cat: "-" if int(cat.id.partition("-")[2]) < model else "+"


def shown(runs: Path, columns: int, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What `report` prints below its first line."""
    monkeypatch.setenv("COLUMNS", str(columns))
    found = CliRunner().invoke(app, ["report", str(runs), "--out", str(runs.parent / "report.md")])
    assert found.exit_code == 0, found.output
    return found.stdout.splitlines()[1:]


@pytest.mark.parametrize(("columns", "rows"), [(160, 3), (60, 18)])
def test_a_report_ends_with_one_table_that_fits(
    runs: Path, columns: int, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three models and six numbers: a row a model where six numbers have room, else a row a number."""
    title, _, *lines = shown(runs, columns, monkeypatch)
    assert title.startswith("each model on each measure")
    body = [line for line in lines if any(name in line for name in NAMES)]
    assert len(body) == rows
    assert all(len(line.rstrip()) <= columns for line in body)


def test_quiet_prints_no_table(runs: Path) -> None:
    """A report in quiet prints nothing at all."""
    found = CliRunner().invoke(app, ["report", str(runs), "--out", str(runs.parent / "report.md"), "--quiet"])
    assert found.stdout == ""


def test_finished_runs_are_reported_without_torch(runs: Path) -> None:
    """No model is loaded to show what was measured."""
    code = (
        "import sys\nfrom catsofa.cli import app\n"
        f"app(['report', {str(runs)!r}, '--out', {str(runs.parent / 'r.md')!r}], standalone_mode=False)\n"
        "assert 'torch' not in sys.modules and 'transformers' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


@pytest.mark.slow
def test_several_models_are_scored_to_one_table(tmp_path: Path) -> None:
    """Two models on one set: one table of two rows; with --details the sets of each model stand before it."""
    folder = runs_of_two(tmp_path)
    models = [str(folder / name) for name in ("gpt2", "llama")]
    command = ["score", *models, "--on", str(folder / "pairs.jsonl"), "--out", str(tmp_path / "out")]
    short, long = (CliRunner().invoke(app, [*command, *more]) for more in ((), ("--details",)))
    assert short.exit_code == long.exit_code == 0, short.output + long.output
    assert "pairs, catsofa" not in short.stdout
    assert long.stdout.count("pairs, catsofa") == 2
    for found in (short, long):
        assert found.stdout.count("each model on each measure") == 1
        assert found.stdout.count("data:pairs.jsonl@") == 2
