"""What requests cost: a price table that users edit, an estimate before anything is sent, a budget while it runs."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from importlib.resources import files
from itertools import chain
from math import inf
from pathlib import Path

from catsofa.builders.paraphrases.journal import Journal
from catsofa.builders.paraphrases.prompts import Request
from catsofa.builders.paraphrases.replies import Reply
from catsofa.data.files import BadInput, toml_files
from catsofa.data.servers.endpoints import is_local

PROMPT_CHARS, REPLY_CHARS = 4.2, 4.5
"""Characters in a token, measured with cl100k on 2,092 prompts and replies of the StereoSet paraphrase study."""

FRAME_TOKENS = 8
"""Tokens a chat format puts around one message."""


@dataclass(frozen=True, slots=True)
class Price:
    """Dollars for a million tokens read and written; `batch` is the Batch API's share of the plain price."""

    prompt: float
    completion: float
    batch: float = 0.5

    def cost(self, prompt_tokens: float, completion_tokens: float, *, batch: bool = False) -> float:
        """Dollars for one request."""
        plain = (prompt_tokens * self.prompt + completion_tokens * self.completion) / 1e6
        return plain * self.batch if batch else plain


FREE = Price(0.0, 0.0)


def price_of(model: str, base_url: str | None, table: Path | str | None = None) -> Price | None:
    """The price of a model by the table (ours unless one is given); a server on this machine is free; else None."""
    prices, batch = _read(table)
    if model in prices:
        return Price(*prices[model], batch)
    for name in sorted(prices, key=len, reverse=True):
        if fnmatchcase(model, name):
            return Price(*prices[name], batch)
    return FREE if base_url and is_local(base_url) else None


def _read(table: Path | str | None) -> tuple[Mapping[str, tuple[float, float]], float]:
    """The models of a price table, and the batch factor."""
    path = Path(table) if table else Path(str(files("catsofa.data").joinpath("prices.toml")))
    expected = 'lines such as "gpt-4o" = { prompt = 2.50, completion = 10.00 } under [models]'
    found = toml_files.read(path, expected)
    try:
        models = {name: (float(p["prompt"]), float(p["completion"])) for name, p in found.get("models", {}).items()}
        batch = float(found.get("batch", 0.5))
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise BadInput(path, f"an entry without a number ({error})", expected) from None
    if not models or not all(0 <= number < inf for number in (batch, *chain.from_iterable(models.values()))):
        raise BadInput(path, "no model, or a price that is negative, infinite or no number", expected)
    return models, batch


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """What a run will send and cost; `cost` is None where the model's price is unknown."""

    requests: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None

    def __str__(self) -> str:
        """The sentence that people read before they pay."""
        price = (
            "at an unknown price" if self.cost is None else f"about ${self.cost:.2f}" if self.cost else "for nothing"
        )
        return (
            f"{self.requests:,} requests, about {self.prompt_tokens:,} tokens to read and "
            f"{self.completion_tokens:,} to write, {price}"
        )


def prompt_tokens(request: Request) -> int:
    """About how many tokens a request's prompt has."""
    return round(len(request.prompt) / PROMPT_CHARS) + FRAME_TOKENS


def estimate(requests: Iterable[Request], price: Price | None, *, batch: bool = False) -> Estimate:
    """The sum over requests, by the lengths of their prompts and expected replies."""
    count = read = written = 0
    for request in requests:
        count += 1
        read += prompt_tokens(request)
        written += round(request.reply_chars / REPLY_CHARS)
    cost = None if price is None else price.cost(read, written, batch=batch)
    return Estimate(requests=count, prompt_tokens=read, completion_tokens=written, cost=cost)


class Budget:
    """Dollars that one model's requests in a journal may cost in all; no request starts that could go over."""

    def __init__(self, limit: float | None, price: Price | None, journal: Journal, model: str, max_tokens: int) -> None:
        """Begin with what the journal has cost: replies by their usage, requests in doubt at their dearest."""
        self.limit, self.max_tokens = limit, max_tokens
        self._price, self._journal = price or FREE, journal
        self.spent = 0.0
        for key, asked in journal.asked_of.items():
            if asked.model == model:
                self.spent += journal.in_doubt[key] * self._dearest(asked.prompt_chars, asked.batch)
                if reply := journal.replies.get(key):
                    self.spent += self._cost(reply, asked.prompt_chars)

    def reserve(self, request: Request, *, batch: bool = False) -> bool:
        """Set aside the most that a request can cost, if the budget holds it."""
        dearest = self._dearest(len(request.prompt), batch)
        if self.limit is not None and self.spent + dearest > self.limit:
            return False
        self.spent += dearest
        return True

    def settle(self, key: str, reply: Reply | None) -> None:
        """Replace what was set aside by what the reply cost; by nothing where the server did no work."""
        _, chars, batch = self._journal.asked_of[key]
        self.spent += (self._cost(reply, chars) if reply else 0.0) - self._dearest(chars, batch)

    def _cost(self, reply: Reply, prompt_chars: int) -> float:
        """Dollars for a reply, by its usage; by the lengths of the texts where the server told none."""
        read, written = reply.prompt_tokens, reply.completion_tokens
        if read is None or written is None:
            read, written = round(prompt_chars / PROMPT_CHARS) + FRAME_TOKENS, round(len(reply.text) / REPLY_CHARS)
        return self._price.cost(read, written, batch=reply.batch)

    def _dearest(self, prompt_chars: int, batch: bool) -> float:
        """The most a request can cost: its prompt and as many tokens as it may write."""
        return self._price.cost(prompt_chars / PROMPT_CHARS + FRAME_TOKENS, self.max_tokens, batch=batch)
