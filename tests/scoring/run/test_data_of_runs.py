"""A run is measured only on the data that it scored."""

from dataclasses import replace
from pathlib import Path

import pytest
from helpers.records import cats
from helpers.run_folders import Tiny
from typer.testing import CliRunner

from catsofa import evaluate
from catsofa.cli import app
from catsofa.data import formats
from catsofa.data.files import BadInput
from catsofa.data.records import Score
from catsofa.scoring.run.score_files import compare_on, report_on, robustness_on


@pytest.fixture
def files(tmp_path: Path, tiny: Tiny) -> Path:
    """Returns a folder with runs on CATs and on the first two of them, and the same ids with other words."""
    originals = cats()
    others = [replace(cat, context=cat.context.replace("The ", "Every ")) for cat in originals]
    for name, records in (("cats", originals), ("other", others), ("some", originals[1:4]), ("first", originals[:2])):
        formats.named("jsonl").write(records, tmp_path / f"{name}.jsonl")
    evaluate(str(tiny("gpt2")), tmp_path / "cats.jsonl", out=tmp_path / "run", resamples=10)
    evaluate(str(tiny("gpt2")), tmp_path / "cats.jsonl", out=tmp_path / "limited", limit=2, resamples=10)
    evaluate(str(tiny("llama")), tmp_path / "cats.jsonl", out=tmp_path / "llama", resamples=10)
    return tmp_path


def test_a_run_is_refused_on_other_data_that_has_the_same_ids(files: Path) -> None:
    """Each reader of runs refuses other data with the same ids, and names both data sets."""
    run, other = files / "run", files / "other.jsonl"
    message = r"other data \(other.jsonl@\w+\) than .*run was scored on \(cats.jsonl@\w+\)"
    for measure in (
        lambda: report_on(run, other),
        lambda: compare_on([run, files / "llama"], other),
        lambda: robustness_on([run], [files / "llama"], [other]),
    ):
        with pytest.raises(BadInput, match=message):
            measure()
    for command in (["power", "--predictions", str(run)], ["ensemble", "--scores", str(run), "--out", "x.json"]):
        done = CliRunner().invoke(app, [*command, "--on", str(other)])
        assert isinstance(done.exception, BadInput)


def test_a_run_is_measured_on_its_own_data_and_on_parts_of_it(files: Path) -> None:
    """Records of a run are known by content; the first records of a limited run also after its data are gone."""
    assert report_on(files / "run", files / "cats.jsonl").warnings is not None
    assert report_on(files / "run", files / "some.jsonl").results.to_dict()["overall"]["items"] == 3
    (files / "cats.jsonl").rename(files / "moved.jsonl")
    assert report_on(files / "run", files / "moved.jsonl").warnings is not None
    assert report_on(files / "limited", files / "first.jsonl").results.to_dict()["overall"]["items"] == 2
    with pytest.raises(BadInput, match="other data"):
        report_on(files / "run", files / "some.jsonl")


def test_probabilities_tie_only_if_they_are_equal(tmp_path: Path) -> None:
    """Scores above 0 are probabilities, also with a token count, so the numerical error in nats does not apply."""
    first = cats()[:1]
    formats.named("jsonl").write(first, tmp_path / "cats.jsonl")
    ids = [candidate.id for candidate in first[0].candidates]
    for values, ties in (([3e-6, 2e-6, 1e-6], 0), ([2e-6, 2e-6, 1e-6], 1), ([-2.00002, -2.00001, -4.0], 1)):
        scores = [
            Score(item=item, task=first[0].kind, score=value, tokens=7) for item, value in zip(ids, values, strict=True)
        ]
        formats.named("jsonl").write(scores, tmp_path / "scores.jsonl")
        overall = report_on(tmp_path / "scores.jsonl", tmp_path / "cats.jsonl").results.to_dict()["overall"]
        assert overall["ties"] == ties, values
