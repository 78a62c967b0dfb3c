"""Tests how requests are sent: replies are stored and synced before use, through the environment's proxy."""

import os
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request as Received
from werkzeug import Response

from catsofa.data.files import BadInput
from catsofa.data.servers.endpoints import Endpoint
from catsofa.data.servers.reply_store import ReplyStore
from catsofa.data.servers.requests import Request, ask, completion, fetch

REQUESTS = [Request("completions", {"model": "m", "prompt": f"Zorb {number}"}) for number in range(40)]


class Watched(ReplyStore):
    """A store that records which replies are synced to disk."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.synced: set[str] = set()
        self.syncs = 0

    def sync(self) -> None:
        """Records the synced replies."""
        held = set(self.replies)
        super().sync()
        self.synced |= held
        self.syncs += 1


@pytest.fixture
def endpoint(httpserver: HTTPServer) -> Endpoint:
    """Returns an endpoint whose every reply is one choice."""
    httpserver.expect_request("/v1/completions").respond_with_json({"choices": [{"text": "hums"}]})
    return Endpoint(base_url=httpserver.url_for("/v1"), concurrency=16)


def test_a_reply_is_on_disk_before_it_is_used(endpoint: Endpoint, tmp_path: Path) -> None:
    """Simultaneous replies share a sync, and each is yielded only after its own sync."""
    with Watched(tmp_path / "replies.jsonl") as store:
        for answer in fetch(REQUESTS, endpoint, store, completion):
            assert answer.request.key in store.synced
    assert len(store.synced) == len(REQUESTS) >= store.syncs


def test_a_disk_that_keeps_no_reply_ends_the_run(
    endpoint: Endpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A failed sync is an error with the file's name."""

    def fail(number: int) -> None:
        raise OSError(28, "No space left on device")

    with ReplyStore(tmp_path / "replies.jsonl") as store:
        monkeypatch.setattr(os, "fsync", fail)
        with pytest.raises(BadInput, match=r"replies\.jsonl"):
            list(fetch(REQUESTS, endpoint, store, completion))


@pytest.mark.parametrize(("spared", "through"), [("", True), ("zorbs.invalid", False)])
def test_a_proxy_of_the_environment_is_used(
    spared: str, through: bool, httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Requests use HTTP_PROXY except for the hosts in NO_PROXY."""
    urls: list[str] = []

    def answer(request: Received) -> Response:
        urls.append(request.url)
        return Response('{"choices": [{"text": "hums"}]}', content_type="application/json")

    httpserver.expect_request("/v1/completions").respond_with_handler(answer)
    for name, value in {"http_proxy": httpserver.url_for(""), "no_proxy": spared}.items():
        monkeypatch.setenv(name, value)
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "zorb-key-000")
    endpoint = Endpoint(base_url="http://zorbs.invalid/v1", attempts=1)
    assert ask(REQUESTS[0], endpoint).reason == ("" if through else "unreachable")
    assert urls == ["http://zorbs.invalid/v1/completions"] * through


def test_the_account_of_the_environment_is_named(httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """OpenAI's variables for organization and project become headers of each request, with the key."""
    received: dict[str, Any] = {}

    def answer(request: Received) -> Response:
        received.update(request.headers)
        return Response('{"choices": []}', content_type="application/json")

    httpserver.expect_request("/v1/completions").respond_with_handler(answer)
    monkeypatch.setenv("OPENAI_ORG_ID", "zorbs")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "humming")
    monkeypatch.setenv("OPENAI_API_KEY", "zorb-key-000")
    ask(REQUESTS[0], Endpoint(base_url=httpserver.url_for("/v1")))
    headers = {name.lower(): value for name, value in received.items()}
    assert headers["authorization"] == "Bearer zorb-key-000"
    assert (headers["openai-organization"], headers["openai-project"]) == ("zorbs", "humming")
