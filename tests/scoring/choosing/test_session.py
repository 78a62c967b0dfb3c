"""Choice runs: every reply is stored before it is used and paid for once; costs, limits and stops."""

import json
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from helpers.records import a_cat
from helpers.servers.chat_server import ChatServer, gpt_5, serving
from helpers.servers.transformers_server import learnt
from helpers.servers.transformers_server import serving as transformers_serving

from catsofa.data.files import BadInput, jsonl
from catsofa.data.records import Pair
from catsofa.data.samples import stratified
from catsofa.data.servers.endpoints import Endpoint, ServerRefuses
from catsofa.data.servers.ledger import DOUBTFUL, SENT, UNPAID
from catsofa.data.servers.prices import Price
from catsofa.scoring.choosing.asking import Asking
from catsofa.scoring.choosing.items import Item
from catsofa.scoring.choosing.local import LocalChat
from catsofa.scoring.choosing.results import ChoiceReport
from catsofa.scoring.choosing.served import ServedChat
from catsofa.scoring.choosing.session import ask, choices, plan
from catsofa.scoring.choosing.templates import load
from catsofa.scoring.models import load as load_model


def pairs(count: int) -> list[Pair]:
    """Returns pairs about an invented people, in two domains."""
    return [
        Pair(
            id=f"p{n}",
            more=f"Zorb {n} is tidy.",
            less=f"Zorb {n} is messy.",
            direction="stereo",
            bias_type="work" if n % 4 else "food",
        )
        for n in range(count)
    ]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Returns a file of twenty pairs."""
    jsonl.write(pairs(20), tmp_path / "pairs.jsonl")
    return tmp_path / "pairs.jsonl"


def chatty(server: ChatServer, **how: Any) -> ServedChat:
    """Returns the model behind a server."""
    return ServedChat("zorb-1", Endpoint(base_url=server.url, timeout=10, backoff=0.01, attempts=2), Asking(**how))


def tidy(body: dict[str, Any]) -> str:
    """Returns the letter of the sentence about a tidy zorb."""
    prompt = str(body["messages"][0]["content"])
    return "A" if prompt.index("tidy") < prompt.index("messy") else "B"


def asked(server: ChatServer, data: Path, out: Path | None = None, *, limit: int | None = None) -> ChoiceReport:
    """Returns the report of a run with the template likelihood."""
    return ask(chatty(server), choices(data, [load("likelihood")], limit=limit), out=out, resamples=100)


def test_a_served_model_that_always_chooses_the_stereotype(data: Path) -> None:
    """Both orders of twenty pairs give preference 1 and position effect 0; the signature has the URL."""
    with serving(ChatServer(tidy)) as server:
        report = asked(server, data).to_dict()
    whole = report["results"]["overall"]
    assert (whole["preference"]["value"], whole["position"]["value"], whole["coverage"]) == (1, 0, 1)
    assert (whole["items"], whole["requests"]) == (20, 40)
    assert f"model:zorb-1 at {server.url}" in report["signature"]


def test_a_finished_run_asks_nothing_and_says_the_same(data: Path, tmp_path: Path) -> None:
    """A finished run sends no request and gives the same report, because every reply is in its folder."""
    with serving(ChatServer(tidy, refuse=gpt_5)) as server:
        first = asked(server, data, tmp_path / "run")
        sent = len(server.asked)
        again = asked(server, data, tmp_path / "run")
    assert len(server.asked) == sent
    assert len(server.answered) == 40
    assert json.dumps(again.to_dict()) == json.dumps(first.to_dict())
    assert sum("the server takes" in warning for warning in first.warnings) == 4


def test_a_larger_sample_pays_only_for_what_is_new(data: Path, tmp_path: Path) -> None:
    """A run of all items reuses the replies about the first eight; the signature names the subset."""
    with serving(ChatServer(tidy)) as server:
        few = asked(server, data, tmp_path / "run", limit=8)
        assert len(server.answered) == 16
        whole = asked(server, data, tmp_path / "run")
    assert len(server.answered) == 40
    assert few.signature.subset.startswith("stratified 8@")
    assert whole.signature.subset == ""


def test_fewer_orders_are_another_signature(tmp_path: Path) -> None:
    """Six orders of three sentences and three rotations have different signatures, as their numbers do not compare."""
    jsonl.write([a_cat(f"The zorb {name} was BLANK.", id=name) for name in "ab"], tmp_path / "cats.jsonl")
    with serving(ChatServer(lambda body: "A")) as server:
        reports = [
            ask(chatty(server), choices(tmp_path / "cats.jsonl", balanced=balanced), resamples=10)
            for balanced in (False, True)
        ]
    assert len({report.signature.options for report in reports}) == 2


def test_requests_without_a_reply_are_errors_that_the_next_run_mends(data: Path, tmp_path: Path) -> None:
    """Failed requests about two items count as errors, and the next run sends them again."""

    def failing(body: dict[str, Any]) -> Any:
        return (500, {"error": {"message": "no"}}, {}) if "Zorb 3 " in str(body) else tidy(body)

    with serving(ChatServer(failing)) as server:
        failed = asked(server, data, tmp_path / "run").results.overall
        assert failed.outcomes["error"].value == pytest.approx(2 / 40)
        server.answer = tidy
        mended = asked(server, data, tmp_path / "run").results.overall
    assert mended.outcomes["error"].value == 0
    assert len(server.answered) == 40
    lines = [json.loads(line) for line in (tmp_path / "run" / "replies.jsonl").read_text().splitlines()]
    assert Counter(line["outcome"] for line in lines) == {"stereotype": 40}


def test_a_server_that_dies_in_the_middle_loses_no_reply(data: Path, tmp_path: Path) -> None:
    """A run stops if the server fails for good after twelve replies; the next run requests only the rest."""
    with serving(ChatServer()) as server:

        def dying(body: dict[str, Any]) -> Any:
            return (500, {"error": {"message": "out of memory"}}, {}) if len(server.answered) >= 12 else tidy(body)

        server.answer = dying
        with pytest.raises(ServerRefuses, match="out of memory"):
            asked(server, data, tmp_path / "run")
        count = len(server.answered)
        assert count >= 12
        server.answer = tidy
        assert asked(server, data, tmp_path / "run").results.overall.outcomes["error"].value == 0
    assert len(server.answered) == 40


def test_a_run_in_which_everything_was_refused_is_a_result(data: Path, tmp_path: Path) -> None:
    """A run with refusals only has coverage 0 and no preference."""
    with serving(ChatServer(lambda body: "I'm sorry, but I can't help with that.")) as server:
        overall = asked(server, data, tmp_path / "run").results.overall
    assert overall.coverage == 0
    assert overall.preference.value != overall.preference.value
    assert overall.outcomes["refusal"].value == 1


def test_replies_of_another_model_are_not_mixed_in(data: Path, tmp_path: Path) -> None:
    """Another address or other options need another folder; a run without replies leaves its folder free."""
    with serving(ChatServer(lambda body: (401, {"error": {"message": "wrong key"}}, {}))) as server:
        with pytest.raises(ServerRefuses, match="wrong key"):
            asked(server, data, tmp_path / "run")
        server.answer = tidy
        asked(server, data, tmp_path / "run")
    with pytest.raises(ValueError, match=r"choices.*at: http://127\.0\.0\.1:\d+/v1 → http"):
        asked(ChatServer(url="http://127.0.0.1:9/v1"), data, tmp_path / "run")
    with pytest.raises(ValueError, match=r"choices.*neutral: False → True"):
        ask(chatty(server), choices(data, [load("likelihood")], neutral=True), out=tmp_path / "run")


@pytest.mark.parametrize(
    ("said", "code"),
    [("The model `zorb-1` does not exist", "model_not_found"), ("model 'zorb-1' not found, try pulling it", None)],
)
def test_an_unknown_model_ends_with_the_servers_own_sentence(data: Path, said: str, code: str | None) -> None:
    """An unknown model ends the run at the first request with the server's message, with or without an error code."""
    error = {"error": {"message": said, "code": code}}
    with serving(ChatServer(lambda body: (404, error, {}))) as server:
        model = ServedChat("zorb-1", Endpoint(base_url=server.url, concurrency=1), Asking())
        with pytest.raises(ServerRefuses, match=f"not know.*HTTP 404: {said}"):
            ask(model, choices(data, [load("likelihood")]))
    assert len(server.asked) == 1


