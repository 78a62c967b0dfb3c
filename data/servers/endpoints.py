"""An OpenAI-compatible server: address, hidden key, time limits and retries, and the meaning of its errors."""

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
"""Maximum seconds that a server may ask to wait; a longer wait counts as a failure."""

FILTERED = re.compile(r"content_filter|content_policy|data_inspection_failed|invalid_prompt|content exists risk", re.I)
"""Names of the content filter in the errors of providers, in the code or the message."""
CONTENT_FILTER = "content_filter"
"""The fault that counts as an answer: a content filter blocked the request, and would do so again."""

UNKNOWN_MODEL = re.compile(
    r"\bmodel\b.{0,80}(not found|not exist|n't exist)|(unknown|no such) model|not a valid model", re.I
)
"""Messages of servers that do not know the model, for errors without a code that says so."""

UNREACHABLE = "unreachable"
"""The fault of a server that cannot be reached."""

NO_KEY = "no-key"
"""The key sent to a local server if none is set, since the protocol requires one."""


class ServerRefuses(ValueError):
    """The server cannot serve this run at all: a wrong key, an empty account, repeated failures."""


def is_local(base_url: str) -> bool:
    """Returns whether an address is on this machine."""
    return urlsplit(base_url).hostname in ("localhost", "127.0.0.1", "::1", "0.0.0.0")


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """The address and limits of requests; the key comes from an environment variable and is in no field."""

    base_url: str | None = None
    key_name: str = "OPENAI_API_KEY"
    concurrency: int = 8
    per_minute: float | None = None
    timeout: float = 60.0
    attempts: int = 6
    backoff: float = 0.5

    def __post_init__(self) -> None:
        """Refuse an invalid address, an address with a password or a query, and limits that are not positive.

        A slash at the end of the address is removed.
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
        """The key from the environment; only a local server needs none."""
        if key := os.environ.get(self.key_name, "").strip():
            return key
        if self.base_url and is_local(self.base_url):
            return NO_KEY
        raise ValueError(f"no key in the environment variable {self.key_name}; set it, or name another with --key-env")

    def hide(self, text: str) -> str:
        """The text with the key masked, in case a server repeats the key."""
        key = os.environ.get(self.key_name, "").strip()
        if len(key) < 8:
            return text
        for form in (key, json.dumps(key)[1:-1], json.dumps(key, ensure_ascii=False)[1:-1]):
            text = text.replace(form, "***")
        return text

    def batch_client(self) -> "OpenAI":
        """The client for files and batches, which retries its few calls."""
        from openai import OpenAI

        return OpenAI(api_key=self.key(), base_url=self.base_url, timeout=self.timeout, max_retries=self.attempts)

    def delay(self, attempt: int, key: str) -> float:
        """Seconds before the next attempt: doubles up to half a minute, with jitter from the request's key."""
        spread = 0.75 + int(key[:4], 16) / 0x20000
        return float(min(self.backoff * 2 ** (attempt - 1), 30.0) * spread)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """The reason why an attempt had no reply, and how to react."""

    reason: str
    said: str = ""
    again: bool = False
    """True if a retry can help."""
    wait: float | None = None
    """The wait in seconds that the server asks for."""
    everyone: bool = False
    """True if the wait applies to all requests."""
    paid: bool = False
    """True if the server may charge for the attempt."""
    fatal: bool = False
    """True if no request of this run can succeed."""


def fault_of(error: Exception) -> Fault:
    """The fault that an error means; raises errors that come from neither the server nor the network."""
    from aiohttp import ClientConnectorError, ClientError

    match error:
        case Refusal(status=status):
            message = f"HTTP {status}: {_message(error.body, error.message)}"
            code = error.body.get("code") if isinstance(error.body, dict) else None
            if status < 500 and FILTERED.search(f"{code} {message}"):
                return Fault(reason=CONTENT_FILTER, said=message)
            if status in (401, 403) or code == "insufficient_quota":
                return Fault(reason=f"http_{status}", said=f"the server does not let us in: {message}", fatal=True)
            if code == "model_not_found" or (status in (400, 404, 422) and UNKNOWN_MODEL.search(message)):
                return Fault(reason=f"http_{status}", said=f"the server does not know the model: {message}", fatal=True)
            wait = retry_after(error.headers)
            again = status in (408, 409, 425, 429) or status >= 500
            if error.headers.get("x-should-retry") == "false" or (wait or 0) > LONGEST_WAIT:
                again = False
            return Fault(
                reason=f"http_{status}", said=message, again=again, wait=wait if again else None, everyone=status == 429
            )
        case TimeoutError():
            return Fault(reason="timeout", said="no whole reply in time", again=True, paid=True)
        case ClientConnectorError():
            return Fault(reason=UNREACHABLE, said=str(error), again=True)
        case ClientError():
            message = str(error) or type(error).__name__
            return Fault(reason="connection_lost", said=message, again=True, paid=True)
        case ValueError():
            return Fault(reason="broken_reply", said=str(error), again=True, paid=True)
        case _:
            raise error


def retry_after(headers: Any, now: datetime | None = None) -> float | None:
    """Seconds to wait from Retry-After (seconds or a date) or retry-after-ms; None if neither is readable."""
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
    """The message in an error's JSON, cut to 300 characters."""
    message = body.get("message") if isinstance(body, dict) else None
    return " ".join(str(message or otherwise).split())[:300]


class Pace:
    """Rate limiter: limits requests per minute and concurrent requests, and pauses when the server asks for it."""

    def __init__(self, per_minute: float | None, width: int = 1) -> None:
        self._gap = 60 / per_minute if per_minute else 0.0
        self._free = 0.0
        self._widest, self._narrowed, self._good = width, -inf, 0
        self.width = width
        """Maximum concurrent requests: halved if the server asks for fewer, plus one after that many good replies."""

    async def turn(self) -> float:
        """Wait until the next request may start; returns the time of the start."""
        loop = asyncio.get_running_loop()
        while (wait := self._free - loop.time()) > 0:
            await asyncio.sleep(wait)
        self._free = max(self._free, loop.time()) + self._gap
        return loop.time()

    def hold(self, seconds: float) -> None:
        """Let no request start for this many seconds."""
        self._free = max(self._free, asyncio.get_running_loop().time() + seconds)

    def narrow(self, started: float) -> None:
        """Halve the number of concurrent requests, unless the refused request started before the last halving."""
        self._good = 0
        if started >= self._narrowed:
            self._narrowed = asyncio.get_running_loop().time()
            self.width = max(1, self.width // 2)

    def widen(self, count: int = 1) -> None:
        """Count good replies; after `width` good replies, `width` grows by one, up to its initial value."""
        self._good += count
        while self._good >= self.width < self._widest:
            self._good -= self.width
            self.width += 1
