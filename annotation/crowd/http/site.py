"""Shared parts of the pages of an open study: store, browser sessions, guards of requests, page template."""

import asyncio
import logging
import secrets
import time
from collections.abc import Awaitable, Callable, Collection
from dataclasses import asdict
from typing import Any, TypeVar
from urllib.parse import urlsplit

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response

from catsofa.annotation.crowd.databases import Unwritten
from catsofa.annotation.crowd.http import guards
from catsofa.annotation.crowd.http.guards import Buckets, Refused
from catsofa.annotation.crowd.people import arrivals
from catsofa.annotation.crowd.people.questionnaire import questions
from catsofa.annotation.crowd.seats import NotYours
from catsofa.annotation.crowd.settings import Opening, rules
from catsofa.annotation.crowd.store import Rows, Store
from catsofa.annotation.study import Study
from catsofa.annotation.study.interface import filled
from catsofa.data.digests import hex_digest

SESSION = 12 * 3600.0
"""Lifetime of a browser session, in seconds."""
BY_ADDRESS, BY_SESSION = (60.0, 5.0), (10.0, 4.0)
"""Rate limits (requests at once, then per second): of browsers without a session at one address, and of one session."""
FORMS = ("/consent", "/about-you", "/stop", "/withdraw")
"""Paths to which pages send forms without a script."""
LOG = logging.getLogger(__name__)
Action = Callable[[Request], Awaitable[Response]]
T = TypeVar("T")


