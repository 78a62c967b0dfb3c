"""The share of random splits of the targets that separate as strongly as the observed one: exact, sampled or fitted.

The statistic of a split is the sum of the association scores of X minus that of Y. Scores are centred, so that it is
twice the sum over X, and one number per split is enough. A split within rounding error of the observed one counts as
reaching it, so the observed split always counts.

The sum of a random n of 2n numbers v has characteristic function [z^n] prod(1 + z e^{itv}) / C(2n, n). The coefficient
is exact by a discrete Fourier transform over the unit circle, and Gil-Pelaez's integral turns it into a probability:
deterministic, with no floor of one over the number of samples.
"""

from dataclasses import dataclass
from math import comb, pi, sqrt
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["p_value"]

Vector = NDArray[np.float64]


ACCURACY = 1e-6
"""The size of the error from 20 numbers per side on; a smaller tail is indistinguishable from the error."""
STEP = 0.35
"""The distance between the nodes of the integral, in standard deviations of the sum."""
BEYOND = 8.5
"""Standard deviations beyond which the tail is under 1e-15; half of 2 pi / STEP, where the integral repeats itself."""
FARTHEST = 20.0
"""Clustered numbers make the function rise again far out; the search for nodes ends at this times sqrt(2n)."""
NARROW = 0.3
"""Clusters with a total width under this share of the spread would make the function rise beyond FARTHEST."""
NEGLIGIBLE = 1e-9
"""A node whose value is bounded by this is left out."""
BLOCK = 32
"""Number of factors multiplied at once; they fit in the cache."""


def upper_tail(numbers: Vector, n: int) -> float:
    """P(sum of a random n of these 2n numbers >= the sum of the first n), if no two sums are equal."""
    v = numbers - numbers.mean()
    v = v / sqrt(n * n * float(v.var()) / (2 * n - 1))
    observed = float(v[:n].sum())
    if abs(observed) > BEYOND:
        return float(observed < 0)
    t = _nodes(v)
    integrand = np.imag(np.exp(-1j * t * observed) * _characteristic_function(v, n, t)) / t
    return float(np.clip(0.5 + integrand.sum() * STEP / pi, 0.0, 1.0))


def gathers(numbers: Vector) -> bool:
    """Returns True if many half sums nearly tie (a grid, few numbers, narrow clusters): only counting is right."""
    distinct = np.unique(np.round(numbers / (float(np.abs(numbers).max()) or 1.0), 12))
    if len(distinct) < 16 or float(np.median(np.diff(distinct))) * len(distinct) < NARROW * float(distinct.std()):
        return True
    some = distinct[:64]
    pair_sums = np.sort((some[:, None] + some[None, :])[np.triu_indices(len(some), k=1)])
    return bool((np.diff(pair_sums) < 1e-11).any())