def test_a_server_that_is_not_there_is_said_within_seconds(data: Path) -> None:
    """An unreachable server ends a run within 5 s: three attempts at the first requests, one at each further one."""
    begun = time.monotonic()
    model = ServedChat("zorb-1", Endpoint(base_url="http://127.0.0.1:9/v1", concurrency=2), Asking())
    with pytest.raises(ServerRefuses, match="unreachable"):
        ask(model, choices(data, [load("likelihood")]))
    assert time.monotonic() - begun < 5


def test_a_plan_counts_what_is_left_and_prices_it(data: Path, tmp_path: Path) -> None:
    """A plan counts 40 requests; after eight items it counts 24, of 2 tokens each by the replies so far.

    The time follows from the rate so far.
    """
    price = Price(1, 10)
    with serving(ChatServer(tidy)) as server:
        model, whole = chatty(server, answer_tokens=10, reasoning_tokens=90), choices(data, [load("likelihood")])
        before = plan(model, whole, out=tmp_path / "run", price=price)
        assert (before.requests, before.most_tokens, before.tokens, before.seconds) == (40, 4000, None, None)
        assert before.most_cost
        assert before.most_cost > (before.prompt_tokens + 40_000) / 1e6
        assert not (tmp_path / "run").exists()
        assert server.asked == []
        ask(model, choices(data, [load("likelihood")], limit=8), out=tmp_path / "run", price=price)
        after = plan(model, whole, out=tmp_path / "run", price=price)
        assert (after.requests, after.tokens) == (24, 48)
        assert after.cost == pytest.approx((after.prompt_tokens + 480) / 1e6)
        assert after.seconds
    assert "at an unknown price" in str(plan(model, whole))


