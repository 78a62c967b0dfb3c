"""Tests batches: replies are matched by id, retried, priced, and paid for once despite a kill at every step."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from helpers.servers import chat_server
from helpers.servers.batch_server import BatchServer, serving
from helpers.servers.chat_server import ChatServer, gpt_5

from catsofa.data.servers import batches
from catsofa.data.servers.batches import complete
from catsofa.data.servers.endpoints import Endpoint, ServerRefuses
from catsofa.data.servers.ledger import Ledger
from catsofa.data.servers.prices import Price
from catsofa.data.servers.requests import Answer, Request


def echo(body: dict[str, Any]) -> str:
    """Returns the prompt with a line separator in it."""
    return f"you said\u2028{body['messages'][0]['content']}"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[BatchServer]:
    """Yields a running batch server."""
    monkeypatch.setattr(batches, "POLL", 0.01)
    with serving(BatchServer(echo)) as running:
        yield running


def asked(count: int, model: str = "zorb-1", **more: Any) -> list[Request]:
    """Returns this number of requests."""
    return [
        Request("chat", {"model": model, "messages": [{"role": "user", "content": f"number {n}"}], **more})
        for n in range(count)
    ]


def store(folder: Path, limit: float | None = None) -> Ledger:
    """Returns the ledger of a folder, at $10 and $30 a million tokens, with half price in a batch."""
    return Ledger(folder / "log.jsonl", price=lambda model: Price(10, 30), most_written=50, limit=limit)


def run(
    server: ChatServer, folder: Path, requests: list[Request], *, limit: float | None = None, batch: bool = True
) -> dict[str, str]:
    """Returns the text of each reply, or the failure, by prompt."""
    with store(folder, limit) as ledger:
        ended = list(complete(requests, Endpoint(base_url=server.url, attempts=1), ledger, batch=batch))
    return {answer.request.body["messages"][0]["content"]: outcome(answer) for answer in ended}


def outcome(answer: Answer[Any, dict[str, Any]]) -> str:
    """Returns the text of a reply, or its failure."""
    return str(answer.reply["choices"][0]["message"]["content"]) if answer.reply else answer.failure


def spent(folder: Path) -> float:
    """Returns the cost in dollars."""
    with store(folder) as ledger:
        return ledger.spent


def replies(count: int) -> dict[str, str]:
    """Returns the expected reply to each prompt."""
    return {f"number {n}": f"you said\u2028number {n}" for n in range(count)}


def test_replies_are_matched_by_id_and_asked_for_once(server: BatchServer, tmp_path: Path) -> None:
    """Replies arrive in another order and are matched by id. The first request is sent alone to test the server."""
    assert run(server, tmp_path, asked(5)) == replies(5)
    assert run(server, tmp_path, asked(5)) == replies(5)
    assert server.sizes == [4]
    assert run(server, tmp_path, asked(7)) == replies(7)
    assert (server.sizes, {*server.paid.values()}) == ([4, 2], {1})


def test_replies_of_a_batch_cost_half(server: BatchServer, tmp_path: Path) -> None:
    """50 tokens read at $10 and 2 written at $30 a million cost $0.00056 for the single request, and half in the batch
    of four."""
    run(server, tmp_path, asked(5))
    assert spent(tmp_path) == pytest.approx(0.00056 * (1 + 4 / 2))


def lost(line: dict[str, Any]) -> list[dict[str, Any]]:
    """Drops the line."""
    return []


def broken(line: dict[str, Any]) -> list[dict[str, Any]]:
    """Returns a line with an invalid reply."""
    return [{**line, "response": {"status_code": 200, "body": "oh"}}]


def expired(line: dict[str, Any]) -> list[dict[str, Any]]:
    """Returns a line with an error and no response."""
    return [{**line, "response": None, "error": {"code": "batch_expired", "message": "too late"}}]


def overloaded(line: dict[str, Any]) -> list[dict[str, Any]]:
    """Returns a line with HTTP 503."""
    return [{**line, "response": {"status_code": 503, "body": {"error": {"message": "busy"}}}}]


def renamed(line: dict[str, Any]) -> list[dict[str, Any]]:
    """Returns a line with an unknown id."""
    return [{**line, "custom_id": "quell"}, {"custom_id": None, "response": 7}]


@pytest.mark.parametrize("fault", [lost, broken, expired, overloaded, renamed])
def test_a_request_that_fails_in_a_batch_is_sent_in_another_one(
    fault: Any, server: BatchServer, tmp_path: Path
) -> None:
    """One of four requests in the first batch has a transient fault; the second batch has only this request."""
    last = asked(5)[-1].key
    server.change = lambda line: fault(line) if line["custom_id"] == last and len(server.batches) < 1 else [line]
    assert run(server, tmp_path, asked(5)) == replies(5)
    assert server.sizes == [4, 1]


def test_a_fault_that_stays_is_said_after_three_batches(server: BatchServer, tmp_path: Path) -> None:
    """A persistent fault is reported after three batches; the next run retries the request."""
    last = asked(5)[-1].key
    server.change = lambda line: overloaded(line) if line["custom_id"] == last else [line]
    assert run(server, tmp_path, asked(5))["number 4"] == "http_503: HTTP 503: busy"
    assert server.sizes == [4, 1, 1]
    server.change = lambda line: [line]
    assert run(server, tmp_path, asked(5)) == replies(5)


def test_what_the_server_turns_down_is_not_sent_again(server: BatchServer, tmp_path: Path) -> None:
    """A request with HTTP 400 is not sent again. A content filter's 400 is a reply, as for a single request."""

    def choosy(body: dict[str, Any]) -> Any:
        if "number 3" in str(body):
            return 400, {"error": {"message": "no"}}, {}
        if "number 4" in str(body):
            return 400, {"error": {"message": "no", "code": "content_filter"}}, {}
        return echo(body)

    server.answer = choosy
    outcomes = run(server, tmp_path, asked(5))
    assert (outcomes["number 3"], outcomes["number 4"]) == ("http_400: HTTP 400: no", "None")
    assert server.sizes == [4]
    with chat_server.serving(ChatServer(choosy)) as alone:
        assert run(alone, tmp_path / "alone", asked(5), batch=False) == outcomes


