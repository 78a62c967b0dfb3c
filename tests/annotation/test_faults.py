"""Tests of kills, timeouts and crowds: no task is duplicated, and no acknowledged answer is lost."""

import json
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import httpx
import pytest
from helpers.records import bakers
from helpers.servers.label_studio_server import ADMIN, PATIENCE, Person, free_port, start, truth
from helpers.servers.threads import on_a_free_port

from catsofa.annotation.label_studio import Server, ServerError
from catsofa.annotation.label_studio import server as ls
from catsofa.annotation.label_studio.pull import pull
from catsofa.annotation.label_studio.push import push, with_project
from catsofa.annotation.results import answers
from catsofa.annotation.results.status import status
from catsofa.annotation.study import Study, create, open_study
from catsofa.data.files.jsonl import read
from catsofa.data.records import Annotation
from catsofa.validation.annotation_files import collect
from catsofa.validation.decide.confirmed import confirm

pytestmark = [pytest.mark.labelstudio, pytest.mark.slow]

PUSH = """
import sys
from catsofa.annotation.label_studio import from_environment
from catsofa.annotation.label_studio.push import push, with_project
from catsofa.annotation.study import open_study
push(open_study(sys.argv[1]), from_environment(sys.argv[2]), chunk=100)
"""


def copies(study: Study, server: Server) -> Counter[str]:
    """Returns the number of copies of each token on the server."""
    study = open_study(study.folder)
    return Counter(task.token for task in server.find(study.settings.project, list(study.keys)))


def once(study: Study) -> Counter[str]:
    """Returns every token once."""
    return Counter(list(open_study(study.folder).keys))


