"""Tests of arbitrary requests to the server of an open study: refused, limited or cut off, but never a server fault."""

import json
import select
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import httpx
import hypothesis
import pytest
from helpers.servers.crowd_server import Visitor, opened
from hypothesis import settings
from hypothesis import strategies as st

from catsofa.annotation.crowd.http import guards
from catsofa.annotation.study import Study

pytestmark = pytest.mark.usefixtures("quick")
ANSWERS = {f"label_{k}": "unrelated" for k in (1, 2, 3)}


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"{", 400),
        (b"[1]", 400),
        (b'{"nonce": "\\ud800", "answers": {}}', 400),
        (b'{"nonce": "n", "answers": {"label_1": "\\u0000"}}', 400),
        (b'{"nonce": "n", "answers": {"label_1": "\\u202eevil"}}', 400),
        (b'{"nonce": "n", "answers": {"label_1": "\\u2028"}}', 400),
        (b'{"nonce": "n", "answers": {"label_1": "\\u200b \\u3164"}}', 400),
        (b'{"nonce": "n", "answers": {"label_1": "' + b"x" * 501 + b'"}}', 400),
        (b'{"nonce": ' + b"[" * 20 + b"]" * 20 + b"}", 400),
        (b'{"nonce": ' + b"[" * 60_000, 400),
        (b'{"nonce": "n", "answers": {}, "person": "p"}', 400),
        (b'{"nonce": "n", "answers": {"label_1": {"a": 1}}}', 400),
        (b'{"nonce": "n", "answers": {"rating": "5"}}', 422),
        (b'{"nonce": "n", "answers": {"label_1": "rude", "label_2": "unrelated", "label_3": "unrelated"}}', 422),
        (b'{"nonce": "n", "answers": {"label_1": "unrelated"}}', 422),
        (json.dumps({"nonce": "guessed", "answers": ANSWERS}).encode(), 422),
        (b"x" * 100_000, 413),
    ],
)
def test_only_a_whole_answer_to_the_own_task_is_taken(body: bytes, status: int, study: Study, address: str) -> None:
    """Half an answer, unknown choices, lone surrogates, control characters, depth and length get an
    error, not a fault.
    """
    ana = Visitor(address)
    ana.come()
    task = ana.next()
    answer = ana.browser.post("/answer", content=body, headers={"Content-Type": "application/json"})
    assert (answer.status_code, list(answer.json())) == (status, ["error"])
    assert ana.next() == task


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("2001:db8:1:2::1", "2001:db8:1:2:ffff::9", True),
        ("2001:db8:1:2::1", "2001:db8:1:3::1", False),
        ("192.0.2.1", "192.0.2.2", False),
        ("::ffff:192.0.2.1", "::ffff:192.0.2.2", False),
        ("", "a", False),
    ],
)
def test_limits_count_a_network_that_one_machine_has_to_itself(one: str, other: str, same: bool) -> None:
    """Limits count a /64 network of IPv6, because one client may have all its addresses."""
    assert (guards.network(one) == guards.network(other)) is same
    strangers = guards.Strangers()
    many = [strangers.come(host, port) for port in range(guards.MOST_STRANGERS) for host in (one, other)]
    assert any(many) is same


@pytest.mark.parametrize("said", [["unrelated"], "unrelated ", ["unrelated", "unrelated"]])
def test_one_choice_is_taken_in_one_form(said: Any, study: Study, address: str) -> None:
    """Lists and choices with a space are refused: the adaptive stop and the owner's page would see another label."""
    ana = Visitor(address)
    ana.come()
    body = {"nonce": ana.next()["nonce"], "answers": {**ANSWERS, "label_2": said}}
    assert [ana.post(path, body).status_code for path in ("/draft", "/answer")] == [422, 422]
    assert ana.post("/answer", {**body, "answers": ANSWERS}).status_code == 200


