"""Tests the cost of tokens: the table of prices, which users extend."""

from pathlib import Path
from typing import Any

import pytest

from catsofa.data.files import BadInput
from catsofa.data.servers.prices import FREE, Price, Tokens, in_dollars, most_prompt_tokens, price_of, tokens_of


def test_prices_come_from_a_table_that_users_edit(tmp_path: Path) -> None:
    """The longest matching name wins, a local server is free, and elsewhere an unknown price stays unknown."""
    assert price_of("gpt-4-turbo-preview", None) == Price(10, 30, 0.5)
    assert price_of("tiny", "http://127.0.0.1:8/v1") == FREE
    assert price_of("tiny", "https://x.org/v1") is None
    table = tmp_path / "mine.toml"
    table.write_text(
        'batch = 0.4\n[models]\n"ti*" = { prompt = 1, completion = 2 }\n"tin*" = { prompt = 3, completion = 4 }\n'
    )
    assert price_of("tiny", None, table) == Price(3, 4, 0.4)
    table.write_text('[models]\n"tiny" = { prompt = 1 }\n')
    with pytest.raises(BadInput, match="without a number"):
        price_of("tiny", None, table)


@pytest.mark.parametrize("price", ["nan", "inf", "-1", "9" * 400])
def test_a_price_that_no_budget_can_be_kept_with_is_refused(price: str, tmp_path: Path) -> None:
    """A price of NaN is refused, because it would never exceed --max-cost."""
    table = tmp_path / "mine.toml"
    table.write_text(f'[models]\n"tiny" = {{ prompt = 1, completion = {price} }}\n')
    with pytest.raises(BadInput):
        price_of("tiny", None, table)


def test_the_study_cost_what_the_estimate_says() -> None:
    """The study's 2,092 items have 216,450 tokens in and 59,285 out, which cost $3.94 at $10 and $30 a million."""
    assert Price(10, 30).cost(216_450, 59_285) == pytest.approx(3.943, abs=0.001)
    assert Price(10, 30).cost(216_450, 59_285, batch=True) == pytest.approx(1.972, abs=0.001)


def cost(price: Price, usage: object) -> float:
    """Returns the cost by a server's counts, in dollars per million tokens."""
    tokens = tokens_of(usage)
    assert tokens
    return price.cost_of(tokens) * 1e6


def test_cached_and_reasoning_tokens_have_prices_of_their_own() -> None:
    """By hand: 60 plain tokens, 40 cached, 10 written, 90 of reasoning. Without own prices they cost the plain
    price."""
    usage: dict[str, Any] = {
        "prompt_tokens": 100,
        "completion_tokens": 100,
        "prompt_tokens_details": {"cached_tokens": 40},
        "completion_tokens_details": {"reasoning_tokens": 90},
    }
    price = Price(2, 8, cached=0.5, reasoning=10)
    assert cost(price, usage) == pytest.approx(60 * 2 + 40 * 0.5 + 10 * 8 + 90 * 10)
    assert cost(Price(2, 8), usage) == pytest.approx(100 * 2 + 100 * 8)
    assert cost(price, {**usage, "prompt_tokens_details": {"cached_tokens": 500}}) == pytest.approx(100 * 0.5 + 980)


@pytest.mark.parametrize(
    "usage",
    [
        {"input_tokens": 50, "output_tokens": 10},
        {"prompt_tokens": 50.0, "completion_tokens": 10.0},
        {"prompt_tokens": 50, "completion_tokens": 2, "total_tokens": 60},
        {"prompt_tokens": 50, "completion_tokens": 2, "completion_tokens_details": {"reasoning_tokens": 8}}
        | {"total_tokens": 60},
    ],
)
def test_the_counts_of_other_servers_are_read(usage: object) -> None:
    """Other names, whole floats, and reasoning outside the written tokens are read as 50 tokens read and 10 written."""
    assert cost(Price(1, 100), usage) == pytest.approx(1050)


@pytest.mark.parametrize(
    "usage",
    [
        None,
        [],
        {"prompt_tokens": "many", "completion_tokens": 1},
        {"prompt_tokens": -50, "completion_tokens": -10},
        {"prompt_tokens": 50.5, "completion_tokens": 1},
        {"prompt_tokens": 0, "completion_tokens": 0},
        {"prompt_tokens": float("nan"), "completion_tokens": True},
        {"prompt_tokens_details": None},
    ],
)
def test_counts_that_are_missing_or_not_sensible_are_none(usage: object) -> None:
    """Missing or invalid counts are None, not a free reply."""
    assert tokens_of(usage) is None


def test_the_most_that_a_prompt_costs_holds_in_any_script() -> None:
    """A tokenizer without Japanese makes one token per byte. The maximum uses the higher price of written tokens."""
    assert most_prompt_tokens("グロブ") >= 9
    assert Price(1, 2, reasoning=3).most(Tokens(10, 5)) * 1e6 == pytest.approx(25)


def test_amounts_below_a_dollar_have_three_digits() -> None:
    """A limit of 3.5 cents is not rounded to 4."""
    assert [in_dollars(amount) for amount in (0.035, 0.0123456, 4.8, 1234.5, 0)] == [
        "$0.035", "$0.0123", "$4.80", "$1,234.50", "$0.00",
    ]  # fmt: skip
    assert [in_dollars(amount, up=True) for amount in (0.03501, 1.001)] == ["$0.0351", "$1.01"]


def test_the_table_of_a_user_comes_before_ours_and_leaves_the_rest(tmp_path: Path) -> None:
    """A user's entry replaces one model's price; every other model keeps its own."""
    table = tmp_path / "mine.toml"
    table.write_text('[models]\n"gpt-4o" = { prompt = 1, completion = 2, cached = 0.1, batch = 0.3 }\n')
    assert price_of("gpt-4o", None, table) == Price(1, 2, 0.3, 0.1)
    assert price_of("gpt-4.1", None, table) == price_of("gpt-4.1", None)
    assert price_of("zorb-1", None, table) is None
    assert price_of("zorb-1", "http://127.0.0.1:8/v1", table) is None


def test_a_misspelt_field_of_a_price_is_refused(tmp_path: Path) -> None:
    """A misspelt field of a price is refused, not ignored."""
    table = tmp_path / "mine.toml"
    table.write_text('[models]\n"tiny" = { prompt = 1, completion = 2, cashed = 1 }\n')
    with pytest.raises(BadInput, match="field 'cashed'"):
        price_of("tiny", None, table)
