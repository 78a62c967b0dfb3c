"""An OpenAI-compatible server: its address, the key that nobody sees, how patient we are, and what its faults mean."""

import asyncio
import json
import os
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from math import inf
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from catsofa.data.servers.client import Refusal

if TYPE_CHECKING:
    from openai import OpenAI

LONGEST_WAIT = 600.0
"""Seconds a server may ask us to wait; one that asks for more has failed."""

FILTERED = re.compile(r"content_filter|content_policy|data_inspection_failed|invalid_prompt|content exists risk", re.I)
"""How the errors of providers name their content filter, in the code or in the sentence."""
CONTENT_FILTER = "content_filter"
"""The fault that is an answer: a filter let nothing through, and would not the next time."""

UNKNOWN_MODEL = re.compile(
    r"\bmodel\b.{0,80}(not found|not exist|n't exist)|(unknown|no such) model|not a valid model", re.I
)
"""How the errors of servers say that they do not know the model, where their code does not."""

UNREACHABLE = "unreachable"
"""The fault of a server that no connection reaches."""

NO_KEY = "no-key"
"""What a server on this machine gets where no key is set: the protocol wants one."""


class ServerRefuses(ValueError):
    """The server will not serve this run at all: a wrong key, an empty account, one failure after another."""


def is_local(base_url: str) -> bool:
    """Whether an address is on this machine."""
    return urlsplit(base_url).hostname in ("localhost", "127.0.0.1", "::1", "0.0.0.0")


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where requests go and how; the key comes from an environment variable and stands in no field."""

    base_url: str | None = None
    key_name: str = "OPENAI_API_KEY"
    concurrency: int = 8
    per_minute: float | None = None
    timeout: float = 60.0
    attempts: int = 6
    backoff: float = 0.5

    def __post_init__(self) -> None:
        """Refuse an address that is none, or that carries a password, and limits that let nothing through.

        A slash at the end of an address makes no other server.
        """
        if self.base_url is not None:
            object.__setattr__(self, "base_url", self.base_url.rstrip("/"))
            parts = urlsplit(self.base_url)
            if parts.scheme not in ("http", "https") or not parts.hostname:
                raise ValueError(f"{self.base_url!r} is no address of a server; give one like http://127.0.0.1:8000/v1")
            if parts.username or parts.password or parts.query:
                raise ValueError(
                    f"the address of the server at {parts.hostname} must not carry a password or a query; put the key "
                    f"into the environment variable {self.key_name}"
                )
        if min(self.concurrency, self.timeout, self.attempts) <= 0 or (self.per_minute or 1) <= 0:
            raise ValueError("concurrency, timeout, attempts and requests a minute must be above zero")

    def key(self) -> str:
        """The key, from the environment; only a server on this machine can do without."""
        if key := os.environ.get(self.key_name, "").strip():
            return key
        if self.base_url and is_local(self.base_url):
            return NO_KEY
        raise ValueError(f"no key in the environment variable {self.key_name}; set it, or name another with --key-env")

    def hide(self, text: str) -> str:
        """The text without the key, should a server repeat it."""
        key = os.environ.get(self.key_name, "").strip()
        if len(key) < 8:
            return text
        for form in (key, json.dumps(key)[1:-1], json.dumps(key, ensure_ascii=False)[1:-1]):
            text = text.replace(form, "***")
        return text

    def batch_client(self) -> "OpenAI":
        """The client for files and batches, whose few calls it may try again."""
        from openai import OpenAI

        return OpenAI(api_key=self.key(), base_url=self.base_url, timeout=self.timeout, max_retries=self.attempts)

    def delay(self, attempt: int, key: str) -> float:
        """Seconds before the next attempt: doubling up to half a minute, spread over items by their key."""
        spread = 0.75 + int(key[:4], 16) / 0x20000
        return float(min(self.backoff * 2 ** (attempt - 1), 30.0) * spread)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """Why an attempt brought no reply, and what to do about it."""

    reason: str
    said: str = ""
    again: bool = False
    """Another attempt can help."""
    wait: float | None = None
    """Seconds the server asks for."""
    everyone: bool = False
    """The wait is for all requests."""
    paid: bool = False
    """The server may have worked, and charge for it."""
    fatal: bool = False
    """No request of this run can succeed."""


def fault_of(error: Exception) -> Fault:
    """What an error means; one that is neither the server's nor the network's is raised again."""
    from aiohttp import ClientConnectorError, ClientError

    match error:
        case Refusal(status=status):
            said = f"HTTP {status}: {_message(error.body, error.message)}"
            code = error.body.get("code") if isinstance(error.body, dict) else None
            if status < 500 and FILTERED.search(f"{code} {said}"):
                return Fault(reason=CONTENT_FILTER, said=said)
            if status in (401, 403) or code == "insufficient_quota":
                return Fault(reason=f"http_{status}", said=f"the server does not let us in: {said}", fatal=True)
            if code == "model_not_found" or (status in (400, 404, 422) and UNKNOWN_MODEL.search(said)):
                return Fault(reason=f"http_{status}", said=f"the server does not know the model: {said}", fatal=True)
            wait = retry_after(error.headers)
            again = status in (408, 409, 425, 429) or status >= 500
            if error.headers.get("x-should-retry") == "false" or (wait or 0) > LONGEST_WAIT:
                again = False
            return Fault(
                reason=f"http_{status}", said=said, again=again, wait=wait if again else None, everyone=status == 429
            )
        case TimeoutError():
            return Fault(reason="timeout", said="no whole reply in time", again=True, paid=True)
        case ClientConnectorError():
            return Fault(reason=UNREACHABLE, said=str(error), again=True)
        case ClientError():
            said = str(error) or type(error).__name__
            return Fault(reason="connection_lost", said=said, again=True, paid=True)
        case ValueError():
            return Fault(reason="broken_reply", said=str(error), again=True, paid=True)
        case _:
            raise error


def retry_after(headers: Any, now: datetime | None = None) -> float | None:
    """Seconds to wait by Retry-After (seconds or a date) or retry-after-ms; None where neither can be read."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) * unit
        except ValueError:
            continue
        if seconds >= 0:  # a NaN is not
            return seconds
    try:
        until = parsedate_to_datetime(headers.get("retry-after", ""))
    except ValueError:
        return None
    until = until if until.tzinfo else until.replace(tzinfo=UTC)
    return max(0.0, (until - (now or datetime.now(UTC))).total_seconds())


