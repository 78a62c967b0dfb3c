"""Compares a study with its platform regularly, and soon after the platform reports a change."""

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from datetime import UTC, datetime, timedelta

from starlette.requests import Request
from starlette.responses import Response

from catsofa.annotation.crowd.http import guards
from catsofa.annotation.crowd.http.site import Site
from catsofa.annotation.crowd.people import arrivals
from catsofa.annotation.crowd.store import Rows

EVERY = 300.0
"""Seconds between two checks of the platform's submissions; a twentieth of it if the platform reported a change."""
KEPT = timedelta(days=3)
"""Time for which event numbers are kept: platforms repeat an event for a day or two."""
EVENTS = "/prolific/events"
"""Path to which Prolific reports changes."""
Watch = Callable[[float], Callable[[Rows], None]]
"""Asks a platform about submissions at a time; returns the job that updates the store."""
Verify = Callable[[Mapping[str, str], bytes, float], str]
"""Returns the number of an event from its headers, body and time; raises `Refused` if the platform did not send it."""
LOG = logging.getLogger(__name__)


class Watcher:
    """Checks the submissions of one study as long as the server runs."""

    def __init__(self, site: Site, watch: Watch, verify: Verify | None) -> None:
        """Checks with `watch`; with `verify`, also when an event comes."""
        self._site, self._watch, self.verify, self._told = site, watch, verify, asyncio.Event()

    async def event(self, request: Request) -> Response:
        """Notes an event once, and answers before anything else is done.

        Nothing in the event is trusted: the watcher asks the platform for the state of submissions.
        """
        assert self.verify is not None, "without it, events have no path"
        raw = await guards.body(request)
        number = self.verify(request.headers, raw, time.time())
        name = f"event {arrivals.keyed(self._site.key, 'event', number)}"

        def job(held: Rows) -> bool:
            now = datetime.now(UTC)
            if held.get("about", name):
                return False
            held.run("DELETE FROM about WHERE name LIKE 'event %' AND value < ?", (now - KEPT).isoformat())
            held.put("about", {"name": name, "value": now.isoformat()})
            return True

        if await self._site.do(job):
            self._told.set()
        return Response(status_code=204)

    async def run(self) -> None:
        """Asks the platform about the submissions again and again; events that come together cause one check.

        The thread is a daemon, so that a server that stops need not wait: a platform may take minutes to answer.
        """
        while True:
            self._told.clear()
            future = Future[Callable[[Rows], None]]()
            future.set_running_or_notify_cancel()
            threading.Thread(target=self._ask, args=(future,), daemon=True).start()
            try:
                await self._site.do(await asyncio.wrap_future(future))
            except (ValueError, OSError) as error:
                LOG.error("submissions were not compared with the platform: %s", error)
            await asyncio.sleep(EVERY / 20)
            with suppress(TimeoutError):
                await asyncio.wait_for(self._told.wait(), EVERY * 19 / 20)

    def _ask(self, future: "Future[Callable[[Rows], None]]") -> None:
        """Asks the platform, and sets the result or the error."""
        try:
            future.set_result(self._watch(time.time()))
        except (ValueError, OSError) as error:
            future.set_exception(error)
