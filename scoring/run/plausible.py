"""Bounds that detect impossible scores: every stored score is a natural logarithm.

A score is the mean or sum of log-probabilities, or the logarithm of a mean probability, and so is at most 0. Only
intersentence scores may be positive: differences of log-probabilities (pmi), logarithms of a ratio (ratio-code), and
scores of an encoder-decoder, which always takes the difference.
"""

from collections.abc import Callable, Mapping
from math import isfinite
from typing import Any

from catsofa.data.records import Score

LOWEST = -1e6
"""Lower bound in nats: even 1,000 tokens at -100 nats each sum to only a tenth of this."""
ROUNDING = 1e-3
"""Nats per token by which rounding may raise a log-probability above 0."""
DIFFERENCES = ("pmi", "ratio-code", None)
"""Values of `causal_pair` with possibly positive intersentence scores; None if an identity has no such option."""
ENCODER_DECODER = "ForConditionalGeneration"
"""The suffix of the class name of an encoder-decoder."""
PARTS = ("identity", "conditional")
"""Log-probabilities that are stored beside the score of a probe."""

Highest = Callable[[str, int], float]
"""A function from task and number of tokens to the largest possible score."""


def highest_by(identity: Mapping[str, Any]) -> Highest:
    """The upper bound of a run's scores, from the protocol and the model in its identity."""
    protocol = identity.get("protocol")
    way = protocol.get("causal_pair") if isinstance(protocol, Mapping) else None
    model = identity.get("model")
    architecture = str(model.get("architecture", "")) if isinstance(model, Mapping) else ""
    differs = "intersentence" if way in DIFFERENCES or architecture.endswith(ENCODER_DECODER) else ""

    def highest(task: str, tokens: int) -> float:
        return -LOWEST if task and task == differs else ROUNDING * max(1, tokens)

    return highest


def why_impossible(score: float | None, extra: Mapping[str, Any], highest: float) -> str:
    """The reason why a score or its parts cannot be log-probabilities; empty if they can."""
    for value in (score, *map(extra.get, PARTS)):
        if value is None or (type(value) is float and LOWEST <= value <= 0):
            continue
        if not isinstance(value, int | float) or not isfinite(value):
            return f"{value!r}, which is no number"
        if value > highest:
            return f"{value:g}, and a log-probability is at most 0"
        if value < LOWEST:
            return f"{value:g}, and no text has a log-probability below {LOWEST:g}"
    return ""


def refuse_impossible(score: Score, highest: Highest) -> None:
    """Raise an error for a score that cannot be a log-probability."""
    if reason := why_impossible(score.score, score.extra, highest(score.task, score.tokens)):
        raise impossible(score.item, reason)


def impossible(item: str, reason: str) -> ValueError:
    """The error for a score that cannot be a log-probability."""
    return ValueError(
        f"the score of {item!r} is {reason}: the model or its server gives wrong numbers; try --dtype float32, another "
        "device or another engine"
    )
