"""A Label Studio for tests: prepared once, copied and started in seconds, with people who answer through its API."""

import random
import shutil
import socket
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from filelock import FileLock

from catsofa.annotation.label_studio import Server
from catsofa.annotation.label_studio import server as ls
from catsofa.annotation.study import Study
from catsofa.annotation.study.interface import interface, result_of

ADMIN = ls.Credentials(
    email="researcher@example.org", password="a-password-for-tests", token="0123456789abcdef" * 2 + "01234567"
)
PASSWORD = "another-password-for-tests"
PATIENCE = 600.0
"""Seconds that a request or a start may take, because the machine may be busy."""
PORTS = range(20_000, 32_000)
"""Ports below the system's outgoing range: an outgoing connection could take one while a server starts."""


def free_port() -> int:
    """Returns a free port, drawn at random so that two runs on one machine do not collide."""
    while True:
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port := random.choice(PORTS)))
            return port


def start(program: Path, cache: Path, data: Path, port: int = 0, **more: str) -> ls.Running:
    """Starts a server on a copy of the prepared folder, or on `data` if that folder exists."""
    template = cache / f"label-studio-{ls.VERSION}"
    cache.mkdir(parents=True, exist_ok=True)
    with FileLock(cache / ".lock"):
        ls.prepare(program, template, first=ADMIN)
        if not data.exists():
            shutil.copytree(template, data)
    return ls.Running(program, data, port=port or free_port(), more=more, patience=PATIENCE)


@dataclass
class Person:
    """An annotator who requests the next task and answers it, like the browser."""

    url: str
    email: str
    user: int = 0
    seen: list[int] = field(default_factory=list)
    session: httpx.Client = field(default_factory=lambda: httpx.Client(timeout=PATIENCE, trust_env=False))

    @classmethod
    def invited(cls, server: Server, email: str) -> "Person":
        """Returns a signed-in person with their own account."""
        user = server.sign_up(email, PASSWORD)
        person = cls(url=server.url, email=email, user=user)
        person.sign_in()
        return person

    def sign_in(self) -> None:
        """Signs in with e-mail and password."""
        page = f"{self.url}/user/login/"
        self.session.get(page)
        form = {"csrfmiddlewaretoken": self.session.cookies["csrftoken"], "email": self.email, "password": PASSWORD}
        assert self.session.post(page, data=form, headers={"Referer": page}).status_code == 302

    def next_task(self, project: int) -> dict[str, Any] | None:
        """Returns the next task, or None if no work is left."""
        response = self.session.get(f"{self.url}/api/projects/{project}/next")
        return response.json() if response.status_code == 200 else None

    def answer(
        self, task: int, project: int, result: list[Any], *, skip: bool = False, seconds: float = 6.0
    ) -> httpx.Response:
        """Answers a task, or skips it."""
        self.seen.append(task)
        return self.session.post(
            f"{self.url}/api/tasks/{task}/annotations?project={project}",
            json={"result": result, "was_cancelled": skip, "lead_time": seconds},
            headers={"X-CSRFToken": self.session.cookies["csrftoken"]},
        )

    def change(self, annotation: int, result: list[Any]) -> None:
        """Changes an earlier answer."""
        done = self.session.patch(
            f"{self.url}/api/annotations/{annotation}/",
            json={"result": result},
            headers={"X-CSRFToken": self.session.cookies["csrftoken"]},
        )
        assert done.status_code == 200

    def work(self, project: int, judge: Callable[[Mapping[str, str]], list[Any]], at_most: int = 10_000) -> int:
        """Answers tasks until none is left."""
        done = 0
        while done < at_most and (task := self.next_task(project)):
            assert self.answer(task["id"], project, judge(task["data"])).status_code == 201
            done += 1
        return done


def truth(study: Study) -> Callable[[Mapping[str, str]], list[Any]]:
    """Returns a judge who knows the written label of each item."""

    def judge(data: Mapping[str, str]) -> list[Any]:
        key = study.keys[data["item"]]
        assert study.kind.asks is not None
        questions = study.kind.asks(study.items[key.item], key.order)
        return result_of(interface(study.kind.name), {name: about.right for name, about in questions.items()})

    return judge
