"""What a run costs: the limit holds whatever the servers count, and in whatever script the prompts are."""

from dataclasses import dataclass
from pathlib import Path

from catsofa.data.servers.endpoints import Fault
from catsofa.data.servers.ledger import Ledger
from catsofa.data.servers.prices import Price
from catsofa.data.servers.requests import Request

PRICE = Price(1000, 1000)


def asked(text: str) -> Request:
    """A chat request."""
    return Request("chat", {"messages": [{"role": "user", "content": text}]})


@dataclass
class Sent:
    """How a limit of $1 ended: requests sent, and what they cost by one token a character."""

    requests: int
    cost: float


def under_way(text: str, at_once: int) -> Sent:
    """Requests sent, so many at once, until the limit lets no more through."""
    sent = 0
    with Ledger(None, price=PRICE, most_written=10, limit=1) as store:
        while True:
            wave = [request for n in range(at_once) if store.reserve(request := asked(f"{text}{sent + n}"), 1)]
            for request in wave:
                tokens = {"prompt_tokens": len(request.body["messages"][0]["content"]), "completion_tokens": 10}
                store.answered(request.key, {"usage": tokens})
            sent += len(wave)
            if not wave:
                return Sent(sent, store.spent)


def test_a_limit_holds_for_scripts_with_a_token_a_character_at_any_number_at_once() -> None:
    """Japanese prompts of about 60 characters."""
    for at_once in (1, 32):
        found = under_way("グロブの村の人々は決してお金を払わないと言われています。" * 2, at_once)
        assert found.requests > 5
        assert found.cost <= 1


def test_a_server_that_ignores_its_limit_of_tokens_is_expected_to_do_so_again() -> None:
    """10 tokens were allowed and 400 came: no request is sent that could bring the sum over the limit so."""
    with Ledger(None, price=PRICE, most_written=10, limit=1) as store:
        while store.reserve(request := asked(f"Zorbs {store.spent}"), 1):
            store.answered(request.key, {"usage": {"prompt_tokens": 20, "completion_tokens": 400}})
        assert 0.8 < store.spent <= 1


def test_an_attempt_in_doubt_is_remembered_and_a_refused_one_costs_nothing(tmp_path: Path) -> None:
    """A broken reply may be charged for, an HTTP error is not; the next run knows both, and has no reply of them."""
    with Ledger(tmp_path / "log.jsonl", price=PRICE, most_written=10) as store:
        for paid in (True, False):
            store.reserve(request := asked("Zorbs sing."), 1)
            store.failed(request.key, 1, Fault(reason="broken_reply", paid=paid))
        spent = store.spent
        assert spent > 0.01
    with Ledger(tmp_path / "log.jsonl", price=PRICE, most_written=10) as again:
        assert (again.spent, again.uncounted, again.replies) == (spent, 1, {})
