import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from helpers.servers.faulty_server import Server

from catsofa.builders.paraphrases.journal import Journal
from catsofa.builders.paraphrases.prompts import Request
from catsofa.builders.paraphrases.replies import Completed
from catsofa.builders.paraphrases.runs import Run
from catsofa.data.files import BadInput, jsonl
from catsofa.data.records import LABELS, Candidate, Cat, Refused
from catsofa.data.servers.endpoints import Endpoint, Fault, ServerRefuses
from catsofa.data.servers.prices import FREE, Price

KEY = "sk-secret-0123456789-do-not-tell"


def cats(count: int) -> list[Cat]:
    """Returns CATs about an invented people, with fixed ids."""
    words = ("patient", "hasty", "gravel")
    return [
        Cat(
            id=f"cat-{number}",
            kind="intrasentence",
            bias_type="x",
            target="Glorb",
            context=f"Glorb number {number} is BLANK.",
            candidates=tuple(  # type: ignore[arg-type]  # three labels make three candidates
                Candidate(id=f"{number}-{label}", text=f"Glorb number {number} is {word}.", label=label, fill=word)
                for label, word in zip(LABELS, words, strict=True)
            ),
        )
        for number in range(count)
    ]


def asked(count: int, **settings: Any) -> list[Request]:
    """Returns requests that the fault server understands."""
    return [
        Request(item=f"cat-{n}", model="m", prompt=f"x\n---\nGlorb {n} is [BLANK].\n---\n", settings=settings)
        for n in range(count)
    ]


def run(requests: list[Request], url: str, folder: Path, limit: float | None = None, **options: Any) -> list[Completed]:
    """Returns the outcomes of all requests."""
    endpoint = Endpoint(base_url=url, timeout=1.0, backoff=0.01, **options)
    how: dict[str, Any] = {"price": lambda model: Price(10, 30) if limit is not None else FREE, "max_cost": limit}
    return list(Run(requests=requests, endpoint=endpoint, out=folder, max_tokens=50, **how).ask())


def events(folder: Path) -> list[dict[str, Any]]:
    """Returns the journal's lines."""
    return [json.loads(line) for line in (folder / "journal.jsonl").read_text().splitlines()]


def test_each_request_is_answered_once_and_never_again(server: Server, tmp_path: Path) -> None:
    """A second run with the same requests sends nothing and returns the same replies."""
    first = run(asked(20), server.url, tmp_path)
    assert sorted(c.request.item for c in first) == sorted(f"cat-{n}" for n in range(20))
    assert len(server.became()) == 20
    again = run(asked(20), server.url, tmp_path)
    assert {c.request.item: c.reply for c in again} == {c.request.item: c.reply for c in first}
    assert len(server.became()) == 20


def test_what_is_asked_in_another_way_is_asked_anew(server: Server, tmp_path: Path) -> None:
    """Other settings or another model make new requests; earlier replies stay valid for their own."""
    run(asked(5), server.url, tmp_path)
    run(asked(5, temperature=0.5), server.url, tmp_path)
    run([replace(request, model="n") for request in asked(5)], server.url, tmp_path)
    assert len(server.became()) == 15
    run(asked(5), server.url, tmp_path)
    assert len(server.became()) == 15


def test_the_same_question_about_two_items_is_paid_once(server: Server, tmp_path: Path) -> None:
    """Two CATs with the same words have the same request, so one reply serves both."""
    one = asked(1)[0]
    twin = Request(item="other", model=one.model, prompt=one.prompt, settings=one.settings)
    ended = run([one, twin], server.url, tmp_path)
    assert {c.request.item for c in ended if c.reply} == {"cat-0", "other"}
    assert len(server.became()) == 1