def test_a_push_killed_again_and_again_sends_everything_once(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that is killed later and later sends 2,000 tasks, until it ends without a kill."""
    monkeypatch.setenv("LABEL_STUDIO_API_KEY", ADMIN.token)
    study = create(tmp_path / "study", kind="validate-cats", items=bakers(2000))
    kills, patience = 0, 4.0
    while True:
        client = subprocess.Popen([sys.executable, "-c", PUSH, str(study.folder), server.url])
        try:
            assert client.wait(patience) == 0
            break
        except subprocess.TimeoutExpired:
            client.send_signal(signal.SIGKILL)
            client.wait()
            kills, patience = kills + 1, patience * 1.5
    assert kills >= 1
    assert copies(study, server) == once(study)


class Swallower(BaseHTTPRequestHandler):
    """Passes requests on, and drops the answers to the first imports after the server has carried them out."""

    upstream = ""
    swallow = 0

    def _pass_on(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        headers = {name: value for name, value in self.headers.items() if name.lower() != "host"}
        answer = httpx.request(
            self.command, self.upstream + self.path, content=body, headers=headers, timeout=120, trust_env=False
        )
        if "/import" in self.path and type(self).swallow:
            type(self).swallow -= 1
            self.close_connection = True
            return
        self.send_response(answer.status_code)
        self.send_header("Content-Type", answer.headers.get("content-type", "application/json"))
        self.send_header("Content-Length", str(len(answer.content)))
        self.end_headers()
        self.wfile.write(answer.content)

    do_GET = do_POST = do_PATCH = do_DELETE = _pass_on

    def log_message(self, format: str, *args: object) -> None:
        """Logs nothing."""


@pytest.fixture
def swallowing(server: Server) -> Iterator[type[Swallower]]:
    """Starts a proxy in front of the server."""
    handler = type("Handler", (Swallower,), {"upstream": server.url, "swallow": 0})
    with on_a_free_port(handler) as handler.url:
        yield handler


def test_an_answer_lost_after_the_server_committed_makes_no_copy(
    server: Server, swallowing: type[Swallower], tmp_path: Path
) -> None:
    """Three imports of 200 are carried out without a response: the server has 600 tasks, not 1,200."""
    swallowing.swallow = 3
    study = create(tmp_path / "study", kind="validate-cats", items=bakers(600))
    through = Server(swallowing.url, ADMIN.token)  # type: ignore[attr-defined] # the fixture sets it
    study, pushed = push(study, through, chunk=200, waits=(0.5, 1.0))
    assert swallowing.swallow == 0
    assert copies(study, server) == once(study)
    assert (pushed.sent, pushed.removed) == (600, 0)


def test_imports_that_outlive_the_patience_of_the_client_leave_no_copy(server: Server, tmp_path: Path) -> None:
    """The client gives up before the server is done, and asks again once the project no longer changes."""
    study, _ = push(create(tmp_path / "study", kind="validate-cats", items=bakers(1)), server)
    large = create(tmp_path / "large", kind="validate-cats", items=bakers(3000), secret="x")
    large = large.saved(project=study.settings.project)
    hasty = Server(server.url, ADMIN.token, timeout=60)
    hasty._once = {"max_retries": 0, "timeout_in_seconds": 0.2}
    push(large, hasty, chunk=3000, waits=(4.0, 8.0, 16.0, 32.0))
    assert copies(large, server) == once(large)


def test_two_runs_beside_each_other_leave_no_copy(server: Server, tmp_path: Path) -> None:
    """Two copies of a study folder, which no lock can separate, are pushed at once: the server has 400 tasks."""
    study, _ = push(create(tmp_path / "study", kind="validate-cats", items=bakers(400)), server)
    for task in server.find(study.settings.project, list(study.keys)):
        server.remove(task.id)
    shutil.copytree(study.folder, tmp_path / "copy")
    with ThreadPoolExecutor(2) as both:
        ends = [
            both.submit(push, Study(tmp_path / name, study.settings), server, chunk=100) for name in ("study", "copy")
        ]
        assert all(end.result() for end in ends)
    push(study, server)
    assert copies(study, server) == once(study)


def test_what_was_changed_by_hand_on_the_server_is_set_right_or_named(server: Server, tmp_path: Path) -> None:
    """After three changed overlaps and a foreign task, a second push restores five people and counts the
    foreign task.
    """
    study, first = push(create(tmp_path / "study", kind="validate-cats", items=bakers(6)), server)
    assert (first.asked_anew, first.strangers) == (0, 0)
    project = study.settings.project
    tasks = list(server.find(project, list(study.keys)))
    for task in tasks[:3]:
        server.set_overlap(task.id, 2)
    server.add(project, [{**tasks[0].data, "item": "somebody else's"}])
    study, second = push(study, server)
    assert (second.sent, second.asked_anew, second.strangers) == (0, 3, 1)
    assert {task.overlap for task in server.find(project, list(study.keys))} == {5}


def test_a_server_killed_during_push_and_labelling_loses_nothing_acknowledged(
    program: Path, cache: Path, tmp_path: Path
) -> None:
    """After kills during both and restarts, every task exists once, and every acknowledged answer is stored."""
    data, port = tmp_path / "data", free_port()
    study = create(tmp_path / "study", kind="validate-cats", items=bakers(1000))
    with start(program, cache, data, port) as running:
        server = Server(running.url, ADMIN.token, timeout=PATIENCE)
        with ThreadPoolExecutor(1) as other:
            pushing = other.submit(push, study, server, chunk=50, waits=())
            while not pushing.done() and (
                open_study(study.folder).settings.project == 0 or not sum(copies(study, server).values())
            ):
                time.sleep(0.1)
            running.kill()
            with pytest.raises(ServerError):
                pushing.result()
    assert sum(1 for _ in open_study(study.folder).keys) == 1000
    with start(program, cache, data, port) as running:
        server = Server(running.url, ADMIN.token, timeout=PATIENCE)
        study, _ = push(study, server)
        assert copies(study, server) == once(study)
        person = Person.invited(server, "steady@example.org")
        acknowledged = labelled_until_killed(person, study, running)
    with start(program, cache, data, port):
        pull(study, server)
        answered = {a.extra["task"] for a in answers.annotations(study) if a.label}
        assert acknowledged <= answered
        assert len(answered) <= len(acknowledged) + 1
        person.sign_in()
        person.work(study.settings.project, truth(study), at_most=5)
        pull(study, server)
        report = status(study)
        assert (report.repeats, report.judgements) == (0, len(answered) + 5)


def labelled_until_killed(person: Person, study: Study, running: ls.Running) -> set[str]:
    """Returns the tasks whose answers were acknowledged before the server was killed."""
    acknowledged: set[str] = set()
    judge = truth(study)
    with ThreadPoolExecutor(1) as other:
        other.submit(lambda: (time.sleep(2), running.kill()))
        while True:
            try:
                task = person.next_task(study.settings.project)
                assert task is not None
                if person.answer(task["id"], study.settings.project, judge(task["data"])).status_code == 201:
                    acknowledged.add(task["data"]["item"])
            except httpx.TransportError:
                return acknowledged


def test_twelve_people_at_once(server: Server, tmp_path: Path) -> None:
    """SQLite sometimes gives a last seat twice: the surplus is counted, and the vote rule takes the first five."""
    study, _ = push(create(tmp_path / "study", kind="validate-cats", items=bakers(60)), server)
    crowd = [Person.invited(server, f"crowd{n}@example.org") for n in range(12)]
    judge = truth(study)
    with ThreadPoolExecutor(12) as all_at_once:
        done = list(all_at_once.map(lambda person: person.work(study.settings.project, judge), crowd))
    pull(study, server)
    report = status(study)
    assert sum(done) == report.judgements >= 300
    assert (report.done, report.repeats) == (60, 0)
    votes = confirm(collect(read(study.folder / "annotations.jsonl", Annotation))).votes
    assert votes.set_aside.get("after the first 5", 0) == 3 * (report.judgements - 300)
    assert all(decision.judges == 5 for decision in votes.decisions.values())


PULL = """
import json, re, sys, time
from pathlib import Path
from catsofa.annotation.label_studio import from_environment
from catsofa.annotation.label_studio.pull import pull
from catsofa.annotation.study import open_study

def peak():
    return int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) / 1024

