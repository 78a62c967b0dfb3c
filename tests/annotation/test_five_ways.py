from collections import Counter
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from helpers.records import bakers, neutral, paraphrased, probes, terms
from helpers.servers.label_studio_server import Person, truth

from catsofa.annotation.label_studio import Server
from catsofa.annotation.label_studio import pull as pulls
from catsofa.annotation.label_studio.pull import pull
from catsofa.annotation.label_studio.push import push
from catsofa.annotation.results import answers as judged
from catsofa.annotation.study import Study, create, open_study
from catsofa.annotation.study.kinds import KINDS
from catsofa.data import formats
from catsofa.data.records import Annotation, Association
from catsofa.validation.annotation_files import collect
from catsofa.validation.decide.confirmed import confirm

pytestmark = [pytest.mark.labelstudio, pytest.mark.slow]


@pytest.fixture(scope="module")
def five_ways(server: Server, annotators: list[Person], tmp_path_factory: pytest.TempPathFactory) -> Study:
    """Returns a study of sixty CATs and three gold CATs, judged by five people; the second skips three tasks."""
    study = create(
        tmp_path_factory.mktemp("studies") / "cats", kind="validate-cats", items=bakers(60), gold=bakers(3, "florist")
    )
    study, pushed = push(study, server)
    assert (pushed.sent, pushed.gold) == (63, 3)
    project, judge = study.settings.project, truth(study)
    for person in annotators:
        if person is annotators[1]:
            for _ in range(3):
                task = person.next_task(project)
                assert task is not None
                assert person.answer(task["id"], project, [], skip=True).status_code == 201
        person.work(project, judge)
    return study


def test_five_people_judge_every_item_and_everybody_every_gold_item(five_ways: Study, server: Server) -> None:
    """60 items × 5, 3 gold × 5, less one person's skips: the server gives nothing out a sixth time."""
    pulled = pull(five_ways, server)
    annotations = list(judged.annotations(five_ways))
    answers = Counter((a.extra["task"], a.annotator) for a in annotations if a.label)
    assert set(answers.values()) == {3}
    gold = {key.token for key in five_ways.keys.values() if key.gold}
    people = Counter(task for task, _ in answers)
    skipped = {a.extra["task"] for a in annotations if a.extra.get("skipped")}
    assert len(skipped) == 3
    assert {people[task] for task in five_ways.keys if task not in skipped} == {5}
    assert {people[task] for task in skipped} == {4}
    assert all(people[task] >= 4 for task in gold)
    assert pulled.records == len(annotations) == 63 * 5 * 3


def test_a_skipped_task_waits_for_somebody_else(five_ways: Study, server: Server, annotators: list[Person]) -> None:
    """The person who skipped is not asked again; a sixth person gets the three skipped tasks and the gold."""
    project = five_ways.settings.project
    assert all(person.next_task(project) is None for person in annotators)
    sixth = Person.invited(server, "sixth@example.org")
    sixth.work(project, truth(five_ways))
    pulled = pull(five_ways, server)
    skipped = {a.extra["task"] for a in judged.annotations(five_ways) if a.extra.get("skipped")}
    gold = {key.token for key in five_ways.keys.values() if key.gold}
    assert pulled.new == len(skipped | gold)


def test_a_second_pull_brings_nothing_and_changes_no_byte(five_ways: Study, server: Server) -> None:
    """Pulling is incremental and repeatable; raw.jsonl is only appended to."""
    pull(five_ways, server)
    before = [(five_ways.folder / name).read_bytes() for name in ("raw.jsonl", "annotations.jsonl")]
    again = pull(five_ways, server)
    everything = pull(five_ways, server, everything=True)
    assert (again.new, again.changed, everything.new) == (0, 0, 0)
    assert before == [(five_ways.folder / name).read_bytes() for name in ("raw.jsonl", "annotations.jsonl")]


def test_only_what_is_new_or_changed_is_read_again(
    server: Server, annotators: list[Person], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of four tasks one is answered again and one answer is changed: a pull reads these two, and the border task."""
    study, _ = push(create(tmp_path / "study", kind="validate-cats", items=bakers(4)), server)
    project, judge = study.settings.project, truth(study)
    annotators[0].work(project, judge)
    pull(study, server)
    monkeypatch.setattr(pulls, "MARGIN", timedelta(0))
    newest = max(judged.latest(study), key=lambda row: row.updated)
    open_study(study.folder).saved(pulled=newest.updated)  # as if the last pull had begun then
    annotators[1].work(project, judge, at_most=1)
    second = token_of(study, server, annotators[1].seen[-1])
    changed = next(row for row in judged.latest(study) if row.token not in (second, newest.token))
    annotators[0].change(int(changed.annotation.removeprefix("ls-")), judge({"item": changed.token})[:1])
    tokens = {task.token for task in server.answered_since(project, newest.updated, 100)}
    assert {second, changed.token} <= tokens <= {second, changed.token, newest.token}
    again = pull(study, server)
    assert (again.new, again.changed) == (1, 1)


def token_of(study: Study, server: Server, task: int) -> str:
    """Returns our token for a task of the server."""
    return next(t.token for t in server.find(study.settings.project, list(study.keys)) if t.id == task)


def test_the_votes_confirm_what_everybody_said(five_ways: Study, server: Server) -> None:
    """Annotations go directly to the vote rule: 60 CATs of three, with only gold and skips set aside."""
    pull(five_ways, server)
    records = [r for r in formats.read(five_ways.folder / "annotations.jsonl") if isinstance(r, Annotation)]
    confirmed = confirm(collect(records))
    assert len(confirmed.cats) == 60
    assert not confirmed.refused
    assert set(confirmed.votes.set_aside) <= {"gold item", "skipped"}
    assert all(d.votes == {five_ways_label(five_ways, d.item): 5} for d in confirmed.votes.decisions.values())


def five_ways_label(study: Study, item: str) -> str:
    """Returns the written label of a candidate."""
    return next(c.label for cat in study.items.values() for c in cat.candidates if c.id == item)


@pytest.mark.parametrize("kind", [name for name, kind in KINDS.items() if not kind.judged_as])
def test_every_kind_of_project_can_be_made_and_worked_on(
    kind: str, server: Server, annotators: list[Person], tmp_path: Path
) -> None:
    """The server accepts each interface; shown data contain no label and no internal id, and meta is empty."""
    items: list[Any] = {
        "validate-cats": bakers(2),
        "write-neutral": bakers(2),
        "validate-neutral": neutral(2),
        "review-paraphrases": paraphrased(2),
        "judge-probes": probes(2),
        "judge-associations": [Association(identity="Zorbs", attribute=word) for word in ("tidy", "late")],
    }.get(kind, terms(2))
    study, _ = push(create(tmp_path / "study", kind=kind, items=items), server)
    task = annotators[0].next_task(study.settings.project)
    assert task is not None
    assert not task["meta"]
    options = {f"option_{k}" for k in (1, 2, 3, 4)}
    names = {"item", "target", "context", "original", "paraphrase", "identity", "text", "people"}
    assert set(task["data"]) <= names | options
    shown = str(task["data"])
    assert "stereotype" not in shown
    assert not any(record.id in shown for record in study.items.values())
