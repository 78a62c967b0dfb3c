"""Tests of events from a simulated Prolific: signed, repeated, out of order, forged or late."""

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from helpers.records import bakers
from helpers.servers.crowd_server import PATIENCE, Visitor, opened, shown_truth
from helpers.servers.postgres_server import BOTH
from helpers.servers.prolific_server import TOKEN, Prolific, serving
from typer.testing import CliRunner

from catsofa.annotation.crowd.http import watching
from catsofa.annotation.crowd.people.forgetting import forget
from catsofa.annotation.crowd.store import identity, reading
from catsofa.annotation.prolific import client, watch, webhook
from catsofa.annotation.prolific.journal import Entry, Journal
from catsofa.annotation.study import Study, create
from catsofa.annotation.study.checks import check_study
from catsofa.cli import app

SECRET = "a-secret-that-nobody-should-see"
TARGET = "https://study.example.org/prolific/events"


@pytest.fixture
def prolific(monkeypatch: pytest.MonkeyPatch) -> Iterator[Prolific]:
    """Starts a Prolific that has the study, with the secret in the environment; comparisons happen only on request."""
    with serving() as server:
        monkeypatch.setattr(client, "API", server.url)
        monkeypatch.setattr(client, "WAITS", (0.01,))
        monkeypatch.setenv("PROLIFIC_TOKEN", TOKEN)
        monkeypatch.setenv("PROLIFIC_WEBHOOK_SECRET", SECRET)
        link = "https://study.example.org/?PROLIFIC_PID={{%PROLIFIC_PID%}}&SESSION_ID={{%SESSION_ID%}}"
        server.studies["STUDY1"] = {"id": "STUDY1", "project": "project1", "external_study_url": link}
        yield server


@pytest.fixture
def study(tmp_path: Path) -> Study:
    """Returns a study of two CATs for one person each, created on Prolific."""
    study_ = create(
        tmp_path / "s", kind="validate-cats", items=bakers(2), overlap=1, contact="a@example.org", language="English"
    )
    (study_.folder / "study.toml").write_text('[platform]\nname = "prolific"\ncodes = { completed = "C" }\n')
    Journal(study_).note(Entry(step="study", id="STUDY1"))
    return study_


@contextmanager
def served(study: Study, store: str = "") -> Iterator[str]:
    """Starts the server of the study, which accepts events."""
    with opened(study, store=store, watch=watch.watching(study, forget), verify=webhook.verifying()) as address:
        yield address


def signed(raw: bytes, event: str = "E1", late: float = 0.0, secret: str = SECRET) -> dict[str, str]:
    """Returns the headers of an event."""
    sent = str(int(time.time() - late))
    digest = hmac.new(secret.encode(), sent.encode() + raw, hashlib.sha256).digest()
    headers = {"X-Prolific-Request-Timestamp": sent, "X-Event-ID": event, "Content-Type": "application/json"}
    return {**headers, "X-Prolific-Request-Signature": base64.b64encode(digest).decode()}


def changed(submission: str = "S-ANA", status: str = "RETURNED") -> bytes:
    """Returns the body of an event in the form of Prolific's documentation."""
    about = {"resource_id": submission, "participant_id": "ANA", "status": status}
    return json.dumps({"event_type": "submission.status.change", **about}).encode()


def tell(address: str, raw: bytes | None = None, headers: dict[str, str] | None = None, **more: Any) -> httpx.Response:
    """Sends one event as Prolific does, without a browser."""
    raw = changed() if raw is None else raw
    with httpx.Client(trust_env=False, timeout=PATIENCE) as sender:
        return sender.post(
            f"{address}/prolific/events", content=raw, headers=signed(raw, **more) if headers is None else headers
        )


def begun(address: str, name: str = "ANA") -> Visitor:
    """Lets a person arrive and hold a task."""
    visitor = Visitor(address, name)
    visitor.come()
    visitor.next()
    return visitor


