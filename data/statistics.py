"""Shared statistics: levels, score limits, bootstrap draws, rank correlation."""

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from hashlib import blake2b
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
"""Standard errors on each side of a normal confidence interval."""


def students(clusters: int, level: float = LEVEL) -> float:
    """Standard errors on each side of a Student's t interval over clusters."""
    return float(special.stdtrit(clusters - 1, (1 + level) / 2))


def tail(clusters: int, level: float = LEVEL) -> float:
    """The share of resamples beyond each limit for which a mean over clusters has the Student's t interval."""
    return float(special.ndtr(-students(clusters, level) * sqrt(clusters / (clusters - 1))))


def score_limits(share: float, n: float, wide: float) -> tuple[float, float]:
    """Score limits (Wilson 1927) of a share of `n` independent answers, `wide` standard errors on each side."""
    middle, half = share + wide**2 / (2 * n), wide * sqrt(share * (1 - share) / n + wide**2 / (4 * n * n))
    low, high = ((middle + side) / (1 + wide**2 / n) for side in (-half, half))
    # at the edges, rounding could exceed 0 or 1
    return 0.0 if share == 0 else low, 1.0 if share == 1 else high


CACHED = 1 << 16
"""The number of floating-point numbers that a processor's cache holds."""
MOST_HELD = 1 << 26
"""Maximum bytes of cached draws and of numbers computed from them."""
Held = dict[Hashable, tuple[NDArray[Any], dict[str, object]]]
_HELD: ContextVar[Held | None] = ContextVar("draws", default=None)


@contextmanager
def remembered_draws() -> Iterator[None]:
    """Within this context, draws from a generator in the same state are cached and shared between tests.

    The sums of the same clusters over these draws are cached too, for intervals of several levels and measures.
    """
    token = _HELD.set({})
    try:
        yield
    finally:
        _HELD.reset(token)


def remembered(
    kind: Hashable, rng: np.random.Generator, draw: Callable[[], NDArray[Any]], *columns: Array
) -> NDArray[Any]:
    """The cached draw for this generator state; the generator then advances as if it had drawn again.

    `columns` are the numbers that the result depends on, beside the draws.
    """
    if (held := _HELD.get()) is None:
        return draw()
    key = kind, repr(rng.bit_generator.state), *(blake2b(part.tobytes()).digest() for part in columns)
    if key not in held:
        drawn = draw()
        drawn.flags.writeable = False
        while held and drawn.nbytes + sum(one.nbytes for one, _ in held.values()) > MOST_HELD:
            held.pop(next(iter(held)))
        held[key] = drawn, dict(rng.bit_generator.state)
    result, rng.bit_generator.state = held[key]
    return result


def draws(items: int, rows: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """For each row, as many positions as there are items, drawn with replacement."""
    return rng.integers(items, size=(rows, items))


def draw_counts(items: int, rows: int, rng: np.random.Generator) -> Array:
    """The number of times that each item occurs in each row of `draws`."""
    return _remembered_counts(items, rows, rng).astype(np.float64)


def draw_sums(columns: Array, rows: int, rng: np.random.Generator) -> Array:
    """The column sums of the items in each row of `draws`."""
    return weighted_sums(_remembered_counts(len(columns), rows, rng), columns)


def _remembered_counts(items: int, rows: int, rng: np.random.Generator) -> NDArray[np.uint8]:
    """The counts of `draw_counts` in a byte each."""
    return remembered(("counts", items, rows), rng, lambda: _counted(items, rows, rng))


def weighted_sums(weights: NDArray[np.uint8], columns: Array) -> Array:
    """`weights @ columns`, converted a few rows at a time: numbers that stay in the processor's cache cost a fifth."""
    rows = max(1, CACHED // max(1, weights.shape[1]))
    parts = [weights[low : low + rows].astype(np.float64) @ columns for low in range(0, len(weights), rows)]
    return np.concatenate(parts) if parts else np.empty((0, columns.shape[1]))


def _counted(items: int, rows: int, rng: np.random.Generator) -> NDArray[np.uint8]:
    """The number of times that each item occurs in each row of `draws`: about once, never over 255 times."""
    drawn = draws(items, rows, rng) + items * np.arange(rows)[:, None]
    return np.bincount(drawn.ravel(), minlength=rows * items).astype(np.uint8).reshape(rows, items)


def spearman(one: ArrayLike, other: ArrayLike) -> Array:
    """Spearman's rho along the last axis, with mean ranks for ties; NaN if one side does not vary.

    scipy.stats.spearmanr gives the same rho to 1e-15, but takes one pair of lists, computes p and warns about ties.
    """
    a, b = (_ranks(np.asarray(side)) - (np.shape(side)[-1] + 1) / 2 for side in (one, other))
    spread = np.sqrt((a * a).sum(axis=-1) * (b * b).sum(axis=-1))
    with np.errstate(invalid="ignore"):
        return np.asarray((a * b).sum(axis=-1) / spread)


def _ranks(values: Array) -> Array:
    """The mean rank of each value along the last axis, for few values; importing scipy.stats takes half a second."""
    mine, peers = values[..., :, None], values[..., None, :]
    return np.asarray(((peers < mine).sum(axis=-1) + (peers <= mine).sum(axis=-1) + 1) / 2)
