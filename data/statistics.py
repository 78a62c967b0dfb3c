"""Statistics that scoring and validation share."""

from math import sqrt

from scipy import special

LEVEL = 0.95
"""The level of every confidence interval."""


def tail(clusters: int, level: float = LEVEL) -> float:
    """The share of resamples beyond each limit, so that a mean over clusters has the interval of Student's t."""
    wide = float(special.stdtrit(clusters - 1, (1 + level) / 2))
    return float(special.ndtr(-wide * sqrt(clusters / (clusters - 1))))
