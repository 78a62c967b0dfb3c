"""Bounds of stored scores: every score of a run is a natural logarithm, and not every number can be one.

A score is the mean or the sum of log-probabilities, or the logarithm of a mean probability: none is above 0. Only an
intersentence score may be, where the protocol takes a difference of log-probabilities (pmi) or the logarithm of a
ratio (ratio-code), and that of an encoder-decoder, which knows no other way than the difference.
"""

from collections.abc import Callable, Mapping
from math import isfinite
from typing import Any

from catsofa.data.records import Score

LOWEST = -1e6
"""Nats: no text has a smaller log-probability, since 1,000 tokens at 100 nats each have ten times as much."""
ROUNDING = 1e-3
"""Nats a token by which rounding may lift a log-probability above 0."""
DIFFERENCES = ("pmi", "ratio-code", None)
"""Ways of intersentence scores that may be positive; None where an identity does not name the way."""
ENCODER_DECODER = "ForConditionalGeneration"
"""How the class of an encoder-decoder ends."""
PARTS = ("identity", "conditional")
"""Parts of a probe's score that are kept beside it, log-probabilities too."""

Highest = Callable[[str, int], float]
"""The largest score of a text by its task and number of tokens."""


def highest_by(identity: Mapping[str, Any]) -> Highest:
    """The upper bound of a run's scores, by the protocol in its identity."""
    protocol = identity.get("protocol")
    way = protocol.get("causal_pair") if isinstance(protocol, Mapping) else None
    model = identity.get("model")
    architecture = str(model.get("architecture", "")) if isinstance(model, Mapping) else ""
    differs = "intersentence" if way in DIFFERENCES or architecture.endswith(ENCODER_DECODER) else ""

    def highest(task: str, tokens: int) -> float:
        return -LOWEST if task and task == differs else ROUNDING * max(1, tokens)

    return highest


def why_impossible(score: float | None, extra: Mapping[str, Any], highest: float) -> str:
    """The reason why a stored score can be no log-probability; empty if it can be one."""
    for value in (score, *(extra.get(part) for part in PARTS)):
        if value is None:
            continue
        if not isinstance(value, int | float) or not isfinite(value):
            return f"{value!r}, which is no number"
        if value > highest:
            return f"{value:g}, and a log-probability is at most 0"
        if value < LOWEST:
            return f"{value:g}, and no text has a log-probability below {LOWEST:g}"
    return ""


def refuse_impossible(score: Score, highest: Highest) -> None:
    """Refuse to keep a score that can be no log-probability."""
    if reason := why_impossible(score.score, score.extra, highest(score.task, score.tokens)):
        raise ValueError(
            f"the score of {score.item!r} is {reason}: the model or its server gives wrong numbers; try --dtype "
            "float32, another device or another engine"
        )
