"""Sends requests to an OpenAI-compatible server: concurrent, rate-limited, retried; stores each reply before use."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, TypeVar

from catsofa.data.digests import json_digest
from catsofa.data.runs.event_loops import as_they_end, pump, to_its_end
from catsofa.data.servers.client import Client, Refusal, Side, connected
from catsofa.data.servers.endpoints import CONTENT_FILTER, UNREACHABLE, Endpoint, Fault, Pace, ServerRefuses, fault_of
from catsofa.data.servers.prompt_lists import Lists, Waiting, parts_of, split
from catsofa.data.servers.reply_store import ReplyStore

FAILURES_IN_A_ROW = 10
"""Number of consecutive requests without a reply after which no more are sent."""
FIRST_ATTEMPTS = 3
"""Attempts at a server that was never reached, so that a wrong address is reported within seconds."""
KEPT = ("choices", "usage", "model", "system_fingerprint")
"""The fields of a completion that are stored."""
OVER_BUDGET = "over_budget"
"""The reason of a request that its store refuses because of the cost limit."""


@dataclass(frozen=True)
class Request:
    """A request that is identified by its JSON."""

    side: Side
    body: Mapping[str, Any]

    @cached_property
    def key(self) -> str:
        """A hash of everything that the reply depends on."""
        return json_digest([self.side, self.body], compact=False, ascii=False)


A = TypeVar("A")
Q = TypeVar("Q")


@dataclass(frozen=True, kw_only=True)
class Answer(Generic[Q, A]):
    """The outcome of a request: a reply, or the reason why there is none."""

    request: Q
    reply: A | None = None
    reason: str = ""
    said: str = ""

    @property
    def failure(self) -> str:
        """The reason and the server's message."""
        return f"{self.reason}: {self.said}" if self.said else self.reason


def completion(body: Any) -> dict[str, Any]:
    """The fields of a completion to store; raises a ValueError if the JSON is not a completion."""
    choices = body.get("choices") if isinstance(body, dict) else None
    if not isinstance(choices, list):
        raise ValueError("the server's JSON is no completion: it has no choices")
    if choices and all(isinstance(choice, dict) and choice.get("finish_reason") == "error" for choice in choices):
        raise ValueError("the server's reply ended with an error")
    return {name: body[name] for name in KEPT if name in body}


def filtered(text: str) -> dict[str, Any]:
    """A completion that represents the error of a content filter."""
    message = {"content": None}
    return {"choices": [{"finish_reason": CONTENT_FILTER, "message": message}], "said": text}


def fetch(
    requests: Iterable[Any],
    endpoint: Endpoint,
    store: ReplyStore,
    parse: Callable[[Any], A],
    filtered: Callable[[str], A] | None = None,
    lists: Lists | None = None,
) -> Iterator[Answer[Any, A]]:
    """Each request as it ends; requests with equal keys are sent once, or not at all if the store has the reply.

    A request has a `key` for everything that the reply depends on, a `side` of the server, and a JSON `body`.
    `parse` reads a reply's JSON; `filtered` turns a content filter's message into a reply; without it, that fails.
    With `lists`, several requests that differ only in their prompt are sent as one.
    """
    twins: dict[str, list[Any]] = {}
    for request in requests:
        twins.setdefault(request.key, []).append(request)
    known = {key: same for key, same in twins.items() if key in store.replies}
    for key, same in known.items():
        yield from (Answer(request=request, reply=store.replies[key]) for request in same)
    if unknown := [same[0] for key, same in twins.items() if key not in known]:
        for several in pump(_Pool(endpoint, store, parse, filtered, Waiting(unknown, lists)).run()):
            for ended in several:
                for request in twins[ended.request.key]:
                    yield Answer(request=request, reply=ended.reply, reason=ended.reason, said=ended.said)


def ask(request: Request, endpoint: Endpoint) -> Answer[Request, dict[str, Any]]:
    """Send one request now, without a store."""
    return next(fetch([request], endpoint, ReplyStore(), completion))


