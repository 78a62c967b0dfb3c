"""Queries to models that return log-probabilities of texts, and scores from their answers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from catsofa.data.records import Score
from catsofa.scoring.models.tokens import Unscorable
from catsofa.scoring.protocols import Protocol

Values = NDArray[np.float64]
Query = tuple[str, str]
"""A context, which may be empty, and the text right after it."""
Answer = Sequence[float | None] | str
"""Log-probability of each token of a query's text, or the reason for an error; the first token may have None."""


@dataclass(frozen=True, slots=True)
class Texts:
    """Answers of a model to queries, under a protocol."""

    protocol: Protocol
    space: bool | None
    """True if a sentence has its in-context tokens with a space before it, False if without; None if neither."""
    answers: Mapping[Query, Answer] = field(default_factory=dict)

    def values(self, query: Query) -> Values:
        """Returns the log-probabilities of a query's tokens; `skip` drops the first token of a text without context."""
        answer = self.answers[query]
        if isinstance(answer, str):
            raise Unscorable(answer)
        values = answer[1:] if self.protocol.first_token == "skip" and not query[0] else answer
        if not len(values) or None in values:
            raise Unscorable("no token of the text has a log-probability")
        return np.array(values, dtype=np.float64)

    def over_length(self, values: Values) -> float:
        """Returns the mean or the sum, by the protocol's `length`."""
        return float(values.mean() if self.protocol.length == "mean" else values.sum())

    def whole(self, text: str) -> tuple[float, int]:
        """Returns the mean or the sum over a text, and the number of its tokens."""
        values = self.values(("", text))
        return self.over_length(values), len(values)


def scored(item: str, task: str, make: Callable[[], tuple[float, int]]) -> Score:
    """Returns the score that `make` computes, or an unscored Score with the reason."""
    try:
        value, tokens = make()
    except Unscorable as reason:
        return Score(item=item, task=task, score=None, reason=str(reason))
    return Score(item=item, task=task, score=value, tokens=tokens)
