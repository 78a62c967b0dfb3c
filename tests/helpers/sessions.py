"""A local scoring session, as the loop of `evaluate` runs it."""

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
    """Ends a run like a kill."""


class Counted(Progress):
    """Counts the finished records, and stops the work when there are enough."""

    def __init__(self, stop_after: int | None = None) -> None:
        self.done, self._stop_after = 0, stop_after

    def update(self, parts: int = 1) -> None:
        """Counts, and stops if the limit is reached."""
        self.done += parts
        if self._stop_after is not None and self.done >= self._stop_after:
            raise Stopped


def session(backend: Backend, records: Iterable[Any], run: Run, stop_after: int | None = None) -> int:
    """Scores the records missing in the run. Returns the number of records finished at the end or at the stop."""
    counted = Counted(stop_after)
    with suppress(Stopped):
        scorer, held = LocalScorer(backend, DEFAULT, about=about(backend.model)), list(records)
        score_all(scorer, measure_of(type(held[0])), held, run, counted)
    return counted.done


def chunks_of(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sets the chunk size, independent of the speed of the machine."""
    monkeypatch.setattr(local, "LEAST", size)
    monkeypatch.setattr(local, "MOST", size)
    monkeypatch.setattr(chunk_sizes, "SECONDS", inf)
