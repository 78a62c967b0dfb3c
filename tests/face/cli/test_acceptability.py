import json
from pathlib import Path

import pytest
from helpers.commands import run_catsofa
from helpers.grammarian import grammarian
from typer.testing import CliRunner

from catsofa import slot_models
from catsofa.cli import app
from catsofa.data import formats
from catsofa.data.files import jsonl
from catsofa.data.records import Candidate, Cat


def write_cats(path: Path, *fills: str) -> None:
    """Writes a CAT for each stereotype."""
    rows = []
    for target, fill in zip(("zorb", "quell"), fills, strict=False):
        context, labels = f"The {target} is BLANK.", ("stereotype", "anti-stereotype", "unrelated")
        options = [
            Candidate(text=context.replace("BLANK", word), label=label, fill=word)
            for label, word in zip(labels, (fill, "rude", "wooden"), strict=True)
        ]
        rows.append(
            Cat(
                kind="intrasentence",
                bias_type="pastime",
                target=target,
                context=context,
                candidates=(options[0], options[1], options[2]),
            )
        )
    path.write_bytes(b"".join(jsonl.dumps(row) + b"\n" for row in rows))


def test_doubtful_cats_go_to_a_file_for_people(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The model is measured first; its AUC and its threshold are printed and stored in each record."""
    monkeypatch.setattr(slot_models, "around", grammarian)
    monkeypatch.chdir(tmp_path)
    write_cats(Path("cats.jsonl"), "polite", "bandit")
    command = ["filter", "acceptability", "cats.jsonl", "--model", "m", "--out", "kept.jsonl", "--review", "read.jsonl"]
    done = CliRunner().invoke(app, [*command, "--json"], catch_exceptions=False)
    assert done.exit_code == 0
    report = json.loads(done.stdout)
    assert (report["kept"], report["review"], report["doubtful"]["stereotype"]) == (1, 1, 1)
    assert (report["measured"]["auc"], report["measured"]["threshold"]) == (1.0, 0.0)
    (reviewed,) = formats.read_as(Path("read.jsonl"), Cat)
    assert (reviewed.target, reviewed.source["acceptability"]["doubtful"]) == ("quell", ["stereotype"])
    shown = CliRunner().invoke(app, command, catch_exceptions=False).stdout
    assert "1 kept: kept.jsonl; 1 for people: read.jsonl" in shown
    assert "threshold 0.000" in shown


def test_without_a_kept_cat_the_answer_is_no(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The exit code is 1, and the file for people exists."""
    monkeypatch.setattr(slot_models, "around", grammarian)
    monkeypatch.chdir(tmp_path)
    write_cats(Path("cats.jsonl"), "bandit")
    command = ["filter", "acceptability", "cats.jsonl", "--model", "m", "--out", "kept.jsonl", "--review", "read.jsonl"]
    assert CliRunner().invoke(app, command).exit_code == 1
    assert Path("read.jsonl").read_bytes().count(b"\n") == 1


@pytest.mark.slow
def test_a_real_model_that_is_worthless_filters_nothing(tmp_path: Path, shared: Path) -> None:
    """The command exits with 2, prints the AUC and writes no file; `calibrate` exits with 1 and says so."""
    model = shared / "models" / "stories260K"
    write_cats(tmp_path / "cats.jsonl", "polite")
    files = ("--out", "kept.jsonl", "--review", "read.jsonl")
    done = run_catsofa("filter", "acceptability", "cats.jsonl", "--model", str(model), *files, cwd=tmp_path)
    assert done.returncode == 2
    assert "has an AUC of 0.52 on the 320 labelled sentences" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "kept.jsonl").exists()
    done = run_catsofa("calibrate", "acceptability", "--model", str(model), cwd=tmp_path)
    assert (done.returncode, "refuses this model" in done.stderr) == (1, True)
