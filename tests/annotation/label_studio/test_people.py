import re
import time
from pathlib import Path

import pytest
from helpers.records import bakers
from helpers.servers.label_studio_server import ADMIN, PATIENCE, Person, truth
from typer.testing import CliRunner

from catsofa.annotation.label_studio import Server, ServerError, people
from catsofa.annotation.label_studio.pull import pull
from catsofa.annotation.label_studio.push import push
from catsofa.annotation.results import answers
from catsofa.annotation.results.status import status
from catsofa.annotation.study import create, open_study
from catsofa.annotation.study.interface import interface, result_of
from catsofa.cli import app
from catsofa.data import formats
from catsofa.validation.annotation_files import collect
from catsofa.validation.decide.confirmed import confirm
from catsofa.validation.judgements import Rule

pytestmark = [pytest.mark.labelstudio, pytest.mark.slow]


def test_nobody_is_shown_what_they_wrote(server: Server, annotators: list[Person], tmp_path: Path) -> None:
    """The first person wrote three of six items and judges the other three; the other people judge the rest."""

    writer = f"ls-{annotators[0].user}"
    items = [*bakers(3, writer=writer), *bakers(3, "florist")]
    study, _ = push(create(tmp_path / "study", kind="validate-cats", items=items, overlap=4), server)
    assert people.assign(study, server) == (3, 0)
    assert people.assign(study, server) == (0, 0)
    judge = truth(study)
    assert [person.work(study.settings.project, judge) for person in annotators] == [3, 6, 6, 6, 3]
    pull(study, server)
    own = [a for a in answers.annotations(study) if a.annotator == writer and a.extra.get("writer") == writer]
    assert len(own) == 9
    assert not any(a.label for a in own)
    report = status(study)
    assert (report.done, report.items, report.judgements, report.wanted) == (6, 6, 24, 24)
    assert not any(person.skipped for person in report.people)  # a task kept from its writer is not a skip


def test_two_more_people_are_asked_where_five_did_not_decide(
    server: Server, annotators: list[Person], tmp_path: Path
) -> None:
    """One of two items is reopened: two further people get only that item, and a second call adds no one."""
    study, _ = push(create(tmp_path / "study", kind="validate-cats", items=bakers(2)), server)
    judge = truth(study)
    for person in annotators:
        person.work(study.settings.project, judge)
    item = next(iter(study.items))
    assert people.reopen(study, server, [item, study.items[item].candidates[0].id]) == 1
    assert people.reopen(study, server, [item]) == 0
    late = [Person.invited(server, f"late{n}@example.org") for n in range(3)]
    assert [person.work(study.settings.project, judge) for person in late] == [1, 1, 0]
    pull(study, server)
    report = status(study)
    assert (report.done, report.wanted, report.judgements) == (2, 12, 12)
    assert people.reopen(study, server, [item]) == 1


