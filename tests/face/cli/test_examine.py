"""Tests of `catsofa examine`: its output, files and errors."""

import json
from pathlib import Path

import numpy as np
import pytest
from helpers.records import cat
from typer.testing import CliRunner

from catsofa.cli import app
from catsofa.cli.score.examine import show_facet
from catsofa.data import formats
from catsofa.data.files import jsonl
from catsofa.scoring.compare import baselines
from catsofa.scoring.examine import Facet, Levels
from catsofa.scoring.examine.facets import studied

CATS = [cat(f"{term}x{n}", target=f"t{term}") for term in range(8) for n in range(4)]


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """Writes the data, and prediction files of four guessing models and one that prefers every stereotype."""
    jsonl.write(CATS, tmp_path / "cats.jsonl")
    guesses = {f"guess{seed}.json": baselines.random(CATS, seed=seed) for seed in range(4)}
    for name, scores in {**guesses, "stereotyped.json": baselines.stereotyped(CATS)}.items():
        formats.named("predictions").write(list(scores), tmp_path / name)
    return [str(path) for path in sorted(tmp_path.glob("*.json"))]


def called(*words: str, columns: int = 80) -> tuple[int, str]:
    """Returns exit code and output, or the text of an error."""
    done = CliRunner().invoke(app, ["examine", *words], env={"COLUMNS": str(columns)})
    return (2, str(done.exception)) if isinstance(done.exception, ValueError) else (done.exit_code, done.output)


@pytest.mark.parametrize("columns", [60, 80])
def test_every_number_stands_beside_its_intervals(files: list[str], columns: int) -> None:
    """The table fits the terminal and shows denominators, the number of models and the signature."""
    code, output = called(*files, "--on", str(Path(files[0]).with_name("cats.jsonl")), columns=columns)
    assert code == 0
    body = output.partition("items for a coefficient")[0]
    assert max(map(len, body.splitlines())) <= columns
    assert "intrasentence: 32 items of 8 terms, 5 models" in output
    for name in ("variance of", "coefficient,", "split-half", "all models", "item–rest,"):
        assert name in body
    assert "warning: 5 models: intervals over models rest on 4 degrees of freedom" in " ".join(output.split())
    assert "| resamples:1000 |" in output


def test_json_has_the_keys_of_the_page(files: list[str]) -> None:
    """Results by task have each number and its limits over terms, models and both; NaN is null."""
    code, output = called(*files, "--on", str(Path(files[0]).with_name("cats.jsonl")), "--json")
    report = json.loads(output)
    assert code == 0
    part = report["results"]["intrasentence"]
    assert set(part["variance"]) == {"model", "item", "residual"}
    assert set(part["items_for"]) == {"0.8", "0.9"}
    assert {"median", "negative", "null_median", "null_negative"} < set(part["item_rest"])
    assert set(part["intervals"]["kr20"]) == {"low", "high", "terms", "models"}
    assert part["intervals"]["split_half"]["terms"] == {"low": None, "high": None}
    assert report["results"]["convergence"] == []
    assert report["signature"]["resamples"] == 1000


def test_a_facet_has_a_table_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    """The table has every component and the coefficient with one, the given and twice as many levels, and the items
    needed.
    """
    rng = np.random.default_rng(0)
    values = rng.random((30, 5, 3)) + np.linspace(0, 1, 5)[None, :, None]
    facet = studied(
        Levels(name="prompt", levels=("likelihood", "plain", "own"), values=values),
        np.arange(30) // 3,
        resamples=50,
        seed=0,
    )
    assert isinstance(facet, Facet)
    show_facet(facet)
    output = capsys.readouterr().out
    for words in ("5 models × 30 items × 3 prompts: likelihood, plain, own", "model × prompt", "item × prompt", "rest",
                  "coefficient, 1 prompt", "coefficient, 6 prompts",
                  "items for a coefficient with 3 prompts of 0.8: "):  # fmt: skip
        assert words in " ".join(output.split())


