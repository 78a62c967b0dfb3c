"""The server of an open study: one address at which people consent, get one task after another, and end with a code."""

import asyncio
import json
import logging
import math
import secrets
import time
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from typing import Any, TypeVar
from urllib.parse import urlsplit

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from catsofa.annotation.crowd import arrivals, guards, pilots, saying, seats
from catsofa.annotation.crowd.background import Background
from catsofa.annotation.crowd.guards import Buckets, Refused
from catsofa.annotation.crowd.questionnaire import SILENT, chosen, questions
from catsofa.annotation.crowd.seats import Given, NotYours
from catsofa.annotation.crowd.settings import WITH_CODES, Opening, rules
from catsofa.annotation.crowd.store import Rows, Store, Unwritten
from catsofa.annotation.label_studio import people
from catsofa.annotation.study import Study, now
from catsofa.annotation.study.interface import FOLDER, filled, in_script
from catsofa.data.digests import hex_digest

SESSION = 12 * 3600.0
"""Seconds for which a browser is known."""
BY_ADDRESS, BY_SESSION = (60.0, 5.0), (10.0, 4.0)
"""Requests at once, and then a second: of browsers without a session at one address, and of one session."""
FILES = {"page.js": "text/javascript", "work.js": "text/javascript", "page.css": "text/css"}
FORMS = ("/consent", "/about-you", "/stop", "/withdraw")
"""What pages send without a script."""
BACK = "https://app.prolific.com/submissions/complete?cc="
TURK = ("https://www.mturk.com", "https://workersandbox.mturk.com")
"""Where Mechanical Turk takes a submission."""
LOG = logging.getLogger(__name__)
T = TypeVar("T")


