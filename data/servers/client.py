"""Sends JSON to a model server over persistent HTTP connections; a refusal keeps the server's own words."""

import json
import os
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

if TYPE_CHECKING:
    from aiohttp import ClientSession

Side = Literal["completions", "chat", "embeddings"]

PATHS: Mapping[Side, str] = {
    "completions": "/completions",
    "chat": "/chat/completions",
    "embeddings": "/embeddings",
}
EXTRA = "extra_body"
"""A field of a request whose content is merged into the request; it stays because keys of stored replies include it."""
OPENAI = "https://api.openai.com/v1"
"""The default address."""
ACCOUNT = {"OpenAI-Organization": "OPENAI_ORG_ID", "OpenAI-Project": "OPENAI_PROJECT_ID"}
"""Maps headers to the environment variables that fill them."""


class Refusal(Exception):
    """A reply with an HTTP status of 400 or above."""

    def __init__(self, status: int, text: str, headers: Mapping[str, str]) -> None:
        super().__init__(f"HTTP {status}")
        self.status, self.headers = status, headers
        try:
            body = json.loads(text)
        except (ValueError, RecursionError):
            body = None
        self.body: Any = body.get("error", body) if isinstance(body, dict) else body
        """The server's error: the `error` of its JSON, or the whole JSON; None if the reply is not JSON."""
        self.message = str(self.body or text or "no further word")


class Client:
    """Posts JSON to a server, without retries."""

    def __init__(self, session: "ClientSession", base_url: str | None) -> None:
        self._session, self._base_url = session, base_url or OPENAI

    async def post(self, side: Side, body: Mapping[str, Any]) -> Any:
        """The JSON of the reply; raises a Refusal, an error of aiohttp, or a ValueError if the reply is not JSON."""
        sent = {name: value for name, value in body.items() if name != EXTRA} | body.get(EXTRA, {})
        async with self._session.post(self._base_url + PATHS[side], data=json.dumps(sent)) as response:
            content = await response.read()
            if response.status >= 400:
                raise Refusal(response.status, content.decode(errors="replace"), response.headers)
        return json.loads(content)


@asynccontextmanager
async def connected(base_url: str | None, key: str) -> AsyncGenerator[Client]:
    """A client with a key; uses the proxy that the environment names for the server."""
    from aiohttp import ClientSession, ClientTimeout, TCPConnector

    parts = urlsplit(base_url or OPENAI)
    proxy = None if proxy_bypass(parts.hostname or "") else getproxies().get(parts.scheme)
    account = {header: value for header, name in ACCOUNT.items() if (value := os.environ.get(name))}
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json", **account}
    async with ClientSession(
        connector=TCPConnector(limit=0), headers=headers, timeout=ClientTimeout(), proxy=proxy
    ) as session:
        yield Client(session, base_url)