def test_items_to_look_at_are_written_as_lint_writes_findings(files: list[str], tmp_path: Path) -> None:
    """Each finding names an item of the data, a rule and a reason."""
    out = tmp_path / "look.json"
    code, output = called(*files, "--on", str(tmp_path / "cats.jsonl"), "--drop", str(out))
    report = json.loads(out.read_text("utf-8"))
    assert code == 0
    assert set(report) == {"findings", "ran", "missing"}
    assert {one["rule"] for one in report["findings"]} <= {"E1", "E2"}
    assert {one["item"] for one in report["findings"]} <= {one.id for one in CATS}
    assert f"{len(report['findings'])} item" in output


def test_what_cannot_be_examined_is_refused_with_what_to_do(files: list[str], tmp_path: Path) -> None:
    """One model, the same model twice, no data and a missing file each end with exit code 2 and one sentence."""
    options = ["--on", str(tmp_path / "cats.jsonl")]
    assert called(files[0], *options) == (
        2,
        "found 1 model; expected two or more, since items are judged by what sets models apart",
    )
    assert "are scores of one model" in called(files[0], files[0], *options)[1]
    assert "--on" in called(*files)[1]
    assert called(files[0], str(tmp_path / "none.json"), *options)[0] == 2


def test_a_group_is_a_part_of_names(files: list[str], tmp_path: Path) -> None:
    """Four models against one are too few, in the terminal and in JSON; no model or all models are refused."""
    options = ["--on", str(tmp_path / "cats.jsonl"), "--group"]
    code, output = called(*files, *options, "guess")
    assert code == 0
    assert "guess, 4 models against 1" in output
    code, output = called(*files, *options, "guess", "--json")
    group = json.loads(output)["results"]["intrasentence"]["dif"]["guess"]
    assert (group["group"], group["others"], group["items"]) == (4, 1, [])
    assert "too few models" in group["refused"]
    for pattern, count in (("none", 0), ("json", 5)):
        assert f"group {pattern}: found {count} of 5 models" in called(*files, *options, pattern)[1]


@pytest.fixture
def twelve(files: list[str], tmp_path: Path) -> list[str]:
    """Writes prediction files of twelve guessing models."""
    for seed in range(4, 12):
        formats.named("predictions").write(list(baselines.random(CATS, seed=seed)), tmp_path / f"guess{seed}.json")
    return [str(path) for path in sorted(tmp_path.glob("guess*.json"))]


def test_a_short_form_is_a_data_set_like_any_other(twelve: list[str], tmp_path: Path) -> None:
    """Eight of 32 CATs, one of each term, are written unchanged, with the numbers for held-out models."""
    options, out = ["--on", str(tmp_path / "cats.jsonl")], tmp_path / "short.jsonl"
    code, output = called(*twelve, *options, "--short", "8", "--out", str(out))
    assert code == 0
    assert "short form of 8 items, on models left out: r" in " ".join(output.split())
    short = list(formats.read(out))
    assert len({one.target for one in short}) == 8
    assert short == [one for one in CATS if one.id in {k.id for k in short}]
    assert called(*twelve, "--on", str(out))[0] == 0
    code, output = called(*twelve, *options, "--short", "8", "--json")
    assert json.loads(output)["results"]["intrasentence"]["short"]["items"] == [one.id for one in short]


def test_a_short_form_that_cannot_be_made_writes_nothing(files: list[str], tmp_path: Path) -> None:
    """Five models or a missing length give exit code 2, the reason, and no file."""
    options, out = ["--on", str(tmp_path / "cats.jsonl")], tmp_path / "short.jsonl"
    assert "fewer than 10 models" in called(*files, *options, "--short", "8", "--out", str(out))[1]
    assert "its length is not named" in called(*files, *options, "--out", str(out))[1]
    assert not out.exists()
