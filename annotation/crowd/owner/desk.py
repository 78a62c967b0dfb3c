"""Owner's pages: the state of the study, one page for each person, and one for each undecided or gold item."""

import asyncio
import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from catsofa.annotation.crowd.http import guards
from catsofa.annotation.crowd.http.guards import Refused
from catsofa.annotation.crowd.money import decimal
from catsofa.annotation.crowd.owner import cases, decisions, states
from catsofa.annotation.crowd.owner.login import Login, Reach
from catsofa.annotation.results import adjudications
from catsofa.annotation.results.answers import Retired, retire
from catsofa.annotation.study import Study, now, open_study
from catsofa.annotation.study.interface import filled
from catsofa.data.files import BadInput
from catsofa.data.judging.adjudicated import CAUSES, Adjudicated

if TYPE_CHECKING:
    from catsofa.annotation.crowd.http.site import Action, Site
    from catsofa.annotation.crowd.owner.facts import Gold, Overview

FRESH = 10.0
"""Seconds for which an overview of the study is cached."""
UNDECIDED = "undecided"
"""Form value for an item that the owner leaves undecided."""
Look = Callable[[Study], "Overview"]
"""Returns the overview of a study."""


class Desk:
    """Handlers of the owner's pages."""

    def __init__(self, site: "Site", look: Look, reach: Reach) -> None:
        """Shows the study with `look`."""
        self._site, self._look, self._login = site, look, Login(site, reach)
        self._seen: tuple[float, Overview] | None = None
        self._looking = asyncio.Lock()
        self._names = dict[str, str]()  # name of the decider, by the form token of the session

    def routes(self) -> list[Route]:
        """Returns the routes of the owner's pages."""
        pages: tuple[tuple[str, Any, str], ...] = (
            ("/owner", self.page, "GET"),
            ("/owner/in", self.enter, "POST"),
            ("/owner/out", self.leave, "POST"),
            ("/owner/person/{name:str}", self.person, "GET"),
            ("/owner/person/{name:str}", self.rule, "POST"),
            ("/owner/item/{token:str}", self.item, "GET"),
            ("/owner/item/{token:str}", self.adjudicate, "POST"),
            ("/owner/gold/{token:str}", self.gold, "GET"),
            ("/owner/gold/{token:str}", self.retire, "POST"),
        )
        return [
            Route(path, self._site.guarded(self._near(act), hosts=self._login.hosts), methods=[method])
            for path, act, method in pages
        ]

    def _near(self, act: "Action") -> "Action":
        """Wraps an action; refuses browsers that may not reach the owner's pages."""

        async def near(request: Request) -> Response:
            self._login.refuse_far(request)
            return await act(request)

        return near

    async def page(self, request: Request) -> Response:
        """Returns the page with the state of the study; without a session, the field for the secret of the link."""
        if not (token := await self._login.token(request)):
            return _page("login", status=401, title="Owner’s page")
        overview = await self._overview()
        facts, amounts = overview.facts, {}
        for name in facts.money.__slots__:
            amounts[name] = f"{overview.status.currency} {decimal(getattr(facts.money, name))}"
        return _page("overview", token=token, title=overview.status.title, seen=overview, amounts=amounts)

    async def person(self, request: Request) -> Response:
        """Returns the page about one person's work."""
        if not (token := await self._login.token(request)):
            return RedirectResponse("/owner", status_code=303)
        overview, name = await self._overview(), request.path_params["name"]
        standing = next((each for each in overview.facts.standings if each.name == name), None)
        if standing is None:
            raise Refused(404, "nobody in this study has this name")
        judged = next((each for each in overview.status.people if each.name == name), None)
        return _page("person", token=token, title=overview.status.title, person=standing, judged=judged)

    async def rule(self, request: Request) -> Response:
        """Pauses a person, sets their judgements aside, or undoes that; the reason is kept."""
        form, name = await guards.sent_form(request), request.path_params["name"]
        await self._login.refuse_foreign(request, form)
        if not (reason := form.get("reason", "").strip()):
            raise Refused(422, "say why: the reason is kept with the decision")
        timestamp = now()
        await self._site.do(lambda held: decisions.decide(held, name, form.get("act", ""), reason, timestamp))
        self._seen = None
        return RedirectResponse(f"/owner/person/{name}", status_code=303)

    async def item(self, request: Request) -> Response:
        """Returns the page of an undecided item: what people saw and answered, and a form beside each open question."""
        if not (token := await self._login.token(request)):
            return RedirectResponse("/owner", status_code=303)
        overview, task = await self._overview(), request.path_params["token"]
        if (points := overview.cases.get(task)) is None:
            raise Refused(404, "no item with this name is undecided")
        study = open_study(self._site.study.folder)
        parts = await run_in_threadpool(cases.shown, study, task, points)
        about = {"task": task, "parts": parts, "points": points, "causes": CAUSES}
        about |= {"by": self._names.get(token, ""), "unfolded": "decided" in request.query_params}
        return _page("item", token=token, title=overview.status.title, **about)

    async def adjudicate(self, request: Request) -> Response:
        """Notes a label for an undecided item, or that it stays undecided, with the decider and the reason."""
        form, task = await guards.sent_form(request), request.path_params["token"]
        await self._login.refuse_foreign(request, form)
        undecided = {point.item: point for point in (await self._overview()).cases.get(task, ()) if point.undecided}
        decider, reason = (" ".join(form.get(name, "").split()) for name in ("by", "reason"))
        if not reason:
            raise Refused(422, "say why: the reason is kept with the decision")
        if not decider:
            raise Refused(422, "say who you are: of two people who decide, both decisions are kept")
        if (cause := form.get("cause", "")) not in CAUSES:
            raise Refused(422, "choose one of the causes that are shown")
        if (point := undecided.get(form.get("item", ""))) is None:
            raise Refused(422, "this question is not undecided any more; load the page again")
        labels = {choice: choice for choice in point.choices} | {UNDECIDED: ""}
        if (label := labels.get(form.get("label", ""))) is None:
            raise Refused(422, "choose one of the answers that are shown")
        decision = Adjudicated(
            at=now(), token=task, item=point.item, label=label, cause=cause, reason=reason, by=decider
        )
        await run_in_threadpool(adjudications.note, self._site.study, decision)
        self._seen, self._names[form["token"]] = None, decider
        return RedirectResponse(f"/owner/item/{task}?decided#{point.name}", status_code=303)

    async def _gold_item(self, task: str) -> "Gold":
        """Returns the results of people on a gold item."""
        gold_item = next((each for each in (await self._overview()).facts.gold if each.token == task), None)
        if gold_item is None:
            raise Refused(404, "nobody answered a gold item with this name")
        return gold_item

    async def gold(self, request: Request) -> Response:
        """Returns the page of a gold item: what people saw and answered, the right answers, and a form to retire it."""
        if not (token := await self._login.token(request)):
            return RedirectResponse("/owner", status_code=303)
        gold_item, study = await self._gold_item(request.path_params["token"]), open_study(self._site.study.folder)
        points = await run_in_threadpool(cases.of_gold, study, gold_item.token)
        parts = await run_in_threadpool(cases.shown, study, gold_item.token, points)
        about: dict[str, Any] = {"task": gold_item.token, "parts": parts, "gold": gold_item, "unfolded": False}
        return _page("gold", token=token, title=study.settings.title, **about)

    async def retire(self, request: Request) -> Response:
        """Retires a gold item; the reason is kept."""
        form, task = await guards.sent_form(request), request.path_params["token"]
        await self._login.refuse_foreign(request, form)
        if not (reason := " ".join(form.get("reason", "").split())):
            raise Refused(422, "say why: the reason is kept with the decision")
        gold_item = await self._gold_item(task)
        await run_in_threadpool(retire, self._site.study, Retired(at=now(), token=gold_item.token, reason=reason))
        await self._site.do(partial(decisions.retire, token=gold_item.token))
        self._seen = None
        return RedirectResponse(f"/owner/gold/{task}", status_code=303)

    async def enter(self, request: Request) -> Response:
        """Signs in."""
        key = (await guards.sent_form(request)).get("key", "").strip()
        return await self._login.enter(request, key, RedirectResponse("/owner", status_code=303))

    async def leave(self, request: Request) -> Response:
        """Signs out."""
        await self._login.refuse_foreign(request, await guards.sent_form(request))
        return await self._login.leave(request, RedirectResponse("/owner", status_code=303))

    async def _overview(self) -> "Overview":
        """Returns an overview of the study that is at most `FRESH` seconds old."""
        async with self._looking:
            if self._seen is None or time.monotonic() - self._seen[0] > FRESH:
                try:
                    self._seen = (time.monotonic(), await run_in_threadpool(self._look, self._site.study))
                except BadInput as error:  # the store was changed: show no number of it
                    raise Refused(409, str(error)) from None
            return self._seen[1]


def _page(page: str, *, status: int = 200, **values: object) -> Response:
    """Renders one of the owner's pages."""
    return HTMLResponse(filled("owner.html", page=page, states=states, **values), status)
