"""Tests that the same input gives the same bytes: releases and recipes, in other folders, processes and orders."""

import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.commands import run_catsofa
from helpers.records import bakers, paraphrased
from helpers.releases import FACTS, PEOPLE, judged, reviewed

from catsofa import recipes
from catsofa.annotation.results.pseudonyms import numbered, without_names
from catsofa.annotation.study import create
from catsofa.data.files import jsonl
from catsofa.data.formats import read_as
from catsofa.data.records import Annotation, Cat, Score
from catsofa.scoring.run.store import Run
from catsofa.share.release import release


def content(folder: Path) -> dict[str, bytes]:
    """Returns every file of a folder with its bytes."""
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def renamed(votes: Sequence[Annotation]) -> list[Annotation]:
    """Returns the same judgements by people with other ids."""
    return [replace(vote, annotator=f"person-{len(PEOPLE) - PEOPLE.index(vote.annotator)}") for vote in votes]


def distinct(cats: list[Cat]) -> list[Annotation]:
    """Returns judgements in which no two people agree on everything."""
    return [
        replace(vote, label="unrelated") if n % len(PEOPLE) == n // 15 % len(PEOPLE) else vote
        for n, vote in enumerate(judged(cats, 0))
    ]


@pytest.mark.parametrize("secret", ["", "s"])
def test_a_release_is_the_same_twice(tmp_path: Path, secret: str) -> None:
    """Two folders have the same files, byte for byte, whatever the order of the judgements."""
    cats = bakers(8, writer="worker-9")
    for name, votes in (("one", distinct(cats)), ("two", distinct(cats)), ("three", distinct(cats)[::-1])):
        release({"test": cats}, votes, tmp_path / name, FACTS, secret=secret)
    assert content(tmp_path / "one") == content(tmp_path / "two") == content(tmp_path / "three")


@pytest.mark.parametrize("kind", ["labels", "review"])
def test_without_a_secret_no_name_enters_a_release(tmp_path: Path, kind: str) -> None:
    """Other worker ids in another order give the same bytes, so a list of all worker ids identifies nobody."""
    items = bakers(8, writer=PEOPLE[2]) if kind == "labels" else paraphrased(4)
    votes = distinct(items) if kind == "labels" else reviewed(items, "same_meaning")
    others = bakers(8, writer="person-3") if kind == "labels" else items
    release({"test": items}, votes, tmp_path / "one", FACTS)
    release({"test": others}, renamed(votes), tmp_path / "two", FACTS)
    assert content(tmp_path / "one") == content(tmp_path / "two")


def test_numbered_people_stay_apart_and_stay_themselves(tmp_path: Path) -> None:
    """Five people have five names; a person who writes one CAT and judges others has one name;
    judgements stay linked.
    """
    cats = [replace(cat, source={"writer": PEOPLE[2]} if n == 0 else {}) for n, cat in enumerate(bakers(8))]
    votes = [vote for vote in distinct(cats) if vote.annotator != PEOPLE[2] or vote.extra["cat"] != cats[0].id]
    release({"test": cats}, votes, tmp_path / "out", FACTS)
    released = list(read_as(tmp_path / "out", Cat))
    judged_ids = {candidate.id for cat in released for candidate in cat.candidates}
    before = judgements_by_person(vote for vote in votes if vote.item in judged_ids)
    after = judgements_by_person(vote for cat in released for candidate in cat.candidates for vote in candidate.votes)
    assert set(after) == {f"a{n}" for n in range(1, 6)}
    assert sorted(map(sorted, before.values())) == sorted(map(sorted, after.values()))
    writer = next(cat.source["writer"] for cat in released if cat.id == cats[0].id)
    assert after[writer] == before[PEOPLE[2]]


def judgements_by_person(votes: Iterable[Annotation]) -> dict[str, set[tuple[str, str]]]:
    """Returns the judgements of each person on each item."""
    judgements: dict[str, set[tuple[str, str]]] = {}
    for vote in votes:
        judgements.setdefault(vote.annotator, set()).add((vote.item, vote.label))
    return judgements