def test_the_cost_so_far_stands_beside_the_count(data: Path, tmp_path: Path) -> None:
    """40 replies with 50 tokens read and 2 written, at $1,000 and $10,000 a million, cost $2.80."""
    from catsofa.data.progress import Progress

    notes: list[str] = []

    class Noting(Progress):
        def note(self, text: str) -> None:
            notes.append(text)

    with serving(ChatServer(tidy)) as server:
        ask(chatty(server), choices(data, [load("likelihood")]), price=Price(1000, 10_000), progress=Noting())
    assert notes[-1] == "$2.80 so far"


def test_no_request_is_sent_that_could_cost_more_than_the_limit_and_a_larger_limit_goes_on(
    data: Path, tmp_path: Path
) -> None:
    """A reply costs $0.07, and at most $0.10 and its prompt: a limit of $2 allows at least 20, and none is lost."""
    price, whole = Price(1000, 10_000), choices(data, [load("likelihood")])
    with serving(ChatServer(tidy)) as server:
        model = chatty(server, answer_tokens=2, reasoning_tokens=8)
        with pytest.raises(ValueError, match=r"--max-cost \$2\.00.*\d+ of 40 requests") as stopped:
            ask(model, whole, out=tmp_path / "run", price=price, max_cost=2, resamples=100)
        paid = len(server.answered)
        assert 20 <= paid <= 27
        assert f"{40 - paid} of 40" in str(stopped.value)
        smallest = float(str(stopped.value).split("--max-cost ")[-1].split()[0])
        with pytest.raises(ValueError, match=r"stopped.*--max-cost"):
            ask(model, whole, out=tmp_path / "run", price=price, max_cost=1, resamples=100)
        assert len(server.answered) == paid
        with pytest.raises(ValueError, match=r"stopped.*--max-cost"):
            ask(model, whole, out=tmp_path / "run", price=price, max_cost=smallest, resamples=100)
        assert len(server.answered) == paid + 1
        ask(model, whole, out=tmp_path / "run", price=price, max_cost=10, resamples=100)
        assert len(server.answered) == 40


