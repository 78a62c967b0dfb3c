"""Checks every request before any work is done: its host, origin, size, rate, and the characters in it."""

import asyncio
import ipaddress
import json
import time
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from typing import Any
from urllib.parse import parse_qsl

import h11
from starlette.requests import Request
from starlette.responses import Response
from uvicorn.protocols.http.h11_impl import H11Protocol

from catsofa.annotation.study.sent import is_answer

MAX_BODY = 64 * 1024
MAX_TEXT = 500
MAX_DEPTH = 8
MOST_STRANGERS = 20
"""Maximum number of open connections of one address without a session."""
UNTYPED = {"Cc", "Cs", "Zl", "Zp"}
"""Categories of characters that no keyboard types, except tab and line feed."""
REORDERING = {*map(chr, range(0x202A, 0x202F)), *map(chr, range(0x2066, 0x206A))}
"""Control characters that make a text read in another order than it is stored."""
FILLERS = {*"\u115f\u1160\u2800\u3164\uffa0"}
"""Letters and signs that display nothing."""
NEAR = ("127.0.0.1", "::1")
SLOW = 10.0
"""Timeout in seconds for the headers of a request, and for its body."""
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    # not no-referrer, because browsers then send forms without an origin
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
}
FRAMED = HEADERS["Content-Security-Policy"].replace("frame-ancestors 'none'", "frame-ancestors https://*.mturk.com")
"""Policy of the one page that Mechanical Turk shows in a frame."""
SECURE = {"Strict-Transport-Security": "max-age=31536000"}


class Refused(Exception):
    """Raised for a request that is refused, with the status and the reason."""

    def __init__(self, status: int, reason: str, **headers: str) -> None:
        """Sets the status, the reason and further headers."""
        super().__init__(reason)
        self.status, self.headers = status, headers


class Buckets:
    """Rate limit per key: `size` at once, and then `rate` per second. A token is taken before any work."""

    def __init__(self, size: float, rate: float, clock: Callable[[], float] = time.monotonic) -> None:
        """Starts with full buckets."""
        self._size, self._rate, self._clock = size, rate, clock
        self._left: dict[str, tuple[float, float]] = {}

    def take(self, key: str) -> None:
        """Takes a token, or raises `Refused`."""
        now = self._clock()
        tokens, last = self._left.get(key, (self._size, now))
        tokens = min(self._size, tokens + (now - last) * self._rate)
        if tokens < 1:
            wait = max(1, round((1 - tokens) / self._rate))
            raise Refused(
                429, "that was too fast; nothing is lost, try again in a moment", **{"Retry-After": str(wait)}
            )
        self._left[key] = (tokens - 1, now)
        if len(self._left) > 10_000:
            full = (key for key, (had, then) in self._left.items() if had + (now - then) * self._rate >= self._size)
            for each in list(full):
                del self._left[each]


