"""Options for asking a model, and the probabilities of options from those of their labels."""

__all__ = ["Asking"]

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from catsofa.scoring.choosing.requests import Labels, Request, options_of

ANSWER_TOKENS, REASONING_TOKENS = 256, 2048
"""Default token budgets of an answer, and of the reasoning before it."""
ROUNDING = 0.01
"""Tolerance for a sum of probabilities above 1, which rounding can cause."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """Token budgets and sampling."""

    temperature: float = 0.0
    """Sampling temperature; 0 takes the most probable reply."""
    sampled: bool = False
    """True to generate replies even if the model gives the probabilities of the labels."""
    answer_tokens: int = ANSWER_TOKENS
    """Token budget of an answer."""
    reasoning_tokens: int = REASONING_TOKENS
    """Token budget of the reasoning before an answer."""
    batch: bool = False
    """True to send requests to a server in batches."""

    def __post_init__(self) -> None:
        """Raises ValueError for budgets without room for an answer, and for a temperature below 0 or from 100."""
        if self.answer_tokens < 1 or self.reasoning_tokens < 0 or not 0 <= self.temperature < 100:
            raise ValueError(
                f"found a temperature of {self.temperature:g}, {self.answer_tokens} tokens to answer and "
                f"{self.reasoning_tokens} to reason; expected from 0 to below 100, at least 1, and at least 0"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """Every option of `choose` on which a reply depends, besides the model and the data."""

    templates: tuple[str, ...] = ()
    """Bundled templates or files; empty for the first bundled template for the kind of items."""
    labels: Labels = "letters"
    neutral: bool = False
    orders: Literal["all", "balanced"] = "all"
    samples: int | None = None
    """Replies to sample per prompt; None for one, or for the probabilities of the labels."""
    temperature: float = 0.0
    answer_tokens: int = ANSWER_TOKENS
    reasoning_tokens: int = REASONING_TOKENS

    def asking(self, *, batch: bool = False) -> Asking:
        """Returns budgets and sampling; raises ValueError for several samples at temperature 0, which cannot differ."""
        if (self.samples or 1) > 1 and not self.temperature:
            raise ValueError(f"{self.samples} samples at temperature 0 are the same reply; set --temperature above 0")
        return Asking(
            temperature=self.temperature,
            sampled=self.samples is not None or self.temperature > 0,
            answer_tokens=self.answer_tokens,
            reasoning_tokens=self.reasoning_tokens,
            batch=batch,
        )

    def requests(self) -> dict[str, Any]:
        """Returns the options that build the requests about an item, besides the templates."""
        balanced, samples = self.orders == "balanced", self.samples or 1
        return {"labels": self.labels, "neutral": self.neutral, "balanced": balanced, "samples": samples}


def probabilities(request: Request, tokens: Iterable[tuple[str, float]]) -> dict[str, float] | None:
    """Returns each option's probability, from tokens that may begin an answer; None if none of them is a label.

    Numbers with a sum above 1 are not probabilities, and also give None. A label can have spaces or marks around it.
    Yes and no match in any case, letters only as they were shown.
    """
    fold = str.casefold if len(request.order) == 1 else str
    places = {
        fold(answer): option
        for answer, option in zip(request.answers, options_of(request.order, request.neutral), strict=True)
    }
    shares: dict[str, float] = {}
    for token, probability in tokens:
        option = places.get(fold(bare(token)))
        if option:
            shares[option] = shares.get(option, 0.0) + probability
    if not 0 < sum(shares.values()) <= 1 + ROUNDING:
        return None
    return {option: shares.get(option, 0.0) for option in places.values()}


def bare(token: str) -> str:
    """Returns a token without the spaces and marks around it."""
    return token.strip(" \n\t*_`\"'()[]{}#>.,:\\$▁Ġ")


def total(shares: Mapping[str, float] | None) -> float:
    """Returns the total probability of all labels; 0 if they have none."""
    return sum(shares.values()) if shares else 0.0