def test_what_five_did_not_decide_is_reopened_by_command(
    server: Server, annotators: list[Person], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three against two leave a posterior below 0.9: two more people judge only that CAT, and the seven decide."""
    monkeypatch.setenv("LABEL_STUDIO_API_KEY", ADMIN.token)
    study, _ = push(create(tmp_path / "study", kind="validate-cats", items=bakers(2)), server)
    project, judge, doubted = study.settings.project, truth(study), next(iter(study.items))
    senseless = result_of(interface("validate-cats"), {f"label_{k}": "unrelated" for k in (1, 2, 3)})
    for n, person in enumerate(annotators):
        person.work(project, lambda d, n=n: senseless if n > 2 and study.keys[d["item"]].item == doubted else judge(d))
    assert "1 task reopened, each for 2 more people" in answer_of(
        "reopen", study.folder, "--undecided", "--posterior", "0.9"
    )
    assert "nothing to reopen" in answer_of("reopen", study.folder, "--undecided")
    late = [Person.invited(server, f"more{n}@example.org") for n in range(3)]
    assert [person.work(project, judge) for person in late] == [1, 1, 0]
    pull(study, server)
    votes = confirm(collect(formats.read(study.folder / "annotations.jsonl")), Rule(need=4)).votes
    assert not votes.undecided
    counted = {c.id: (7 if cat.id == doubted else 5) for cat in study.items.values() for c in cat.candidates}
    assert {item: decision.judges for item, decision in votes.decisions.items()} == counted
    assert "nothing to reopen" in answer_of("reopen", study.folder, "--undecided")


def answer_of(*words: object) -> str:
    """Returns the output of a command of `annotate`."""
    done = CliRunner().invoke(app, ["annotate", *map(str, words)])
    assert done.exit_code == 0, done.output
    return done.output


def test_a_closed_study_serves_nothing_and_later_answers_do_not_count(
    server: Server, annotators: list[Person], tmp_path: Path
) -> None:
    """An answer from a window opened before the closing is kept and counted as late, but is in no annotation."""
    study, _ = push(
        create(tmp_path / "study", kind="validate-cats", items=bakers(3), gold=bakers(1, "florist")), server
    )
    project, judge = study.settings.project, truth(study)
    annotators[0].work(project, judge, at_most=2)
    opened = annotators[1].next_task(project)
    assert opened is not None

    time.sleep(1.1)
    closed = people.close(study, server)
    assert all(person.next_task(project) is None for person in annotators[2:])
    time.sleep(1.1)
    assert annotators[1].answer(opened["id"], project, judge(opened["data"])).status_code == 201
    assert all(person.next_task(project) is None for person in annotators[2:])
    pulled = pull(closed, server)
    assert (pulled.new, pulled.late, pulled.records) == (3, 1, 6)
    with pytest.raises(ValueError, match="closed"):
        people.reopen(closed, server, [next(iter(study.items))])


def test_a_newer_link_replaces_an_older_one(tmp_path: Path) -> None:
    """No file contains a code; only the newest code of a person is valid."""
    study = create(tmp_path / "study", kind="validate-cats", items=bakers(1))
    old = people.invite(study, ["Ana@example.org"])
    codes = people.invite(study, ["ana@example.org"])
    assert codes.keys() == old.keys() == {"ana@example.org"}
    assert codes["ana@example.org"] not in (study.folder / people.FILE).read_text()
    with pytest.raises(ValueError, match="newer one"):
        people.expected(study, old["ana@example.org"])
    assert people.expected(study, codes["ana@example.org"]).email == "ana@example.org"


def test_invalid_answers_count_for_nothing(server: Server, annotators: list[Person], tmp_path: Path) -> None:
    """The server accepts a missing, unknown or empty label; catsofa marks the answer as invalid with the reason."""
    study, _ = push(create(tmp_path / "study", kind="validate-cats", items=bakers(3)), server)
    questions = interface("validate-cats")
    some = result_of(questions, {"label_1": "stereotype"})
    unknown = result_of(questions, {"label_1": "rude", "label_2": "unrelated", "label_3": "unrelated"})
    for result in (some, unknown, []):
        task = annotators[0].next_task(study.settings.project)
        assert task is not None
        assert annotators[0].answer(task["id"], study.settings.project, result, seconds=-5).status_code == 201
    pull(study, server)
    reasons = {a.extra.get("invalid", "") for a in answers.annotations(study)}
    assert reasons == {
        "label_2 not answered; label_3 not answered",
        "label_1 has no choice 'rude'",
        "label_1 not answered; label_2 not answered; label_3 not answered",
    }
    report = status(open_study(study.folder))
    assert (report.judgements, report.people[0].invalid) == (0, 3)


def test_a_wrong_token_and_a_wrong_address_are_said_without_secrets(server: Server) -> None:
    """The error contains the address and the setting to change, but neither the token nor a cookie."""
    with pytest.raises(ServerError, match=rf"{server.url}.*401.*LABEL_STUDIO_API_KEY") as refused:
        Server(server.url, "f" * 40, timeout=PATIENCE).user()
    assert not re.search("ffff|session", str(refused.value))
    with pytest.raises(ServerError, match=r"http://127\.0\.0\.1:9.*did not answer"):
        Server("http://127.0.0.1:9", "f" * 40).version()
