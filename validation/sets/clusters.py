"""Places that are connected, directly or through others."""

from collections.abc import Iterable


def clusters(pairs: Iterable[tuple[int, int]], size: int) -> list[int]:
    """For each of `size` places the least place it is connected with, directly or through others."""
    root = list(range(size))

    def find(place: int) -> int:
        while root[place] != place:
            root[place] = root[root[place]]
            place = root[place]
        return place

    for one, other in pairs:
        low, high = sorted((find(one), find(other)))
        root[high] = low
    return [find(place) for place in range(size)]