class Crowd:
    """One study's server."""

    def __init__(self, study: Study, store: Store, opening: Opening, address: str) -> None:
        """Serve `study` at `address`, where people's browsers reach it."""
        self._study, self._store, self._opening, self._rules = study, store, opening, rules(study, opening)
        self._platform, self._key = opening.platform.name, arrivals.key_of(study, opening.people.same_as)
        self._arrivals, self._noting = arrivals.Arrivals(study.folder), asyncio.Lock()
        self._tasks = {task.key.token: task for task in study.tasks()}
        place = urlsplit(address)
        self._https, self._hosts = place.scheme == "https", {place.netloc.casefold()}
        if place.hostname in ("127.0.0.1", "localhost"):
            self._hosts |= {f"127.0.0.1:{place.port}", f"localhost:{place.port}"}
        self._cookie = "__Host-seat" if self._https else "seat"
        self._texts: dict[str, Any] = {"instructions": study.instructions(), "ethics": asdict(opening.ethics)}
        self._asked, self._background = questions(study, opening.questionnaire), Background(study)
        self._texts |= {"own": opening.consent, "age": opening.people.minimum_age, "about": [*self._asked]}
        self._before = pilots.people(study)
        self._consent = hex_digest(json.dumps(self._texts))
        self._sessions = set[str]()
        self._by_address, self._by_session = Buckets(*BY_ADDRESS), Buckets(*BY_SESSION)

    def app(self) -> Starlette:
        """The application."""
        pages = (
            ("/", self._entry, "GET"),
            ("/i/{invitation:str}", self._entry, "GET"),
            ("/consent", self._agree, "POST"),
            ("/about-you", self._about, "GET"),
            ("/about-you", self._tell, "POST"),
            ("/work", self._work, "GET"),
            ("/next", self._next, "POST"),
            ("/draft", self._draft, "POST"),
            ("/answer", self._answer, "POST"),
            ("/skip", self._skip, "POST"),
            ("/stop", self._end, "POST"),
            ("/withdraw", self._end, "POST"),
            ("/done", self._done, "GET"),
            ("/health", self._health, "GET"),
            ("/{name:str}", self._file, "GET"),
        )
        routes = [Route(path, self._guarded(act), methods=[method]) for path, act, method in pages]
        return Starlette(routes=routes, exception_handlers={HTTPException: self._missing, Exception: self._broken})

    def _guarded(self, action: Callable[[Request], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
        """The action behind the checks of every request, with what may go wrong in a sentence."""

        async def guarded(request: Request) -> Response:
            try:
                guards.check_host(request, self._hosts)
                if request.method == "POST":
                    guards.check_origin(request, self._hosts)
                if action != self._file:
                    self._pace(request)
                answer = await action(request)
            except Refused as error:
                answer = self._refusal(request, error)
            except NotYours as error:
                answer = self._refusal(request, Refused(422, str(error)))
            except Unwritten:
                later = {"Retry-After": "10"}
                says = "the server cannot keep answers just now; nothing is lost, try again in a minute"
                answer = self._refusal(request, Refused(503, says, **later))
            return guards.with_headers(answer, self._https)

        return guarded

    def _refusal(self, request: Request, error: Refused) -> Response:
        """The reason: for the script of a page, or as a page for a person, whose browser asks again when it is time."""
        if request.method == "GET" or request.url.path in FORMS:
            sentence = str(error)
            answer = self._page("message", error.status, says=f"{sentence[:1].upper()}{sentence[1:]}.")
            if request.method == "GET" and "Retry-After" in error.headers:
                answer.headers["Refresh"] = error.headers["Retry-After"]
        else:
            answer = JSONResponse({"error": self._study.said(str(error))}, error.status)
        answer.headers.update(error.headers)
        return answer

    def _pace(self, request: Request) -> None:
        """Take a token of the person, pages apart, or of the address while the browser is nobody's that we know."""
        cookie = hex_digest(request.cookies.get(self._cookie, ""))
        if cookie in self._sessions:
            self._by_session.take(f"{request.method} {cookie}")
        else:
            self._by_address.take(request.client.host if request.client else "")

    async def _missing(self, request: Request, error: Exception) -> Response:
        """A path or a method that there is not."""
        assert isinstance(error, HTTPException), "Starlette calls this for no other"
        says = self._study.said("there is nothing here")
        return guards.with_headers(JSONResponse({"error": says}, error.status_code), self._https)

    async def _broken(self, request: Request, error: Exception) -> Response:
        """A fault of ours: a number for the person, which the log has too."""
        number = secrets.token_hex(4)
        LOG.error("error %s: %s at %s", number, type(error).__name__, request.url.path)
        says = self._study.said(f"something went wrong here; if you report it, name {number}")
        return guards.with_headers(JSONResponse({"error": says}, 500), self._https)

    async def _entry(self, request: Request) -> Response:
        """What a person reads first. Nothing is looked up, so that the page is the same for everybody."""
        given = dict(request.query_params) | dict(request.path_params)
        turk = self._platform == "mturk"
        if turk and given.get("assignmentId") == arrivals.PREVIEW:
            return self._page("preview", policy=guards.FRAMED)
        names = arrivals.NAMES["invitation" if "invitation" in request.path_params else self._platform]
        known = {name: given.get(name, "") for name in dict.fromkeys(names)}
        if not all(arrivals.NAME.fullmatch(value) for value in known.values()):
            return self._page("message", 400, says="Open this page from the link of the study, which says who you are.")
        if turk and given.get("turkSubmitTo") in TURK:
            asked = "&".join(f"{name}={value}" for name, value in known.items())
            policy = guards.FRAMED.replace("form-action 'self'", f"form-action {given['turkSubmitTo']}")
            action = f"{given['turkSubmitTo']}/mturk/externalSubmit"
            return self._page("turk", asked=asked, action=action, assignment=known["assignmentId"], policy=policy)
        if turk and "turkSubmitTo" in given:
            return self._page("message", 400, says="This page was not opened by Mechanical Turk.")
        return self._page("consent", known=known)

    async def _agree(self, request: Request) -> Response:
        """Take the consent of a person, or its refusal, and give them a session."""
        form = await guards.sent_form(request)
        platform = "invitation" if "invitation" in form else self._platform
        if platform == "invitation":
            try:
                invited = await run_in_threadpool(people.expected, self._study, form.get("invitation", ""))
            except ValueError as error:
                raise Refused(403, str(error)) from None
            form["invitation"] = invited.email
        arrival = arrivals.of_request(platform, form, self._key, now())
        if arrival is None:
            return self._page("message", 400, says="Open this page from the link of the study, which says who you are.")
        agreed = form.get("agree") == "yes" and form.get("age") == "yes"
        if form.get("agree") == "yes" and not agreed:
            raise Refused(400, f"only people of {self._opening.people.minimum_age} or over take part")
        name, cookie = arrival.name, secrets.token_urlsafe(32)
        submission = arrivals.keyed(self._key, arrival.submission)

        def job(held: Rows) -> str:
            at = time.time()
            if name in self._before:
                return ""
            if agreed:
                state = seats.arrive(held, self._rules, name, submission, self._consent, at)
            else:
                state = seats.decline(held, name, submission, at)
            if state:
                held.run("DELETE FROM session WHERE until < ?", at)
                held.run("INSERT INTO session VALUES (?, ?, ?)", hex_digest(cookie), name, at + SESSION)
            return state

        if not (state := await self._do(job)):
            return self._page("message", 403, says="You took part under another submission. There is no second place.")
        if agreed:  # before the cookie is sent: nobody works whose name is not noted
            async with self._noting:
                await run_in_threadpool(self._arrivals.note, arrival)
        self._sessions.add(hex_digest(cookie))
        answer = RedirectResponse("work" if state == "working" else "done", status_code=303)
        answer.set_cookie(
            self._cookie, cookie, max_age=int(SESSION), httponly=True, samesite="lax", secure=self._https, path="/"
        )
        return answer

    async def _about(self, request: Request) -> Response:
        """The questions about a person; what they said before is not shown."""
        await self._do(lambda held: self._who(held, request))
        return self._page("about", asked=self._asked, silent=SILENT, k=self._opening.questionnaire.k)

    async def _tell(self, request: Request) -> Response:
        """Keep what a person says about themselves, apart from the study's store."""
        try:
            said = chosen(self._asked, await guards.sent_form(request))
        except ValueError as error:
            raise Refused(422, str(error)) from None
        person = await self._do(lambda held: seats.known(held, self._who(held, request)))
        if person["state"] not in seats.ENDED:
            await run_in_threadpool(self._background.keep, person["name"], said)
        return RedirectResponse("work", status_code=303)

    async def _work(self, request: Request) -> Response:
        """The page on which people work, after the questions about them."""
        person = await self._do(lambda held: seats.known(held, self._who(held, request)))
        if person["state"] in seats.ENDED:
            return RedirectResponse("done", status_code=303)
        if self._asked and not await run_in_threadpool(self._background.said, [person["name"]]):
            return RedirectResponse("about-you", status_code=303)
        return self._page("work", parts=in_script([asdict(part) for part in self._study.interface.parts]))

    async def _next(self, request: Request) -> Response:
        """The task that a person has or gets."""
        await self._object(request)
        given = await self._do(lambda held: seats.next_task(held, self._rules, self._who(held, request), time.time()))
        if not isinstance(given, Given):
            return JSONResponse({"wait": 5} if given == "wait" else {"done": True})
        shown = {name: value for name, value in self._tasks[given.token].data.items() if name != "item"}
        draft = json.loads(given.draft or "{}")
        about = {"nonce": given.nonce, "place": given.place, "of": given.quota}
        return JSONResponse({"task": shown, "draft": draft, **about})

    async def _draft(self, request: Request) -> Response:
        """Keep what is filled in so far, and say what is wrong with a text."""
        nonce, said = guards.answer_in(await self._object(request))
        saying.refuse_unknown(self._study, said)

        def job(held: Rows) -> str:
            name = self._who(held, request)
            seats.keep_draft(held, self._rules, name, nonce, said, time.time())
            return seats.token_of(held, name, nonce)

        problems, warnings = saying.notes(self._study, await self._do(job), said)
        told = {"problems": problems, "warnings": warnings}
        return JSONResponse({name: [*map(self._study.said, sentences)] for name, sentences in told.items()})

    async def _answer(self, request: Request) -> Response:
        """Keep an answer; what `pull` would call invalid is refused."""
        nonce, said = guards.answer_in(await self._object(request))

        def job(held: Rows) -> None:
            name = self._who(held, request)
            token = seats.token_of(held, name, nonce)
            saying.refuse_invalid(self._study, token, said)
            right = saying.right(self._study, token, said)
            seats.answer(held, self._rules, name, nonce, said, right, time.time())

        await self._do(job)
        return JSONResponse({"thanks": True})

    async def _skip(self, request: Request) -> Response:
        """Pass a task on."""
        nonce, _ = guards.answer_in(await self._object(request) | {"answers": {}})
        await self._do(lambda held: seats.skip(held, self._who(held, request), nonce))
        return JSONResponse({"thanks": True})

    async def _end(self, request: Request) -> Response:
        """End a person's work, or erase it too."""
        await guards.sent_form(request)
        act: Callable[[Rows, str], Any] = seats.stop
        if request.url.path == "/withdraw":
            act = seats.withdraw
            name = await self._do(lambda held: self._who(held, request))
            await run_in_threadpool(self._background.remove, name)  # first: no kill leaves it behind unseen
        await self._do(lambda held: act(held, self._who(held, request)))
        return RedirectResponse("done", status_code=303)

    async def _done(self, request: Request) -> Response:
        """How it ended, with the code that the platform wants."""
        person = await self._do(lambda held: seats.known(held, self._who(held, request)))
        name = person["name"]
        if person["state"] not in seats.ENDED:
            return RedirectResponse("work", status_code=303)
        outcome = person["outcome"] or "completed"
        if self._platform in WITH_CODES:
            code = self._opening.platform.codes.get(outcome, "")
        else:
            code = arrivals.keyed(self._key, outcome, name)[:8].upper()
        back = BACK + code if code and self._platform == "prolific" else ""
        about = {"state": person["state"], "done": person["done"], "code": code, "back": back}
        settings = self._study.settings
        about |= {"withdrawal": arrivals.code_of(settings.secret, name), "contact": settings.contact}
        return self._page("done", debriefing=self._opening.debriefing, platform=self._platform, **about)

    async def _health(self, request: Request) -> Response:
        """Whether the store can be written."""
        await self._do(lambda held: held.run("DELETE FROM session WHERE until < 0"))
        return JSONResponse({"well": True})

    async def _file(self, request: Request) -> Response:
        """The page's own script and style."""
        name = request.path_params["name"]
        if name not in FILES:
            raise Refused(404, "there is nothing here")
        return Response((FOLDER / name).read_text("utf-8"), media_type=FILES[name])

    async def _object(self, request: Request) -> dict[str, Any]:
        """What the page of somebody with a session sends."""
        if self._cookie not in request.cookies:
            raise Refused(401, "open the link of the study again")
        return await guards.sent_object(request)

    async def _do(self, job: Callable[[Rows], T]) -> T:
        """What a job of the store gives, after its commit."""
        return await asyncio.wrap_future(self._store.submit(job))

    def _who(self, held: Rows, request: Request) -> str:
        """The person whose browser asks."""
        cookie = hex_digest(request.cookies.get(self._cookie, ""))
        session = held.first("SELECT person FROM session WHERE hash = ? AND until > ?", cookie, time.time())
        if session is None:
            self._sessions.discard(cookie)
            raise Refused(401, "open the link of the study again")
        self._sessions.add(cookie)
        return str(session["person"])

    def _page(self, page: str, status: int = 200, policy: str = "", **values: Any) -> Response:
        """One of the pages."""
        minutes = math.ceil(self._rules.session * self._rules.seconds / 60)
        shown = {"page": page, "title": self._study.settings.title, "minutes": minutes} | self._texts | values
        headers = {"Content-Security-Policy": policy} if policy else {}
        return HTMLResponse(self._study.page(filled("work.html", **shown)), status, headers)