def test_requests_that_are_not_from_the_page_are_refused(study: Study, address: str) -> None:
    """A wrong host, origin, content type, cookie or person has its status, and each response has the
    security headers.
    """
    ana, ben = Visitor(address, "ANA"), Visitor(address, "BEN")
    for each in (ana, ben):
        each.come()
    nonce = ana.next()["nonce"]
    stranger = httpx.Client(base_url=address, trust_env=False)
    statuses = [
        ana.browser.get("/work", headers={"Host": "evil.example.org"}).status_code,
        ana.browser.post("/next", json={}, headers={"Origin": "https://evil.example.org"}).status_code,
        ana.browser.post("/next", json={}, headers={"Origin": "null"}).status_code,
        ana.browser.post("/next", json={}, headers={"Origin": "http://["}).status_code,
        ana.browser.post("/next", json={}, headers={"Sec-Fetch-Site": "cross-site"}).status_code,
        stranger.post("/next", json={}).status_code,
        stranger.post("/next", json={}, headers={"Sec-Fetch-Site": "same-origin"}).status_code,
        ana.browser.post("/next", content=b"{}", headers={"Content-Type": "text/plain"}).status_code,
        stranger.post("/next", json={}, headers={"Origin": address, "Cookie": "seat=made-up"}).status_code,
        ben.post("/answer", {"nonce": nonce, "answers": ANSWERS}).status_code,
        ben.post("/skip", {"nonce": nonce}).status_code,
    ]
    assert statuses == [421, 403, 403, 403, 403, 403, 401, 415, 401, 422, 422]
    for answer in (stranger.get("/study.json"), stranger.get("/%2e%2e/study.json"), stranger.put("/work")):
        assert answer.status_code in (404, 405)
        assert "default-src 'none'" in answer.headers["content-security-policy"]


def test_a_rate_limit_holds_for_requests_at_once(study: Study, address: str) -> None:
    """Forty simultaneous requests of one browser pass no more often than requests one after another."""
    ana = Visitor(address)
    ana.come()

    def ask(_: int) -> int:
        return ana.browser.post("/next", json={}).status_code

    with ThreadPoolExecutor(40) as pool:
        began = time.monotonic()
        statuses = list(pool.map(ask, range(40)))
    assert statuses.count(200) <= 5 + 0.5 * (time.monotonic() - began) + 1
    assert set(statuses) == {200, 429}
    assert ana.next()["task"]
    pages = [ana.browser.get("/work") for _ in range(12)]
    assert {page.status_code for page in pages} == {200, 429}
    refused = next(page for page in pages if page.status_code == 429)
    assert "too fast" in refused.text
    assert refused.headers["refresh"]


def test_a_made_up_session_does_not_pass_the_rate_limit(study: Study, address: str) -> None:
    """Fifty consents with a cookie each, from one address: only as many become people as the address's burst allows."""

    def ask(n: int) -> int:
        form = {"PROLIFIC_PID": f"P{n}", "SESSION_ID": "S", "agree": "yes", "age": "yes"}
        return stranger.post("/consent", data=form, headers={"Cookie": f"seat={n}"}).status_code

    stranger = httpx.Client(base_url=address, headers={"Origin": address}, trust_env=False, timeout=60)
    began = time.monotonic()
    with ThreadPoolExecutor(20) as pool:
        statuses = list(pool.map(ask, range(50)))
    assert statuses.count(303) <= 20 + 0.5 * (time.monotonic() - began) + 1
    assert set(statuses) == {303, 429}


TEXT = st.text(max_size=20)
VALUES = st.recursive(
    st.none() | st.booleans() | st.floats() | TEXT, lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner)
)
BODIES = st.binary(max_size=60) | st.fixed_dictionaries(
    {"nonce": TEXT}, optional={"answers": st.dictionaries(st.sampled_from(["label_1", "rating"]) | TEXT, VALUES)}
).map(lambda body: json.dumps(body).encode())


