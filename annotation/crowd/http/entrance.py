"""Pages before the work: the requirements of a study, the consent, and the questions about people."""

import asyncio
import json
import secrets
import time

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from catsofa.annotation.crowd import seats
from catsofa.annotation.crowd.http import guards
from catsofa.annotation.crowd.http.guards import Refused
from catsofa.annotation.crowd.http.site import Site
from catsofa.annotation.crowd.people import arrivals, pilots
from catsofa.annotation.crowd.people.background import Background
from catsofa.annotation.crowd.people.questionnaire import SILENT, chosen
from catsofa.annotation.crowd.store import Rows
from catsofa.annotation.label_studio import people
from catsofa.annotation.study import now
from catsofa.data.digests import hex_digest

TURK = ("https://www.mturk.com", "https://workersandbox.mturk.com")
"""Origins at which Mechanical Turk takes a submission."""
UNNAMED = "Open this page from the link of the study, which says who you are."
TWICE = (
    "Somebody took part under your name with another submission. There is no second place. If it was not you, open the "
    "link of the study again in ten minutes."
)


EARLIER = (
    "Somebody took part under your name in an earlier part of this study. Nobody takes part in both. If you "
    "came from a platform, please return your submission there."
)


class Entrance:
    """Handlers for people who arrive."""

    def __init__(self, site: Site) -> None:
        """Loads the pilots of the study. Each arrival is checked in them, since they may still be open."""
        self._site, self._pilots, self._background = site, [*pilots.earlier(site.study)], Background(site.study)
        self._arrivals, self._noting = arrivals.Arrivals(site.study.folder), asyncio.Lock()
        self._consent = hex_digest(json.dumps(site.texts, default=str))

    async def entry(self, request: Request) -> Response:
        """Returns the first page. Looks nothing up, so that the page is the same for everybody."""
        params = dict(request.query_params) | dict(request.path_params)
        turk = self._site.platform == "mturk"
        if turk and params.get("assignmentId") == arrivals.PREVIEW:
            return self._site.page("preview", policy=guards.FRAMED)
        names = arrivals.NAMES["invitation" if "invitation" in request.path_params else self._site.platform]
        values = {name: params.get(name, "") for name in dict.fromkeys(names)}
        if not all(arrivals.NAME.fullmatch(value) for value in values.values()):
            return self._site.page("message", 400, says=UNNAMED)
        if turk and params.get("turkSubmitTo") in TURK:
            query = "&".join(f"{name}={value}" for name, value in values.items())
            policy = guards.FRAMED.replace("form-action 'self'", f"form-action {params['turkSubmitTo']}")
            action = f"{params['turkSubmitTo']}/mturk/externalSubmit"
            return self._site.page("turk", asked=query, action=action, assignment=values["assignmentId"], policy=policy)
        if turk and "turkSubmitTo" in params:
            return self._site.page("message", 400, says="This page was not opened by Mechanical Turk.")
        return self._site.page("consent", known=values)

    async def agree(self, request: Request) -> Response:
        """Records the consent of a person, or its refusal, and starts a session."""
        form = await guards.sent_form(request)
        platform = "invitation" if "invitation" in form else self._site.platform
        if platform == "invitation":
            try:
                invited = await run_in_threadpool(people.expected, self._site.study, form.get("invitation", ""))
            except ValueError as error:
                raise Refused(403, str(error)) from None
            form["invitation"] = invited.email
        arrival = arrivals.of_request(platform, form, self._site.key, now())
        if arrival is None:
            return self._site.page("message", 400, says=UNNAMED)
        agreed = form.get("agree") == "yes" and form.get("age") == "yes"
        if form.get("agree") == "yes" and not agreed:
            raise Refused(400, f"only people of {self._site.opening.people.minimum_age} or over take part")
        name, cookie = arrival.name, secrets.token_urlsafe(32)
        submission = arrivals.keyed(self._site.key, arrival.submission)

        if await run_in_threadpool(pilots.took_part, self._pilots, name):
            return self._site.page("message", 403, says=EARLIER)

        def job(held: Rows) -> str:
            timestamp = time.time()
            if agreed:
                state = seats.arrive(held, self._site.rules, name, submission, self._consent, timestamp)
            else:
                state = seats.decline(held, name, submission, timestamp)
            if state:
                self._site.begin(held, name, cookie, timestamp)
            return state

        if not (state := await self._site.do(job)):
            return self._site.page("message", 403, says=TWICE)
        # before the cookie is sent, so that nobody works without an entry; people who declined before get none
        if agreed and state != "declined":
            async with self._noting:
                await run_in_threadpool(self._arrivals.note, arrival)
        where = "work" if state == "working" else "done"
        return self._site.with_cookie(RedirectResponse(where, status_code=303), cookie)

    async def about(self, request: Request) -> Response:
        """Returns the questions about a person, without their earlier answers."""
        await self._site.do(lambda held: self._site.who(held, request))
        return self._site.page("about", asked=self._site.asked, silent=SILENT, k=self._site.opening.questionnaire.k)

    async def tell(self, request: Request) -> Response:
        """Stores what a person says about themselves, apart from the study's store."""
        try:
            reply = chosen(self._site.asked, await guards.sent_form(request))
        except ValueError as error:
            raise Refused(422, str(error)) from None
        async with self._site.telling:
            person = await self._site.do(lambda held: seats.known(held, self._site.who(held, request)))
            name = person["name"]
            if person["state"] not in seats.ENDED:
                await run_in_threadpool(self._background.keep, name, reply)
                if not await self._site.do(lambda held: held.get("person", name)):  # erased meanwhile
                    await run_in_threadpool(self._background.remove, name)
        return RedirectResponse("work", status_code=303)