class Site:
    """Site of one study."""

    def __init__(self, study: Study, store: Store, opening: Opening, address: str, port: int = 0) -> None:
        """Serves `study` at `address`, where people's browsers reach it; browsers on this machine use `port`."""
        self.study, self.opening, self.rules = study, opening, rules(study, opening)
        self.platform, self.key = opening.platform.name, arrivals.key_of(study, opening.people.same_as)
        self.asked = questions(study, opening.questionnaire)
        self.texts: dict[str, Any] = {"instructions": study.instructions(), "ethics": asdict(opening.ethics)}
        self.texts |= {"own": opening.consent, "age": opening.people.minimum_age, "about": [*self.asked]}
        self.texts |= {"rules": asdict(self.rules), "minutes": self.rules.minutes, "tasks": self.rules.tasks}
        self.texts |= {"checks": any(key.check for key in study.sealed.values())}
        unpaid, currency = opening.practice.pay, study.settings.currency
        self.texts["pay"] = self.amount(study.settings.cents(self.rules.tasks))
        self.texts["practice_pay"] = "" if unpaid is None else f"{currency} {unpaid:.2f}"
        self._store, place = store, urlsplit(address)
        self.https, self.hosts = place.scheme == "https", {place.netloc.casefold()}
        self.near = {f"127.0.0.1:{port or place.port}", f"localhost:{port or place.port}"}
        """Host names by which browsers on this machine reach the server."""
        if place.hostname in ("127.0.0.1", "localhost"):
            self.hosts |= {f"127.0.0.1:{place.port}", f"localhost:{place.port}"}
        self.telling = asyncio.Lock()
        """Lock for answers of people about themselves and for their erasure, so that one ends before the other
        begins."""
        self._cookie = "__Host-seat" if self.https else "seat"
        self._sessions, self.strangers = set[str](), guards.Strangers()
        self._by_address, self._by_session = Buckets(*BY_ADDRESS), Buckets(*BY_SESSION)

    def amount(self, cents: int) -> str:
        """Formats an amount of money for pages."""
        return f"{self.study.settings.currency} {cents / 100:.2f}"

    def guarded(
        self, action: Action, *, limited: bool = True, from_pages: bool = True, hosts: Collection[str] = ()
    ) -> Action:
        """Wraps an action in the checks of every request, and turns errors into readable replies.

        `hosts` are the names of this server that the action answers to; by default, those for all people. An action
        that does not come `from_pages` must verify the sender by itself.
        """
        hosts = hosts or self.hosts

        async def guarded(request: Request) -> Response:
            try:
                guards.check_host(request, hosts)
                if from_pages and request.method == "POST":
                    guards.check_origin(request, hosts)
                if limited:
                    self._limit(request)
                answer = await action(request)
            except Refused as error:
                answer = self._refusal(request, error)
            except NotYours as error:
                answer = self._refusal(request, Refused(422, str(error)))
            except Unwritten:
                later = {"Retry-After": "10"}
                says = "the server cannot keep answers just now; nothing is lost, try again in a minute"
                answer = self._refusal(request, Refused(503, says, **later))
            return guards.with_headers(answer, self.https)

        return guarded

    def _refusal(self, request: Request, error: Refused) -> Response:
        """Returns the reason as JSON for a script, or as a page for a person, which reloads when it is time."""
        if request.method == "GET" or request.url.path in FORMS or request.url.path.startswith("/owner/"):
            sentence = str(error)
            answer = self.page("message", error.status, says=f"{sentence[:1].upper()}{sentence[1:]}.")
            if request.method == "GET" and "Retry-After" in error.headers:
                answer.headers["Refresh"] = error.headers["Retry-After"]
        else:
            answer = JSONResponse({"error": self.study.said(str(error))}, error.status)
        answer.headers.update(error.headers)
        return answer

    def _limit(self, request: Request) -> None:
        """Takes a token of the session (per method), or of the address if the session is unknown."""
        cookie = hex_digest(request.cookies.get(self._cookie, ""))
        if cookie in self._sessions:
            if request.client:
                self.strangers.go(request.client.host, request.client.port)
            self._by_session.take(f"{request.method} {cookie}")
        else:
            self._by_address.take(guards.network(request.client.host) if request.client else "")

    async def missing(self, request: Request, error: Exception) -> Response:
        """Answers a request with an unknown path or method."""
        assert isinstance(error, HTTPException), "Starlette calls this for no other"
        says = self.study.said("there is nothing here")
        return guards.with_headers(JSONResponse({"error": says}, error.status_code), self.https)

    async def broken(self, request: Request, error: Exception) -> Response:
        """Answers after an internal error with a number that is also in the log."""
        number = secrets.token_hex(4)
        LOG.error("error %s: %s at %s", number, type(error).__name__, request.url.path)
        says = self.study.said(f"something went wrong here; if you report it, name {number}")
        return guards.with_headers(JSONResponse({"error": says}, 500), self.https)

    async def do(self, job: Callable[[Rows], T]) -> T:
        """Runs a job in the store, and returns its result after the commit."""
        return await asyncio.wrap_future(self._store.submit(job))

    def begin(self, held: Rows, name: str, cookie: str, now: float) -> None:
        """Stores a session for this cookie, and deletes expired sessions."""
        held.run("DELETE FROM session WHERE until < ?", now)
        held.run("INSERT INTO session VALUES (?, ?, ?)", hex_digest(cookie), name, now + SESSION)

    def with_cookie(self, answer: Response, cookie: str) -> Response:
        """Sets the session cookie on an answer."""
        self._sessions.add(hex_digest(cookie))
        age, https = int(SESSION), self.https
        answer.set_cookie(self._cookie, cookie, max_age=age, httponly=True, samesite="lax", secure=https, path="/")
        return answer

    def who(self, held: Rows, request: Request) -> str:
        """Returns the person whose browser asks; refuses a browser without a session."""
        cookie = hex_digest(request.cookies.get(self._cookie, ""))
        session = held.first("SELECT person FROM session WHERE hash = ? AND until > ?", cookie, time.time())
        if session is None:
            self._sessions.discard(cookie)
            raise Refused(401, "open the link of the study again")
        self._sessions.add(cookie)
        return str(session["person"])

    async def object(self, request: Request) -> dict[str, Any]:
        """Returns the JSON object that the page of somebody with a session sends."""
        if self._cookie not in request.cookies:
            raise Refused(401, "open the link of the study again")
        return await guards.sent_object(request)

    def page(self, page: str, status: int = 200, policy: str = "", **values: Any) -> Response:
        """Renders one of the pages."""
        shown = {"page": page, "title": self.study.settings.title} | self.texts | values
        headers = {"Content-Security-Policy": policy} if policy else {}
        return HTMLResponse(self.study.page(filled("work.html", **shown)), status, headers)
