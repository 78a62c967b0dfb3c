"""A scoring session on this machine, as the loop of `evaluate` runs it."""

from collections.abc import Iterable
from contextlib import suppress
from math import inf
from typing import Any

import pytest

from catsofa.data.progress import Progress
from catsofa.scoring.executors import chunk_sizes, local
from catsofa.scoring.executors.local import LocalScorer, about
from catsofa.scoring.likelihood.backend import Backend
from catsofa.scoring.measures.registry import measure_of
from catsofa.scoring.protocols import DEFAULT
from catsofa.scoring.run.session import score_all
from catsofa.scoring.run.store import Run


class Stopped(Exception):
    """Ends a run as a kill would."""


class Counted(Progress):
    """Counts the records that are done, and stops the work when there are enough."""

    def __init__(self, stop_after: int | None = None) -> None:
        self.done, self._stop_after = 0, stop_after

    def update(self, parts: int = 1) -> None:
        """Count, and perhaps stop."""
        self.done += parts
        if self._stop_after is not None and self.done >= self._stop_after:
            raise Stopped


def session(backend: Backend, records: Iterable[Any], run: Run, stop_after: int | None = None) -> int:
    """Score what the run does not hold; the number of records that are done at the end, or when it was stopped."""
    counted = Counted(stop_after)
    with suppress(Stopped):
        scorer, held = LocalScorer(backend, DEFAULT, about=about(backend.model)), list(records)
        score_all(scorer, measure_of(type(held[0])), held, run, counted)
    return counted.done


def chunks_of(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each chunk hold so many records, however long the machine takes for them."""
    monkeypatch.setattr(local, "LEAST", size)
    monkeypatch.setattr(local, "MOST", size)
    monkeypatch.setattr(chunk_sizes, "SECONDS", inf)