class _Pool:
    """A bounded number of concurrent requests, which share a rate limiter and a store."""

    def __init__(
        self,
        endpoint: Endpoint,
        store: ReplyStore,
        parse: Callable[[Any], Any],
        filtered: Callable[[str], Any] | None,
        waiting: Waiting,
    ) -> None:
        self._endpoint, self._store, self._parse, self._filtered = endpoint, store, parse, filtered
        self._waiting = waiting
        self._pace = Pace(endpoint.per_minute, endpoint.concurrency)
        self._failed_in_a_row = 0
        self._reached = False
        """True if the server was reachable for any request."""
        self._written = self._on_disk = 0
        """The number of writes of replies, and the number of those synced to disk."""
        self._syncing: asyncio.Task[None] | None = None

    async def run(self) -> AsyncGenerator[list[Answer[Any, Any]]]:
        """The requests as they end; running requests are cancelled when the caller stops iterating."""
        async with connected(self._endpoint.base_url, self._endpoint.key()) as client:

            def width() -> int:
                self._waiting.width = self._store.at_once(self._pace.width)
                return max(1, self._waiting.width - self._waiting.more - self._waiting.most + 1)

            async def one(request: Any) -> list[Answer[Any, Any]]:
                try:
                    return await self._one(client, request)
                finally:
                    self._waiting.more -= len(parts_of(request)) - 1

            answers = as_they_end(self._waiting, one, width)
            try:
                async with aclosing(answers):
                    async for several in answers:
                        for ended in several:
                            self._watch(ended)
                        yield several
            finally:
                if self._syncing:
                    await asyncio.wait([self._syncing])
            if self._failed_in_a_row and not self._reached:
                raise ServerRefuses(
                    f"no server was found ({ended.failure}); mend its address, or run the same command again when it "
                    "is there"
                )

    def _watch(self, ended: Answer[Any, Any]) -> None:
        """Raise ServerRefuses after too many consecutive failures.

        A refusal of a single request (HTTP 4xx) does not count if the server has answered others.
        """
        turned_down = ended.reason.startswith("http_4") and ended.reason not in ("http_408", "http_425", "http_429")
        if ended.reply is not None:
            self._failed_in_a_row = 0
        elif ended.reason != OVER_BUDGET and not (turned_down and self._store.replies):
            self._failed_in_a_row += 1
        if self._failed_in_a_row == FAILURES_IN_A_ROW:
            raise ServerRefuses(
                f"{FAILURES_IN_A_ROW} requests in a row had no reply (the last: {ended.failure}), so nothing more is "
                "sent; run the same command again when the server is well"
            )

    async def _one(self, client: Client, request: Any) -> list[Answer[Any, Any]]:
        """Complete one request: retried if that can help, each attempt noted before it is sent.

        The retries do not use tenacity: a wait that the server asks for pauses all requests, and each attempt is
        rate-limited, paid for and noted. A list of prompts is sent twice if all requests must wait. Without success,
        it has no answers, and its requests are sent alone.
        """
        fault, parts = Fault(reason=OVER_BUDGET), parts_of(request)
        for attempt in range(1, self._endpoint.attempts + 1):
            started = await self._pace.turn()
            if not self._store.reserve(request):
                break
            got = await to_its_end(self._attempt(client, request))
            if not isinstance(got, Fault):
                self._pace.widen(len(parts))
                self._reached = True
                stored = self._store.keep({part.key: reply for part, reply in zip(parts, got, strict=True)})
                await self._synced()
                return [Answer(request=part, reply=reply) for part, reply in zip(parts, stored, strict=True)]
            fault = got
            self._store.failed(fault, request.key)
            self._reached |= fault.reason != UNREACHABLE
            if (task := asyncio.current_task()) and task.cancelling():
                raise asyncio.CancelledError  # nothing more is sent
            if fault.fatal and len(parts) == 1:
                raise ServerRefuses(self._endpoint.hide(fault.said))
            if fault.everyone:
                self._pace.narrow(started)
            never = not self._reached and attempt >= (1 if self._failed_in_a_row else FIRST_ATTEMPTS)
            if never or not fault.again or (len(parts) > 1 and (attempt > 1 or not fault.everyone)):
                break
            if fault.everyone and fault.wait is not None:
                self._pace.hold(fault.wait)
            elif attempt < self._endpoint.attempts:
                again = self._endpoint.delay(attempt, request.key)
                await asyncio.sleep(again if fault.wait is None else fault.wait)
        if len(parts) > 1:
            self._waiting.one_by_one(parts, refused=fault.reason.startswith("http_"))
            return []
        return [Answer(request=request, reason=fault.reason, said=self._endpoint.hide(fault.said))]

    async def _synced(self) -> None:
        """Wait until the replies so far are on disk; one sync serves all replies that came during the previous sync."""
        self._written = mine = self._written + 1
        while self._on_disk < mine:
            if self._syncing is None:
                self._syncing = asyncio.create_task(self._sync())
            await asyncio.shield(self._syncing)

    async def _sync(self) -> None:
        """Sync the written replies, while other requests continue."""
        count = self._written
        try:
            await asyncio.to_thread(self._store.sync)
            self._on_disk = count
        finally:
            self._syncing = None

    async def _attempt(self, client: Client, request: Any) -> Any:
        """The replies of one attempt; truncated or invalid JSON is a fault.

        A chat request with refused parameters is sent again with the parameters learnt from the refusal.
        """
        from aiohttp import ClientError

        chats, parameters, parts = request.side == "chat", self._store.parameters, parts_of(request)
        while True:
            body = parameters.accepted(request.body) if chats else request.body
            try:
                async with asyncio.timeout(self._endpoint.timeout):
                    reply = await client.post(request.side, body)
                if len(parts) == 1:
                    return [self._parse(reply)]
                replies = [self._parse(each) for each in split(reply, len(parts))]
                self._waiting.refuse_unfit(parts, replies)
                return replies
            except (Refusal, ClientError, TimeoutError, ValueError) as error:
                fault = fault_of(error)
                if fault.reason == CONTENT_FILTER:
                    return [self._filtered(fault.said)] if self._filtered and len(parts) == 1 else fault
                if not (chats and isinstance(error, Refusal)):
                    return fault
                before = str(parameters.known)
                again = parameters.learn(body, error.status, error.body or error.message)
                if str(parameters.known) != before:
                    self._store.learnt()
                if not again:
                    return fault
