"""Sizes of chunks: at most ten seconds of work, and the same sizes after a kill."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from helpers.sessions import session

from catsofa.data.records import Probe, Score
from catsofa.scoring.executors import local
from catsofa.scoring.executors.chunk_sizes import Sizes
from catsofa.scoring.items import Item
from catsofa.scoring.likelihood.backend import Backend
from catsofa.scoring.measures.sofa.questions import ProbeScores
from catsofa.scoring.models import load
from catsofa.scoring.protocols import Protocol
from catsofa.scoring.run.store import Run, read_scores

Tiny = Callable[[str], Path]
MANY = [Probe(category="invented", identity=f"zorbs of lake {n}", stereotype="are kind") for n in range(100)]


def simulated(rate: float, most: int, lag: int = 0, records: int = 5_000) -> Iterator[tuple[int, float]]:
    """Yields records and seconds of each chunk of a machine that scores `rate` records a second."""
    sizes, done = Sizes(most, lag=lag), 0
    waiting: list[int] = []
    while done < records:
        waiting.append(next(sizes))
        if len(waiting) > lag:
            size = waiting.pop(0)
            sizes.took.append((size, size / rate))
            done += size
            yield sizes.took[-1]


@pytest.mark.parametrize("lag", [0, 1])
@pytest.mark.parametrize("rate", [0.2, 3.0, 30.0, 90.0, 400.0, 5_000.0])
def test_after_the_first_no_chunk_takes_more_than_ten_seconds(rate: float, lag: int) -> None:
    """At any speed only a chunk of one record may take longer; the first chunks measure the speed."""
    took = list(simulated(rate, 2048, lag, records=int(min(5_000, 400 + 60 * rate))))
    for size, seconds in took[1 + lag :]:
        assert seconds <= 10 or size == 1
    fast = [size for size, _ in took][-2]
    assert fast * 4 >= min(10 * rate, 2048) or fast == 1, "chunks so small that work is wasted"


def test_an_ordinary_machine_cuts_the_same_chunks_at_any_load() -> None:
    """Two runs of one command have the same chunks, even if one machine is five times as busy."""
    fast, busy = ([size for size, _ in simulated(rate, 2048)] for rate in (1_500, 300))
    assert fast == busy == [4, 16, 64, 256, 1024, 2048, 2048]


@pytest.mark.parametrize("stopped", range(1, 6))
def test_sizes_after_a_kill_are_those_of_an_undisturbed_run(stopped: int) -> None:
    """The recorded chunks come first, and the next sizes follow from them."""
    took = list(simulated(40.0, 2048))
    assert len({size for size, _ in took}) > 1
    again = Sizes(2048, took[:stopped])
    sizes = [next(again) for _ in range(stopped)]
    for place in range(stopped, len(took)):
        sizes.append(next(again))
        again.took.append(took[place])
    assert sizes == [size for size, _ in took]


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Returns the list of scored chunk sizes, on a machine whose clock advances one second for each record."""
    clock, sizes, way = [0.0], list[int](), ProbeScores.items

    def score(sofa: ProbeScores, backend: Backend, records: Sequence[Any], protocol: Protocol) -> list[Item | Score]:
        clock[0] += len(records)
        sizes.append(len(records))
        return way(sofa, backend, records, protocol)

    monkeypatch.setattr(ProbeScores, "items", score)
    monkeypatch.setattr(local, "monotonic", lambda: clock[0])
    return sizes


def test_a_run_stopped_after_a_chunk_keeps_it_and_ends_as_one_that_was_not(
    tiny: Tiny, slow: list[int], tmp_path: Path
) -> None:
    """At one probe a second chunks have at most ten; finished chunks are stored, and the final scores are the same."""
    backend, empty = Backend(load(str(tiny("gpt2")))), ({"zorbs": 1}, {})
    with Run.begin(tmp_path / "whole", *empty) as run:
        assert session(backend, MANY, run) == 100
    whole, slow[:] = list(slow), []
    assert max(whole) <= 10
    for count in (4, 12):
        with Run.begin(tmp_path / "stopped", *empty) as run:
            session(backend, MANY, run, stop_after=count)
        assert len(read_scores(tmp_path / "stopped")) >= count
    with Run.begin(tmp_path / "stopped", *empty) as run:
        session(backend, MANY, run)
    assert slow == whole
    assert read_scores(tmp_path / "stopped") == read_scores(tmp_path / "whole")
