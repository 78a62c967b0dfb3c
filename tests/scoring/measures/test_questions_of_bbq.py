"""Tests the prompts for BBQ's questions and the results computed from the scores of answers."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from helpers.alike import difference
from helpers.commands import run_catsofa
from helpers.samples import write_sample

import catsofa
from catsofa.data import formats
from catsofa.data.files import BadInput, jsonl
from catsofa.data.records import Question, Score
from catsofa.scoring.items.score import score as score_records
from catsofa.scoring.likelihood.backend import Backend
from catsofa.scoring.measures.bbq.questions import prompt, text_of
from catsofa.scoring.measures.registry import Given, named
from catsofa.scoring.models import load
from catsofa.scoring.protocols import DEFAULT
from catsofa.scoring.run.score_files import report_on

Tiny = Callable[[str], Path]


@pytest.fixture
def questions(tmp_path: Path) -> list[Question]:
    """Returns the two questions of the sample."""
    return list(formats.read(write_sample(tmp_path, "bbq")))


def test_the_prompt_is_the_context_and_the_question(questions: list[Question]) -> None:
    """The prompt equals that of lm-evaluation-harness, so that sums of log-probabilities are comparable."""
    assert prompt(questions[0]) == "A zorb and a blicket sat in the kitchen.\n\nQ: Who left crumbs?\nA:"
    assert text_of(questions[0], questions[0].answers[1]).endswith("\nA: The blicket")


@pytest.mark.parametrize("name", ["gpt2", "llama"])
@pytest.mark.parametrize("length", ["sum", "mean"])
def test_an_answer_scores_its_tokens_after_the_prompt(
    tiny: Tiny, name: str, length: str, questions: list[Question]
) -> None:
    """The score is the log-softmax of a plain forward pass (start token, prompt, answer) at the answer's tokens."""
    import torch

    backend = Backend(load(str(tiny(name))))
    scores = score_records(backend, questions, DEFAULT.changed(length=length))
    assert [(score.item, score.task) for score in scores[:3]] == [("Tidiness-0", f"ans{n}") for n in range(3)]
    for score, answer in zip(scores[:3], questions[0].answers, strict=True):
        text = text_of(questions[0], answer)
        before, ids = (backend.reader.bare([one])[one].ids for one in (prompt(questions[0]), text))
        assert ids[: len(before)] == before
        row = torch.tensor([[backend.reader.start, *ids]])
        with torch.no_grad():
            logs = backend.model.module(input_ids=row).logits[0].double().log_softmax(-1)
        values = [logs[position, token].item() for position, token in enumerate(ids)][len(before) :]
        assert score.tokens == len(values)
        assert score.score == pytest.approx(np.sum(values) if length == "sum" else np.mean(values), abs=1e-4)


@pytest.mark.parametrize("name", ["bert", "t5", "bart", "xlnet"])
def test_other_kinds_of_models_score_every_answer(tiny: Tiny, name: str, questions: list[Question]) -> None:
    """Masked, encoder-decoder and permuted models score every answer over at least one token."""
    scores = score_records(Backend(load(str(tiny(name)))), questions, DEFAULT)
    assert len(scores) == 6
    assert all(score.score is not None and score.score < 0 < score.tokens for score in scores)


class Zorbs:
    """A user-defined model that assigns a higher probability to every answer about zorbs."""

    name, digest = "zorbs", "1"

    def loglikelihood(self, queries: Sequence[tuple[str, str]]) -> list[list[float]]:
        """Returns one log-probability per word."""
        return [[-1.0 if "zorb" in text else -2.0] * len(text.split()) for _, text in queries]


def test_a_model_of_one_s_own_is_asked_the_same(questions: list[Question]) -> None:
    """The model always names the zorb: the biased answer if ambiguous, the wrong answer if disambiguated."""
    whole = catsofa.evaluate(Zorbs(), questions).results.to_dict()["overall"]
    assert (whole["acc_amb"], whole["acc_dis"], whole["s_amb"], whole["coverage"]) == (0, 0, 1, 1)
    assert (whole["ambig"]["biased"], whole["disambig"]["counter"]) == (1, 1)


def scores_of(question: Question, *values: float | None) -> list[Score]:
    """Returns scores of the three answers."""
    return [Score(item=question.id, task=f"ans{n}", score=value) for n, value in enumerate(values)]


