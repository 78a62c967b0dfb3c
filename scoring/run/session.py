"""The scoring loop: skips records with stored scores, scores the others, and stores each chunk when it is done.

A run stores the size and the seconds of each chunk; every next size follows from them. So a resumed run has the same
chunks as before the kill. Two separate runs may have different chunks; their scores then differ by rounding.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from catsofa.data.formats.probe_columns import ProbeFile
from catsofa.data.progress import SILENT, Progress
from catsofa.data.records import Score
from catsofa.scoring.executors import Scorer
from catsofa.scoring.executors.chunk_sizes import Sizes
from catsofa.scoring.extras import NO_REPLY
from catsofa.scoring.likelihood import self_check
from catsofa.scoring.measures.registry import Measure, called
from catsofa.scoring.run.shared import SharedRuns
from catsofa.scoring.run.store import Run


def score_all(
    scorer: Scorer, measure: Measure, records: Iterable[Any], run: Run | SharedRuns, progress: Progress = SILENT
) -> list[Score]:
    """Score and store every record that the run lacks; return the scores without a reply, which are not stored."""
    self_check.restore(scorer.self_checks, run.self_checks())
    sizes, failed = scorer.sizes(run.chunks()), list[Score]()
    waiting: deque[tuple[int, Sequence[Any], int]] = deque()

    def missing() -> Iterator[Sequence[Any]]:
        for number, chunk in enumerate(chunks(records, sizes)):
            rest = chunk
            if done := run.done(measure.ids_of(chunk)):
                rest = [record for record in chunk if not done.issuperset(measure.ids(record))]
                if rest and scorer.whole_chunks:
                    rest = chunk
            progress.update(len(chunk) - len(rest))
            if rest:
                waiting.append((number, rest, len(rest)))
                yield rest

    budget, left_out = scorer.budget, self_check.signature(scorer.self_checks)
    for scored in scorer.score(missing(), run.folder):
        number, chunk, size = waiting.popleft()
        unanswered = [score for score in scored.scores if score.reason.startswith(NO_REPLY)]
        if unanswered:
            failed += unanswered
            again = {score.item for score in unanswered}
            size = sum(again.isdisjoint(measure.ids(record)) for record in chunk)
        took = (size, scored.seconds)
        answered = [score for score in scored.scores if not score.reason.startswith(NO_REPLY)]
        run.add(answered, self_check.findings(scorer.self_checks), took if size else None, scored.columns)
        if isinstance(sizes, Sizes):
            sizes.note(number, took)
        if scorer.budget != budget:
            budget = scorer.budget
            run.note("out of memory", batch_tokens=budget)
        if self_check.signature(scorer.self_checks) != left_out:
            left_out = self_check.signature(scorer.self_checks)
            run.note("self-check", batching=left_out)
        progress.update(len(chunk))
    return failed


def chunks(records: Iterable[Any], sizes: Iterator[int] | None) -> Iterator[Sequence[Any]]:
    """Split records into chunks of these sizes, or one chunk without sizes; each chunk must have one record type."""
    if isinstance(records, ProbeFile):
        yield from records.cut(sizes)
        return
    remaining = iter(records)
    while chunk := list(islice(remaining, None if sizes is None else next(sizes))):
        if len(kinds := {type(record) for record in chunk}) > 1:
            names = " and ".join(sorted(called(kind) for kind in kinds))
            raise ValueError(f"found {names}; a model is scored on records of one kind")
        yield chunk
