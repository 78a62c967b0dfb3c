"""A person's seat at the gate: their own session on the server, the one task they have, and nothing else."""

import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import NAMESPACE_OID, uuid5

import httpx

from catsofa.annotation.study import Study
from catsofa.annotation.study.interface import answers, result_of
from catsofa.data.records import Cat

SILENCE = 60.0
"""Seconds the server may take for one answer."""


class SignedOut(Exception):
    """The server no longer knows this session."""


class NotYours(ValueError):
    """What was sent is not an answer to the task this person has."""


@dataclass(slots=True)
class Seat:
    """What the gate remembers of somebody who signed in; it ends with the gate."""

    study: Study
    user: int
    email: str
    session: httpx.AsyncClient
    used: float = field(default_factory=time.monotonic)
    task: int = 0
    shown: Mapping[str, str] = field(default_factory=dict)
    nonce: str = ""
    since: float = 0.0

    async def next_task(self) -> bool:
        """Have a task: the one not answered yet, or the server's next that is not their own; False if none is left."""
        while not self.task:
            project = self.study.project
            answer = await self.session.get(f"/api/projects/{project}/next")
            if answer.status_code == httpx.codes.NOT_FOUND:
                return False
            found = _json(answer)
            self.task = int(found["id"])
            self.nonce, self.since = secrets.token_urlsafe(12), time.monotonic()
            self.shown = {name: str(value) for name, value in found["data"].items() if name != "item"}
            if self._wrote(str(found["data"].get("item", ""))):
                await self._send([], skipped=True)
        return True

    async def answer(self, nonce: str, given: Mapping[str, str | Sequence[str]]) -> None:
        """Answer the task they have, and only completely."""
        self._check(nonce)
        interface = self.study.kind.interface
        if unknown := given.keys() - interface.questions.keys():
            raise NotYours(f"nothing was asked about {min(unknown)!r}")
        result = result_of(interface, given)
        if wrong := answers(interface, result).wrong:
            raise NotYours("; ".join(wrong))
        await self._send(result, skipped=False)

    async def skip(self, nonce: str) -> None:
        """Pass the task on to somebody else."""
        self._check(nonce)
        await self._send([], skipped=True)

    def _check(self, nonce: str) -> None:
        """A NotYours unless this is the task they have."""
        if not self.task or not secrets.compare_digest(nonce.encode(), self.nonce.encode()):
            raise NotYours("this is not the task you have; load the page again")

    async def _send(self, result: list[Any], *, skipped: bool) -> None:
        """Give the answer to the server as this person, once: the same answer a second time is known there."""
        answer = await self.session.post(
            f"/api/tasks/{self.task}/annotations?project={self.study.project}",
            json={
                "result": result,
                "was_cancelled": skipped,
                "lead_time": round(time.monotonic() - self.since, 3),
                "unique_id": str(uuid5(NAMESPACE_OID, self.nonce)),
            },
            headers={"X-CSRFToken": self.session.cookies.get("csrftoken") or ""},
        )
        if answer.status_code != httpx.codes.CONFLICT:
            _json(answer)
        self.task, self.nonce, self.shown = 0, "", {}

    def _wrote(self, token: str) -> bool:
        """Whether this person wrote the item of a task."""
        key = self.study.keys.get(token)
        item = self.study.items.get(key.item) if key else None
        if not isinstance(item, Cat) or not item.source.get("writer"):
            return False
        return str(item.source["writer"]).casefold() in (f"ls-{self.user}", self.email)


def _json(answer: httpx.Response) -> Any:
    """What the server answered."""
    if answer.status_code in (httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN):
        raise SignedOut
    return answer.raise_for_status().json()


async def sign_in(study: Study, url: str, email: str, password: str, user: int) -> Seat | None:
    """A seat for somebody whose password the server knows; none for anybody else."""
    session = httpx.AsyncClient(base_url=url, timeout=SILENCE, trust_env=False)
    try:
        await session.get("/user/login/")
        form = {"csrfmiddlewaretoken": session.cookies.get("csrftoken", ""), "email": email, "password": password}
        done = await session.post("/user/login/", data=form, headers={"Referer": f"{url}/user/login/"})
        if done.status_code == httpx.codes.FOUND:
            who = await session.get("/api/current-user/whoami")
            if _json(who)["id"] == user:
                return Seat(study=study, user=user, email=email, session=session)
    except BaseException:
        await session.aclose()
        raise
    await session.aclose()
    return None
