"""Tests the cost of runs: the limit holds for all server counts and all scripts."""

from dataclasses import dataclass
from pathlib import Path

from catsofa.data.servers.endpoints import Fault
from catsofa.data.servers.ledger import Ledger
from catsofa.data.servers.prices import Price
from catsofa.data.servers.requests import Request


def price(model: str) -> Price:
    """Returns a price of $1,000 a million tokens."""
    return Price(1000, 1000)


def asked(text: str) -> Request:
    """Returns a chat request."""
    return Request("chat", {"model": "m", "messages": [{"role": "user", "content": text}]})


@dataclass
class Sent:
    """The outcome of a limit of $1: requests sent, and their cost at one token per character."""

    requests: int
    cost: float


def under_way(text: str, at_once: int) -> Sent:
    """Sends requests, this number at once, until the limit stops them."""
    sent = 0
    with Ledger(None, price=price, most_written=10, limit=1) as store:
        while True:
            wave = [request for n in range(at_once) if store.reserve(request := asked(f"{text}{sent + n}"))]
            for request in wave:
                tokens = {"prompt_tokens": len(request.body["messages"][0]["content"]), "completion_tokens": 10}
                store.answered(request.key, {"usage": tokens})
            sent += len(wave)
            if not wave:
                return Sent(sent, store.spent)


def test_a_limit_holds_for_scripts_with_a_token_a_character_at_any_number_at_once() -> None:
    """With Japanese prompts of about 60 characters, the cost stays below the limit."""
    for at_once in (1, 32):
        outcome = under_way("グロブの村の人々は決してお金を払わないと言われています。" * 2, at_once)
        assert outcome.requests > 5
        assert outcome.cost <= 1


def test_a_server_that_ignores_its_limit_of_tokens_is_expected_to_do_so_again() -> None:
    """A server wrote 400 tokens instead of 10. No request is sent that could exceed the limit in the same way."""
    with Ledger(None, price=price, most_written=10, limit=1) as store:
        while store.reserve(request := asked(f"Zorbs {store.spent}")):
            store.answered(request.key, {"usage": {"prompt_tokens": 20, "completion_tokens": 400}})
        assert 0.8 < store.spent <= 1


def test_an_attempt_in_doubt_is_remembered_and_a_refused_one_costs_nothing(tmp_path: Path) -> None:
    """A broken reply may be charged for, an HTTP error is not. The next run has the same cost and neither reply."""
    with Ledger(tmp_path / "log.jsonl", price=price, most_written=10) as store:
        for paid in (True, False):
            store.reserve(request := asked("Zorbs sing."))
            store.failed(Fault(reason="broken_reply", paid=paid), request.key)
        spent = store.spent
        assert spent > 0.01
    with Ledger(tmp_path / "log.jsonl", price=price, most_written=10) as again:
        assert (again.spent, again.uncounted, again.replies) == (spent, 1, {})


def test_a_request_that_a_kill_left_without_an_end_counts_at_its_most(tmp_path: Path) -> None:
    """A request without outcome counts its maximum: 11 bytes of prompt, 128 of its frame and 10 tokens at $1,000 a
    million."""
    with Ledger(tmp_path / "log.jsonl", price=price, most_written=10) as store:
        store.reserve(request := asked("Zorbs sing."))
        assert store.spent == 0
    for _ in range(2):
        with Ledger(tmp_path / "log.jsonl", price=price, most_written=10) as again:
            assert (again.spent, again.uncounted) == (0.149, 1)
    with Ledger(tmp_path / "log.jsonl", price=price, most_written=10) as again:
        again.reserve(request)
        again.answered(request.key, {"usage": {"prompt_tokens": 5, "completion_tokens": 1}})
    with Ledger(tmp_path / "log.jsonl", price=price, most_written=10) as last:
        assert last.spent == 0.149 + 0.006


def test_each_model_has_its_price_and_a_batch_its_share(tmp_path: Path) -> None:
    """100 tokens read and 20 written cost $0.0016 at $10 and $30, half in a batch, and nothing for a free model."""
    prices = {"dear": Price(10, 30), "free": Price(0, 0)}
    for _ in range(2):  # a second session has the same sums
        with Ledger(tmp_path / "log.jsonl", price=prices.get) as store:
            for number, model in enumerate(("dear", "free", "dear")):
                body = {"model": model, "messages": [{"content": f"Zorbs {number}"}]}
                if (request := Request("chat", body)).key not in store.replies:
                    store.reserve(request, batch=number == 2)
                    store.answered(request.key, {"usage": {"prompt_tokens": 100, "completion_tokens": 20}})
            assert (round(store.spent, 6), store.tokens.prompt) == (0.0024, 300)


def test_under_a_limit_the_first_request_is_alone() -> None:
    """The first request is sent alone, because the server may ignore its token limit."""
    with Ledger(None, price=price, limit=1) as store:
        assert store.at_once(8) == 1
        store.answered("key", {"usage": {"prompt_tokens": 5, "completion_tokens": 1}})
        assert store.at_once(8) == 8
    assert Ledger(None, price=price).at_once(8) == 8