@pytest.mark.parametrize("server", [{"share": 1.0}], indirect=True)
def test_a_server_that_always_fails_is_left_alone_after_ten_items(server: Server, tmp_path: Path) -> None:
    """Ten items in a row without a reply end the run, and the journal has each attempt."""
    with pytest.raises(ServerRefuses, match=r"10 requests.*no reply"):
        run(asked(40), server.url, tmp_path, attempts=2)
    counts = Counter(event["key"] for event in events(tmp_path))
    assert counts["unpaid"] + counts["doubtful"] >= 20
    assert {*counts} == {"sent", "unpaid", "doubtful"}


def test_no_server_at_all_is_said_so(tmp_path: Path) -> None:
    """With a closed port, nothing is sent, so no cost is uncertain."""
    for number in (1, 12):
        with pytest.raises(ServerRefuses, match="unreachable"):
            run(asked(number), "http://127.0.0.1:9/v1", tmp_path, attempts=1)
    with Journal(tmp_path / "journal.jsonl") as journal:
        assert journal.uncounted == 0


def test_the_budget_stops_before_it_is_overdrawn(server: Server, tmp_path: Path) -> None:
    """At $10 and $30 a million, a request may cost ((128 + 35) * 10 + 50 * 30) / 1e6, so six cents are not enough for
    all.

    Each reply then costs (100 * 10 + 20 * 30) / 1e6 = $0.0016 by the server's usage.
    """
    ended = run(asked(100), server.url, tmp_path, limit=0.06, concurrency=1)
    answered = [c for c in ended if c.reply]
    assert {c.failure for c in ended if not c.reply} == {"over_budget"}
    assert 0.06 - 0.0035 < 0.0016 * len(answered) <= 0.06
    assert len(server.became()) == len(answered)
    with Journal(tmp_path / "journal.jsonl", price=lambda model: Price(10, 30)) as journal:
        assert journal.spent == pytest.approx(0.0016 * len(answered))


def test_a_line_cut_by_a_kill_is_dropped(tmp_path: Path) -> None:
    """A truncated last line is dropped, earlier lines are kept, and the journal can be continued."""
    path = tmp_path / "journal.jsonl"
    request = asked(1)[0]
    with Journal(path) as journal:
        journal.reserve(request)
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"key": "' + b"x" * 70_000)
    with Journal(path) as journal:
        assert journal.uncounted == 1
        journal.failed(Fault(reason="timeout"), request.key)
    assert path.read_bytes().startswith(whole)
    assert [event["key"] for event in events(tmp_path)] == ["sent", "unpaid"]


def test_a_broken_line_inside_the_journal_is_an_error(tmp_path: Path) -> None:
    """A broken line before the last shows that the file was changed, so it is an error."""
    path = tmp_path / "journal.jsonl"
    path.write_text('{"event": "asked"\n{"event": "batch", "tag": "t", "at": "now"}\n')
    with pytest.raises(BadInput, match=r"journal\.jsonl:1: .*object with at"):
        Journal(path)


def test_a_reply_that_was_changed_is_refused(tmp_path: Path) -> None:
    """A changed paid reply is refused with the journal's name, the line and the remedy."""
    path, request = tmp_path / "journal.jsonl", asked(1)[0]
    with Journal(path) as journal:
        journal.reserve(request)
        journal.answered(request.key, {"choices": [{"message": {"content": "Zorbs rise early."}}]})
    path.write_text(path.read_text().replace("early", "late"))
    with pytest.raises(BadInput, match=r"journal\.jsonl:2: .*checksum.*delete"):
        Journal(path)


def test_two_runs_cannot_write_one_journal(tmp_path: Path) -> None:
    """A second run on the same journal is refused, because it would pay twice."""
    with (
        Journal(tmp_path / "journal.jsonl"),
        pytest.raises(BadInput, match=r"another run.*writing"),
    ):
        Journal(tmp_path / "journal.jsonl")