def test_a_limit_holds_at_a_server_that_ignores_its_limit_of_tokens(data: Path, tmp_path: Path) -> None:
    """A server sends 300 tokens where ten are allowed, $0.35 a reply: the first goes alone, and $2 pay for five."""
    with serving(ChatServer(tidy, usage={"prompt_tokens": 50, "completion_tokens": 300}, slow=0.05)) as server:
        model = chatty(server, answer_tokens=2, reasoning_tokens=8)
        with pytest.raises(ValueError, match=r"stopped.*--max-cost \$2\.00"):
            ask(model, choices(data), out=tmp_path / "run", price=Price(1000, 1000), max_cost=2, resamples=100)
    assert len(server.answered) == 5
    assert server.peak > 1


@pytest.mark.parametrize("usage", [{}, {"prompt_tokens": -50, "completion_tokens": -10}])
def test_replies_that_the_server_does_not_count_cost_the_most_that_they_can(
    data: Path, tmp_path: Path, usage: dict[str, int]
) -> None:
    """Uncounted replies cost the maximum: the limit stops this run and the next, with a sum of "at most" so much."""
    whole = choices(data, [load("likelihood")])
    with serving(ChatServer(tidy, usage=usage)) as server:
        model = chatty(server, answer_tokens=2, reasoning_tokens=8)
        for limit in (2, 1):
            with pytest.raises(ValueError, match=r"at most \$[12]\.\d+"):
                ask(model, whole, out=tmp_path / "run", price=Price(1000, 10_000), max_cost=limit, resamples=100)
        assert 0 < len(server.answered) < 20


def test_attempts_that_the_server_may_charge_for_count_in_all_runs(data: Path, tmp_path: Path) -> None:
    """The limit holds for all sent requests over four runs, although 70 % of the replies are broken."""
    whole, sent = choices(data, [load("likelihood")]), 0
    dice = random.Random(3)
    with serving(ChatServer(tidy)) as server:
        server.response = lambda body: (200, "broken" if dice.random() < 0.7 else server._reply(body)[1], {})  # type: ignore[method-assign]
        plain, model = server.response, chatty(server, answer_tokens=2, reasoning_tokens=8)

        def counted(body: dict[str, Any]) -> Any:
            nonlocal sent
            sent += 1
            return plain(body)

        server.response = counted  # type: ignore[method-assign]
        for _ in range(4):
            with pytest.raises((ValueError, ServerRefuses)):
                ask(model, whole, out=tmp_path / "run", price=Price(1000, 10_000), max_cost=1.5, resamples=100)
    assert 0 < sent * 0.07 <= 1.5


def test_a_limit_of_the_cost_needs_a_price_and_a_folder(data: Path, tmp_path: Path) -> None:
    """A cost limit without a price or a folder is refused before any request."""
    whole = choices(data, [load("likelihood")])
    with serving(ChatServer(tidy)) as server:
        with pytest.raises(ValueError, match=r"price.*zorb-1.*unknown"):
            ask(chatty(server), whole, out=tmp_path / "run", max_cost=1)
        with pytest.raises(ValueError, match=r"--max-cost.*--out"):
            ask(chatty(server), whole, price=Price(1, 1), max_cost=1)
        assert server.asked == []


