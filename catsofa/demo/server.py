"""Sends the demo's votes through a real Label Studio: blind tasks, seven people who sign in and answer, a download."""

import shutil
import socket
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from catsofa.data.files import jsonl
from catsofa.data.progress import Progress
from catsofa.data.records import Annotation, Cat

if TYPE_CHECKING:
    import httpx

    from catsofa.annotation.label_studio import Server
    from catsofa.annotation.study import Study

PLACE = "study/annotations.jsonl"


def through_server(
    cats: Sequence[Cat], votes: Sequence[Annotation], folder: Path, progress: Progress
) -> list[Annotation]:
    """Returns the votes as downloaded from Label Studio; raises a ValueError if they differ from the votes sent.

    Reuses the votes that an earlier run downloaded. After an interrupted run a new server is set up, because the
    password of its accounts is stored in no file.
    """
    people = folder / "people.jsonl"
    if not people.exists():
        shutil.rmtree(folder, ignore_errors=True)
        users = _served(cats, votes, folder, progress)
        jsonl.write((Annotation(item=user, annotator=name, label="") for user, name in users.items()), people)
    names = {person.item: person.annotator for person in jsonl.read(people, Annotation)}
    brought = [
        Annotation(item=one.item, annotator=names[one.annotator], label=one.label, extra={"cat": one.extra["cat"]})
        for one in jsonl.read(folder / PLACE, Annotation)
    ]
    sent, home = ({(one.item, one.annotator, one.label) for one in some} for some in (votes, brought))
    if sent != home:
        raise ValueError(f"the votes in {folder / PLACE} are not those of this demo; delete {folder} and run it again")
    return brought


def _served(cats: Sequence[Cat], votes: Sequence[Annotation], folder: Path, progress: Progress) -> dict[str, str]:
    """Starts a Label Studio, has all people vote, downloads the answers; maps the server's user names to the demo's."""
    from catsofa.annotation.label_studio import Server
    from catsofa.annotation.label_studio import server as servers
    from catsofa.annotation.label_studio.pull import pull
    from catsofa.annotation.label_studio.push import push
    from catsofa.annotation.study import create

    program = servers.executable()
    if program is None:
        raise ValueError(
            f"no Label Studio is installed: run `make labelstudio` and name its program in {servers.EXECUTABLE}, or "
            "let `catsofa annotate serve` install one"
        )
    first = servers.Credentials()
    servers.prepare(program, folder / "server", first=first)
    with servers.Running(program, folder / "server", port=_free_port()) as running:
        server = Server(running.url, first.token)
        study, _ = push(create(folder / "study", kind="validate-cats", items=cats, title="catsofa demo"), server)
        users = _vote(study, server, votes, first.password, progress)
        pull(study, server)
    return users


def _vote(
    study: "Study", server: "Server", votes: Sequence[Annotation], password: str, progress: Progress
) -> dict[str, str]:
    """Signs each person in and answers their tasks; maps the server's user names to the demo's names."""
    from catsofa.annotation.study.interface import result_of

    of_cat = {key.item: key for key in study.keys.values()}
    tasks = {task.token: task.id for task in server.find(study.settings.project, list(study.keys))}
    users, sessions = {}, {}
    for name in sorted({vote.annotator for vote in votes}):
        email = f"{name.split()[0].lower()}@example.org"
        users[f"ls-{server.sign_up(email, password)}"] = name
        sessions[name] = _signed_in(server.url, email, password)
    turns = [list(turn) for _, turn in groupby(votes, key=lambda vote: (vote.extra["cat"], vote.annotator))]
    for turn in progress.each(turns):
        key = of_cat[turn[0].extra["cat"]]
        label_of = {vote.item: vote.label for vote in turn}
        labels = {f"label_{place}": label_of[item] for place, item in enumerate(key.order, 1)}
        result = result_of(study.kind.interface, labels)
        _answer(sessions[turn[0].annotator], tasks[key.token], study.settings.project, result)
    return users


def _signed_in(url: str, email: str, password: str) -> "httpx.Client":
    """Returns an HTTP session in which one person is signed in."""
    import httpx

    session = httpx.Client(base_url=url, timeout=60, trust_env=False)
    session.get("/user/login/").raise_for_status()
    form = {"csrfmiddlewaretoken": session.cookies["csrftoken"], "email": email, "password": password}
    session.post("/user/login/", data=form, headers={"Referer": f"{url}/user/login/"})
    session.get("/api/current-user/whoami").raise_for_status()
    return session


def _answer(session: "httpx.Client", task: int, project: int, result: Sequence[Mapping[str, Any]]) -> None:
    """Posts the answer to a task."""
    session.post(
        f"/api/tasks/{task}/annotations?project={project}",
        json={"result": result, "was_cancelled": False, "lead_time": 6.0},
        headers={"X-CSRFToken": session.cookies["csrftoken"]},
    ).raise_for_status()


def _free_port() -> int:
    """Returns a free local port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
