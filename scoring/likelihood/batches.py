"""Batches with little padding, longest rows first, that shrink when memory runs out."""

import ctypes
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

WASTE = 0.03
"""Largest share of padding in a batch."""
NONE = 0.0
"""No padding at all: rows of one length."""
SMALL = 64
"""Tokens below which a batch costs the same; a smaller batch takes rows of other lengths instead."""

FAILURES = (RuntimeError, ValueError, TypeError, IndexError, AttributeError)
"""Errors of a model that cannot process its input: a tree's mask, its positions, padding, or so wide a row."""


class OneRowTooLarge(ValueError):
    """Memory runs out over a single row."""


@dataclass(slots=True)
class Tally:
    """Counts of the work: asserted in tests, reported with a run."""

    scored: int = 0
    """Tokens whose probability was requested; equal questions count once."""
    forwarded: int = 0
    """Tokens that went through the network, without padding."""
    padding: int = 0
    rows: int = 0
    batches: int = 0
    halvings: int = 0
    checked: int = 0
    """Texts that the self-check forwarded alone; no other count includes them."""


def plan(lengths: Sequence[int], budget: int, waste: float = WASTE) -> list[list[int]]:
    """Returns row numbers by batch, longest rows first; a batch has at most `budget` tokens and `waste` of padding."""
    batches: list[list[int]] = []
    longest = tokens = 0
    for row in sorted(range(len(lengths)), key=lambda row: -lengths[row]):
        length = lengths[row]
        size = longest * (len(batches[-1]) + 1) if batches else 0
        too_big = size > budget
        wasteful = size - tokens - length > waste * size and (size > SMALL or waste == NONE)
        if not batches or too_big or wasteful:
            batches.append([])
            longest, tokens = length, 0
        batches[-1].append(row)
        tokens += length
    return batches


class Batches:
    """Batches of rows of these lengths, longest rows first; smaller ones after memory ran out."""

    def __init__(self, lengths: Sequence[int], budget: int, waste: float = WASTE) -> None:
        self._lengths, self._waste = lengths, waste
        self._left = plan(lengths, budget, waste)
        self.budget = budget
        """Most tokens of a batch."""

    def __iter__(self) -> Iterator[list[int]]:
        """Yields the rows of each batch; after `halve`, the rows of the last batch come again."""
        while self._left:
            rows = self._left[0]
            yield rows
            if self._left[0] is rows:
                self._left.pop(0)

    def halve(self, error: Exception) -> None:
        """Halves the budget after an out-of-memory error of the last batch; raises any other error.

        Raises OneRowTooLarge if the batch had a single row.
        """
        if not out_of_memory(error):
            raise error
        rows, lengths = self._left[0], self._lengths
        if len(rows) == 1:
            raise OneRowTooLarge(
                f"not enough memory for one row of {lengths[rows[0]]} tokens; use another device or a smaller dtype"
            ) from None
        self.budget = max(1, min(self.budget, len(rows) * lengths[rows[0]]) // 2)
        waiting = [row for batch in self._left for row in batch]
        again = plan([lengths[row] for row in waiting], self.budget, self._waste)
        self._left = [[waiting[index] for index in batch] for batch in again]
        free()


def out_of_memory(error: Exception) -> bool:
    """Returns True if an error reports that memory ran out, on a GPU or on the CPU."""
    message = str(error).lower()
    return isinstance(error, MemoryError) or (
        isinstance(error, RuntimeError)
        and ("out of memory" in message or "allocate memory" in message or "not enough memory" in message)
    )


def free() -> None:
    """Releases cached GPU memory."""
    import torch

    if torch.cuda.is_available():
        torch.cuda.empty_cache()


def give_pages_back() -> None:
    """Returns freed memory to the system, because glibc would retain it; other systems return it themselves."""
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).malloc_trim(0)