def test_a_server_that_names_another_model_is_said_once_and_a_slash_makes_no_other_server(data: Path) -> None:
    """A server that names another model causes one warning; a slash after the address does not change the signature."""
    whole, runs = choices(data, [load("likelihood")], limit=4), []
    with serving(ChatServer(tidy)) as server:
        for end in ("", "/"):
            model = ServedChat("quell", Endpoint(base_url=f"{server.url}{end}"), Asking())
            runs.append(ask(model, whole, resamples=100))
    assert [one for one in runs[0].warnings if "asked for quell and names zorb-1" in one] == list(runs[0].warnings)
    assert str(runs[0].signature) == str(runs[1].signature)


def test_items_that_offer_no_choice_are_refused(tmp_path: Path) -> None:
    """Equal options and empty files are refused before any request."""
    equal = Pair(id="p", more="Zorbs sing.", less="Zorbs sing.", direction="stereo", bias_type="x")
    jsonl.write([equal], tmp_path / "equal.jsonl")
    with pytest.raises(ValueError, match=r"item p.*equal texts"):
        choices(tmp_path / "equal.jsonl", [load("likelihood")])
    (tmp_path / "empty.jsonl").write_text("")
    with pytest.raises(BadInput):
        choices(tmp_path / "empty.jsonl", [load("likelihood")])


def drawn(limit: int, seed: int = 0) -> list[Item]:
    """Returns a sample from 30 items of one domain in three groups, and 10 items of another domain in one group."""
    items = [
        Item(id=f"{domain}{n}", texts={}, domain=domain, group=f"{domain}{n % groups}")
        for domain, count, groups in (("work", 30, 3), ("food", 10, 1))
        for n in range(count)
    ]
    return stratified(items, limit, lambda one: (one.domain, one.cluster), seed)


@pytest.mark.parametrize("limit", [4, 8, 20, 40])
def test_a_sample_keeps_the_shares_of_domains_and_takes_groups_in_turn(limit: int) -> None:
    """Three of four sampled items are of work, and its three groups differ by at most one item."""
    sample = drawn(limit)
    assert len(sample) == limit
    assert sum(item.domain == "work" for item in sample) == pytest.approx(0.75 * limit, abs=1)
    groups = Counter(item.group for item in sample if item.domain == "work")
    assert max(groups.values()) - min(groups.values()) <= 1


def test_a_larger_sample_holds_the_smaller_one_and_another_seed_draws_others() -> None:
    """A larger sample contains the smaller one, so that a run can be extended; another seed draws other items."""
    assert {item.id for item in drawn(8)} < {item.id for item in drawn(20)}
    assert [item.id for item in drawn(8)] != [item.id for item in drawn(8, seed=1)]
    assert drawn(100) == drawn(40)