def test_of_several_lines_about_one_request_a_reply_counts_once(server: BatchServer, tmp_path: Path) -> None:
    """Each reply comes twice, with an error before it; it is counted and paid once."""
    server.change = lambda line: [*overloaded(line), line, line]
    assert run(server, tmp_path, asked(5)) == replies(5)
    assert (server.sizes, spent(tmp_path)) == ([4], pytest.approx(0.00056 * 3))


def test_lines_that_are_cut_or_no_objects_are_passed_over(server: BatchServer, tmp_path: Path) -> None:
    """Truncated lines, lists and empty lines are ignored, and their requests are sent again."""
    original_create = server.create

    def create(body: dict[str, Any]) -> dict[str, Any]:
        batch = original_create(body)
        if len(server.batches) == 1:
            name = batch["output_file_id"]
            server.files[name] = b'[1]\n\n{"custom_id": "\n' + server.files[name].partition(b"\n")[2]
        return batch

    server.create = create  # type: ignore[method-assign]
    assert run(server, tmp_path, asked(5)) == replies(5)
    assert server.sizes == [4, 1]


def test_an_expired_batch_keeps_what_was_done_and_the_rest_is_sent_again(server: BatchServer, tmp_path: Path) -> None:
    """Two of four requests were done when the batch expired, and are not paid for again."""
    server.ends = ["expired"]
    assert run(server, tmp_path, asked(5)) == replies(5)
    assert (server.sizes, {*server.paid.values()}) == ([4, 2], {1})


def test_a_cancelled_batch_is_not_sent_again_by_the_same_run(server: BatchServer, tmp_path: Path) -> None:
    """The finished replies of a cancelled batch are kept; only the next run sends the rest."""
    server.ends = ["cancelled"]
    outcomes = run(server, tmp_path, asked(5))
    assert [text for text in outcomes.values() if "batch_cancelled" in text] == ["batch_cancelled: not done"] * 2
    assert server.sizes == [4]
    assert run(server, tmp_path, asked(5)) == replies(5)
    assert (server.sizes, {*server.paid.values()}) == ([4, 2], {1})


