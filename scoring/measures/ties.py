"""Ties: scores that differ by no more than the numerical error of a score."""

from math import isnan

import numpy as np
from numpy.typing import NDArray

from catsofa.data.statistics import Array

BATCH_ERROR = 1e-4
"""Nats by which a batch may change a natural logarithm that this program makes, in float32."""
RESOLUTION = float(np.finfo(np.float32).eps)
"""The step of a logarithm near 0 in float32."""


def errors(scores: Array, error: float) -> Array:
    """The error of each of these scores of one task; `error` is 0 where scores of others must be taken as exact.

    A batch changes logits. It changes the logarithm of a probability p by 1 - p of that, so that a next-sentence head
    may be sure of all candidates and still tell them apart. Scores above 0 are no logarithms of probabilities.
    """
    if not error or (scores > 0).any():
        return np.full(scores.shape, error)
    return np.asarray(np.minimum(error, RESOLUTION - error * np.expm1(scores)))


def preferred(share: float, tied: bool = False) -> str:
    """The outcome of an item by the share of the stereotype: 1 or more than a half, 0 or less, a tie, or unscored."""
    if isnan(share):
        return "unscored"
    return "tie" if tied or share == 0.5 else "stereotype" if share > 0.5 else "anti-stereotype"


def equal(one: Array, other: Array, error: Array | float = 0.0, other_error: Array | float = 0.0) -> NDArray[np.bool_]:
    """Which scores differ by no more than the larger of their errors; a missing score equals none."""
    return np.asarray(np.abs(one - other) <= np.maximum(error, other_error))