def found(study: Study) -> tuple[int, list[str]]:
    """Returns the number of held tasks, and the outcome of each person."""
    with reading(study.folder, identity(study.settings.secret)) as rows:
        people = rows.all("SELECT * FROM person ORDER BY number")
        held = rows.all("SELECT * FROM seat WHERE state = 'held'")
        return len(held), [row["outcome"] or row["state"] for row in people]


def events(study: Study) -> int:
    """Returns the number of recorded events."""
    with reading(study.folder, identity(study.settings.secret)) as rows:
        return len(rows.all("SELECT * FROM about WHERE name LIKE 'event %'"))


def until(study: Study, wanted: tuple[int, list[str]]) -> None:
    """Waits for this state, a minute at most."""
    end = time.monotonic() + 60
    while found(study) != wanted:
        assert time.monotonic() < end, found(study)
        time.sleep(0.05)


@BOTH
@pytest.mark.parametrize(("status", "outcome"), [("RETURNED", "returned"), ("TIMED-OUT", "timed_out")])
def test_an_event_frees_the_task_in_hand_before_the_next_look(
    study: Study, prolific: Prolific, monkeypatch: pytest.MonkeyPatch, store: str, status: str, outcome: str
) -> None:
    """The same event a second time gets the same response, is recorded once and starts no comparison."""
    monkeypatch.setattr(watching, "EVERY", 10.0)
    prolific.hand_in("S-ANA", "ANA", "ACTIVE")
    with served(study, store) as address:
        begun(address)
        while len(prolific.asked) < 2:  # the pages of the first comparison
            time.sleep(0.05)
        prolific.submissions["S-ANA"]["status"] = status
        assert found(study) == (1, ["working"])
        assert tell(address, changed(status=status)).status_code == 204
        until(study, (0, [outcome]))
        looks = len(prolific.asked)
        assert tell(address, changed(status=status)).status_code == 204
        time.sleep(1)
        assert len(prolific.asked) == looks
        other = Visitor(address, "BEN")
        other.come()
        assert other.work(shown_truth(study)) == 2
    assert events(study) == 1
    assert check_study(study.folder).right  # type: ignore[union-attr]