def test_a_batch_that_is_turned_down_says_why_and_costs_nothing(server: BatchServer, tmp_path: Path) -> None:
    """The error has the server's own message, the batch costs nothing, and its requests can be sent again."""
    server.ends = ["failed"]
    with pytest.raises(ServerRefuses, match=r"batch-0.*line 1 is no JSON"):
        run(server, tmp_path, asked(3))
    assert spent(tmp_path) == pytest.approx(0.00056)
    assert run(server, tmp_path, asked(3)) == replies(3)


def test_parameters_are_learnt_before_a_batch_is_sent_and_from_its_lines(server: BatchServer, tmp_path: Path) -> None:
    """Parameters learnt from the first request need one batch; parameters learnt from a batch's lines need another."""
    server.refuse = gpt_5
    assert run(server, tmp_path, asked(3, max_tokens=50, temperature=0.0)) == replies(3)
    assert server.sizes == [2]
    server.refuse = chat_server.anything
    run(server, tmp_path / "other", asked(1))
    server.refuse = gpt_5
    assert run(server, tmp_path / "other", asked(3, max_tokens=50, temperature=0.0)) == replies(3)
    assert server.sizes == [2, 3, 3, 3]


def test_a_batch_that_could_cost_more_than_the_limit_is_not_sent(server: BatchServer, tmp_path: Path) -> None:
    """8 + 128 bytes read at $10 and 50 tokens written at $30 a million cost $0.00286. One request costs this alone,
    nine cost half in a batch."""
    with pytest.raises(ValueError, match=r"10 requests.*\$0\.0158.*--max-cost 0\.0158"):
        run(server, tmp_path, asked(10), limit=0.0157)
    assert server.asked == []
    assert run(server, tmp_path, asked(10), limit=0.0158) == replies(10)
    assert spent(tmp_path) <= 0.0158


def test_replies_without_a_count_cost_their_most_in_a_batch_too(server: BatchServer, tmp_path: Path) -> None:
    """A reply without valid counts costs its maximum, so the limit holds for later requests."""
    server.usage = {"prompt_tokens": -5, "completion_tokens": "few"}
    run(server, tmp_path, asked(5))
    assert spent(tmp_path) == pytest.approx(0.00286 * 3)
    with pytest.raises(ValueError, match=r"\(\$0.00858 is spent\)"):
        run(server, tmp_path, asked(9), limit=0.01)


