"""Compares a study with its platform: now and then, and soon after the platform tells that something changed."""

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
"""Seconds from one look at the platform's submissions to the next; a twentieth of it if the platform told something."""
KEPT = timedelta(days=3)
"""How long the number of an event is known: platforms send it again for a day or two."""
EVENTS = "/prolific/events"
"""Where Prolific tells of changes."""
Watch = Callable[[float], Callable[[Rows], None]]
"""Asks a platform about submissions, at this time; the job that the store does about them."""
Verify = Callable[[Mapping[str, str], bytes, float], str]
"""The number of an event by its headers and body, at this time; what the platform did not send is `Refused`."""
LOG = logging.getLogger(__name__)


class Watcher:
    """Looks at the submissions of one study, as long as the server runs."""

    def __init__(self, site: Site, watch: Watch, verify: Verify | None) -> None:
        """Look by `watch`, with `verify` also when an event comes."""
        self._site, self._watch, self.verify, self._told = site, watch, verify, asyncio.Event()

    async def event(self, request: Request) -> Response:
        """Note an event once, and answer before anything is done about it.

        Of its content nothing is believed: what became of a submission is asked of the platform.
        """
        assert self.verify is not None, "without it there is no path to events"
        raw = await guards.body(request)
        number = self.verify(request.headers, raw, time.time())
        name = f"event {arrivals.keyed(self._site.key, 'event', number)}"

        def job(held: Rows) -> bool:
            at = datetime.now(UTC)
            if held.get("about", name):
                return False
            held.run("DELETE FROM about WHERE name LIKE 'event %' AND value < ?", (at - KEPT).isoformat())
            held.put("about", {"name": name, "value": at.isoformat()})
            return True

        if await self._site.do(job):
            self._told.set()
        return Response(status_code=204)

    async def run(self) -> None:
        """Ask the platform about the submissions, again and again; events that come together are one question.

        The thread is one that a server which stops need not wait for: a platform may take minutes to answer.
        """
        while True:
            self._told.clear()
            asked = Future[Callable[[Rows], None]]()
            asked.set_running_or_notify_cancel()
            threading.Thread(target=self._ask, args=(asked,), daemon=True).start()
            try:
                await self._site.do(await asyncio.wrap_future(asked))
            except (ValueError, OSError) as error:
                LOG.error("submissions were not compared with the platform: %s", error)
            await asyncio.sleep(EVERY / 20)
            with suppress(TimeoutError):
                await asyncio.wait_for(self._told.wait(), EVERY * 19 / 20)

    def _ask(self, asked: "Future[Callable[[Rows], None]]") -> None:
        """Ask the platform, and hand over what it said or what went wrong."""
        try:
            asked.set_result(self._watch(time.time()))
        except (ValueError, OSError) as error:
            asked.set_exception(error)
