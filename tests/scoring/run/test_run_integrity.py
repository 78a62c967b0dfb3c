"""A run folder that was swapped, edited or cut is refused; no wrong number leaves it."""

import json
import shutil
from pathlib import Path

import pytest
from helpers.records import cats
from helpers.run_folders import Tiny, edit, numbers_of, refused, verdict

from catsofa.data import formats
from catsofa.data.files import BadInput
from catsofa.report import document
from catsofa.scoring.evaluate import evaluate
from catsofa.scoring.run.score_files import report_on


def test_a_run_as_it_was_written_is_all_right(runs: Path) -> None:
    """Verify checks scores, report, model and data of three runs."""
    code, output = verdict(runs)
    assert code == 0, output
    for name in ("gpt2", "llama", "probes"):
        assert f"{runs / name}: run, no fault: manifest.json, " in output
    assert output.count("report.json, model, data") == 3
    assert verdict(runs / "gpt2" / "report.json")[0] == 0


@pytest.mark.parametrize("name", ["scores.sqlite", "report.json", "manifest.json"])
def test_swapped_files_of_two_runs_are_refused(runs: Path, name: str) -> None:
    """Each file is bound to its run, so swapped files of two models on the same data are refused."""
    content = (runs / "gpt2" / name).read_bytes()
    shutil.copy(runs / "llama" / name, runs / "gpt2" / name)
    (runs / "llama" / name).write_bytes(content)
    for run in ("gpt2", "llama"):
        with pytest.raises(BadInput):
            list(numbers_of(runs / run))
        assert verdict(runs / run)[0] == 1


def test_a_run_with_anothers_scores_does_not_go_on(runs: Path, tiny: Tiny) -> None:
    """The same command refuses a swapped database before it scores anything."""
    shutil.copy(runs / "llama" / "scores.sqlite", runs / "gpt2" / "scores.sqlite")
    with pytest.raises(BadInput, match=r"gpt2/scores\.sqlite: .* another run"):
        evaluate(str(tiny("gpt2")), runs / "cats.jsonl", out=runs / "gpt2", resamples=0)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE scores SET score = score - 0.001 WHERE item = (SELECT min(item) FROM scores)",
        "UPDATE scores SET score = NULL, reason = 'too long' WHERE item = (SELECT max(item) FROM scores)",
        "UPDATE scores SET tokens = tokens + 1",
        "UPDATE scores SET item = item || 'x' WHERE item = (SELECT max(item) FROM scores)",
        "DELETE FROM scores WHERE item = (SELECT min(item) FROM scores)",
        "DELETE FROM scores",
        "UPDATE self_checks SET findings = '{}'",
        "DELETE FROM self_checks",
        "UPDATE chunks SET records = records + 1",
        "DELETE FROM chunks",
        "DELETE FROM seals",
        "UPDATE seals SET value = '0'",
        "DROP TABLE scores",
        "DROP TABLE seals",
        "ALTER TABLE scores DROP COLUMN checksum",
    ],
)
def test_an_edited_database_is_refused(runs: Path, statement: str) -> None:
    """An edited score, reason, token count or id, a lost row and a lost table are refused."""
    edit(runs / "gpt2", statement)
    assert "scores.sqlite" in refused(runs / "gpt2", "scores.sqlite")


def test_removed_findings_are_refused_by_whoever_reads_the_scores(runs: Path) -> None:
    """A run without its self-check is refused, because its signature would lose the mark of the check."""
    edit(runs / "gpt2", "DELETE FROM self_checks")
    with pytest.raises(BadInput):
        report_on(runs / "gpt2", runs / "cats.jsonl")


def test_an_edited_report_and_an_edited_manifest_are_refused(runs: Path) -> None:
    """A report with ten more points of ss, and a manifest with another dtype, are refused."""
    path = runs / "gpt2" / "report.json"
    report = json.loads(path.read_text())
    report["results"]["overall"]["ss"] += 10
    path.write_text(json.dumps(report))
    refused(runs / "gpt2", "report.json")
    assert verdict(path)[0] == 1
    path = runs / "llama" / "manifest.json"
    path.write_text(path.read_text().replace("float32", "float16"))
    refused(runs / "llama", "manifest.json")


@pytest.mark.parametrize("name", ["scores.sqlite", "report.json", "manifest.json"])
@pytest.mark.parametrize("share", [0, 0.3, 0.9])
def test_a_file_that_was_cut_is_refused(runs: Path, name: str, share: float) -> None:
    """A file cut to 0, 30 or 90 % of its length is refused."""
    path = runs / "gpt2" / name
    path.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])
    refused(runs / "gpt2", name)


def test_another_model_or_other_data_at_its_place_is_said(runs: Path, tiny: Tiny, tmp_path: Path) -> None:
    """Verify reports another model and other data at the paths of an unchanged run."""
    model = shutil.copytree(tiny("gpt2"), tmp_path / "model")
    evaluate(str(model), runs / "cats.jsonl", out=tmp_path / "run", resamples=0)
    assert verdict(tmp_path / "run")[0] == 0
    (model / "config.json").write_text((model / "config.json").read_text().replace("{", "{ ", 1))
    formats.named("jsonl").write(cats()[1:], runs / "cats.jsonl")
    code, output = verdict(tmp_path / "run")
    assert code == 1
    assert f"{model}: run, wrong: this is not the model" in output
    assert f"{runs / 'cats.jsonl'}: run, wrong: this is not the data" in output


def test_a_report_without_its_scores_is_refused(runs: Path) -> None:
    """A report without the file of its scores is refused, because it cannot be checked."""
    (runs / "gpt2" / "scores.sqlite").unlink()
    with pytest.raises(BadInput, match=r"scores\.sqlite"):
        document([runs / "gpt2"])
    assert verdict(runs / "gpt2")[0] == 1
