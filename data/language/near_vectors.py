"""Finds pairs of near vectors: exactly for few vectors, with a forest of random projection trees for many."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

FEW = 8192
"""Maximum number of vectors for which all pairs are compared."""
LEAF = 52
"""Number of vectors in a leaf of a tree, which are compared with each other; a leaf may hold one more."""
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
        leaves = max(1, round(len(vectors) / LEAF))
        parts: list[tuple[NDArray[np.int64], Vectors, int]] = [(np.arange(len(vectors)), sketches, leaves)]
        while parts:
            part, own, leaves = parts.pop()
            if leaves == 1:
                yield part
                continue
            # split along the direction between two random vectors, in proportion to the leaves on each side: a split
            # at the median would give leaves of 32 to 64 vectors, and so another cost and recall for each count
            one, other = own[rng.integers(len(part), size=2)]
            left = leaves // 2
            cut = len(part) * left // leaves
            order = np.argpartition(own @ (one - other), cut)
            parts += [
                (part[side], own[side], count) for side, count in ((order[:cut], left), (order[cut:], leaves - left))
            ]
