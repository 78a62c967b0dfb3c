"""Runs of choices: each reply on disk before it is used and paid for once, faults of servers, samples."""

import json
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from helpers.records import a_cat
from helpers.servers.chat_choices import asked, chatty, pairs, tidy
from helpers.servers.chat_server import ChatServer, gpt_5, serving
from helpers.servers.transformers_server import learnt
from helpers.servers.transformers_server import serving as transformers_serving

from catsofa.data.files import BadInput, jsonl
from catsofa.data.records import Pair
from catsofa.data.samples import stratified
from catsofa.data.servers.endpoints import Endpoint, ServerRefuses
from catsofa.scoring.choosing.asking import Asking
from catsofa.scoring.choosing.items import Item
from catsofa.scoring.choosing.local import LocalChat
from catsofa.scoring.choosing.served import ServedChat
from catsofa.scoring.choosing.session import ask, choices
from catsofa.scoring.choosing.templates import load
from catsofa.scoring.models import load as load_model


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
