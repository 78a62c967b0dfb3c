"""How many records a chunk holds: bounded by time, and the same in a run that was killed and goes on."""

from collections.abc import Iterable, Iterator

FIRST, TIMES = 4, 4
"""Records in the first chunk, which measures the rate, and how many times larger the next one may be."""
SECONDS = 10.0
"""What a chunk may take, and so what a kill may cost."""

Took = tuple[int, float]
"""Records of a chunk and the seconds they took; 0.0 where nobody measured them."""


class Sizes(Iterator[int]):
    """The size of each chunk in turn: the recorded ones, then those that follow from what earlier chunks took."""

    def __init__(self, most: int, took: Iterable[Took] = (), lag: int | None = 0) -> None:
        """Begin with the chunks that a run has recorded.

        The size of a chunk depends on all but the last `lag` chunks before it, since that many are cut ahead of the
        model; with None it depends on those that are done, whichever these are.
        """
        self.took = list(took)
        """The chunks that are done."""
        self._recorded = len(self.took)
        self._most, self._lag, self._number, self._last = most, lag, 0, 0

    def __next__(self) -> int:
        """The records of the next chunk."""
        number, self._number = self._number, self._number + 1
        if number < self._recorded:
            self._last = self.took[number][0]
        else:
            known = self.took if self._lag is None else self.took[: max(0, number - self._lag)]
            self._last = self._next(known)
        return self._last

    def note(self, number: int, took: Took) -> None:
        """Let later sizes depend on a chunk that was scored; those passed over before it say nothing."""
        if number >= len(self.took):
            self.took += [(0, 0.0)] * (number - len(self.took))
            self.took.append(took)

    def _next(self, known: list[Took]) -> int:
        """The largest size that keeps to the seconds at the last measured rate; a few steps that small noise misses."""
        if not self._last:
            return min(FIRST, self._most)
        measured = [records / seconds for records, seconds in known if seconds]
        if not measured and self._lag:
            return self._last
        size = min(self._last * TIMES, self._most)
        while measured and size > 1 and size > measured[-1] * SECONDS:
            size = max(1, size // TIMES)
        return size
