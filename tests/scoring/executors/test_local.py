"""Scoring in this process: what is planned ahead, and Python's search for cycles."""

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
    """A small model at work."""
    backend = Backend(load(str(tiny("gpt2"))))
    return LocalScorer(backend, DEFAULT, about=about(backend.model))


def broken(chunks: list[list[Any]]) -> Iterator[list[Any]]:
    """Chunks of a file whose rest cannot be read."""
    yield from chunks
    raise OSError("the rest cannot be read")


@pytest.mark.parametrize("ahead", [False, True])
def test_an_error_in_the_next_chunk_comes_after_the_scores_of_this_one(
    ahead: bool, scorer: LocalScorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Planned ahead, it is no failure of the model at work: no part of the engine is left out for it."""
    monkeypatch.setattr(local, "meanwhile", lambda _: ahead)
    scored = scorer.score(broken([PROBES]), None)
    assert len(next(scored).scores) == len(PROBES)
    with pytest.raises(OSError, match="the rest"):
        next(scored)
    assert not scorer.backend.batching.left_out
    assert scorer.backend.meanwhile is None


def test_cycles_are_looked_for_between_chunks_alone_and_as_before_at_the_end(scorer: LocalScorer) -> None:
    """Whether all chunks are taken, or the one who takes them goes away; a user who turned it off finds it off."""
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
    """What was to be planned meanwhile goes with the run that asked for it."""
    monkeypatch.setattr(local, "meanwhile", lambda _: True)
    monkeypatch.setattr(scorer.backend, "batched", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        list(scorer.score(iter([PROBES]), None))
    assert scorer.backend.meanwhile is None
    monkeypatch.undo()
    assert session(scorer.backend, PROBES, Run.begin(None, {}, {})) == len(PROBES)
