"""The server of an open study, and people who work there by HTTP as their browsers would."""

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
    """A study of four CATs for two people, with gold items and checks."""
    known: dict[str, Any] = {"gold": bakers(2, "florist"), "checks": bakers(2, "miller"), "overlap": 2, **more}
    made = create(folder / "study", kind="validate-cats", items=known.pop("items", bakers(4)), contact=CONTACT, **known)
    (made.folder / "study.toml").write_text(toml)
    return made


@contextmanager
def opened(
    study: Study, address: str = "", says: list[str] | None = None, routes: list[Any] | None = None, **more: Any
) -> Iterator[str]:
    """The address of a study's server, which runs in a thread; `says` gets what its owner is told.

    `routes` gets the paths that it serves.
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
    """What is right about a task as it is shown; tasks of other kinds are answered wrongly."""
    right = {}
    for task in study.tasks():
        key = task.key
        assert study.kind.asks is not None
        said = {name: asked.right for name, asked in study.kind.asks(study.items[key.item], key.order).items()}
        if ("check" if key.check else "gold" if key.gold else "item") not in kinds:
            said = dict(zip(said, [*list(said.values())[1:], said[min(said)]], strict=True))
        right[json.dumps({name: value for name, value in task.data.items() if name != "item"}, sort_keys=True)] = said
    return lambda shown: right[json.dumps(shown, sort_keys=True)]


@dataclass
class Visitor:
    """Somebody with a browser."""

    address: str
    person: str = "PID1"
    submission: str = ""

    def __post_init__(self) -> None:
        """Open the browser."""
        self.browser = httpx.Client(
            base_url=self.address, timeout=PATIENCE, trust_env=False, headers={"Origin": self.address}
        )
        self.acknowledged: list[str] = []

    @property
    def names(self) -> dict[str, str]:
        """What Prolific puts into the link."""
        return {"PROLIFIC_PID": self.person, "SESSION_ID": self.submission or f"S-{self.person}"}

    def come(self, **form: str) -> httpx.Response:
        """Read the first page and consent."""
        assert self.browser.get("/", params=self.names).status_code == 200
        return self.browser.post("/consent", data={**self.names, "agree": "yes", "age": "yes", **form})

    def post(self, path: str, body: Any = None) -> httpx.Response:
        """Send as the page does: again, when that was too fast or the server is busy."""
        while True:
            answer = self.browser.post(path, json={} if body is None else body)
            if answer.status_code not in (429, 503):
                return answer
            time.sleep(0.2)

    def next(self) -> dict[str, Any]:
        """The task they have."""
        found: dict[str, Any] = self.post("/next").json()
        return found

    def work(self, judge: Callable[[Mapping[str, str]], Mapping[str, Any]], at_most: int = 99) -> int:
        """Answer until nothing is left; how often they answered."""
        for done in range(at_most):
            given = self.next()
            if "wait" in given:
                time.sleep(0.1)
                continue
            if "done" in given:
                return done
            answer = self.post("/answer", {"nonce": given["nonce"], "answers": judge(given["task"])})
            assert answer.status_code == 200, answer.text
            self.acknowledged.append(given["nonce"])
        return at_most
