"""Records to kept scores, a chunk at a time: what is done is passed over, what is begun is done whole.

A chunk is a fixed stretch of the data, so that a run that was killed and goes on makes the same batches, and so
the same numbers to the last bit, as one that was not.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from catsofa.data.records import Cat, Pair, Probe, Score, kind_name
from catsofa.scoring import released_padding
from catsofa.scoring.backend import Backend
from catsofa.scoring.protocols import Protocol
from catsofa.scoring.runs import Run
from catsofa.scoring.score_cats import score_cats
from catsofa.scoring.score_pairs import score_pairs
from catsofa.scoring.score_probes import score_probes

WAYS: dict[type[Any], Callable[[Backend, Sequence[Any], Protocol], list[Score]]] = {
    Cat: score_cats,
    Pair: score_pairs,
    Probe: score_probes,
}
LEAST, MOST = 64, 8192
"""Records in a chunk."""
WORK = 3e11
"""Parameters × records of a chunk on a CPU: some seconds of work, which is what a kill may cost."""
GPU_TIMES = 64
"""How many times the work a GPU is given at once."""


def score_all(backend: Backend, records: Iterable[Any], protocol: Protocol, run: Run) -> Iterator[Any]:
    """Score every record that the run does not hold yet; each is passed on when its scores are kept."""
    for chunk in chunks(records, size(backend, protocol)):
        items = [item for record in chunk for item in items_of(record)]
        if len(run.done(items)) < len(set(items)):
            before = backend.budget
            run.add(WAYS[type(chunk[0])](backend, chunk, protocol))
            if backend.budget != before:
                run.note("out of memory", batch_tokens=backend.budget)
        yield from chunk


def size(backend: Backend, protocol: Protocol) -> int | None:
    """Records in a chunk: fewer for a larger model; all of them where a score depends on the whole call."""
    if protocol.padding == "tokenizer" and released_padding.changes_scores(backend):
        return None
    weights = sum(weight.numel() for weight in backend.model.module.parameters())
    times = 1 if backend.model.device == "cpu" else GPU_TIMES
    return times * int(min(max(WORK / weights, LEAST), MOST))


def chunks(records: Iterable[Any], records_each: int | None) -> Iterator[list[Any]]:
    """Stretches of records of one type."""
    left = iter(records)
    while chunk := list(islice(left, records_each)):
        kinds = {type(record) for record in chunk}
        if len(kinds) > 1 or not kinds <= set(WAYS):
            found = " and ".join(sorted(kind_name(kind) for kind in kinds))
            raise ValueError(f"found {found}; a model is scored on CATs, on CrowS-Pairs or on probes")
        yield chunk


def items_of(record: Cat | Pair | Probe) -> list[str]:
    """The ids under which a record's scores are kept."""
    return [candidate.id for candidate in record.candidates] if isinstance(record, Cat) else [record.id]
