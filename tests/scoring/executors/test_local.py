"""Scoring in this process: planning ahead, and Python's garbage collection."""

import gc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from helpers.records import PROBES
from helpers.sessions import session

from catsofa.scoring.executors import local
from catsofa.scoring.executors.local import LocalScorer, about
from catsofa.scoring.likelihood.backend import Backend
from catsofa.scoring.models import load
from catsofa.scoring.protocols import DEFAULT
from catsofa.scoring.run.store import Run

Tiny = Callable[[str], Path]


@pytest.fixture
def scorer(tiny: Tiny) -> LocalScorer:
    """Returns a scorer with a small model."""
    backend = Backend(load(str(tiny("gpt2"))))
    return LocalScorer(backend, DEFAULT, about=about(backend.model))


def broken(chunks: list[list[Any]]) -> Iterator[list[Any]]:
    """Yields chunks, then fails like a file whose rest cannot be read."""
    yield from chunks
    raise OSError("the rest cannot be read")


@pytest.mark.parametrize("ahead", [False, True])
def test_an_error_in_the_next_chunk_comes_after_the_scores_of_this_one(
    ahead: bool, scorer: LocalScorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error in planning ahead is no failure of the model, so no part of the engine is left out."""
    monkeypatch.setattr(local, "meanwhile", lambda _: ahead)
    scored = scorer.score(broken([PROBES]), None)
    assert len(next(scored).scores) == len(PROBES)
    with pytest.raises(OSError, match="the rest"):
        next(scored)
    assert not scorer.backend.batching.left_out
    assert scorer.backend.meanwhile is None


def test_cycles_are_looked_for_between_chunks_alone_and_as_before_at_the_end(scorer: LocalScorer) -> None:
    """Automatic garbage collection is off during scoring, and restored when scoring ends or is closed early.

    A user who turned garbage collection off finds it off.
    """
    assert gc.isenabled()
    for stop in (False, True):
        scored = scorer.score(iter([PROBES, PROBES]), None)
        next(scored)
        assert not gc.isenabled()
        scored.close() if stop else list(scored)
        assert gc.isenabled()
    gc.disable()
    try:
        list(scorer.score(iter([PROBES]), None))
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_a_model_that_fails_leaves_no_work_of_an_earlier_run(
    scorer: LocalScorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A failed run removes the work that it planned for the time of scoring."""
    monkeypatch.setattr(local, "meanwhile", lambda _: True)
    monkeypatch.setattr(scorer.backend, "batched", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        list(scorer.score(iter([PROBES]), None))
    assert scorer.backend.meanwhile is None
    monkeypatch.undo()
    assert session(scorer.backend, PROBES, Run.begin(None, {}, {})) == len(PROBES)
