import json
from pathlib import Path
from typing import Any

import pytest
from helpers.samples import PREDICTIONS, write_sample

from catsofa.data import formats
from catsofa.data.files import BadInput, jsonl
from catsofa.data.formats import predictions
from catsofa.data.records import Score

RELEASED = [
    "EnsembleModel_",
    "SentimentModel",
    "bert-base-cased_BertNextSentence_BertLM",
    "bert-large-cased_BertNextSentence_BertLM",
    "gpt2-large_ModelNSP_GPT2LM",
    "gpt2-medium_ModelNSP_GPT2LM",
    "gpt2_ModelNSP_GPT2LM",
    "roberta-base_ModelNSP_RoBERTaLM",
    "roberta-large_ModelNSP_RoBERTaLM",
    "xlnet-base-cased_ModelNSP_XLNetLM",
    "xlnet-large-cased_ModelNSP_XLNetLM",
]


def test_a_score_keeps_its_task_and_its_number(tmp_path: Path) -> None:
    """Scores keep the file's order, one per sentence; null is unscored."""
    scores = list(predictions.read(write_sample(tmp_path, "predictions")))
    assert [score.item for score in scores] == ["s4", "s5", "s1", "s2", "s3"]
    assert [score.score for score in scores] == [0.1, None, -3.5e-07, 7.0, 1e300]
    assert [score.task for score in scores] == ["intersentence"] * 2 + ["intrasentence"] * 3
    predictions.write(scores, tmp_path / "again.json")
    assert json.loads((tmp_path / "again.json").read_text()) == PREDICTIONS


def test_unscored_is_null_in_the_file_and_nan_is_read_as_unscored(tmp_path: Path) -> None:
    """NaN is read as unscored and written as null, because an evaluation would count NaN as a lost comparison."""
    path = tmp_path / "nan.json"
    path.write_text('{"intrasentence": [{"id": "a", "score": NaN}, {"id": "b", "score": -Infinity}]}')
    scores = list(predictions.read(path))
    assert [score.score for score in scores] == [None, float("-inf")]
    predictions.write([Score(item="a", score=float("nan"), task="intrasentence")], path)
    assert json.loads(path.read_text()) == {"intrasentence": [{"id": "a", "score": None}], "intersentence": []}


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ([], "a list; expected an object"),
        ({}, "not one score"),
        ({"intrasentence": [], "intersentence": []}, "not one score"),
        ({"intrasentence": [], "overall": []}, "the field 'overall'"),
        ({"intrasentence": {"a": 1.0}}, "an object in intrasentence; expected a list"),
        ({"intrasentence": [["a", 1.0]]}, "a list in intrasentence[0]; expected an object"),
        ({"intrasentence": [{"id": "a"}]}, "no field 'score' in intrasentence[0]"),
        ({"intrasentence": [{"id": 3, "score": 1}]}, "the number 3 in intrasentence[0].id"),
        ({"intrasentence": [{"id": "a", "score": "1"}]}, "a text in intrasentence[0].score; expected a number or null"),
        ({"intrasentence": [{"id": "a", "score": True}]}, "true or false in intrasentence[0].score"),
        ({"intrasentence": [{"id": "a", "score": 10**400}]}, "expected a number that fits 64 bits"),
        (
            {"intrasentence": [{"id": "a", "score": 1}], "intersentence": [{"id": "a", "score": 2}]},
            "id 'a' a second time (first at intrasentence[0]) in intersentence[0]",
        ),
    ],
)
def test_what_is_wrong_with_predictions_is_said_with_its_place(document: Any, said: str, tmp_path: Path) -> None:
    """Wrong value types, missing and unknown fields and a repeated id are refused with their place in the file."""
    path = tmp_path / "bad.json"
    path.write_text(json.dumps(document))
    with pytest.raises(BadInput) as caught:
        list(predictions.read(path))
    assert said in str(caught.value)


def test_scores_of_other_tasks_are_refused_and_tokens_and_reasons_are_kept(tmp_path: Path) -> None:
    """Predictions allow two tasks. Tokens and reason have fields of their own."""
    with pytest.raises(ValueError, match=r"'a'.*task 'pairs'"):
        predictions.write([Score(item="a", score=1.0, task="pairs")], tmp_path / "p.json")
    score = Score(item="a", score=None, tokens=3, task="intrasentence", reason="two BLANKs", extra={"sum": -4.0})
    assert not set(predictions.loses(score))
    jsonl.write([score], tmp_path / "scores.jsonl")
    done = formats.convert(tmp_path / "scores.jsonl", tmp_path / "p.json")
    assert not done.lost
    (back,) = predictions.read(tmp_path / "p.json")
    assert back == score


@pytest.mark.parametrize("model", RELEASED)
def test_released_predictions_come_back_to_the_last_digit(model: str, shared: Path, tmp_path: Path) -> None:
    """The 12,687 scores of each of the 11 released files give the same JSON and the same records after a round trip."""
    source = shared / f"data/stereoset/released_predictions/predictions_{model}.json"
    scores = list(formats.read(source))
    assert len(scores) == 12_687
    assert predictions.write(iter(scores), tmp_path / "again.json") == 12_687
    assert json.loads((tmp_path / "again.json").read_text()) == json.loads(source.read_text())
    assert list(formats.read(tmp_path / "again.json")) == scores


@pytest.mark.parametrize("score", [2**53 + 1, -(2**53) - 1, 10**20 + 1])
def test_an_integer_that_would_be_rounded_is_refused(tmp_path: Path, score: int) -> None:
    """2^53 + 1 would tie with 2^53, so it is refused in both score formats; 2^60 is exact."""
    for exact in (False, True):
        value = 2**60 if exact else score
        (tmp_path / "a.json").write_text(f'{{"intrasentence": [{{"id": "a", "score": {value}}}], "intersentence": []}}')
        (tmp_path / "a.jsonl").write_text(f'{{"item": "a", "task": "intrasentence", "score": {value}}}\n')
        for name in ("a.json", "a.jsonl"):
            if exact:
                assert [one.score for one in formats.read_as(tmp_path / name, Score)] == [2.0**60]
            else:
                with pytest.raises(BadInput, match=f"{score}.*64-bit"):
                    list(formats.read_as(tmp_path / name, Score))