def test_answers_that_tie_or_have_no_score_are_no_answer(questions: list[Question]) -> None:
    """A tie of the two best is counted, also within the error of a score; a tie of the other two is not."""
    measure, (one, two) = named("bbq"), questions
    three = replace(one, id="three")

    def whole(error: float, *scores: Score) -> dict[str, object]:
        answers = Given(scores=scores, error=error)
        overall: dict[str, object] = measure.results([one, two, three], answers, DEFAULT, 10).to_dict()["overall"]
        return overall

    overall = whole(0.0, *scores_of(one, -1, -1, -3), *scores_of(two, -1, None, -3), *scores_of(three, -3, -3, -1))
    assert (overall["ties"], overall["coverage"], overall["acc_amb"]) == (1, pytest.approx(1 / 3), 1)
    close = scores_of(one, -1, -1.00005, -3)
    assert [whole(error, *close, *scores_of(two, -1, -2, -3))["ties"] for error in (0.0, 1e-4)] == [0, 1]
    nothing = measure.results([one], Given(scores=scores_of(one, -1, None, -2)), DEFAULT, 10)
    assert nothing.to_dict()["overall"]["coverage"] == 0
    assert measure.warnings(nothing, DEFAULT) == ("nothing is scored in Tidiness (1 questions)",)


def test_a_run_on_questions_is_kept_measured_again_and_exported(
    tiny: Tiny, questions: list[Question], tmp_path: Path
) -> None:
    """The run folder, its score file and the first report give the same results."""
    jsonl.write(questions, tmp_path / "questions.jsonl")
    data = str(tmp_path / "questions.jsonl")
    first = catsofa.evaluate(str(tiny("gpt2")), data, out=tmp_path / "run")
    again = report_on(tmp_path / "run", data)
    assert not difference(json_of(again), json_of(first))
    assert again.warnings == first.warnings
    jsonl.write(score_records(Backend(load(str(tiny("gpt2")))), questions, DEFAULT), tmp_path / "scores.jsonl")
    assert (
        json_of(report_on(tmp_path / "scores.jsonl", data))["overall"]["acc_amb"]
        == json_of(first)["overall"]["acc_amb"]
    )


def json_of(report: object) -> dict[str, dict[str, object]]:
    """Returns the results of a report as JSON holds them."""
    results: dict[str, dict[str, object]] = report.to_dict()["results"]  # type: ignore[attr-defined]
    return results


def test_predictions_beside_questions_are_measured_by_column(questions: list[Question], tmp_path: Path) -> None:
    """The sample's column names the zorb if ambiguous, and answers "unknown" if disambiguated."""
    path = write_sample(tmp_path, "bbq")
    report = report_on(path, path)
    assert list(json_of(report)) == ["tiny_pred"]
    numbers = json_of(report)["tiny_pred"]
    assert (numbers["acc_amb"], numbers["acc_dis"], numbers["s_amb"]) == (0, 0, 1)
    assert report.signature.model.startswith("predictions:tidiness.bbq@")
    jsonl.write([replace(questions[0], id="x"), questions[1]], tmp_path / "some.jsonl")
    some = report_on(tmp_path / "some.jsonl", path)
    assert (some.unknown_ids, json_of(some)["tiny_pred"]["coverage"]) == (1, 0.5)
    assert "1 prediction for questions that are not in the data" in some.warnings


def test_a_file_without_predictions_is_refused(questions: list[Question], tmp_path: Path) -> None:
    """The error names the existing columns; predictions for other data are refused as well."""
    jsonl.write([replace(one, extra={"note": "x"}) for one in questions], tmp_path / "none.jsonl")
    path = write_sample(tmp_path, "bbq")
    with pytest.raises(ValueError, match=r"no column.*note.*'pred'"):
        report_on(tmp_path / "none.jsonl", path)
    jsonl.write([replace(one, id=f"{one.id}x") for one in questions], tmp_path / "others.jsonl")
    with pytest.raises(ValueError, match=r"none.*2 questions"):
        report_on(tmp_path / "others.jsonl", path)
    with pytest.raises(BadInput, match="found questions"):
        report_on(path, write_sample(tmp_path, "crows-pairs"))


def test_the_released_predictions_are_measured_by_the_command(shared: Path, tmp_path: Path) -> None:
    """`score --predictions … --on … --json` prints the four numbers of each column."""
    folder = shared / "data/bbq"
    done = run_catsofa(
        "score",
        "--predictions",
        str(folder / "unifiedqa_Religion.jsonl"),
        "--on",
        str(folder / "Religion.jsonl"),
        "--json",
    )
    results = json.loads(done.stdout)["results"]
    assert {name.rpartition("_")[2]: round(overall["s_amb"], 4) for name, overall in results.items()} == {
        "race": 0.1433,
        "qonly": 0.2133,
        "arc": 0.245,
    }
    (tmp_path / "found.json").write_text(done.stdout)
    run_catsofa("report", str(tmp_path / "found.json"), "--out", str(tmp_path / "report.md"))
    assert "0.143 \\[0.030, 0.252\\]" in (tmp_path / "report.md").read_text()
