import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers.servers.chat_server import ChatServer, serving
from helpers.servers.planted_associations import planted
from typer.testing import CliRunner

from catsofa.builders.candidates.jury import LABELS, Jury, apply, label_of, may_drop
from catsofa.builders.paraphrases.replies import Reply
from catsofa.builders.paraphrases.runs import Run
from catsofa.cli import app
from catsofa.data.files import BadInput, json_files, jsonl
from catsofa.data.records import Annotation, Association, Refused
from catsofa.data.servers.endpoints import Endpoint
from catsofa.data.servers.prices import FREE

TRUE = Association(identity="Dravians", attribute="tidy", region="Zorbia")
FALSE = Association(identity="Dravians", attribute="loud", region="Zorbia")


@pytest.fixture
def server() -> Iterator[ChatServer]:
    """Yields jurors who know the planted associations; `contrary` gives the opposite answers."""
    with serving(ChatServer(answer=planted)) as running:
        yield running


def answers(server: ChatServer, out: Path, *models: str) -> tuple[Jury, list[Annotation]]:
    """Returns a jury and its answers about two associations."""
    jury = Jury(models, {"temperature": 0})
    endpoint, jury_requests = Endpoint(base_url=server.url), jury.requests([TRUE, FALSE])
    ended = list(Run(requests=jury_requests, endpoint=endpoint, out=out, max_tokens=8, price=lambda name: FREE).ask())
    return jury, list(jury.annotations([TRUE, FALSE], ended))


def test_the_majority_of_the_jurors_is_an_answer_beside_theirs(server: ChatServer, tmp_path: Path) -> None:
    """Two informed jurors outvote a contrary one. Each juror and the jury is a separate annotator."""
    jury, annotations = answers(server, tmp_path, "a", "b", "contrary")
    labels = {(one.item, one.annotator): one.label for one in annotations}
    assert labels[f"{TRUE.id}/association", jury.name(TRUE)] == "yes"
    assert labels[f"{FALSE.id}/association", jury.name(FALSE)] == "no"
    assert labels[f"{TRUE.id}/association", jury.name(TRUE, "contrary")] == "no"
    assert len(annotations) == 8


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("Yes.", "yes"),
        ("**no**", "no"),
        ("<think>yes or no?</think>\nno", "no"),
        ("1. unsure", "unsure"),
        ("no\nyes", ""),
        ("yes, because", ""),
        ("", ""),
    ],
)
def test_an_answer_is_one_word_once_the_reasoning_is_taken_off(text: str, label: str) -> None:
    """A longer reply and a truncated reply are no answer."""
    assert label_of(Reply(text=text)) == label
    assert label_of(Reply(text=text, ending="truncated")) == ""


def test_without_a_majority_the_jury_says_nothing(server: ChatServer, tmp_path: Path) -> None:
    """One of two jurors is no majority, so the jury has no answer."""
    jury, annotations = answers(server, tmp_path, "a", "contrary")
    assert jury.name(TRUE) not in {one.annotator for one in annotations}


def test_the_command_counts_what_a_juror_or_the_jury_did_not_answer(server: ChatServer, tmp_path: Path) -> None:
    """An unusable reply and a split are counted as no answer."""
    server.answer = lambda body: "perhaps" if body["model"] == "vague" else planted(body)
    jsonl.write([TRUE, FALSE], tmp_path / "on.jsonl")
    jurors = [f"--model={name}" for name in ("a", "vague")]
    options = ["--on", str(tmp_path / "on.jsonl"), "--out", str(tmp_path / "out"), "--base-url", server.url, "--json"]
    done = CliRunner().invoke(app, ["build", "jury", *jurors, *options], catch_exceptions=False)
    counted = {(name.split()[0], label): number for name, label, number in json.loads(done.stdout)["labels"]}
    assert counted == {("a", "no"): 1, ("a", "yes"): 1, ("jury", "no answer"): 2, ("vague", "no answer"): 2}


def test_proposals_of_which_none_is_kept_end_with_exit_code_1(server: ChatServer, tmp_path: Path) -> None:
    """If the model declines everything, the exit code is 1."""
    (tmp_path / "seeds.csv").write_text("identity\nDravians\n")
    options = ["--seeds", str(tmp_path / "seeds.csv"), "--out", str(tmp_path / "out"), "--base-url", server.url]
    done = CliRunner().invoke(app, ["build", "candidates", "--model", "prude", "--encoder", "none", *options])
    assert (done.exit_code, "no association was kept" in done.stderr) == (1, True)


def test_the_answers_stand_in_an_order_of_their_own_for_each_item() -> None:
    """Over many items, each answer comes first about equally often, so no position is favoured."""
    jury = Jury(["a"], {})
    items = [Association(identity="Zorbs", attribute=f"trait {n}") for n in range(300)]
    first = [one.prompt.rsplit("nothing else: ", 1)[1].split(",")[0] for one in jury.requests(items)]
    assert all(70 < first.count(label) < 130 for label in LABELS)


def passed(path: Path, name: str, **changed: object) -> Path:
    """Writes a result of the alternative annotator test and returns its path."""
    judge = {"passed": True, "winning_rate": 0.8, "kappa": 0.4, "recall": {"yes": {"low": 0.97}}} | changed
    json_files.write(json_files.sealed({"judges": {name: judge}}), path)
    return path


def test_a_jury_that_passed_drops_what_it_denies_but_for_one_in_twenty() -> None:
    """Of 400 denied associations, about 20 still go to people with a mark. If the jury did not pass, all do."""
    items = [Association(identity="Zorbs", attribute=f"trait {n}") for n in range(400)]
    denied = [Annotation(item=f"{one.id}/association", annotator="jury", label="no") for one in items]
    outcomes = list(apply(items, denied, {"jury"}))
    audit = [one for one in outcomes if isinstance(one, Association)]
    assert 8 < len(audit) < 36
    assert all(one.extra["jury_audit"] for one in audit)
    assert {one.reason for one in outcomes if isinstance(one, Refused)} == {"denied_by_jury"}
    everything = list(apply(items, denied, set()))
    assert [one.extra for one in everything if isinstance(one, Association)] == [{"jury": {"jury": "no"}}] * 400


def test_a_jury_may_drop_only_where_it_was_tested_and_agrees_with_people(tmp_path: Path) -> None:
    """A pass is valid for one name (models, question, settings, region, language). Low kappa or recall is no pass."""
    jury = Jury(["a", "b", "c"], {})
    name = jury.name(TRUE)
    assert may_drop(passed(tmp_path / "p.json", name), [name]) == {name}
    elsewhere = Association(identity="Dravians", attribute="tidy", region="Norrick")
    with pytest.raises(BadInput, match="Norrick"):
        may_drop(tmp_path / "p.json", [name, jury.name(elsewhere)])
    with pytest.raises(BadInput):
        may_drop(tmp_path / "p.json", [Jury(["a", "b"], {}).name(TRUE)])
    weak: list[dict[str, object]] = [
        {"passed": False},
        {"kappa": 0.1},
        {"recall": {"yes": {"low": 0.9}}},
        {"recall": {}},
    ]
    for changed in weak:
        with pytest.raises(ValueError, match="may not drop"):
            may_drop(passed(tmp_path / "p.json", name, **changed), [name])
    text = passed(tmp_path / "p.json", name, passed=False).read_text().replace("false", "true")
    (tmp_path / "p.json").write_text(text)
    with pytest.raises(BadInput, match="checksum"):
        may_drop(tmp_path / "p.json", [name])
