"""Access to the owner's page: a link that works once, then a session. The store keeps only hashes."""

import secrets
import time
from typing import TYPE_CHECKING, Literal

from starlette.requests import Request
from starlette.responses import Response

from catsofa.annotation.crowd.http.guards import NEAR, Buckets, Refused, network
from catsofa.annotation.crowd.store import Rows
from catsofa.data.digests import hex_digest

if TYPE_CHECKING:
    from catsofa.annotation.crowd.http.site import Site

Reach = Literal["local", "remote", "off"]
"""Place where the owner's page is served: to this machine alone, at the address of the study, or nowhere."""
LINK, SESSION = 24 * 3600.0, 8 * 3600.0
"""Lifetime of an unused link and of a session, in seconds."""
GUESSES = (5.0, 0.1)
"""Sign-in attempts of one address: at once, and then per second."""


def new_key(held: Rows, now: float) -> str:
    """Creates the secret of a new link; earlier links stop working."""
    key = secrets.token_urlsafe(32)
    held.run("DELETE FROM owner WHERE kind = 'link' OR until < ?", now)
    held.run("INSERT INTO owner VALUES (?, 'link', ?)", hex_digest(key), now + LINK)
    return key


class Login:
    """Sign-in, session and sign-out of the owner."""

    def __init__(self, site: "Site", reach: Reach) -> None:
        """Serves this machine alone, or every browser that has the link."""
        self._site, self._local = site, reach == "local"
        self.hosts = site.hosts | (site.near if self._local else set())
        self._https = site.https and not self._local
        self._cookie, self._guesses = "__Host-owner" if self._https else "owner", Buckets(*GUESSES)

    def refuse_far(self, request: Request) -> None:
        """Refuses other machines with a 404, as for an unknown path, if the page is for this machine alone."""
        near = request.client is not None and request.client.host in NEAR
        if self._local and not (near and request.headers.get("host", "").casefold() in self._site.near):
            raise Refused(404, "there is nothing here")

    async def enter(self, request: Request, key: str, answer: Response) -> Response:
        """Starts a session for a browser with the secret of the link, which then stops working."""
        self._guesses.take(network(request.client.host) if request.client else "")
        cookie, now = secrets.token_urlsafe(32), time.time()

        def job(held: Rows) -> None:
            link = hex_digest(key)
            if not held.first("SELECT hash FROM owner WHERE hash = ? AND kind = 'link' AND until > ?", link, now):
                raise Refused(
                    403,
                    "this link was used before, or is not the latest; start catsofa annotate open again for a new one",
                )
            held.run("DELETE FROM owner WHERE hash = ?", link)
            held.run("INSERT INTO owner VALUES (?, 'session', ?)", hex_digest(cookie), now + SESSION)

        await self._site.do(job)
        about = {"max_age": int(SESSION), "path": "/", "httponly": True, "secure": self._https}
        answer.set_cookie(self._cookie, cookie, samesite="strict", **about)  # type: ignore[arg-type]
        return answer

    async def leave(self, request: Request, answer: Response) -> Response:
        """Ends the session, and deletes its cookie."""
        cookie = hex_digest(request.cookies.get(self._cookie, ""))
        await self._site.do(lambda held: held.run("DELETE FROM owner WHERE hash = ?", cookie))
        answer.delete_cookie(self._cookie, path="/", secure=self._https, httponly=True, samesite="strict")
        return answer

    async def token(self, request: Request) -> str:
        """Returns the token for forms of this session, so that no other page can send them; empty without a session."""
        cookie = request.cookies.get(self._cookie, "")
        query, now = "SELECT hash FROM owner WHERE hash = ? AND kind = 'session' AND until > ?", time.time()
        session = await self._site.do(lambda held: held.first(query, hex_digest(cookie), now))
        return hex_digest(f"{cookie}:form") if session else ""

    async def refuse_foreign(self, request: Request, form: dict[str, str]) -> None:
        """Refuses a form that does not come from a page of this session."""
        token = await self.token(request)
        if not token or not secrets.compare_digest(form.get("token", ""), token):
            raise Refused(403, "sign in again: this page is not of your session")