def test_no_request_is_a_fault_of_the_server(study: Study, address: str) -> None:
    """Eighty bodies at every path that accepts one, from a visitor with a session, are refused without a
    server fault.
    """
    ana = Visitor(address)
    ana.come()
    task = ana.next()
    kinds = st.sampled_from(["application/json", "application/x-www-form-urlencoded", "text/plain"])
    paths = st.sampled_from(["next", "draft", "answer", "skip", "consent", "nowhere"])

    @settings(max_examples=80, deadline=None)
    @hypothesis.given(paths, kinds, BODIES)
    def ask(path: str, kind: str, body: bytes) -> None:
        answer = ana.browser.post(f"/{path}", content=body, headers={"Content-Type": kind})
        assert answer.status_code < 500
        assert "content-security-policy" in answer.headers

    ask()
    assert ana.next() == task


@pytest.mark.parametrize("sent", [b"GET / HT", b"POST /next HTTP/1.1\r\nHost: {}\r\nContent-Length: 9\r\n", b""])
def test_a_slow_client_is_cut_off(sent: bytes, study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    """When headers or a body do not arrive, the connection ends, and others are served meanwhile."""
    monkeypatch.setattr(guards, "SLOW", 2.0)
    with opened(study) as address:
        host = address.removeprefix("http://")
        ana = Visitor(address)
        ana.come()
        if sent.startswith(b"POST"):
            more = f"Origin: {address}\r\nContent-Type: application/json\r\nCookie: seat={ana.browser.cookies['seat']}"
            sent = sent.replace(b"{}", host.encode()) + more.encode() + b"\r\n\r\n{"
        with socket.create_connection(("127.0.0.1", int(host.rpartition(":")[2])), timeout=30) as slow:
            slow.sendall(sent)
            assert ana.next()["task"]
            reply = b""
            while more_said := slow.recv(1000):
                reply += more_said
    assert (b"408" in reply) == sent.startswith(b"POST")


def test_twenty_connections_of_strangers_are_served_and_more_are_cut_off(study: Study, address: str) -> None:
    """Other addresses are still served, and so is a browser of that address that showed its session."""
    place = ("127.0.0.1", int(address.rpartition(":")[2]))
    ana = Visitor(address)
    ana.come()
    ana.next()
    ask = f"GET /work HTTP/1.1\r\nHost: 127.0.0.1:{place[1]}\r\nCookie: seat={ana.browser.cookies['seat']}\r\n\r\n"
    with ExitStack() as stack:
        sessions = [stack.enter_context(socket.create_connection(place, 30, ("127.0.0.2", 0))) for _ in range(15)]
        for each in sessions:
            each.sendall(ask.encode())
            assert each.recv(12) == b"HTTP/1.1 200"
        strangers = [stack.enter_context(socket.create_connection(place, 30, ("127.0.0.2", 0))) for _ in range(25)]
        time.sleep(2)  # less than a slow client has
        cut, _, _ = select.select(strangers, [], [], 0)
        assert len(cut) == 5
        assert ana.next()["task"]
        assert Visitor(address, "BEN").come().status_code == 303


@pytest.mark.slow
def test_the_first_page_does_not_tell_by_its_time_who_took_part(study: Study, address: str) -> None:
    """200 requests for a participant and 200 for a stranger, alternating, get the same page equally fast."""
    from scipy.stats import mannwhitneyu

    ana = Visitor(address, "ANA")
    ana.come()
    browser, took = httpx.Client(base_url=address, trust_env=False, timeout=60), dict[str, list[float]](ANA=[], BEN=[])
    pages = set[str]()
    for name in ["ANA", "BEN"] * 210:
        began = time.perf_counter()
        page = browser.get("/", params={"PROLIFIC_PID": name, "SESSION_ID": "S"})
        took[name].append(time.perf_counter() - began)
        pages.add(page.text.replace(name, ""))
    assert len(pages) == 1
    assert mannwhitneyu(took["ANA"][10:], took["BEN"][10:]).pvalue > 1e-5  # 1 % would fail by chance in one run of 100
