"""Sizes of chunks: bounded by time, and the same in a run that is killed and resumed."""

from collections.abc import Iterable, Iterator

FIRST, TIMES = 4, 4
"""Records in the first chunk, which measures the rate, and the largest growth from one chunk to the next."""
SECONDS = 10.0
"""Target duration of a chunk, and so the most work that a kill can lose."""

Took = tuple[int, float]
"""Records of a chunk, and the seconds that they took; 0.0 if unmeasured."""


class Sizes(Iterator[int]):
    """Iterates over chunk sizes: first the recorded chunks, then sizes that follow from the speed of earlier chunks."""

    def __init__(self, most: int, took: Iterable[Took] = (), lag: int | None = 0) -> None:
        """Starts with the chunks that a run recorded.

        The size of a chunk depends on all earlier chunks except the last `lag`, because that many chunks are cut ahead
        of the model. With None it depends on all finished chunks, in any order.
        """
        self.took = list(took)
        """Finished chunks."""
        self._recorded = len(self.took)
        self._most, self._lag, self._number, self._last = most, lag, 0, 0

    def __next__(self) -> int:
        """Returns the number of records in the next chunk."""
        number, self._number = self._number, self._number + 1
        if number < self._recorded:
            self._last = self.took[number][0]
        else:
            finished = self.took if self._lag is None else self.took[: max(0, number - self._lag)]
            self._last = self._next(finished)
        return self._last

    def note(self, number: int, took: Took) -> None:
        """Records a scored chunk, so that later sizes depend on it; skipped earlier chunks count as unmeasured."""
        if number >= len(self.took):
            self.took += [(0, 0.0)] * (number - len(self.took))
            self.took.append(took)

    def _next(self, finished: list[Took]) -> int:
        """Returns the largest size that takes at most `SECONDS` at the last measured rate.

        Sizes change by the factor `TIMES`, so that small noise in the rate does not change them.
        """
        if not self._last:
            return min(FIRST, self._most)
        measured = [records / seconds for records, seconds in finished if seconds]
        if not measured and self._lag:
            return self._last
        size = min(self._last * TIMES, self._most)
        while measured and size > 1 and size > measured[-1] * SECONDS:
            size = max(1, size // TIMES)
        return size
