"""How a model is asked for choices, and how the probabilities of labels are read as those of options."""

__all__ = ["Asking"]

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from catsofa.scoring.choosing.requests import Request, options_of

ROUNDING = 0.01
"""How far above 1 the probabilities of all options may be by rounding."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """Budgets of tokens, and sampling."""

    temperature: float = 0.0
    """Temperature of sampling; 0 takes the most probable reply."""
    sampled: bool = False
    """Whether replies are written even where the model gives the probabilities of the labels."""
    answer_tokens: int = 256
    """Tokens that an answer may have."""
    reasoning_tokens: int = 2048
    """Tokens that the reasoning before an answer may have."""
    batch: bool = False
    """Whether a server is asked in batches."""

    def __post_init__(self) -> None:
        """Refuse budgets without room, and a temperature below 0."""
        if self.answer_tokens < 1 or self.reasoning_tokens < 0 or not 0 <= self.temperature < 100:
            raise ValueError("found a negative number; expected tokens and a temperature from 0 up, and room to answer")


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
