"""The server of an open study, and people who work there over HTTP like their browsers."""

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from helpers.records import bakers
from helpers.servers.label_studio_server import free_port

from catsofa.annotation.crowd.http import service
from catsofa.annotation.study import Study, create

PATIENCE = 60.0
"""Seconds that a request may take on a busy machine."""
PROLIFIC = """
[platform]
name = "prolific"
codes = { completed = "DONE1", no_consent = "NOPE2", failed_checks = "FAIL3", screened_out = "FULL4" }
[quality]
first = 3
"""
CONTACT = "study@example.org"


def study_in(folder: Path, toml: str = PROLIFIC, **more: Any) -> Study:
    """Returns a study of four CATs for two people, with gold items and checks."""
    known: dict[str, Any] = {"gold": bakers(2, "florist"), "checks": bakers(2, "miller"), "overlap": 2, **more}
    made = create(folder / "study", kind="validate-cats", items=known.pop("items", bakers(4)), contact=CONTACT, **known)
    (made.folder / "study.toml").write_text(toml)
    return made


@contextmanager
def opened(
    study: Study, address: str = "", says: list[str] | None = None, routes: list[Any] | None = None, **more: Any
) -> Iterator[str]:
    """Runs a study's server in a thread and returns its address; `says` receives the owner's messages.

    `routes` receives the served paths.
    """
    port = free_port()
    with service.serving(study, "127.0.0.1", port, address or f"http://127.0.0.1:{port}", **more) as ready:
        (says if says is not None else []).extend(ready.says)
        application: Any = ready.server.config.app
        (routes if routes is not None else []).extend(application.routes)
        thread = threading.Thread(target=ready.server.run, daemon=True)
        thread.start()
        while not ready.server.started:
            assert thread.is_alive(), "the server did not start"
            time.sleep(0.02)
        yield f"http://127.0.0.1:{port}"
        ready.server.should_exit = True
        thread.join()


def shown_truth(study: Study, kinds: str = "item gold check") -> Callable[[Mapping[str, str]], dict[str, str]]:
    """Returns a judge with the right answers to shown tasks; tasks of other kinds are answered wrongly."""
    right = {}
    for task in study.tasks():
        key = task.key
        assert study.kind.asks is not None
        reply = {name: question.right for name, question in study.kind.asks(study.items[key.item], key.order).items()}
        if ("check" if key.check else "gold" if key.gold else "item") not in kinds:
            reply = dict(zip(reply, [*list(reply.values())[1:], reply[min(reply)]], strict=True))
        right[json.dumps({name: value for name, value in task.data.items() if name != "item"}, sort_keys=True)] = reply
    return lambda shown: right[json.dumps(shown, sort_keys=True)]


@dataclass
class Visitor:
    """A person with a browser."""

    address: str
    person: str = "PID1"
    submission: str = ""

    def __post_init__(self) -> None:
        """Opens the browser."""
        self.browser = httpx.Client(
            base_url=self.address, timeout=PATIENCE, trust_env=False, headers={"Origin": self.address}
        )
        self.acknowledged: list[str] = []

    @property
    def names(self) -> dict[str, str]:
        """The parameters that Prolific puts into the link."""
        return {"PROLIFIC_PID": self.person, "SESSION_ID": self.submission or f"S-{self.person}"}

    def come(self, **form: str) -> httpx.Response:
        """Reads the first page and consents."""
        assert self.browser.get("/", params=self.names).status_code == 200
        return self.browser.post("/consent", data={**self.names, "agree": "yes", "age": "yes", **form})

    def post(self, path: str, body: Any = None) -> httpx.Response:
        """Sends like the page: again after 429 or 503."""
        while True:
            answer = self.browser.post(path, json={} if body is None else body)
            if answer.status_code not in (429, 503):
                return answer
            time.sleep(0.2)

    def next(self) -> dict[str, Any]:
        """Returns the person's current task."""
        task: dict[str, Any] = self.post("/next").json()
        return task

    def work(self, judge: Callable[[Mapping[str, str]], Mapping[str, Any]], at_most: int = 99) -> int:
        """Answers until no task is left. Returns the number of answers."""
        for done in range(at_most):
            task = self.next()
            if "wait" in task:
                time.sleep(0.1)
                continue
            if "done" in task:
                return done
            answer = self.post("/answer", {"nonce": task["nonce"], "answers": judge(task["task"])})
            assert answer.status_code == 200, answer.text
            self.acknowledged.append(task["nonce"])
        return at_most
