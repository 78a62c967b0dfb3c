import csv
from pathlib import Path

import pytest
from helpers.commands import run_catsofa
from typer.testing import CliRunner

from catsofa import slot_models
from catsofa.builders.cats.suggestions import Guesser
from catsofa.cli import app

PAIRS = (
    "target,bias_type,stereotype,anti-stereotype,unrelated\nzorb,pastime,honest,rude,\nquell,pastime,thief,hero,hour\n"
)


@pytest.mark.slow
def test_a_masked_model_proposes_the_same_words_each_time(
    tmp_path: Path, shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file has the requested number of words of each kind, the hash of the weights and an empty choice column."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pairs.csv").write_text(PAIRS)
    command = [
        "build",
        "fills",
        "--associations",
        "pairs.csv",
        "--model",
        str(shared / "models/tiny-bert"),
        "--top",
        "3",
    ]
    for name in ("one.csv", "two.csv"):
        done = CliRunner().invoke(app, [*command, "--out", name], catch_exceptions=False)
        assert (done.exit_code, done.stdout.strip()) == (0, f"12 kept, 0 refused: {name}")
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "two.csv").read_bytes()
    with (tmp_path / "one.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["row"], row["label"]) for row in rows[::3]] == [
        *(("1", "neutral"), ("1", "unrelated")),
        *(("2", "neutral"), ("2", "unrelated")),
    ]
    assert {(row["model"], len(row["weights"]), row["choose (yes/no)"]) for row in rows} == {("tiny-bert", 71, "")}
    assert not {row["word"] for row in rows} & {"honest", "rude", "thief", "hero", "hour"}


@pytest.mark.slow
def test_a_causal_model_proposes_nothing(tmp_path: Path, shared: Path) -> None:
    """The exit code is 2, and the error says what the model can do."""
    (tmp_path / "pairs.csv").write_text(PAIRS)
    model = str(shared / "models/stories260K")
    done = run_catsofa(
        "build", "fills", "--associations", "pairs.csv", "--model", model, "--out", "o.csv", cwd=tmp_path
    )
    assert done.returncode == 2
    assert "behind a mask" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "o.csv").exists()


def test_a_build_that_proposes_nothing_leaves_no_table_of_an_earlier_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The exit code is 1, and the message says that nothing was kept."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(slot_models, "guesser", lambda model: (Guesser((), lambda gaps: []), {}))
    (tmp_path / "pairs.csv").write_text(PAIRS.replace("honest", "the").replace("thief", "the"))
    (tmp_path / "proposals.csv").write_text("yesterday")
    done = CliRunner().invoke(
        app, ["build", "fills", "--associations", "pairs.csv", "--model", "none", "--out", "proposals.csv"]
    )
    assert (done.exit_code, (tmp_path / "proposals.csv").exists()) == (1, False)
    assert "nothing was kept" in done.stderr
