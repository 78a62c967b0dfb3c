"""What a run of choices costs: plans, the sum so far, and limits that hold."""

import random
from pathlib import Path
from typing import Any

import pytest
from helpers.servers.chat_choices import chatty, tidy
from helpers.servers.chat_server import ChatServer, serving

from catsofa.data.servers.endpoints import ServerRefuses
from catsofa.data.servers.prices import Price
from catsofa.scoring.choosing.session import ask, choices, plan
from catsofa.scoring.choosing.templates import load


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
