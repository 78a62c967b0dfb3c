"""How a model is asked for choices, and how the probabilities of labels are read as those of options."""

__all__ = ["Asking"]

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from catsofa.scoring.choosing.requests import Labels, Request, options_of

ANSWER_TOKENS, REASONING_TOKENS = 256, 2048
"""The tokens that an answer, and the reasoning before it, may have where nobody says otherwise."""
ROUNDING = 0.01
"""How far above 1 the probabilities of all options may be by rounding."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """Budgets of tokens, and sampling."""

    temperature: float = 0.0
    """Temperature of sampling; 0 takes the most probable reply."""
    sampled: bool = False
    """Whether replies are written even where the model gives the probabilities of the labels."""
    answer_tokens: int = ANSWER_TOKENS
    """Tokens that an answer may have."""
    reasoning_tokens: int = REASONING_TOKENS
    """Tokens that the reasoning before an answer may have."""
    batch: bool = False
    """Whether a server is asked in batches."""

    def __post_init__(self) -> None:
        """Refuse budgets without room, and a temperature below 0."""
        if self.answer_tokens < 1 or self.reasoning_tokens < 0 or not 0 <= self.temperature < 100:
            raise ValueError("found a negative number; expected tokens and a temperature from 0 up, and room to answer")


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """Every option of `choose` on which a reply depends, beside the model and the data."""

    templates: tuple[str, ...] = ()
    """Bundled templates or files; none stands for the first bundled one for the kind of items."""
    labels: Labels = "letters"
    neutral: bool = False
    orders: Literal["all", "balanced"] = "all"
    samples: int | None = None
    """Replies to sample per prompt; None for one, or for the probabilities of the labels."""
    temperature: float = 0.0
    answer_tokens: int = ANSWER_TOKENS
    reasoning_tokens: int = REASONING_TOKENS

    def asking(self, *, batch: bool = False) -> Asking:
        """Budgets and sampling; a ValueError for samples that cannot differ."""
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
        """How the requests about an item are made, beside their templates."""
        balanced, samples = self.orders == "balanced", self.samples or 1
        return {"labels": self.labels, "neutral": self.neutral, "balanced": balanced, "samples": samples}


def probabilities(request: Request, tokens: Iterable[tuple[str, float]]) -> dict[str, float] | None:
    """The probability of each option, from tokens that may be the first of an answer; None if none of them is a label.

    Numbers with a sum above 1 are no probabilities, and count for nothing. A label may have space or a mark around it.
    Yes and no count in any case, letters only as they were shown.
    """
    fold = str.casefold if len(request.order) == 1 else str
    places = {
        fold(answer): option
        for answer, option in zip(request.answers, options_of(request.order, request.neutral), strict=True)
    }
    found: dict[str, float] = {}
    for token, probability in tokens:
        option = places.get(fold(bare(token)))
        if option:
            found[option] = found.get(option, 0.0) + probability
    if not 0 < sum(found.values()) <= 1 + ROUNDING:
        return None
    return {option: found.get(option, 0.0) for option in places.values()}


def bare(token: str) -> str:
    """A token without the space and the marks around it."""
    return token.strip(" \n\t*_`\"'()[]{}#>.,:\\$▁Ġ")


def total(found: Mapping[str, float] | None) -> float:
    """The probability of all labels together."""
    return sum(found.values()) if found else 0.0
