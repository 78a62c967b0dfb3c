"""Which vectors lie near each other: exactly for few, by a forest of random trees for many."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

FEW = 8192
"""Vectors of which each is compared with each."""
LEAF = 64
"""Vectors that a tree leaves together and compares with each other."""
TREES = 16
SKETCH = 32
"""Numbers of a vector's random projection, by which the trees split."""
BLOCK = 1024

Vectors = NDArray[np.float32]


def near_vectors(vectors: Vectors, alike: float, *, few: int = FEW) -> dict[int, list[tuple[int, float]]]:
    """For each vector the earlier ones with a cosine of `alike` or more, and the cosines; rows have length one.

    Above `few` vectors a pair is found if any of the trees leaves it together: nearly all are. The time grows with
    the number of vectors and the depth of the trees.
    """
    found: dict[tuple[int, int], float] = {}
    for places in _groups(vectors, few):
        own = vectors[places]
        for start in range(0, len(places), BLOCK):
            cosines = own[start : start + BLOCK] @ own.T
            for row, column in np.argwhere(cosines >= alike).tolist():
                one, other = int(places[start + row]), int(places[column])
                if other < one:
                    found[one, other] = float(cosines[row, column])
    near: dict[int, list[tuple[int, float]]] = {}
    for (one, other), cosine in sorted(found.items()):
        near.setdefault(one, []).append((other, cosine))
    return near


def _groups(vectors: Vectors, few: int) -> Iterator[NDArray[np.int64]]:
    """The places of vectors that are compared with each other: all, or the leaves of each tree."""
    if len(vectors) <= few:
        yield np.arange(len(vectors))
        return
    rng = np.random.default_rng(0)
    for _ in range(TREES):
        sketches = vectors @ rng.standard_normal((vectors.shape[1], SKETCH), dtype=np.float32)
        parts: list[tuple[NDArray[np.int64], Vectors]] = [(np.arange(len(vectors)), sketches)]
        while parts:
            part, own = parts.pop()
            if len(part) <= LEAF:
                yield part
                continue
            # the direction between two of them splits at the median, so that leaves are of one size
            one, other = own[rng.integers(len(part), size=2)]
            half = len(part) // 2
            order = np.argpartition(own @ (one - other), half)
            parts += [(part[side], own[side]) for side in (order[:half], order[half:])]