STOPPED = """
import os
from catsofa.scoring.choosing import served
read, seen = served.read, []

def stopping(request, body):
    seen.append(request)
    if len(seen) == 3:
        os.kill(os.getpid(), NUMBER)
    return read(request, body)

served.read = stopping
from catsofa.cli import main
main()
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_replies_in_flight_are_kept_where_a_run_is_stopped_between_two(
    data: Path, tmp_path: Path, number: signal.Signals
) -> None:
    """If a signal comes while requests are under way, every reply that was paid for is stored."""
    with serving(ChatServer(tidy, slow=0.3)) as server:
        words = ["choose", "zorb-1", "--base-url", server.url, "--on", str(data), "--out", str(tmp_path / "run")]
        ran = subprocess.run(
            [sys.executable, "-c", STOPPED.replace("NUMBER", str(int(number))), *words], capture_output=True, text=True
        )
        paid = len(server.asked)
    assert ran.returncode == 128 + number
    assert 3 < paid == len(stored(tmp_path / "run")) < 40
    assert f"{paid} replies are kept" in ran.stderr


def test_replies_in_flight_are_kept_where_the_server_ends_a_run(data: Path, tmp_path: Path) -> None:
    """If one request is refused for good while others are under way, their replies are stored."""

    def refusing(body: dict[str, Any]) -> Any:
        if "Zorb 3 " in str(body):
            return 401, {"error": {"message": "no more money"}}, {}
        time.sleep(0.3)
        return tidy(body)

    with serving(ChatServer(refusing)) as server, pytest.raises(ServerRefuses, match="no more money"):
        asked(server, data, tmp_path / "run")
    refused = sum("Zorb 3 " in str(body) for body in server.asked)
    assert 0 < len(server.asked) - refused == len(stored(tmp_path / "run")) < 38


def stored(run: Path) -> list[str]:
    """Returns the keys of the replies in the folder of a run."""
    keys = [json.loads(line)["key"] for line in (run / "received.jsonl").read_text().splitlines()]
    return [key for key in keys if key not in (SENT, UNPAID, DOUBTFUL)]


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_a_run_that_is_stopped_at_any_instant_pays_for_no_reply_twice(
    data: Path, tmp_path: Path, number: signal.Signals
) -> None:
    """A run stopped eight times at random requests no received reply again, and ends like an uninterrupted run."""
    dice = random.Random(int(number))
    out = tmp_path / "run"
    with serving(ChatServer(tidy, slow=0.05)) as server:
        program = str(Path(sys.executable).with_name("catsofa"))
        how = ["--base-url", server.url, "--on", str(data), "--templates", "likelihood,plain", "--quiet", "--out"]
        command = [program, "choose", "zorb-1", *how, str(out)]
        for _ in range(8):
            process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
            before = len(server.answered)
            while len(server.answered) <= before and process.poll() is None:
                time.sleep(0.01)
            time.sleep(dice.random() * 0.2)
            process.send_signal(number)
            assert "Traceback" not in process.communicate()[1]
        subprocess.run(command, check=True)
        stopped = json.loads((out / "report.json").read_text())
        command[-1] = str(tmp_path / "whole")
        paid = Counter(json.dumps(body["messages"]) for body in server.answered)
        server.slow = 0
        subprocess.run(command, check=True)
    # A stopped run waits for requests under way; a kill loses at most eight.
    assert sum(paid.values()) <= (80 + 8 * 8 if number == signal.SIGKILL else 80)
    received = stored(out)
    assert len(received) == len(set(received)) == 80
    assert stopped["results"] == json.loads((tmp_path / "whole" / "report.json").read_text())["results"]


@pytest.mark.slow
def test_a_real_server_with_a_real_model_is_asked_as_the_model_itself(tmp_path: Path) -> None:
    """`transformers serve`, with a model that learnt its answers, chooses the stereotype of six pairs in eight.

    The same model in this process gives the same choices by the probabilities of its labels.
    """
    records = pairs(8)
    jsonl.write(records, tmp_path / "pairs.jsonl")
    asked_of = choices(tmp_path / "pairs.jsonl", [load("likelihood")])
    biased = {pair.id for pair in records[:6]}
    dialogues = [
        {
            "prompt": request.prompt,
            "reply": "AB"[request.order.index("stereotype" if request.item in biased else "anti-stereotype")],
        }
        for request in asked_of.requests
    ]
    model = learnt(dialogues, tmp_path)
    with transformers_serving(model, tmp_path) as url:
        chats = ServedChat(str(model), Endpoint(base_url=url, timeout=120, concurrency=2), Asking(reasoning_tokens=0))
        served = ask(chats, asked_of, out=tmp_path / "served", resamples=100).results.overall
    local = ask(LocalChat(load_model(str(model), device="cpu"), Asking()), asked_of, resamples=100).results.overall
    assert (served.preference.value, served.coverage) == (0.75, 1)
    assert local.preference.value == pytest.approx(0.75, abs=0.02)
    assert local.coverage == pytest.approx(1)
