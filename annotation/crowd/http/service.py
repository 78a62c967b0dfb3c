"""Serves one study in one process: the paths, and the configuration of the server."""

import asyncio
import json
import logging
import math
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from datetime import date
from functools import partial
from urllib.parse import urlsplit

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from catsofa.annotation.crowd import adaptive, home, money, settings
from catsofa.annotation.crowd.http import guards
from catsofa.annotation.crowd.http.entrance import Entrance
from catsofa.annotation.crowd.http.guards import Refused
from catsofa.annotation.crowd.http.site import Site
from catsofa.annotation.crowd.http.watching import EVENTS, Verify, Watch, Watcher
from catsofa.annotation.crowd.http.work import Work
from catsofa.annotation.crowd.owner import decisions
from catsofa.annotation.crowd.owner.desk import Desk, Look
from catsofa.annotation.crowd.owner.login import Reach, new_key
from catsofa.annotation.crowd.people import arrivals
from catsofa.annotation.crowd.rules import Rules
from catsofa.annotation.label_studio.server import refuse_taken
from catsofa.annotation.results.answers import reopened, retired
from catsofa.annotation.study import Study
from catsofa.annotation.study.interface import FOLDER, pages
from catsofa.data.files import BadInput
from catsofa.data.percentages import quantity

FILES = {"page.css": "text/css", "owner.css": "text/css"}
FILES |= dict.fromkeys(("page.js", "work.js", "owner.js"), "text/javascript")
WIDEN_EVERY = 30.0
"""Seconds between two searches for uncertain items."""
LOG = logging.getLogger(__name__)
LOOPBACK = {"127.0.0.1", "localhost", "::1"}


@dataclass(frozen=True, slots=True)
class Service:
    """Server that is ready to run, with messages for its owner."""

    says: tuple[str, ...]
    server: uvicorn.Server

    def run(self) -> None:
        """Serves until Ctrl-C."""
        with suppress(KeyboardInterrupt):
            self.server.run()


@contextmanager
def serving(
    study: Study,
    host: str,
    port: int,
    address: str,
    *,
    look: Look | None = None,
    owner: Reach = "local",
    store: str = "",
    watch: Watch | None = None,
    verify: Verify | None = None,
) -> Iterator[Service]:
    """Prepares a server for a study; refuses an unsafe or useless setup before anybody can come.

    `look` loads the owner's page; without it, the study has no such page. `store` is the URL of a PostgreSQL database.
    `watch` asks the platform about submissions regularly, and returns a job that updates the store. With `verify`, it
    also asks when the platform reports a change.
    """
    from filelock import FileLock, Timeout

    place = urlsplit(address)
    if place.scheme not in ("http", "https") or not place.netloc or place.path:
        raise ValueError(f"{address!r} is no address of a server; give one such as https://study.example.org")
    if place.scheme == "http" and not {host, place.hostname} <= LOOPBACK:
        raise ValueError(
            "other machines would send answers in the clear. Put a server that speaks HTTPS before this one "
            "(docs/annotation.md shows Caddy's two lines), and name it with --address https://…"
        )
    if not study.settings.contact:
        raise ValueError("people must know whom to ask: make the study with --contact")
    if study.settings.closed:
        raise ValueError(f"the study was closed at {study.settings.closed}; the study is closed to judges")
    opening = settings.read(study)
    rules = settings.rules(study, opening)
    if (until := opening.ethics.withdraw_until) and until < date.today():
        raise BadInput(study.folder / settings.FILE, f"ethics.withdraw_until = {until}", "a day that is to come")
    refuse_taken(host, port)
    try:
        alone = FileLock(study.folder / ".open").acquire(timeout=0)
    except Timeout:
        raise ValueError(f"another process serves {study.folder} already; stop it first") from None
    with alone, home.open_store(study, rules.practice, store) as rows:
        rows.do(lambda held: home.refuse_other_practice(held, study, rules.practice))
        for token in retired(study):  # a kill may have come between the note and the change in the store
            rows.do(partial(decisions.retire, token=token))
        site = Site(study, rows, opening, address, port)
        reached = owner == "remote" or host in {*LOOPBACK, "0.0.0.0"}
        desk = Desk(site, look, owner) if look and owner != "off" and reached else None
        watcher = Watcher(site, watch, verify) if watch else None
        server = uvicorn.Server(config(app(site, desk, watcher), site, host, port))
        if opening.adaptive.most:
            rows.do(lambda held: adaptive.apply(held, reopened(study)))
        missing = rows.do(lambda held: home.missing(held, rules.judges))
        cost = money.budget(study, rules, missing, rows.do(home.lacking))
        says = [*_says(study, opening, address, cost)]
        if opening.adaptive.most:
            more = rows.do(lambda held: adaptive.outlook(held, study, opening.adaptive))
            least = [rows.do(partial(home.lacking, most=most)) for most in (0, opening.adaptive.most)]
            says.append(_said_of(more, study, rules, cost, opening.adaptive.most, least))
        if opening.platform.name == "prolific" and not watch:
            says.append(
                "nobody asks Prolific whether submissions are real: set PROLIFIC_TOKEN, and make the study there with "
                "catsofa annotate prolific create"
            )
        if watch and verify:
            says.append(f"Prolific may tell of changes: catsofa annotate prolific webhook {study.folder} on")
        if desk and look:
            look(study)  # loads what the owner's page needs
            key = rows.do(lambda held: new_key(held, time.time()))
            origin = address if owner == "remote" else f"http://127.0.0.1:{port}"
            says.append(f"the owner's page, by a link that works once: {origin}/owner#{key}")
        yield Service(says=tuple(says), server=server)


