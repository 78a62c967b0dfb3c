"""Tests of every route with every method and any data: no fault, the right type, and the guards' headers.

Schemathesis would need an OpenAPI description that nothing else uses; the table of routes gives the paths here.
"""

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote_from_bytes

import hypothesis
import pytest
from helpers.records import bakers
from helpers.servers.crowd_owner import Owner, served
from helpers.servers.crowd_server import Visitor
from hypothesis import settings
from hypothesis import strategies as st
from starlette.routing import Route

from catsofa.annotation.crowd.http import guards, site
from catsofa.annotation.prolific.webhook import verified
from catsofa.annotation.study import create

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE")
TYPES = {"text/html; charset=utf-8", "application/json", "text/css; charset=utf-8", "text/javascript; charset=utf-8"}
JSON, FORM = "application/json", "application/x-www-form-urlencoded"
NAMES = st.sampled_from(["nonce", "answers", "token", "key", "act", "reason", "item", "label", "agree", "age"])
ANY = st.text(st.characters(), max_size=20)
"""Texts that include lone surrogates and control characters."""
VALUES = st.recursive(
    st.none() | st.booleans() | st.floats() | ANY, lambda inner: st.lists(inner) | st.dictionaries(ANY, inner)
)
BODIES = st.one_of(
    st.binary(max_size=60),
    st.dictionaries(NAMES | ANY, VALUES, max_size=5).map(lambda body: json.dumps(body).encode()),
    st.dictionaries(NAMES, st.binary(max_size=20), max_size=5).map(
        lambda form: "&".join(f"{name}={quote_from_bytes(value)}" for name, value in form.items()).encode()
    ),
    st.integers(guards.MAX_BODY - 1, 3 * guards.MAX_BODY).map(lambda size: b"a" * size),
    st.integers(1, 30_000).map(lambda depth: b"[" * depth + b"]" * depth),
)


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Owner, list[Route], Visitor]]:
    """Starts a server and returns the signed-in owner, the routes, and a visitor at work."""
    folder: Path = tmp_path_factory.mktemp("routes")
    study = create(folder / "s", kind="validate-cats", items=bakers(4), overlap=2, contact="a@example.org")
    (study.folder / "study.toml").write_text('[platform]\nname = "prolific"\ncodes = { completed = "DONE1" }\n')
    routes: list[Route] = []
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(site, "BY_SESSION", (1e9, 1e9))
        patched.setattr(site, "BY_ADDRESS", (1e9, 1e9))
        options = {"watch": lambda now: lambda held: None, "verify": partial(verified, "secret")}
        with served(study, routes=routes, **options) as owner:
            owner.enter()
            ana = Visitor(owner.address)
            ana.come()
            yield owner, routes, ana


def check(answer: Any, method: str) -> None:
    """Checks what holds for every response."""
    assert answer.status_code < 500, (answer.status_code, answer.text)
    assert "Traceback" not in answer.text
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "content-security-policy" in answer.headers
    if answer.text or (method == "HEAD" and answer.status_code == 200):
        assert answer.headers["content-type"] in TYPES
    if answer.headers.get("content-type") == JSON and method != "HEAD":
        answer.json()


@pytest.mark.slow
def test_no_request_to_any_route_is_a_fault(everything: tuple[Owner, list[Route], Visitor]) -> None:
    """Three hundred requests use any route, method, session, type and body, and paths and queries of any bytes."""
    owner, routes, ana = everything
    paths = sorted({route.path for route in routes})
    assert {"/", "/next", "/answer", "/owner/item/{token:str}", "/i/{invitation:str}", "/prolific/events"} <= {*paths}
    cookies = {"nobody": "", "ana": f"seat={ana.browser.cookies['seat']}"}
    cookies |= {"owner": f"owner={owner.browser.cookies['owner']}", "bytes": 'seat="\\303\\251; owner=;;='}

    @settings(max_examples=300, deadline=None)
    @hypothesis.given(
        path=st.sampled_from(paths),
        inside=st.binary(max_size=12),
        query=st.dictionaries(st.sampled_from(["PROLIFIC_PID", "SESSION_ID", "x"]), st.binary(max_size=12)),
        method=st.sampled_from(METHODS),
        who=st.sampled_from(sorted(cookies)),
        kind=st.sampled_from([JSON, FORM, "text/plain", "", "application/json; charset=utf-7"]),
        origin=st.sampled_from([owner.address, owner.address, "null", "http://[", "https://elsewhere.example"]),
        body=BODIES,
        chunked=st.booleans(),
    )
    def ask(path: str, inside: bytes, method: str, body: bytes, **more: Any) -> None:
        filled = path.partition("{")[0] + quote_from_bytes(inside) * ("{" in path)
        query = "&".join(f"{name}={quote_from_bytes(value)}" for name, value in more["query"].items())
        headers = {"Content-Type": more["kind"], "Origin": more["origin"], "Cookie": cookies[more["who"]]}
        sent: Any = iter([body[:9], body[9:]]) if more["chunked"] else body
        answer = ana.browser.request(method, f"{filled}?{query}", content=sent, headers=headers)
        check(answer, method)

    ask()


@pytest.mark.slow
def test_a_wrong_method_and_a_body_that_is_too_long_are_refused_at_every_route(
    everything: tuple[Owner, list[Route], Visitor],
) -> None:
    """A wrong method gets 405; a form or an object above the limit gets 413, whoever sends it."""
    owner, routes, ana = everything
    takes: dict[str, set[str]] = {}
    for route in routes:
        takes.setdefault(route.path, set()).update(route.methods or ())
    for path, methods in takes.items():
        filled = path.partition("{")[0] + "x" * ("{" in path)
        if path != "/{name:str}":
            for method in {"PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "POST"} - methods:
                answer = owner.browser.request(method, filled)
                check(answer, method)
                assert answer.status_code == 405, (method, path)
        if "POST" in methods:
            long = b"a" * (guards.MAX_BODY + 1)
            kinds = [JSON] if path in ("/next", "/draft", "/answer", "/skip") else [FORM]
            for kind in kinds:
                browser = owner.browser if path.startswith("/owner") else ana.browser
                answer = browser.post(filled, content=long, headers={"Content-Type": kind})
                check(answer, "POST")
                assert answer.status_code == 413, path
