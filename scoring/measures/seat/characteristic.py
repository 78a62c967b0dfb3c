"""The tail of the sum of a random half of some numbers, computed from its characteristic function.

The sum of a random n of 2n numbers v has characteristic function [z^n] prod(1 + z e^{itv}) / C(2n, n). The coefficient
is exact by a discrete Fourier transform over the unit circle, and Gil-Pelaez's integral turns it into a probability:
deterministic, with no floor of one over the number of samples.
"""

from math import comb, pi, sqrt

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]

ACCURACY = 1e-6
"""The size of the error from 20 numbers a side on; a smaller tail cannot be told from it."""
STEP = 0.35
"""Between the nodes of the integral, in standard deviations of the sum."""
BEYOND = 8.5
"""Standard deviations past which the tail is under 1e-15; half of 2 pi / STEP, where the integral repeats itself."""
FARTHEST = 20.0
"""Numbers in clusters make the function rise again far out; nodes are looked for up to this times sqrt(2n)."""
NARROW = 0.3
"""Clusters whose widths together are under this share of the spread would make it rise beyond FARTHEST."""
NEGLIGIBLE = 1e-9
"""A node whose value is bounded by this is left out."""
BLOCK = 32
"""Numbers whose factors are multiplied together at once; they stay in the cache."""


def upper_tail(numbers: Vector, n: int) -> float:
    """P(sum of a random n of these 2n numbers >= the sum of the first n), where no two sums are equal."""
    v = numbers - numbers.mean()
    v = v / sqrt(n * n * float(v.var()) / (2 * n - 1))
    observed = float(v[:n].sum())
    if abs(observed) > BEYOND:
        return float(observed < 0)
    t = _nodes(v)
    integrand = np.imag(np.exp(-1j * t * observed) * _characteristic_function(v, n, t)) / t
    return float(np.clip(0.5 + integrand.sum() * STEP / pi, 0.0, 1.0))


def gathers(numbers: Vector) -> bool:
    """Whether many half sums are equal or nearly so (a grid, few numbers, narrow clusters): only counting is right."""
    distinct = np.unique(np.round(numbers / (float(np.abs(numbers).max()) or 1.0), 12))
    if len(distinct) < 16 or float(np.median(np.diff(distinct))) * len(distinct) < NARROW * float(distinct.std()):
        return True
    some = distinct[:64]
    pair_sums = np.sort((some[:, None] + some[None, :])[np.triu_indices(len(some), k=1)])
    return bool((np.diff(pair_sums) < 1e-11).any())


def _nodes(v: Vector) -> Vector:
    """Midpoints of the integral's steps where the characteristic function may not be negligible.

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
    """Points on the unit circle, as many as tell the n-th coefficient from those that they mix it with."""
    k = np.arange(1, n + 1)
    shares = np.cumprod((n - k + 1) / (n + k))  # C(2n, n + k) / C(2n, n)
    return 1 + int((shares > NEGLIGIBLE).sum())