def test_people_who_did_the_same_are_told_apart() -> None:
    """Two people with the same judgements have two names, and a hundred people have names of equal length."""
    cat = bakers(1)[0]
    one = replace(
        cat.candidates[0],
        votes=tuple(Annotation(item=cat.candidates[0].id, annotator=f"w{n}", label="unrelated") for n in range(100)),
    )
    crowd = replace(cat, candidates=(one, *cat.candidates[1:]))
    hidden = without_names(crowd, numbered([crowd]))
    assert isinstance(hidden, Cat)
    assert {v.annotator for v in hidden.candidates[0].votes} == {f"a{n:03}" for n in range(1, 101)}


def test_the_command_writes_the_same_bytes_in_every_process(tmp_path: Path) -> None:
    """The release runs with annotations and with a study, twice, under other hash seeds."""
    cats = bakers(6, writer="worker-9")
    jsonl.write(cats, tmp_path / "test.jsonl")
    jsonl.write(judged(cats, 3), tmp_path / "annotations.jsonl")
    study = create(tmp_path / "study", kind="validate-cats", items=cats)
    jsonl.write(judged(cats, 3), study.folder / "annotations.jsonl")
    for options in (("--annotations", "annotations.jsonl"), ("--study", "study")):
        for seed in ("1", "2"):
            done = run_catsofa(
                *("release", "test.jsonl", *options, "--name", "B", "--out", f"out{seed}"),
                cwd=tmp_path,
                PYTHONHASHSEED=seed,
            )
            assert done.returncode == 0, done.stderr
        assert content(tmp_path / "out1") == content(tmp_path / "out2")


RECIPE = """
[[step]]
run = "convert"
args = ["cats.jsonl", "cats.json"]
to = "stereoset"

[[step]]
run = "release"
args = ["cats.json"]
annotations = "annotations.jsonl"
name = "Bakers"
out = "released"

[[step]]
run = "convert"
args = ["released", "again.jsonl"]
"""


def test_a_recipe_leaves_the_same_bytes_also_after_a_kill(tmp_path: Path) -> None:
    """Two folders, and a third that was killed and rerun, have equal files, including the journal."""
    folders = [tmp_path / name for name in ("one", "two", "killed")]
    for folder in folders:
        folder.mkdir()
        cats = bakers(6)
        jsonl.write(cats, folder / "cats.jsonl")
        jsonl.write(judged(cats, 3), folder / "annotations.jsonl")
        (folder / "recipe.toml").write_text(RECIPE)
    command = [sys.executable, "-m", "catsofa", "run", "recipe.toml"]
    with subprocess.Popen(command, cwd=folders[2], stderr=subprocess.DEVNULL, start_new_session=True) as running:
        until = time.monotonic() + 60
        while not (folders[2] / ".recipe.done.json").exists() and time.monotonic() < until:
            time.sleep(0.005)
        running.send_signal(signal.SIGKILL)
    for folder in folders:
        done = run_catsofa("run", "recipe.toml", cwd=folder)
        assert done.returncode == 0, done.stderr
    one, two, killed = map(content, folders)
    assert ".recipe.done.json" in one
    assert one == two == killed


def test_the_state_of_a_run_is_its_identity_and_its_scores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run made at another time and in two pieces is the same step; a different score changes it."""
    states = []
    for folder, pieces, last in (("one", ["ab"], -1.0), ("two", ["a", "b"], -1.0), ("three", ["ab"], -2.0)):
        (tmp_path / folder).mkdir()
        monkeypatch.chdir(tmp_path / folder)
        for piece in pieces:
            with Run.begin("run", {"model": {"digest": "sha256:aa"}, "data": "records:11"}, {"at": folder}) as run:
                run.add([Score(item=item, task="intrasentence", score=last if item == "b" else -1.0) for item in piece])
        with Run.begin("run", {"model": {"digest": "sha256:aa"}, "data": "records:11"}, {"at": folder}) as run:
            run.finish({"results": {}})
        journal = recipes.Journal(Path("recipe.toml"))
        journal.add(STEP, [Path("run")])
        states.append(Path(".recipe.done.json").read_bytes())
        assert recipes.Journal(Path("recipe.toml")).has(STEP, [Path("run")], [])
    assert states[0] == states[1] != states[2]


STEP = recipes.Step(number=1, command=("report",), arguments=("run",))