study, server = open_study(sys.argv[1]), from_environment(sys.argv[2], timeout=600)
server.version()
before, begun = peak(), time.perf_counter()
pulled = pull(study, server)
seconds, after = time.perf_counter() - begun, peak()
again = pull(study, server)
print(json.dumps({"new": pulled.new, "again": again.new, "records": pulled.records, "seconds": seconds,
                  "before": before, "after": after}))
"""


def test_fifty_thousand_answers_come_home_in_bounded_memory(
    server: Server, annotators: list[Person], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """10,000 items judged by five people each are pulled page by page, with at most 300 MiB above an idle client."""
    monkeypatch.setenv("LABEL_STUDIO_API_KEY", ADMIN.token)
    study = create(tmp_path / "study", kind="validate-cats", items=bakers(10_000))
    study = with_project(study, server)
    judge, tasks = truth(study), list(study.tasks())
    for begin in range(0, len(tasks), 1000):
        request = [
            {
                "data": task.data,
                "annotations": [
                    {"result": judge(task.data), "completed_by": p.user, "ground_truth": False, "lead_time": 6.0}
                    for p in annotators
                ],
            }
            for task in tasks[begin : begin + 1000]
        ]
        server._sdk.projects.import_tasks(
            study.settings.project, request=request, request_options={"max_retries": 0, "timeout_in_seconds": 600}
        )
    command = [sys.executable, "-c", PULL, str(study.folder), server.url]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    figures = json.loads(done.stdout)
    print(figures)  # noqa: T201 - the figures are wanted with -s
    assert (figures["new"], figures["again"], figures["records"]) == (50_000, 0, 150_000)
    assert figures["after"] - figures["before"] < 300
