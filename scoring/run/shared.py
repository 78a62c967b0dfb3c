"""Several runs that one pass over a model fills: one for each protocol, each a run like any other."""

from collections.abc import Mapping, Sequence
from typing import Any

from catsofa.data.records import Score
from catsofa.scoring.executors.chunk_sizes import Took
from catsofa.scoring.run.store import Run


class SharedRuns:
    """The runs of one pass, which the loop of scoring fills as if they were one.

    Each run keeps a chunk in a transaction of its own, in the order of the runs. A kill between two of them leaves the
    later ones a chunk behind; it is then scored whole again, by every protocol, so that its batches are the same.
    """

    folder = None

    def __init__(self, runs: Sequence[Run]) -> None:
        self.runs = runs

    def self_checks(self) -> dict[str, Any]:
        """The findings that the run that is the furthest behind has kept."""
        return self.runs[-1].self_checks()

    def chunks(self) -> list[Took]:
        """The chunks that every run holds; of equal many those of the last run, whose seconds set the later sizes."""
        return min((run.chunks() for run in reversed(self.runs)), key=len)

    def done(self, items: Sequence[str]) -> set[str]:
        """Which of these items have their scores in every run."""
        return set.intersection(*(run.done(items) for run in self.runs))

    def add(
        self, scores: Sequence[Score], self_checks: Mapping[str, Any] | None = None, took: Took | None = None
    ) -> None:
        """Keep the scores of a chunk, those of each protocol in its run; a run that holds them all stays as it is."""
        each = len(scores) // len(self.runs)
        for at, run in enumerate(self.runs):
            own = scores[at * each : (at + 1) * each]
            items = [score.item for score in own]
            if not run.done(items).issuperset(items):
                run.add(own, self_checks, took)

    def note(self, event: str, **details: Any) -> None:
        """Add a line to the journal of each run."""
        for run in self.runs:
            run.note(event, **details)
