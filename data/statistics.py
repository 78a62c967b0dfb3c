"""Statistics that scoring and validation share."""

from math import sqrt

from scipy import special

LEVEL = 0.95
"""The level of every confidence interval."""
WIDE = float(special.ndtri((1 + LEVEL) / 2))
"""Standard errors on each side of a normal interval."""


def tail(clusters: int, level: float = LEVEL) -> float:
    """The share of resamples beyond each limit, so that a mean over clusters has the interval of Student's t."""
    wide = float(special.stdtrit(clusters - 1, (1 + level) / 2))
    return float(special.ndtr(-wide * sqrt(clusters / (clusters - 1))))


def score_limits(share: float, n: float, wide: float) -> tuple[float, float]:
    """Score limits (Wilson 1927) of a share of `n` independent answers, `wide` standard errors to each side."""
    middle, half = share + wide**2 / (2 * n), wide * sqrt(share * (1 - share) / n + wide**2 / (4 * n * n))
    low, high = ((middle + side) / (1 + wide**2 / n) for side in (-half, half))
    # at the edges rounding would step over them
    return 0.0 if share == 0 else low, 1.0 if share == 1 else high
