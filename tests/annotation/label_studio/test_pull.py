"""Tests of interrupted or slow pulls: the next pull brings all missing answers."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from helpers.commands import little_room
from helpers.records import bakers

from catsofa.annotation.label_studio import ServerTask, Unanswered
from catsofa.annotation.label_studio import pull as pulls
from catsofa.annotation.label_studio.pull import UTC_TIME, pull
from catsofa.annotation.results.answers import Raw
from catsofa.annotation.study import Study, create, open_study, rows
from catsofa.annotation.study.interface import interface, result_of
from catsofa.data.files import BadInput

BEGIN = datetime(2026, 1, 2, 3, 0, tzinfo=UTC)
LABELS = result_of(interface("validate-cats"), {f"label_{k}": "unrelated" for k in (1, 2, 3)})


class Faulty:
    """A server with fixed answers that stops responding where a test wants it to."""

    def __init__(self, study: Study) -> None:
        self.tokens, self.answers = list(study.keys), dict[str, datetime]()
        self.asked: list[str] = []
        self.silent_after = 1000

    def answered_since(self, project: int, since: str, page: int) -> Iterator[ServerTask]:
        """Yields the tasks by their number, like the real server."""
        self.asked.append(since)
        for n, token in enumerate(self.tokens):
            if n == self.silent_after:
                raise Unanswered("reading the tasks: Label Studio did not answer")
            if (at := self.answers.get(token)) and (not since or at.strftime(UTC_TIME) > since):
                yield ServerTask(id=n, data={"item": token}, annotations=[self.annotation(n, at)])

    def annotation(self, number: int, at: datetime) -> dict[str, Any]:
        """Returns one person's answer."""
        at_text = at.strftime(UTC_TIME)
        return {"id": number, "updated_at": at_text, "created_at": at_text, "completed_by": 7, "was_cancelled": False,
                "result": LABELS}  # fmt: skip


@pytest.fixture
def study(tmp_path: Path) -> Study:
    """Returns a study of six CATs in a project."""
    return create(tmp_path / "study", kind="validate-cats", items=bakers(6)).saved(project=1)


def test_what_a_pull_that_was_cut_short_did_not_read_comes_with_the_next(study: Study) -> None:
    """Later pages have older answers, so the answers that were read imply nothing about the unread ones."""
    server: Any = Faulty(study)
    server.answers = {token: BEGIN - timedelta(hours=n) for n, token in enumerate(server.tokens)}
    server.silent_after = 2
    with pytest.raises(Unanswered):
        pull(study, server, page=1)
    server.silent_after = 1000
    assert pull(study, server, page=1).new == 4
    assert (pull(study, server, page=1).new, server.asked[-1][:16]) == (0, "2026-01-02T02:49")  # 3:00 less ten minutes


def test_an_answer_given_while_a_slow_pull_reads_on_comes_with_the_next(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    """During a pull of an hour, a task read earlier is answered: the next pull asks from before that answer."""
    server: Any = Faulty(study)
    first, *_, last = server.tokens
    server.answers = {last: BEGIN + timedelta(minutes=59)}
    clock = iter((0.0, 3600.0, 3600.0, 3601.0))
    monkeypatch.setattr(pulls, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    assert pull(study, server).new == 1
    server.answers[first] = BEGIN + timedelta(minutes=30)
    assert pull(open_study(study.folder), server).new == 1
    assert server.asked[-1] < "2026-01-02T03:00:00"


def test_a_crowds_own_times_do_not_move_the_servers(study: Study) -> None:
    """A platform's clock is a year ahead, and the server's answers are requested anyway."""
    with (study.folder / "raw.jsonl").open("w") as file:
        file.write(
            f'{{"annotation":"A1/{next(iter(study.keys))}","updated":"2027-01-02T03:04:05Z",'
            f'"token":"{next(iter(study.keys))}","annotator":"W1","at":"2027-01-02T03:04:05Z"}}\n'
        )
    server: Any = Faulty(study)
    server.answers = {server.tokens[0]: BEGIN}
    assert pull(study, server).new == 1
    server.answers[server.tokens[1]] = BEGIN + timedelta(hours=1)
    assert pull(study, server).new == 1


def test_a_pull_that_found_no_room_brings_everything_once_when_there_is_some(study: Study) -> None:
    """A full disk ends with one error; the next pull does not duplicate the written rows."""
    server: Any = Faulty(study)
    server.answers = dict.fromkeys(server.tokens, BEGIN)
    for room in (100, 700, 1500):
        with little_room(room), pytest.raises(BadInput, match="room"):
            pull(study, server, page=1)
    pull(study, server, page=1)
    raw = [row.token for row in rows.read(study.folder / "raw.jsonl", Raw)]
    assert sorted(raw) == sorted(server.tokens)


def test_a_study_that_takes_nothing_says_so(study: Study) -> None:
    """The error appears when the file of answers is a link to an unwritable place."""
    server: Any = Faulty(study)
    server.answers = dict.fromkeys(server.tokens, BEGIN)
    (study.folder / "raw.jsonl").symlink_to("/proc/sys/nowhere")
    with pytest.raises(BadInput, match="cannot be written"):
        pull(study, server)


def test_a_second_pull_beside_the_first_waits_its_turn(study: Study) -> None:
    """The second pull brings no answer that the first has brought."""
    server: Any = Faulty(study)
    server.answers = dict.fromkeys(server.tokens, BEGIN)
    with ThreadPoolExecutor(2) as two:
        brought = [done.result().new for done in [two.submit(pull, study, server, page=1) for _ in range(2)]]
    assert sorted(brought) == [0, 6]
    assert len(list(rows.read(study.folder / "raw.jsonl", Raw))) == 6