def start(dev: Path, url: str, out: Path, timeout: int) -> "subprocess.Popen[str]":
    """Starts the command in a subprocess."""
    program = Path(sys.executable).with_name("catsofa")
    command = [
        str(program),
        "build",
        "paraphrases",
        "--on",
        str(dev),
        "--base-url",
        url,
        "--model",
        "m",
        "--out",
        str(out),
    ]
    options = ["--max-cost", "5", "--timeout", str(timeout), "--concurrency", "8"]
    env = {**os.environ, "OPENAI_API_KEY": KEY}
    return subprocess.Popen(command + options, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.parametrize(
    ("server", "count"),
    [
        pytest.param({"share": 0.05, "lasting": 0.06}, 500, id="500"),
        pytest.param({"share": 0.05, "lasting": 0.06}, 10_000, id="10000", marks=pytest.mark.slow),
    ],
    indirect=["server"],
)
def test_faults_and_a_kill_lose_nothing_and_pay_for_nothing_twice(server: Server, count: int, tmp_path: Path) -> None:
    """Every item has exactly one outcome, no recorded reply is requested again, and the key is in no output."""
    dev, out = tmp_path / "dev.jsonl", tmp_path / "out"
    jsonl.write(cats(count), dev)
    timeout = 2 if count < 1_000 else 10  # seconds; on a busy machine, a slow reply must not look like a timeout
    first = start(dev, server.url, out, timeout)
    while len(server.became()) < count // 3:
        assert first.poll() is None, first.communicate()
        time.sleep(0.02)
    first.send_signal(signal.SIGKILL)
    outputs = [*first.communicate()]
    answered_before = {item["item"] for item in server.settled() if item["became"] == "answered"}

    second = start(dev, server.url, out, timeout)
    outputs += second.communicate(timeout=600)
    assert second.returncode == 1, outputs  # some items request an unknown model, which is a reported failure
    settled = server.settled()
    assert_every_item_ended_once(count, out)
    assert_nothing_was_asked_again(out)
    answers = Counter(item["item"] for item in settled if item["became"] == "answered")
    twice = {item for item, times in answers.items() if times > 1}
    assert answers.keys() == {i["item"] for i in settled} - {i["item"] for i in settled if i["became"] == "404"}
    assert twice <= answered_before
    assert len(twice) <= 8, "only what was under way when the kill came may be asked again"
    assert {item["became"] for item in settled} == {"429", "500", "503", "reset", "cut", "drip", "404", "answered"}
    assert_the_key_is_nowhere(outputs, out)


def assert_every_item_ended_once(count: int, out: Path) -> None:
    """Asserts that each item is kept or queued per paraphrase, or refused or failed as a whole."""
    files = [(out / f"{queue}_{number}.jsonl", number) for queue in ("partition", "review") for number in (1, 2)]
    accepted = [(cat.id, number) for file, number in files if file.stat().st_size for cat in jsonl.read(file, Cat)]
    turned_away = list(jsonl.read(out / "refused.jsonl", Refused))
    assert len(set(accepted)) == len(accepted)
    whole = {refused.id for refused in turned_away}
    assert {item for item, _ in accepted} | whole == {f"cat-{n}" for n in range(count)}
    assert not {item for item, _ in accepted} & whole
    reasons = {refused.reason for refused in turned_away}
    assert reasons <= {"refusal", "content_filter", "empty_reply", "truncated", "failed_http_404"}
    assert len(reasons) == 5


def assert_nothing_was_asked_again(out: Path) -> None:
    """Asserts that no request follows its reply in the journal."""
    answered: set[str] = set()
    for event in events(out):
        if event["key"] == "sent":
            assert event["reply"]["request"] not in answered
        elif event["key"] not in ("unpaid", "doubtful"):
            assert event["key"] not in answered
            answered.add(event["key"])


def assert_the_key_is_nowhere(said: list[str], out: Path) -> None:
    """Asserts that the key is neither printed nor in any file."""
    assert not any(KEY in text for text in said)
    files = [path for path in out.rglob("*") if path.is_file()]
    assert files
    assert not any(KEY.encode() in path.read_bytes() for path in files)
    assert any(b"***" in path.read_bytes() for path in files), "the server did repeat it"
