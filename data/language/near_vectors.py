"""Finds pairs of near vectors: exactly for few vectors, with a forest of random projection trees for many."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

FEW = 8192
"""Maximum number of vectors for which all pairs are compared."""
LEAF = 64
"""Maximum number of vectors in a leaf of a tree, which are compared with each other."""
TREES = 16
SKETCH = 32
"""Dimensions of the random projection by which the trees split."""
BLOCK = 1024

Vectors = NDArray[np.float32]


def near_vectors(vectors: Vectors, alike: float, *, few: int = FEW) -> dict[int, list[tuple[int, float]]]:
    """For each vector, the earlier vectors with a cosine of at least `alike`, and the cosines; rows have length one.

    Above `few` vectors, a pair is found if any tree has both in one leaf; nearly all pairs are found. The time
    grows with the number of vectors and the depth of the trees.
    """
    similarities: dict[tuple[int, int], float] = {}
    for places in _groups(vectors, few):
        own = vectors[places]
        for start in range(0, len(places), BLOCK):
            cosines = own[start : start + BLOCK] @ own.T
            for row, column in np.argwhere(cosines >= alike).tolist():
                one, other = int(places[start + row]), int(places[column])
                if other < one:
                    similarities[one, other] = float(cosines[row, column])
    near: dict[int, list[tuple[int, float]]] = {}
    for (one, other), cosine in sorted(similarities.items()):
        near.setdefault(one, []).append((other, cosine))
    return near


def _groups(vectors: Vectors, few: int) -> Iterator[NDArray[np.int64]]:
    """Groups of positions of vectors that are compared with each other: all, or the leaves of each tree."""
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
            # split at the median along the direction between two random vectors, so that leaves have equal sizes
            one, other = own[rng.integers(len(part), size=2)]
            half = len(part) // 2
            order = np.argpartition(own @ (one - other), half)
            parts += [(part[side], own[side]) for side in (order[:half], order[half:])]
