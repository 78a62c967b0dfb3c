"""Statistics that rooms share: levels, score limits, bootstrap draws, rank correlation."""

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

Array = NDArray[np.float64]

LEVEL = 0.95
"""The level of every confidence interval."""
ALPHA = 1 - LEVEL
"""The level of every test."""
WIDE = float(special.ndtri((1 + LEVEL) / 2))
"""Standard errors on each side of a normal interval."""


def students(clusters: int, level: float = LEVEL) -> float:
    """Standard errors on each side of an interval of Student's t over clusters."""
    return float(special.stdtrit(clusters - 1, (1 + level) / 2))


def tail(clusters: int, level: float = LEVEL) -> float:
    """The share of resamples beyond each limit, so that a mean over clusters has the interval of Student's t."""
    return float(special.ndtr(-students(clusters, level) * sqrt(clusters / (clusters - 1))))


def score_limits(share: float, n: float, wide: float) -> tuple[float, float]:
    """Score limits (Wilson 1927) of a share of `n` independent answers, `wide` standard errors to each side."""
    middle, half = share + wide**2 / (2 * n), wide * sqrt(share * (1 - share) / n + wide**2 / (4 * n * n))
    low, high = ((middle + side) / (1 + wide**2 / n) for side in (-half, half))
    # at the edges rounding would step over them
    return 0.0 if share == 0 else low, 1.0 if share == 1 else high


MOST_HELD = 1 << 26
"""Bytes of draws, and of numbers made from them, that are remembered at most."""
Held = dict[Hashable, tuple[NDArray[Any], dict[str, object]]]
_HELD: ContextVar[Held | None] = ContextVar("draws", default=None)


@contextmanager
def remembered_draws() -> Iterator[None]:
    """Within it, draws from a generator in the same state are made once: many tests of as many clusters share them.

    So are the sums of the same clusters over them, which intervals of several levels and measures are made from.
    """
    token = _HELD.set({})
    try:
        yield
    finally:
        _HELD.reset(token)


def remembered(what: Hashable, rng: np.random.Generator, draw: Callable[[], NDArray[Any]]) -> NDArray[Any]:
    """What was drawn so from this state before, and the generator goes on as if it had drawn it again."""
    if (held := _HELD.get()) is None:
        return draw()
    key = what, repr(rng.bit_generator.state)
    if key not in held:
        drawn = draw()
        drawn.flags.writeable = False
        while held and drawn.nbytes + sum(one.nbytes for one, _ in held.values()) > MOST_HELD:
            held.pop(next(iter(held)))
        held[key] = drawn, dict(rng.bit_generator.state)
    found, rng.bit_generator.state = held[key]
    return found


def draws(items: int, rows: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """For each row, as many places as there are items, drawn with replacement."""
    return rng.integers(items, size=(rows, items))


def draw_counts(items: int, rows: int, rng: np.random.Generator) -> Array:
    """How often each item is in each row of `draws`."""
    return remembered(("counts", items, rows), rng, lambda: _counted(items, rows, rng)).astype(np.float64)


def _counted(items: int, rows: int, rng: np.random.Generator) -> NDArray[np.uint8]:
    """How often each item is in each row of `draws`: about once, and 255 times in none."""
    drawn = draws(items, rows, rng) + items * np.arange(rows)[:, None]
    return np.bincount(drawn.ravel(), minlength=rows * items).astype(np.uint8).reshape(rows, items)


def spearman(one: ArrayLike, other: ArrayLike) -> Array:
    """Spearman's rho along the last axis, ties at their mean rank; NaN where one side does not vary.

    scipy.stats.spearmanr has the same rho to 1e-15, but takes one pair of lists, computes a p and warns of ties.
    """
    a, b = (_ranks(np.asarray(side)) - (np.shape(side)[-1] + 1) / 2 for side in (one, other))
    spread = np.sqrt((a * a).sum(axis=-1) * (b * b).sum(axis=-1))
    with np.errstate(invalid="ignore"):
        return np.asarray((a * b).sum(axis=-1) / spread)


def _ranks(values: Array) -> Array:
    """The mean rank of each of a few values along the last axis; importing scipy.stats takes half a second."""
    mine, others = values[..., :, None], values[..., None, :]
    return np.asarray(((others < mine).sum(axis=-1) + (others <= mine).sum(axis=-1) + 1) / 2)