def _nodes(v: Vector) -> Vector:
    """Returns the midpoints of the integral's steps at which the characteristic function may not be negligible.

    With r(t) = |mean of e^{itv}|, its modulus is at most ((1 + r) / 2)^n 2^{2n} / C(2n, n): Jensen's inequality over
    the factors of the product. r is computed on a coarse grid, with its largest possible change between two points.
    """
    count = len(v)
    step = 0.1 * sqrt(count)
    coarse = np.arange(0.0, FARTHEST * sqrt(count), step)
    turns = np.outer(coarse, v).astype(np.float32)  # single precision is enough for a bound, and 17 times faster
    r = np.hypot(np.cos(turns).mean(axis=1), np.sin(turns).mean(axis=1)) + float(np.abs(v).mean()) * step / 2
    bound = np.minimum(1, (1 + r) / 2) ** (count / 2) * (2**count / comb(count, count // 2))
    t = np.arange(STEP / 2, coarse[-1], STEP)
    nodes: Vector = t[bound[np.rint(t / step).astype(np.intp)] > NEGLIGIBLE]
    return nodes


def _characteristic_function(v: Vector, n: int, t: Vector) -> NDArray[np.complex128]:
    """E[e^{itS}] at each t, S the sum of a random n of v: the n-th coefficient of prod(1/2 + z e^{itv} / 2), scaled."""
    phases = np.exp(1j * np.outer(v, t))
    turn = np.exp(-1j * np.angle(phases.mean(axis=0)))
    points = _circle(n)
    # turned so that the phases' mean has angle 0, a product at angle a is at most max(cos^2(a / 2), 1 / 2)^n
    angles = 2 * pi * np.arange(points) / points
    angles = angles[np.maximum(np.cos(angles / 2) ** 2, 0.5) ** n > NEGLIGIBLE**1.5]
    products = np.tile(np.exp(-1j * n * angles), (len(t), 1))
    z, phases = np.exp(1j * angles) / 2, phases * turn
    for first in range(0, len(v), BLOCK):
        factors = phases[first : first + BLOCK, :, None] * z
        factors += 0.5
        products *= factors.prod(axis=0)
    at_zero = comb(2 * n, n) / 2 ** (2 * n)
    expected: NDArray[np.complex128] = products.sum(axis=1) / points / at_zero * turn.conj() ** n
    return expected


def _circle(n: int) -> int:
    """Returns enough points on the unit circle to separate the n-th coefficient from the coefficients mixed with it."""
    k = np.arange(1, n + 1)
    shares = np.cumprod((n - k + 1) / (n + k))  # C(2n, n + k) / C(2n, n)
    return 1 + int((shares > NEGLIGIBLE).sum())


Method = Literal["permutation", "parametric", "characteristic"]
How = Literal["exact", "sampled", "parametric", "characteristic"]

EXACT_LIMIT = comb(40, 20)
"""The maximum number of splits that are all counted; 20 targets per side take 0.1 s by meeting in the middle."""
SAMPLES = 99_999
"""The number of random splits if not all are counted; the observed one is added, so that p is at least 1e-5."""
ROUNDING = 1e-12
"""Share of the scores' total size within which two sums are equal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tail:
    """The share of splits that reach the observed one, the method, and the number of splits."""

    p: float
    how: How
    splits: int


def p_value(
    x: ArrayLike,
    y: ArrayLike,
    *,
    method: Method = "permutation",
    exact_limit: int = EXACT_LIMIT,
    samples: int = SAMPLES,
    seed: int = 0,
) -> Tail:
    """Returns the one-sided p of X against Y: the share of splits into equal halves with as large a statistic.

    `permutation` counts all splits up to `exact_limit` and samples above. `characteristic` computes instead of
    sampling, unless scores gather so that only counting is right. `parametric` fits a normal distribution.
    """
    scores, n = _centred(x, y)
    splits = comb(2 * n, n)
    if method == "parametric":
        return Tail(p=_normal_tail(scores, n), how="parametric", splits=0)
    if splits <= exact_limit:
        return Tail(p=_count_all(scores, n) / splits, how="exact", splits=splits)
    if method == "characteristic" and not gathers(scores):
        return Tail(p=max(ACCURACY, upper_tail(scores, n)), how="characteristic", splits=0)
    hits = _count_sampled(scores, n, samples, np.random.default_rng(seed))
    return Tail(p=(hits + 1) / (samples + 1), how="sampled", splits=samples + 1)


def _centred(x: ArrayLike, y: ArrayLike) -> tuple[Vector, int]:
    """Returns the scores of X, then Y, minus their common mean, and the number on each side."""
    left, right = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if left.ndim != 1 or left.shape != right.shape or not len(left):
        raise ValueError(f"X and Y must be as many, and at least one each; found {left.size} and {right.size}")
    scores = np.concatenate([left, right])
    if not np.isfinite(scores).all():
        raise ValueError("an association score is not a finite number")
    return scores - scores.mean(), len(left)


def _reach(scores: Vector, n: int) -> float:
    """The minimum sum over X that reaches the observed one: the observed sum minus rounding error."""
    return float(scores[:n].sum() - ROUNDING * np.abs(scores).sum())


def _normal_tail(scores: Vector, n: int) -> float:
    """The normal upper tail at the observed sum; over random splits its mean is 0 and its variance known exactly."""
    from scipy.stats import norm

    deviation = sqrt(n * n * float(scores.var()) / (2 * n - 1))
    return float(norm.sf(scores[:n].sum() / deviation)) if deviation > 0 else 1.0


def _count_all(scores: Vector, n: int) -> int:
    """Counts the splits that reach the observed one, from subset sums of each half with n scores together."""
    reach = _reach(scores, n)
    left, right = _subset_sums(scores[:n]), _subset_sums(scores[n:])
    below = sum(int(np.searchsorted(right[n - k], reach - left[k]).sum()) for k in range(n + 1))
    return comb(2 * n, n) - below


def _subset_sums(scores: Vector) -> list[Vector]:
    """The sorted sums of the subsets of each size, from none of the scores to all."""
    half = len(scores) // 2
    sums: list[Vector] = [np.zeros(1)]
    for score in scores:
        more = [of_size + score for of_size in sums]
        # a stable sort of two sorted runs merges them, four times as fast as sorting all at the end
        both = [np.sort(np.concatenate([sums[k], more[k - 1]]), kind="stable") for k in range(1, len(sums))]
        sums = [sums[0], *both, more[-1]][: half + 1]
    # what a larger subset leaves out is a smaller one
    return sums + [scores.sum() - sums[len(scores) - size][::-1] for size in range(half + 1, len(scores) + 1)]


def _count_sampled(scores: Vector, n: int, samples: int, rng: np.random.Generator) -> int:
    """Counts random splits that reach the observed one; each comes with its mirror image, which is equally random."""
    reach = _reach(scores, n)
    drawn = _random_sums(scores, n, (samples + 1) // 2, rng)
    # the scores are centred, so that the mirror image of a split has the opposite sum
    return int((drawn >= reach).sum() + (-drawn[: samples // 2] >= reach).sum())


def _random_sums(scores: Vector, n: int, count: int, rng: np.random.Generator) -> Vector:
    """Returns sums over n random scores: each score is drawn with the probability that fills the free places."""
    size: type[np.uint16 | np.uint32] = np.uint16 if len(scores) < 2**16 else np.uint32  # short ones are drawn faster
    sums: Vector = np.zeros(count)
    free: NDArray[Any] = np.full(count, n, dtype=size)
    for waiting, score in zip(range(len(scores), 0, -1), scores, strict=True):
        drawn = rng.integers(0, waiting, size=count, dtype=size) < free
        sums += drawn * score
        free -= drawn
    return sums