def test_many_requests_go_in_several_batches_each_to_one_model(
    server: BatchServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of eight requests to one model, one goes first and the others in batches of three. The other model's two form a
    batch."""
    monkeypatch.setattr(batches, "MOST_REQUESTS", 3)
    run(server, tmp_path, [*asked(8), *asked(2, "quell-1")])
    assert server.sizes == [3, 3, 1, 2]


def test_a_server_without_the_batch_api_is_said_so(server: BatchServer, tmp_path: Path) -> None:
    """HTTP 404 for files or batches, as from most servers except OpenAI's, is reported; a run without --batch then
    works."""
    missed = ["upload", "create"]

    def missing(name: str) -> None:
        if name == missed[0]:
            raise LookupError(missed.pop(0))

    server.step = missing
    for _ in range(2):
        with pytest.raises(ServerRefuses, match=r"Batch API.*HTTP 404.*--batch"):
            run(server, tmp_path, asked(3))
    assert run(server, tmp_path, asked(3), batch=False) == replies(3)
    assert (missed, {*server.paid.values()}) == ([], {1})


def broken_at(step: str) -> Callable[[str], None]:
    """Returns a step function that breaks the connection at this step."""

    def break_off(name: str) -> None:
        if name == step:
            raise ConnectionResetError

    return break_off


def test_a_batch_whose_confirmation_is_lost_is_found_and_not_sent_again(server: BatchServer, tmp_path: Path) -> None:
    """A created batch whose confirmation was lost is found by its tag in the next run."""
    server.step = broken_at("created")
    with pytest.raises(ServerRefuses, match="same command again"):
        run(server, tmp_path, asked(3))
    server.step = lambda name: None
    assert run(server, tmp_path, asked(3)) == replies(3)
    assert (server.sizes, {*server.paid.values()}) == ([2], {1})


def test_a_response_that_cannot_be_read_may_be_charged_for(server: BatchServer, tmp_path: Path) -> None:
    """An invalid status may be charged for, so the maximum cost is counted for each of three batches."""
    server.change = lambda line: [{**line, "response": {**line["response"], "status_code": "200"}}]
    assert run(server, tmp_path, asked(2))["number 1"] == "batch_error"
    with store(tmp_path) as ledger:
        assert ledger.uncounted == len(server.sizes) == 3


def test_equal_requests_of_two_folders_are_batches_of_their_own(server: BatchServer, tmp_path: Path) -> None:
    """A run that stopped before it created its batch does not use the replies of another folder's batch."""
    run(server, tmp_path / "one", asked(3))
    server.step = broken_at("create")
    with pytest.raises(ServerRefuses, match="same command again"):
        run(server, tmp_path / "two", asked(3))
    server.step = lambda name: None
    assert run(server, tmp_path / "two", asked(3)) == replies(3)
    assert server.sizes == [2, 2]


def test_a_wrong_key_is_known_before_a_batch_is_sent(server: BatchServer, tmp_path: Path) -> None:
    """The first request is refused, and no file is uploaded."""
    server.answer = lambda body: (401, {"error": {"message": "wrong key"}}, {})
    with pytest.raises(ServerRefuses, match="wrong key"):
        run(server, tmp_path, asked(3))
    assert server.files == {}


def test_a_batch_under_way_is_not_sent_again_elsewhere_or_by_itself(server: BatchServer, tmp_path: Path) -> None:
    """Sending a running batch again to another address, or as single requests, is refused, because both would be
    paid."""
    run(server, tmp_path, asked(1))
    server.step = broken_at("look")
    with pytest.raises(ServerRefuses, match="same command again"):
        run(server, tmp_path, asked(3))
    server.step = lambda name: None
    with pytest.raises(ValueError, match=r"2 requests.*--batch"):
        run(server, tmp_path, asked(3), batch=False)
    with pytest.raises(ValueError, match=r"http://127\.0\.0\.1:\S+/v1.*--base-url"):
        run(ChatServer(url="http://127.0.0.1:9/v1"), tmp_path, asked(3))
    assert run(server, tmp_path, asked(1)) == replies(1), "what others wait for is collected too"
    assert run(server, tmp_path, asked(3), batch=False) == replies(3)
    assert server.sizes == [2]


def test_a_batch_that_the_server_does_not_know_is_not_sent_again(server: BatchServer, tmp_path: Path) -> None:
    """A batch unknown to the server, for example with another account's key, is not sent again, because it may be paid
    for."""
    with store(tmp_path) as ledger:
        ledger.batch("tag", state="submitted", id="batch-of-another", keys=[one.key for one in asked(3)], at=server.url)
    with pytest.raises(ServerRefuses, match="not know a batch"):
        run(server, tmp_path, asked(3))
    assert server.sizes == []


STEPS = ("upload", "uploaded", "create", "created", "look", "output", "errors")
PROGRAM = """
import sys
from pathlib import Path
sys.path[:0] = sys.argv[3:]
import test_batches
from catsofa.data.servers import batches
from helpers.servers.chat_server import ChatServer
batches.POLL = 0.01
test_batches.run(ChatServer(url=sys.argv[1]), Path(sys.argv[2]), test_batches.asked(5))
"""


@pytest.mark.slow
@pytest.mark.parametrize("step", STEPS)
def test_a_kill_at_any_step_pays_for_nothing_twice(step: str, server: BatchServer, tmp_path: Path) -> None:
    """After SIGKILL at a step, the next run finds the batch, or knows that it was never created."""
    places = [str(Path(__file__).parent), str(Path(chat_server.__file__).parents[2])]
    begun = [sys.executable, "-c", PROGRAM, server.url, str(tmp_path), *places]
    process = subprocess.Popen(begun, env=os.environ)

    def kill(name: str) -> None:
        if name == step:
            process.kill()
            process.wait()

    server.step = kill
    assert process.wait(120) == -signal.SIGKILL
    server.step = lambda name: None
    assert run(server, tmp_path, asked(5)) == replies(5)
    assert (server.sizes, {*server.paid.values()}) == ([4], {1})
    assert spent(tmp_path) == pytest.approx(0.00056 * 3)
