"""Ties: scores that differ by no more than the numerical error of a score."""

from math import isnan

import numpy as np
from numpy.typing import NDArray

from catsofa.data.statistics import Array

BATCH_ERROR = 1e-4
"""Nats by which batching may change a log-probability that catsofa computes in float32."""
RESOLUTION = float(np.finfo(np.float32).eps)
"""The float32 resolution of a log-probability near 0."""


def errors(scores: Array, error: float) -> Array:
    """The error of each score of one task; `error` is 0 for scores of other programs, which count as exact.

    Batching changes logits, and the logarithm of a probability p by 1 - p times as much. So a next-sentence head can be
    sure of all candidates and still distinguish them. With a score above 0, scores are not logarithms of probabilities,
    and each has the full `error`.
    """
    if not error or (scores > 0).any():
        return np.full(scores.shape, error)
    return np.asarray(np.minimum(error, RESOLUTION - error * np.expm1(scores)))


def preferred(share: float, tied: bool = False) -> str:
    """The outcome of an item from the stereotype's share: above 0.5, below 0.5, a tie, or unscored (NaN)."""
    if isnan(share):
        return "unscored"
    return "tie" if tied or share == 0.5 else "stereotype" if share > 0.5 else "anti-stereotype"


def equal(one: Array, other: Array, error: Array | float = 0.0, other_error: Array | float = 0.0) -> NDArray[np.bool_]:
    """Returns a mask of scores that differ by at most the larger of their errors; a missing score (NaN) equals none."""
    return np.asarray(np.abs(one - other) <= np.maximum(error, other_error))