def test_events_out_of_order_end_in_what_prolific_says_now(
    study: Study, prolific: Prolific, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The return comes before the earlier start: the person stays returned."""
    monkeypatch.setattr(watching, "EVERY", 2.0)
    prolific.hand_in("S-ANA", "ANA", "ACTIVE")
    with served(study) as address:
        begun(address)
        prolific.submissions["S-ANA"]["status"] = "RETURNED"
        assert tell(address, event="E2").status_code == 204
        assert tell(address, changed(status="ACTIVE"), event="E1", late=200).status_code == 204
        until(study, (0, ["returned"]))
        time.sleep(1)
        assert found(study) == (0, ["returned"])


def test_an_event_that_nobody_at_prolific_caused_changes_nothing(
    study: Study, prolific: Prolific, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server asks Prolific for the status of a submission, even after a signed event."""
    monkeypatch.setattr(watching, "EVERY", 2.0)
    prolific.hand_in("S-ANA", "ANA", "ACTIVE")
    with served(study) as address:
        begun(address)
        assert tell(address).status_code == 204
        time.sleep(1)
        assert found(study) == (1, ["working"])


@pytest.mark.parametrize(
    ("raw", "how", "status"),
    [
        (changed(), {"secret": "another"}, 401),
        (changed(), {"late": 360.0}, 401),
        (changed(), {"late": -360.0}, 401),
        (changed(), {"headers": {}}, 401),
        (changed(), {"headers": signed(changed()) | {"X-Prolific-Request-Timestamp": "soon"}}, 401),
        (b"[", {}, 400),
        (b"[" * 30_000, {}, 400),
        (b"\xff\xfe", {}, 400),
        (b"[1]", {}, 400),
        (changed(), {"event": ""}, 400),
        (b"a" * 70_000, {}, 413),
    ],
)
def test_what_prolific_did_not_send_is_refused(
    study: Study, prolific: Prolific, caplog: pytest.LogCaptureFixture, raw: bytes, how: dict[str, Any], status: int
) -> None:
    """The error has no secret, and no event is recorded."""
    with served(study) as address:
        answer = tell(address, raw, **how)
        assert (answer.status_code, [*answer.json()]) == (status, ["error"])
        assert httpx.get(f"{address}/prolific/events", trust_env=False).status_code in (404, 405)
    assert events(study) == 0
    assert SECRET not in answer.text + caplog.text


def test_the_signature_is_that_of_prolifics_documentation() -> None:
    """Computed with openssl: the base64 of HMAC-SHA256 of the time and the raw body under the secret."""
    headers = {"X-Prolific-Request-Timestamp": "1700000000", "X-Event-ID": "E1"}
    headers["X-Prolific-Request-Signature"] = "csVhwT5MZGgPrIdeTih9mljgXY4vHjooopvWlBLuMMU="
    assert webhook.verified("key", headers, b'{"status": "RETURNED"}', 1700000299.0) == "E1"


@pytest.mark.slow
def test_a_hundred_events_at_once_are_a_few_looks(
    study: Study, prolific: Prolific, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each event gets 204 and is recorded once; Prolific is asked at most once in two seconds, two pages each time."""
    monkeypatch.setattr(watching, "EVERY", 40.0)
    began = time.monotonic()
    prolific.hand_in("S-ANA", "ANA", "ACTIVE")
    with served(study) as address, ThreadPoolExecutor(10) as many:
        begun(address)
        prolific.submissions["S-ANA"]["status"] = "RETURNED"
        sent = [*many.map(lambda n: tell(address, event=f"E{n}").status_code, range(100))]
        until(study, (0, ["returned"]))
    assert {*sent} == {204}
    assert events(study) == 100
    assert len(prolific.asked) / 2 <= 2 + (time.monotonic() - began) / 2


def test_without_a_secret_there_is_no_path_to_events(
    study: Study, prolific: Prolific, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The study is still served."""
    monkeypatch.delenv("PROLIFIC_WEBHOOK_SECRET")
    with served(study) as address:
        assert tell(address).status_code == 404


def run(study: Study, *more: str) -> Any:
    """Returns the JSON output of `annotate prolific webhook`."""
    done = CliRunner().invoke(app, ["annotate", "prolific", "webhook", str(study.folder), *more, "--json"])
    assert done.exit_code == 0, (done.output, done.exception)
    return json.loads(done.output)


def test_the_address_is_subscribed_once_and_unsubscribed(
    study: Study, prolific: Prolific, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other subscriptions and a workspace secret stay; the secret is shown until the environment has it."""
    other = {"workspace_id": "space1", "event_type": "study.status.change", "target_url": TARGET}
    prolific.hooks["other"] = {**other, "id": "other", "is_enabled": True}
    assert run(study) == {"target": TARGET, "subscribed": False}
    subscription = run(study, "on")
    assert (subscription["target"], subscription["subscribed"]) == (TARGET, True)
    assert [each["value"] for each in prolific.secrets] == [subscription["secret"]]
    monkeypatch.setenv("PROLIFIC_WEBHOOK_SECRET", subscription["secret"])
    assert run(study, "on") == run(study) == {"target": TARGET, "subscribed": True}
    enabled = [each["event_type"] for each in prolific.hooks.values() if each["is_enabled"]]
    assert sorted(enabled) == ["study.status.change", "submission.status.change"]
    assert run(study, "off") == run(study) == {"target": TARGET, "subscribed": False}
    assert [*prolific.hooks] == ["other"]
    contents = [path.read_bytes() for path in study.folder.rglob("*") if path.is_file()]
    assert not [content for content in contents if subscription["secret"].encode() in content]
