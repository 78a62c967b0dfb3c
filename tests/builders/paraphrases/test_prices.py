"""What requests cost: the table of prices, and what counts as spent."""

from pathlib import Path

import pytest

from catsofa.builders.paraphrases.journal import Journal
from catsofa.builders.paraphrases.prices import FREE, Budget, Price, price_of
from catsofa.builders.paraphrases.prompts import Request
from catsofa.data.files import BadInput


def test_a_request_in_doubt_counts_as_spent_at_its_dearest(tmp_path: Path) -> None:
    """Asked and neither answered nor failed, as after a kill: 42 characters are 18 tokens, 50 more may be written."""
    request = Request(item="a", model="m", prompt="x" * 42, settings={})
    with Journal(tmp_path / "journal.jsonl") as journal:
        journal.asked(request, 1)
    with Journal(tmp_path / "journal.jsonl") as journal:
        assert Budget(1, Price(10, 30), journal, "m", 50).spent == pytest.approx((18 * 10 + 50 * 30) / 1e6)
        assert Budget(1, Price(10, 30), journal, "another", 50).spent == 0


def test_prices_come_from_a_table_that_users_edit(tmp_path: Path) -> None:
    """The longest fitting name wins; a server on this machine is free; elsewhere an unknown price stays unknown."""
    assert price_of("gpt-4-turbo-preview", None) == Price(10, 30, 0.5)
    assert price_of("tiny", "http://127.0.0.1:8/v1") == FREE
    assert price_of("tiny", "https://x.org/v1") is None
    table = tmp_path / "mine.toml"
    table.write_text(
        'batch = 0.4\n[models]\n"ti*" = { prompt = 1, completion = 2 }\n"tin*" = { prompt = 3, completion = 4 }\n'
    )
    assert price_of("tiny", None, table) == Price(3, 4, 0.4)
    table.write_text('[models]\n"tiny" = { prompt = 1 }\n')
    with pytest.raises(BadInput, match="an entry without a number"):
        price_of("tiny", None, table)


@pytest.mark.parametrize("price", ["nan", "inf", "-1", "9" * 400])
def test_a_price_that_no_budget_can_be_kept_with_is_refused(price: str, tmp_path: Path) -> None:
    """What costs NaN would never go over --max-cost."""
    table = tmp_path / "mine.toml"
    table.write_text(f'[models]\n"tiny" = {{ prompt = 1, completion = {price} }}\n')
    with pytest.raises(BadInput):
        price_of("tiny", None, table)


def test_the_study_cost_what_the_estimate_says() -> None:
    """Measured over its 2,092 items: 216,450 tokens in, 59,285 out; at $10 and $30 a million that is $3.94."""
    assert Price(10, 30).cost(216_450, 59_285) == pytest.approx(3.943, abs=0.001)
    assert Price(10, 30).cost(216_450, 59_285, batch=True) == pytest.approx(1.972, abs=0.001)
