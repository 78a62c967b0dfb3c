"""Several runs that one pass over a model fills: one ordinary run per protocol."""

from collections.abc import Mapping, Sequence
from typing import Any

from catsofa.data.records import Score
from catsofa.scoring.executors.chunk_sizes import Took
from catsofa.scoring.run.store import Run
from catsofa.scoring.score_columns import ScoreColumns


class SharedRuns:
    """The runs of one pass, which the scoring loop treats as a single run.

    Each run stores a chunk in its own transaction, in the order of the runs. A kill between two transactions leaves
    later runs one chunk behind. Every protocol then scores this whole chunk again, so that its batches are the same.
    """

    folder = None

    def __init__(self, runs: Sequence[Run]) -> None:
        self.runs = runs

    def self_checks(self) -> dict[str, Any]:
        """The self-check findings of the last run, which is the one furthest behind."""
        return self.runs[-1].self_checks()

    def chunks(self) -> list[Took]:
        """The chunks of the run with the fewest, at a tie of the last run; their seconds determine later sizes."""
        return min((run.chunks() for run in reversed(self.runs)), key=len)

    def done(self, items: Sequence[str]) -> set[str]:
        """The items that have scores in every run."""
        return set.intersection(*(run.done(items) for run in self.runs))

    def add(
        self,
        scores: Sequence[Score],
        self_checks: Mapping[str, Any] | None = None,
        took: Took | None = None,
        columns: ScoreColumns | None = None,
    ) -> None:
        """Store the scores of a chunk, split by protocol into the runs; a run that has all of its scores is skipped.

        Only scores of a single protocol come in columns.
        """
        if columns is not None:
            (only,) = self.runs
            only.add(scores, self_checks, took, columns)
            return
        each = len(scores) // len(self.runs)
        for number, run in enumerate(self.runs):
            own = scores[number * each : (number + 1) * each]
            items = [score.item for score in own]
            if not run.done(items).issuperset(items):
                run.add(own, self_checks, took)

    def note(self, event: str, **details: Any) -> None:
        """Add a line to the journal of each run."""
        for run in self.runs:
            run.note(event, **details)