def app(site: Site, desk: Desk | None = None, watcher: Watcher | None = None) -> Starlette:
    """Returns the application: every path of the site behind the guards."""
    entrance, work = Entrance(site), Work(site)
    # read now, because the program's files may change later
    files, _ = {name: (FOLDER / name).read_text("utf-8") for name in FILES}, pages()

    async def health(request: Request) -> Response:
        """Checks that the store can be written."""
        await site.do(lambda held: held.run("DELETE FROM session WHERE until < 0"))
        return JSONResponse({"well": True})

    async def file(request: Request) -> Response:
        """Returns a script or style file of the pages."""
        if (content := files.get(name := request.path_params["name"])) is None:
            raise Refused(404, "there is nothing here")
        return Response(content, media_type=FILES[name])

    paths = (
        ("/", entrance.entry, "GET"),
        ("/i/{invitation:str}", entrance.entry, "GET"),
        ("/consent", entrance.agree, "POST"),
        ("/about-you", entrance.about, "GET"),
        ("/about-you", entrance.tell, "POST"),
        ("/work", work.page, "GET"),
        ("/next", work.next, "POST"),
        ("/draft", work.draft, "POST"),
        ("/answer", work.answer, "POST"),
        ("/skip", work.skip, "POST"),
        ("/stop", work.end, "POST"),
        ("/withdraw", work.end, "POST"),
        ("/done", work.done, "GET"),
        ("/health", health, "GET"),
    )
    routes = [Route(path, site.guarded(act), methods=[method]) for path, act, method in paths]

    routes += desk.routes() if desk else []
    if watcher and watcher.verify:
        handler = site.guarded(watcher.event, limited=False, from_pages=False)
        routes.append(Route(EVENTS, handler, methods=["POST"]))

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        """Checks uncertain items and unknown submissions as long as the server runs."""
        looking = [asyncio.create_task(_widening(site))]
        looking += [asyncio.create_task(watcher.run())] if watcher else []
        yield
        for task in looking:
            task.cancel()

    routes.append(Route("/{name:str}", site.guarded(file, limited=False), methods=["GET"]))
    application = Starlette(
        routes=routes, lifespan=lifespan, exception_handlers={HTTPException: site.missing, Exception: site.broken}
    )
    application.router.redirect_slashes = False  # such a redirect trusts the Host header, and lacks the guards' headers
    return application


