"""Tests that `status`, `validate votes`, release and report count the same when a worker fails the gold items."""

import json
from pathlib import Path
from typing import Any

import pytest
from helpers.records import bakers, paraphrased
from typer.testing import CliRunner

from catsofa.annotation.results import answers as judged
from catsofa.annotation.results.answers import Raw
from catsofa.annotation.study import Study, create, rows
from catsofa.annotation.study.interface import interface, result_of
from catsofa.cli import app
from catsofa.data.files import jsonl
from catsofa.data.records import Annotation

PEOPLE = [f"p{n}" for n in range(5)]
CAREFUL = set(PEOPLE) - {"p4"}


def given(study: Study, token: str, person: str, wrong: bool) -> Raw:
    """Returns a judgement of a task; a wrong one calls everything unrelated."""
    key = study.keys[token]
    names = {candidate.id: candidate.label for candidate in study.items[key.item].candidates}
    labels = {f"label_{k}": "unrelated" if wrong else names[name] for k, name in enumerate(key.order, start=1)}
    time = "2026-01-02T03:04:05Z"
    result = result_of(interface(study.kind.name), labels)
    return Raw(annotation=f"{person}/{token}", updated=time, token=token, annotator=person, at=time, result=result)


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """Writes six CATs and three gold CATs judged by five people; p4 fails gold, and p3 is wrong about
    two of the CATs.
    """
    study_ = create(tmp_path / "study", kind="validate-cats", items=bakers(6), gold=bakers(3, "florist"))
    tokens = [key.token for key in study_.keys.values() if not key.gold]
    answers = [
        given(study_, token, person, wrong=person == "p4" or (person == "p3" and token in tokens[:2]))
        for token in study_.keys
        for person in PEOPLE
    ]
    rows.append(answers, study_.folder / "raw.jsonl")
    judged.write_annotations(study_)
    jsonl.write(bakers(6), tmp_path / "cats.jsonl")
    return study_.folder


def run(*arguments: object) -> str:
    """Returns the output of a command."""
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert done.exit_code == 0, done.output
    return done.output


def counts(found: dict[str, Any]) -> tuple[int, int, int]:
    """Returns the counted, the requested and the missing judgements."""
    return found["counted"], found["wanted"], found["missing"]


def test_three_commands_agree_on_the_number(study: Path, tmp_path: Path) -> None:
    """Five people judge six CATs, and one fails gold: 24 of 30 judgements count, 6 are missing, no CAT is done."""
    status = json.loads(run("annotate", "status", study, "--no-pull", "--json"))
    votes = json.loads(run("validate", "votes", "--on", study / "annotations.jsonl", "--json"))
    command = ["release", tmp_path / "cats.jsonl", "--study", study, "--name", "B", "--out", tmp_path / "out", "--json"]
    released = json.loads(run(*command))
    assert counts(status) == counts(votes["judgements"]) == (24, 30, 6)
    assert (status["done"], status["started"], status["judgements"]) == (0, 6, 30)
    assert votes["judgements"]["of"] == "CATs"
    assert set(votes["judgements"]["incomplete"].values()) == {4}
    assert (released["judgements"], released["missing"], released["counted"]) == (24, 6, [[4, 6]])
    assert released["judges"] == len(CAREFUL)


def test_the_shares_are_the_true_ones(study: Path, tmp_path: Path) -> None:
    """14 of 18 associations have 4 of 4 votes and 4 have 3 of 4; the output never says `of 5`."""
    votes = json.loads(run("validate", "votes", "--on", study / "annotations.jsonl", "--json"))
    assert votes["decided_by"] == {"4 of 4": 14, "3 of 4": 4}
    printed = run("validate", "votes", "--on", study / "annotations.jsonl")
    assert "18 of 18 items decided" in printed
    assert "of 5" not in printed
    assert "24 of 30 judgements count, 6 are missing: 6 CATs" in printed
    run("release", tmp_path / "cats.jsonl", "--study", study, "--name", "B", "--out", tmp_path / "out")
    card = (tmp_path / "out" / "README.md").read_text()
    assert "of the first 5" not in card
    assert "at least 3 valid judgements agree. Valid judgements: 4 for 6 items. 6 judgements" in card


def test_three_of_five_is_said_where_five_count(study: Path) -> None:
    """Without the worker's failed gold answers all five count: no judgement is missing, and 3 of 5 decide."""
    lines = [line for line in (study / "annotations.jsonl").read_text().splitlines() if '"gold"' not in line]
    (study / "all.jsonl").write_text("\n".join(lines) + "\n")
    votes = json.loads(run("validate", "votes", "--on", study / "all.jsonl", "--json"))
    assert counts(votes["judgements"]) == (30, 30, 0)
    assert "18 of 18 items decided by 3 of 5 judgements" in run("validate", "votes", "--on", study / "all.jsonl")


def test_dawid_skene_is_not_called_votes(study: Path) -> None:
    """If a posterior decides, the output names Dawid-Skene and no number of votes."""
    command = ["validate", "votes", "--on", study / "annotations.jsonl", "--posterior", "0.9"]
    assert "decided by Dawid-Skene" in run(*command)


def test_a_cat_that_nobody_judged_is_incomplete(study: Path, tmp_path: Path) -> None:
    """A seventh CAT has none of its five judgements: 24 of 35 count, 11 are missing."""
    jsonl.write(bakers(7), tmp_path / "seven.jsonl")
    command = ["validate", "votes", "--on", study / "annotations.jsonl", "--cats", tmp_path / "seven.jsonl", "--json"]
    assert counts(json.loads(run(*command))["judgements"]) == (24, 35, 11)


def test_a_review_is_counted_by_whole_items(tmp_path: Path) -> None:
    """One of five people omits a question about one of four items: votes and the release count 19 of 20."""
    items = paraphrased(4)
    right = {"same_meaning": "same", "grammatical": "correct", "about_target": "about it"}
    judgements = [
        Annotation(item=f"{item.id}/{q}", annotator=who, label=label, extra={"of": item.id, "question": q})
        for item in items
        for q, label in right.items()
        for who in PEOPLE
    ][:-1]
    jsonl.write(items, tmp_path / "items.jsonl")
    jsonl.write(judgements, tmp_path / "a.jsonl")
    votes = json.loads(run("validate", "votes", "--on", tmp_path / "a.jsonl", "--json"))
    command = ["release", tmp_path / "items.jsonl", "--annotations", tmp_path / "a.jsonl", "--name", "B", "--json"]
    released = json.loads(run(*command, "--out", tmp_path / "out"))
    assert counts(votes["judgements"]) == (19, 20, 1)
    assert votes["judgements"]["of"] == "whole items"
    assert (released["judgements"], released["missing"], released["counted"]) == (19, 1, [[5, 3], [4, 1]])
    assert (votes["items"], votes["decided_by"]) == (12, {"5 of 5": 9, "4 of 4": 3})