def network(host: str) -> str:
    """Returns the client that limits count: an address, or for IPv6 the /64 network that one machine has to itself."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host
    if address.version == 4 or address.ipv4_mapped:
        return host
    return ":".join(address.exploded.split(":")[:4])


def answer_in(sent: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """Returns the nonce and the answers that a page sends; refuses anything else."""
    match sent:
        case {"nonce": str(nonce), "answers": dict(said)} if len(sent) == 2 and all(map(is_answer, said.values())):
            return nonce, said
    raise Refused(400, "send nonce with answers, and nothing else")


def check_host(request: Request, hosts: Collection[str]) -> None:
    """Refuses a request for another host name, against DNS rebinding."""
    host = request.headers.get("host", "").casefold()
    if host not in hosts:
        raise Refused(421, "this server has another name")


def check_origin(request: Request, hosts: Collection[str]) -> None:
    """Refuses a request from a page of another site."""
    origin, site = request.headers.get("origin"), request.headers.get("sec-fetch-site")
    own = origin.partition("://")[2].casefold() in hosts if origin else site == "same-origin"
    if not own or site not in (None, "same-origin"):
        raise Refused(403, "this was sent from another site")


def with_headers(answer: Response, https: bool) -> Response:
    """Adds the headers that keep other pages out, and returns the answer."""
    for name, value in (HEADERS | (SECURE if https else {})).items():
        answer.headers.setdefault(name, value)
    return answer


async def body(request: Request) -> bytes:
    """Returns the body of a request; limits its size and time."""
    content = b""
    try:
        async with asyncio.timeout(SLOW):
            async for chunk in request.stream():
                content += chunk
                if len(content) > MAX_BODY:
                    raise Refused(413, "that is too long", Connection="close")
    except TimeoutError:
        raise Refused(408, "that took too long", Connection="close") from None
    return content


async def sent_object(request: Request) -> dict[str, Any]:
    """Returns the JSON object that a page sent, with its texts in normal form C."""
    _check_type(request, "application/json")
    try:
        parsed = json.loads(await body(request))
    except (ValueError, RecursionError):
        raise Refused(400, "that is no JSON") from None
    if not isinstance(parsed, dict):
        raise Refused(400, "that is no JSON object")
    return dict(_clean(parsed, 0))


async def sent_form(request: Request) -> dict[str, str]:
    """Returns the fields of a form; the last value of a name wins."""
    _check_type(request, "application/x-www-form-urlencoded")
    try:
        pairs = parse_qsl((await body(request)).decode("ascii"), errors="strict", max_num_fields=20)
    except ValueError:
        raise Refused(400, "that is no form") from None
    return {name: str(_clean(value, 0)) for name, value in pairs}


def _check_type(request: Request, wanted: str) -> None:
    """Refuses another content type."""
    if request.headers.get("content-type", "").partition(";")[0].strip().casefold() != wanted:
        raise Refused(415, f"send {wanted}")


def _clean(value: Any, depth: int) -> Any:
    """Returns a value with its texts in normal form C; refuses long texts, untypable characters and invisible texts."""
    if depth > MAX_DEPTH:
        raise Refused(400, "that is nested too deeply")
    if isinstance(value, dict):
        return {str(_clean(name, depth + 1)): _clean(each, depth + 1) for name, each in value.items()}
    if isinstance(value, list):
        return [_clean(each, depth + 1) for each in value]
    if isinstance(value, str):
        if len(value) > MAX_TEXT:
            raise Refused(400, f"a text has over {MAX_TEXT} characters")
        untyped = {char for char in value if unicodedata.category(char) in UNTYPED or char in REORDERING} - {*"\t\n"}
        if untyped:
            raise Refused(400, "a text has characters that no keyboard types")
        if value.strip() and all(unicodedata.category(char)[0] in "CMZ" or char in FILLERS for char in value):
            raise Refused(400, "a text shows nothing")
        return unicodedata.normalize("NFC", value)
    return value


class Strangers:
    """Open connections of each address that have shown no session yet."""

    def __init__(self) -> None:
        """Starts without connections."""
        self._open = defaultdict[str, set[tuple[str, int]]](set)

    def come(self, host: str, port: int) -> bool:
        """Notes a connection; returns True if the address has too many.

        This machine's proxy is exempt, because it serves many people.
        """
        if host in NEAR:
            return False
        self._open[network(host)].add((host, port))
        return len(self._open[network(host)]) > MOST_STRANGERS

    def go(self, host: str, port: int) -> None:
        """Forgets a connection that showed a session or ended."""
        self._open[network(host)].discard((host, port))
        if not self._open[network(host)]:
            del self._open[network(host)]


class Patient(H11Protocol):
    """HTTP/1.1 protocol with a timeout for headers, and few connections without a session per address."""

    _deadline: asyncio.TimerHandle | None = None

    def __init__(self, *args: Any, strangers: Strangers, **more: Any) -> None:
        """Sets up the protocol for one connection."""
        super().__init__(*args, **more)
        self._strangers = strangers

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Starts the timeout for the first request; closes the connection if the address has too many."""
        super().connection_made(transport)
        self._deadline = self.loop.call_later(SLOW, transport.abort)
        if self.client and self._strangers.come(*self.client):
            transport.abort()

    def data_received(self, data: bytes) -> None:
        """Runs the timeout as long as headers have begun and not ended."""
        super().data_received(data)
        begun = self.conn.their_state is h11.IDLE and bool(self.conn.trailing_data[0])
        if self._deadline and not begun:
            self._deadline.cancel()
            self._deadline = None
        elif begun and not self._deadline:
            self._deadline = self.loop.call_later(SLOW, self.transport.abort)

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancels the timeout."""
        if self._deadline:
            self._deadline.cancel()
        if self.client:
            self._strangers.go(*self.client)
        super().connection_lost(exc)