async def _widening(site: Site) -> None:
    """Requests further judgements of uncertain items, again and again while answers come."""
    wanted, answered = site.opening.adaptive, -1
    while wanted.most:
        await asyncio.sleep(WIDEN_EVERY)
        try:
            before, (row,) = answered, await site.do(lambda held: held.all("SELECT count(*) AS n FROM answer"))
            if before != (answered := row["n"]):
                more = await run_in_threadpool(adaptive.widen, site.study, wanted.most, wanted.posterior, wanted.model)
                await site.do(partial(adaptive.apply, wanted=more))
        except (ValueError, OSError) as error:
            answered = -1
            LOG.error("uncertain items were not looked for: %s", type(error).__name__)


def config(served: Starlette, site: Site, host: str, port: int) -> uvicorn.Config:
    """Configures uvicorn: cuts off slow clients, and trusts only a proxy on this machine for client addresses."""
    return uvicorn.Config(
        served,
        host=host,
        port=port,
        http=partial(guards.Patient, strangers=site.strangers),  # type: ignore[arg-type]
        log_level="warning",
        access_log=False,
        server_header=False,
        limit_concurrency=2000,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=5,
        h11_max_incomplete_event_size=16 * 1024,
        proxy_headers=site.https,
        forwarded_allow_ips="127.0.0.1",
    )


def _said_of(
    look: adaptive.Outlook, study: Study, rules: Rules, cost: money.Budget, most: int, least: Sequence[int]
) -> str:
    """Returns the cost that the adaptive stop may add, in words; `least` people are needed now, and at worst."""
    currency = study.settings.currency
    expected, worst = (
        money.budget(study, rules, cost.judgements + more, people)
        for more, people in zip((math.ceil(look.expected), look.worst), least, strict=True)
    )
    return (
        f"uncertain items get up to {most} judgements: {currency} {expected.total / 100:,.2f} for {expected.places:,} "
        f"places are expected by {look.by}, {currency} {worst.total / 100:,.2f} for {worst.places:,} at worst"
    )


def _says(study: Study, opening: settings.Opening, address: str, cost: money.Budget) -> Iterator[str]:
    """Yields the address for people, the cost of the study, and what is missing."""
    platform, title = opening.platform.name, study.settings.title
    link = {
        "prolific": arrivals.prolific_link(address),
        "connect": f"{address}/ (Connect adds participantId and assignmentId)",
        "mturk": f"{address}/ (as the ExternalURL of an ExternalQuestion)",
        "invitation": f"catsofa annotate invite {study.folder} ana@example.org --address {address}",
    }[platform]
    yield f"{title!r} is open at {address}; Ctrl-C stops the server"
    yield f"{'invite people' if platform == 'invitation' else 'link for people'}: {link}"
    if platform == "mturk" and (wanted := opening.platform.on_mturk()):
        yield f"QualificationRequirements of the HIT: {json.dumps(wanted)}"
    missing = "tasks" if study.kind.judged_as else "judgements"
    currency, minutes = study.settings.currency, cost.tasks * study.settings.seconds / 60
    places = quantity(cost.places, "place")
    yield (
        f"{cost.judgements:,} {missing} are missing: {places} of {cost.tasks} tasks ({minutes:.0f} "
        f"minutes) at {currency} {cost.reward / 100:.2f}, together {currency} {cost.total / 100:,.2f} without the "
        "platform's fee"
    )
    if opening.lessons:
        pay = opening.practice.pay
        lost = study.settings.cents(len(opening.lessons)) if pay is None else round(100 * pay)
        yield f"who does not pass the {len(opening.lessons)} practice items costs {currency} {lost / 100:.2f} more"
    ethics = opening.ethics
    consent_fields = {
        "institution": ethics.institution,
        "legal_basis": ethics.legal_basis,
        "withdraw_until": ethics.withdraw_until,
    }
    if unsaid := [f"ethics.{name}" for name, value in consent_fields.items() if not value]:
        yield f"set {', '.join(unsaid)} in study.toml: platforms and ethics boards ask for them on the consent page"
    if not any(key.gold for key in study.keys.values()) and study.kind.judged.asks:
        yield "there are no checks and no gold items: nothing shows who answers carelessly"
