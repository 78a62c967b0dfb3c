"""Requests to a model server: a few at a time, paced, tried again where that helps, every reply on disk before use."""

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self

from catsofa.data.files.append_log import AppendLog
from catsofa.data.runs.event_loops import as_they_end, pump
from catsofa.data.servers.endpoints import Endpoint, Fault, Pace, ServerRefuses, fault_of

if TYPE_CHECKING:
    from openai import AsyncOpenAI

EXPECTED = "the replies of a model server"
FAILURES_IN_A_ROW = 10
"""After so many requests in a row without a reply the server is taken to be out of order, and no more is sent."""
KEPT = ("choices", "usage", "model", "system_fingerprint")
"""What is kept of a reply."""


@dataclass(frozen=True, slots=True)
class Request:
    """A question to the completions or the chat side of a server."""

    side: Literal["completions", "chat"]
    body: Mapping[str, Any]

    @property
    def key(self) -> str:
        """A hash of everything that the reply depends on."""
        text = json.dumps([self.side, self.body], ensure_ascii=False, sort_keys=True)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class Answer:
    """How a request ended: with a reply, or with the reason why there is none."""

    request: Request
    reply: Mapping[str, Any] | None = None
    failure: str = ""


class Replies:
    """The replies so far, in memory and, with a path, in a file that the next run reads; no request is sent twice."""

    def __init__(self, path: Path | str | None = None, hide: Callable[[str], str] = str, *, server: str = "") -> None:
        """Open the file, or begin it; `hide` takes secrets out of what a server says, `server` is its address."""
        self._log = AppendLog(path, EXPECTED, hide, bound_to=server) if path else None
        self._known: dict[str, Mapping[str, Any]] = {}
        for line in self._log.read("key", "reply") if self._log else ():
            self._known[line["key"]] = line["reply"]

    def __getitem__(self, request: Request) -> Mapping[str, Any]:
        """The reply to a request."""
        return self._known[request.key]

    def __contains__(self, request: Request) -> bool:
        """Whether a request has its reply."""
        return request.key in self._known

    def add(self, request: Request, reply: Mapping[str, Any]) -> Mapping[str, Any]:
        """Keep what counts of a reply, on disk first; what was kept, without secrets."""
        kept: dict[str, Any] = {name: reply[name] for name in KEPT if name in reply}
        if self._log:
            kept = self._log.append({"key": request.key, "reply": kept})[0]["reply"]
        self._known[request.key] = kept
        return kept

    def close(self) -> None:
        """Close the file, which lets go of its lock."""
        if self._log:
            self._log.close()

    def __enter__(self) -> Self:
        """The replies themselves."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the file."""
        self.close()


def fetch(requests: Iterable[Request], endpoint: Endpoint, replies: Replies) -> Iterator[Answer]:
    """Each distinct request as it ends; one whose reply is known is not sent."""
    distinct = {request.key: request for request in requests}
    unknown = [request for request in distinct.values() if request not in replies]
    yield from (Answer(request, replies[request]) for request in distinct.values() if request in replies)
    if unknown:
        for answer in pump(_Pool(endpoint).run(unknown)):
            kept = replies.add(answer.request, answer.reply) if answer.reply is not None else None
            yield Answer(answer.request, kept, endpoint.hide(answer.failure))


def ask(request: Request, endpoint: Endpoint) -> Answer:
    """One request sent now, whatever is known."""
    return next(pump(_Pool(endpoint).run([request])))


class _Pool:
    """A bounded number of requests under way."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint, self._pace = endpoint, Pace(endpoint.per_minute)
        self._failed_in_a_row = 0

    async def run(self, requests: Iterable[Request]) -> AsyncIterator[Answer]:
        """Each request as it ends; those under way are let go when the caller stops listening."""
        async with self._endpoint.client() as client:
            answers = as_they_end(requests, lambda request: self._one(client, request), self._endpoint.concurrency)
            async with aclosing(answers):
                async for ended in answers:
                    yield self._watched(ended)

    def _watched(self, answer: Answer) -> Answer:
        """What ended, unless it is one failure too many in a row."""
        self._failed_in_a_row = 0 if answer.reply is not None else self._failed_in_a_row + 1
        if self._failed_in_a_row == FAILURES_IN_A_ROW:
            raise ServerRefuses(
                f"{FAILURES_IN_A_ROW} requests in a row had no reply (the last: "
                f"{self._endpoint.hide(answer.failure)}); run the same command again when the server is well"
            )
        return answer

    async def _one(self, client: "AsyncOpenAI", request: Request) -> Answer:
        """One request to its end."""
        fault = Fault(reason="never sent")
        for attempt in range(1, self._endpoint.attempts + 1):
            await self._pace.turn()
            got = await self._attempt(client, request)
            if not isinstance(got, Fault):
                return Answer(request, got)
            fault = got
            if fault.fatal:
                raise ServerRefuses(self._endpoint.hide(fault.said))
            if not fault.again:
                break
            if fault.everyone and fault.wait is not None:
                self._pace.hold(fault.wait)
            elif attempt < self._endpoint.attempts:
                again = self._endpoint.delay(attempt, request.key)
                await asyncio.sleep(again if fault.wait is None else fault.wait)
        return Answer(request, None, f"{fault.reason}: {fault.said}" if fault.said else fault.reason)

    async def _attempt(self, client: "AsyncOpenAI", request: Request) -> Mapping[str, Any] | Fault:
        """What sending a request once brings; JSON that is cut or no object is a fault."""
        from openai import OpenAIError

        create: Any = client.completions if request.side == "completions" else client.chat.completions
        known = {name: value for name, value in request.body.items() if name != "extra_body"}
        try:
            async with asyncio.timeout(self._endpoint.timeout):
                raw = await create.with_raw_response.create(**known, extra_body=request.body.get("extra_body"))
            reply = json.loads(raw.http_response.content)
            if not isinstance(reply, dict) or not isinstance(reply.get("choices"), list):
                raise ValueError("the reply has no choices")
            return reply
        except (OpenAIError, TimeoutError, ValueError) as error:
            return fault_of(error)
