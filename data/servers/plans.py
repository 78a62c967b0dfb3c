"""Estimates the cost of requests before they are sent."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

from catsofa.data.servers.prices import FREE, Price, Tokens, in_dollars, most_prompt_tokens, prompt_tokens


class Coming(NamedTuple):
    """A request that is not sent yet: its model, its prompt, and the expected tokens of its reply, if known."""

    model: str
    prompt: str
    tokens: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The remaining requests of a run, with maximum cost and, if known, expected cost."""

    requests: int
    prompt_tokens: int
    most_tokens: int
    """Tokens to write if every reply uses its whole budget."""
    most_cost: float | None
    """Maximum cost in dollars; None if the price of a model is unknown."""
    tokens: int | None = None
    """Expected tokens to write."""
    cost: float | None = None
    seconds: float | None = None
    """Time in seconds at the rate so far."""
    batch: bool = False
    """True if requests are sent and priced as a batch."""
    under_way: int = 0
    """Further requests in batches that are not collected."""

    def __str__(self) -> str:
        """The sentence that users read before they pay."""
        unknown = "at an unknown price (write it into a table and give that with --prices)"
        most = unknown if self.most_cost is None else "free of charge"
        if self.most_cost:
            most = f"at most {in_dollars(self.most_cost)}{' at the price of a batch' if self.batch else ''}"
        sentence = (
            f"{self.requests:,} requests, about {self.prompt_tokens:,} tokens to read and at most "
            f"{self.most_tokens:,} to write, {most}"
        )
        if self.tokens is not None:
            cost = f", about {in_dollars(self.cost)}" if self.cost else ""
            sentence += f"; expected: about {self.tokens:,} tokens to write{cost}"
        if self.seconds is not None:
            sentence += f", about {duration(self.seconds)}"
        return sentence + (f"; {self.under_way:,} more are in a batch that was sent" if self.under_way else "")


def duration(seconds: float) -> str:
    """A duration as text."""
    if seconds < 90:
        return f"{seconds:.0f} seconds"
    return f"{seconds / 60:.0f} minutes" if seconds < 5400 else f"{seconds / 3600:.1f} hours"


def plan(
    coming: Iterable[Coming],
    price: Callable[[str], Price | None],
    most_written: int,
    *,
    batch: bool = False,
    seconds: float | None = None,
    under_way: int = 0,
) -> Plan:
    """The plan for requests whose replies have at most `most_written` tokens; `seconds` is the time per request."""
    requests = list(coming)
    prompt_lengths = [prompt_tokens(len(one.prompt)) for one in requests]
    prices = {model: price(model) for model in {one.model for one in requests}}
    most, cost = 0.0, 0.0
    for one, tokens in zip(requests, prompt_lengths, strict=True):
        model_price = prices[one.model] or FREE
        dearest = model_price.most(Tokens(most_prompt_tokens(one.prompt), most_written))
        most += dearest * model_price.batch if batch else dearest
        cost += model_price.cost(tokens, one.tokens or 0.0, batch=batch)
    priced, expected = None not in prices.values(), all(one.tokens is not None for one in requests)
    return Plan(
        requests=len(requests),
        prompt_tokens=sum(prompt_lengths),
        most_tokens=len(requests) * most_written,
        most_cost=most if priced else None,
        tokens=round(sum(one.tokens or 0.0 for one in requests)) if expected else None,
        cost=cost if priced and expected else None,
        seconds=None if seconds is None else len(requests) * seconds,
        batch=batch,
        under_way=under_way,
    )


def together(several: Sequence[Plan]) -> Plan:
    """The sum of the plans of several runs; a number that one plan does not know is unknown."""

    def total(name: str) -> Any:
        values = [getattr(one, name) for one in several]
        return None if None in values else sum(values)

    return Plan(**{field.name: total(field.name) for field in fields(Plan) if field.name != "batch"})
