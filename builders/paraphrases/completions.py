"""Requests to any OpenAI-compatible server: a few at a time, paced, tried again, within a budget, all journaled."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from catsofa.builders.paraphrases.journal import Journal
from catsofa.builders.paraphrases.prices import Budget
from catsofa.builders.paraphrases.prompts import Request
from catsofa.builders.paraphrases.replies import Reply, reply_of
from catsofa.data.runs.event_loops import as_they_end, pump
from catsofa.data.servers.endpoints import CONTENT_FILTER, Endpoint, Fault, Pace, ServerRefuses, fault_of

if TYPE_CHECKING:
    from openai import AsyncOpenAI

FAILURES_IN_A_ROW = 10
"""After so many items in a row without a reply the server is taken to be out of order, and no more is sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Completed:
    """How one request ended: with a reply, or with the reason why there is none."""

    request: Request
    reply: Reply | None = None
    failure: str = ""


def complete(requests: Iterable[Request], endpoint: Endpoint, journal: Journal, budget: Budget) -> Iterator[Completed]:
    """Each request once, as it ends; one whose reply stands in the journal is not sent."""
    twins: dict[str, list[Request]] = {}
    for request in requests:
        twins.setdefault(request.key, []).append(request)
    known = [same for key, same in twins.items() if key in journal.replies]
    for same in known:
        yield from (Completed(request=r, reply=journal.replies[r.key]) for r in same)
    unknown = [same[0] for key, same in twins.items() if key not in journal.replies]
    if not unknown:
        return
    for ended in pump(_Pool(endpoint, journal, budget).run(unknown)):
        for request in twins[ended.request.key]:
            yield Completed(request=request, reply=ended.reply, failure=ended.failure)


class _Pool:
    """A bounded number of requests under way, their pace and their budget shared."""

    def __init__(self, endpoint: Endpoint, journal: Journal, budget: Budget) -> None:
        self._endpoint, self._journal, self._budget = endpoint, journal, budget
        self._pace = Pace(endpoint.per_minute)
        self._failed_in_a_row = 0

    async def run(self, requests: Iterable[Request]) -> AsyncIterator[Completed]:
        """Each request as it ends; those under way are let go when the caller stops listening."""
        async with self._endpoint.client() as client:
            answers = as_they_end(requests, lambda request: self._one(client, request), self._endpoint.concurrency)
            async with aclosing(answers):
                async for ended in answers:
                    yield self._watched(ended)

    def _watched(self, ended: Completed) -> Completed:
        """What ended, unless it is one failure too many in a row.

        A request that is turned down for itself (HTTP 4xx) says nothing about a server that has answered others.
        """
        if ended.failure == "over_budget" or (_turned_down(ended.failure) and self._journal.replies):
            return ended
        if ended.reply:
            self._failed_in_a_row = 0
            return ended
        self._failed_in_a_row += 1
        if self._failed_in_a_row == FAILURES_IN_A_ROW:
            raise ServerRefuses(
                f"{FAILURES_IN_A_ROW} requests in a row had no reply (the last: {ended.failure}), so nothing more is "
                f"sent; see {self._journal.path}, and run the same command again when the server is well"
            )
        return ended

    async def _one(self, client: "AsyncOpenAI", request: Request) -> Completed:
        """One request to its end: tried again where that can help, each attempt journaled before it is sent."""
        reason = ""
        for attempt in range(1, self._endpoint.attempts + 1):
            await self._pace.turn()
            if not self._budget.reserve(request):
                return Completed(request=request, failure=reason or "over_budget")
            self._journal.asked(request, attempt)
            got = await self._attempt(client, request)
            if isinstance(got, Reply):
                reply = self._journal.answered(request.key, got)
                self._budget.settle(request.key, reply)
                return Completed(request=request, reply=reply)
            reason = got.reason
            await self._after(got, request, attempt)
            if not got.again:
                break
        return Completed(request=request, failure=reason)

    async def _attempt(self, client: "AsyncOpenAI", request: Request) -> Reply | Fault:
        """What sending a request once brings; JSON that is cut or no chat completion is a fault."""
        from openai import OpenAIError

        body: dict[str, Any] = request.body
        try:
            async with asyncio.timeout(self._endpoint.timeout):
                raw = await client.chat.completions.with_raw_response.create(**body)
            return reply_of(json.loads(raw.http_response.content))
        except (OpenAIError, TimeoutError, ValueError) as error:
            fault = fault_of(error)
            return Reply(text=fault.said, ending="content_filter") if fault.reason == CONTENT_FILTER else fault

    async def _after(self, fault: Fault, request: Request, attempt: int) -> None:
        """Note a fault and wait as long as the server says, or longer with every attempt."""
        self._journal.failed(request.key, attempt, fault.reason, fault.said, fault.paid)
        if not fault.paid:
            self._budget.settle(request.key, None)
        if fault.fatal:
            raise ServerRefuses(self._endpoint.hide(fault.said))
        if fault.everyone and fault.wait is not None:
            self._pace.hold(fault.wait)
        elif fault.again and attempt < self._endpoint.attempts:
            await asyncio.sleep(fault.wait if fault.wait is not None else self._endpoint.delay(attempt, request.key))


def _turned_down(failure: str) -> bool:
    """Whether a server refused a request for what it is, rather than for when it came."""
    return failure.startswith("http_4") and failure not in ("http_408", "http_425", "http_429")