def _message(body: object, otherwise: str) -> str:
    """The sentence in an error's JSON, at most 300 characters of it."""
    said = body.get("message") if isinstance(body, dict) else None
    return " ".join(str(said or otherwise).split())[:300]


class Pace:
    """When the next request may start: so many a minute and at once, and none while the server asks for quiet."""

    def __init__(self, per_minute: float | None, width: int = 1) -> None:
        self._gap = 60 / per_minute if per_minute else 0.0
        self._free = 0.0
        self._widest, self._narrowed, self._good = width, -inf, 0
        self.width = width
        """Requests under way at once: halved where the server asks for fewer, one more after as many good replies."""

    async def turn(self) -> float:
        """Wait for one's turn; the time at which it came."""
        loop = asyncio.get_running_loop()
        while (wait := self._free - loop.time()) > 0:
            await asyncio.sleep(wait)
        self._free = max(self._free, loop.time()) + self._gap
        return loop.time()

    def hold(self, seconds: float) -> None:
        """Let nobody start for so long."""
        self._free = max(self._free, asyncio.get_running_loop().time() + seconds)

    def narrow(self, started: float) -> None:
        """Halve the requests at once, unless the refused one started before the last halving."""
        self._good = 0
        if started >= self._narrowed:
            self._narrowed = asyncio.get_running_loop().time()
            self.width = max(1, self.width // 2)

    def widen(self) -> None:
        """Count a good reply; as many of them as run at once make room for one more, up to the width at the start."""
        self._good += 1
        if self._good >= self.width < self._widest:
            self.width, self._good = self.width + 1, 0
