"""Token prices from a table that users can extend, and estimates of the number of tokens of a text."""

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from importlib.resources import files
from math import ceil, floor, inf, log10
from pathlib import Path
from typing import Any

from catsofa.data.files import BadInput, toml_files
from catsofa.data.servers.endpoints import is_local

PROMPT_CHARS, REPLY_CHARS = 4.2, 4.5
"""Characters per token, measured with cl100k on 2,092 prompts and replies of the StereoSet paraphrase study."""
FRAME_TOKENS = 8
"""Tokens that a chat format adds around one message."""
MOST_FRAME_TOKENS = 128
"""Maximum of these tokens: some formats add their own system prompt."""
NAMES = (("prompt", "input"), ("completion", "output"))
"""Servers' names for tokens read and tokens written."""
EXPECTED = 'lines such as "gpt-4o" = { prompt = 2.50, completion = 10.00, cached = 1.25 } under [models]'


@dataclass(frozen=True, slots=True)
class Price:
    """Dollars per million tokens read and written; `batch` is the factor for the Batch API."""

    prompt: float
    completion: float
    batch: float = 0.5
    cached: float | None = None
    """The price of tokens read from the provider's cache; by default the price of `prompt`."""
    reasoning: float | None = None
    """The price of reasoning tokens, which are part of those written; by default the price of `completion`."""

    def cost(
        self, prompt: float, completion: float, *, cached: float = 0, reasoning: float = 0, batch: bool = False
    ) -> float:
        """Dollars for tokens read and written; `cached` and `reasoning` are parts of these."""
        prompt_cost = (prompt - cached) * self.prompt + cached * (self.prompt if self.cached is None else self.cached)
        thought = reasoning * (self.completion if self.reasoning is None else self.reasoning)
        plain = (prompt_cost + (completion - reasoning) * self.completion + thought) / 1e6
        return plain * self.batch if batch else plain

    def cost_of(self, tokens: "Tokens") -> float:
        """Dollars for the tokens of one reply."""
        return self.cost(tokens.prompt, tokens.completion, cached=tokens.cached, reasoning=tokens.reasoning)

    def most(self, tokens: "Tokens") -> float:
        """The maximum cost in dollars: no token is cached, and all written tokens have the higher price."""
        return (tokens.prompt * self.prompt + tokens.completion * max(self.completion, self.reasoning or 0.0)) / 1e6


FREE = Price(0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Tokens:
    """Tokens read and written; `cached` and `reasoning` are parts of these."""

    prompt: int
    completion: int
    cached: int = 0
    reasoning: int = 0


def tokens_of(usage: Any) -> Tokens | None:
    """The tokens of a chat completion from its `usage`; None if the server gives no valid counts.

    If the total shows that a server counts reasoning outside `completion_tokens`, reasoning is added to them.
    """
    counts = usage if isinstance(usage, Mapping) else {}
    prompt, completion = (_count(counts, f"{one}_tokens", f"{other}_tokens") for one, other in NAMES)
    if not prompt or completion is None:
        return None
    details = [counts.get(f"{one}_tokens_details") or counts.get(f"{other}_tokens_details") for one, other in NAMES]
    prompt_details, completion_details = (detail if isinstance(detail, Mapping) else {} for detail in details)
    reasoning = _count(completion_details, "reasoning_tokens") or 0
    beside = max((_count(counts, "total_tokens") or 0) - prompt - completion, 0)
    completion += beside or (reasoning if reasoning > completion else 0)
    cached = min(_count(prompt_details, "cached_tokens") or 0, prompt)
    return Tokens(prompt, completion, cached, min(max(reasoning, beside), completion))


def _count(counts: Mapping[str, Any], *names: str) -> int | None:
    """The first token count under one of these names; None if it is not an integer from 0 up."""
    value: Any = next((counts[name] for name in names if counts.get(name) is not None), None)
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value < inf:
        return None
    return int(value) if value == int(value) else None


def in_dollars(amount: float, *, up: bool = False) -> str:
    """An amount as text: cents, and below one dollar three significant digits; `up` rounds up."""
    digits = 2 if not 0 < amount < 1 else max(2, 2 - floor(log10(amount)))
    scaled = amount * 10**digits
    rounded = (ceil(scaled - 1e-6) if up else round(scaled)) / 10**digits
    whole, _, cents = f"{rounded:,.{digits}f}".partition(".")
    return f"${whole}.{cents.rstrip('0').ljust(2, '0')}"


def most_prompt_tokens(text: str) -> int:
    """The maximum tokens of a prompt: tokenizers produce at most one token per byte."""
    return len(text.encode("utf-8", "surrogatepass")) + MOST_FRAME_TOKENS


def prompt_tokens(characters: float) -> int:
    """The estimated tokens of a prompt with this many characters."""
    return round(characters / PROMPT_CHARS) + FRAME_TOKENS


def reply_tokens(characters: float) -> int:
    """The estimated tokens of a reply with this many characters."""
    return round(characters / REPLY_CHARS)


def price_of(model: str, base_url: str | None, table: Path | str | None = None) -> Price | None:
    """The price of a model from the user's table, then catsofa's; otherwise a local server without a table is free."""
    ours = Path(str(files("catsofa.data").joinpath("prices.toml")))
    for path in (table, ours) if table else (ours,):
        prices = _read(path)
        for name in sorted(prices, key=lambda name: (name != model, -len(name))):
            if name == model or fnmatchcase(model, name):
                return prices[name]
    return FREE if base_url and is_local(base_url) and not table else None


def _read(table: Path | str) -> dict[str, Price]:
    """The prices of the models in a price table."""
    path = Path(table)
    document = toml_files.read(path, EXPECTED)
    try:
        batch = _dollars(document.get("batch", 0.5))
        models = {name: _price(entry, batch) for name, entry in document.get("models", {}).items()}
    except (KeyError, TypeError, AttributeError) as error:
        raise BadInput(path, f"an entry without a number ({error})", EXPECTED) from None
    except (ValueError, OverflowError) as error:
        raise BadInput(path, f"a price that is no number from 0 up ({error})", EXPECTED) from None
    if not models:
        raise BadInput(path, "no model", EXPECTED)
    return models


def _price(entry: Mapping[str, Any], batch: float) -> Price:
    """One entry of a table; an unknown field is an error, since a misspelt price would be silently ignored."""
    if unknown := entry.keys() - {"prompt", "completion", "cached", "reasoning", "batch"}:
        raise ValueError(f"unknown field {min(unknown)!r}")
    dollars = {name: _dollars(value) for name, value in entry.items()}
    return Price(**{"prompt": dollars.pop("prompt"), "completion": dollars.pop("completion"), "batch": batch} | dollars)


def _dollars(value: Any) -> float:
    """A price; raises a ValueError for a negative, infinite or undefined one."""
    number = float(value)
    if not 0 <= number < inf:
        raise ValueError(str(value)[:40])
    return number
