"""Files written by `catsofa export` have the same measures as their run."""

import json
from collections.abc import Sequence
from math import exp
from pathlib import Path

import pytest
from helpers.records import cats

from catsofa.data import formats
from catsofa.data.files import BadInput
from catsofa.data.records import Score
from catsofa.scoring.compare import ModelComparison
from catsofa.scoring.evaluate import evaluate
from catsofa.scoring.run.export import FORMATS, export
from catsofa.scoring.run.score_files import compare_on, report_on, scores_of


class Near:
    """A model in which each letter costs 3e-4 nats, so that some of its scores tie."""

    name, digest = "near", "1"

    def loglikelihood(self, queries: Sequence[tuple[str, str]]) -> list[list[float]]:
        """Returns a number for each word."""
        return [[-2 - 3e-4 * len(word) for word in text.split()] for _, text in queries]


@pytest.fixture
def near(tmp_path: Path) -> Path:
    """Returns the folder of a finished run with ties by numerical error, and of its data."""
    formats.named("jsonl").write(cats(), tmp_path / "cats.jsonl")
    evaluate(Near(), tmp_path / "cats.jsonl", out=tmp_path / "run", resamples=20)
    return tmp_path


@pytest.mark.parametrize("logarithms", [False, True])
@pytest.mark.parametrize("name", FORMATS)
def test_an_exported_file_has_the_measures_of_its_run(near: Path, name: str, logarithms: bool) -> None:
    """Scores that tie in the run tie in the file, and every number is the same."""
    export(near / "run", near / "file", as_format=name, logarithms=logarithms)
    run, file = (report_on(near / place, near / "cats.jsonl").to_dict() for place in ("run", "file"))
    assert run["results"]["overall"]["ties"] > 0
    assert run["results"]["overall"]["ss_items"] > 0
    assert json.dumps(file["results"]) == json.dumps(run["results"])
    assert scores_of(near / "file") == scores_of(near / "run")
    assert isinstance(compared := compare_on([near / "run", near / "file"], near / "cats.jsonl"), ModelComparison)
    assert all(difference.first == difference.other for difference in compared.differences)


def test_an_exported_prediction_file_is_read_by_other_programs(near: Path) -> None:
    """StereoSet's evaluation reads the two tasks, and the id and the probability of each entry."""
    export(near / "run", near / "file", as_format="stereoset")
    document = json.loads((near / "file").read_text())
    assert document.keys() == {"intrasentence", "intersentence"}
    probabilities = {entry["id"]: entry["score"] for task in document.values() for entry in task}
    assert probabilities == {item: exp(score) for item, score in scores_of(near / "run").items() if score is not None}


def test_an_exported_score_that_was_edited_is_refused(tmp_path: Path) -> None:
    """A probability that disagrees with its logarithm is refused."""
    entry = {"id": "a", "score": 0.5, "logarithm": -1.0, "tokens": 2}
    (tmp_path / "file.json").write_text(json.dumps({"intrasentence": [entry], "intersentence": []}))
    with pytest.raises(BadInput, match=r"0\.5.*logarithm -1"):
        list(formats.read_as(tmp_path / "file.json", Score))
