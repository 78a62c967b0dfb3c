"""Records to kept scores, a chunk at a time: what is done is passed over, what is begun is done whole.

A run keeps the size of each chunk and the seconds it took, and every size follows from those before. So a run that
was killed and goes on keeps to the chunks it had. Two runs may have other chunks; their scores then differ by rounding.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from itertools import islice
from time import monotonic
from typing import Any

from catsofa.data.records import Cat, Pair, Probe, Score, kind_name
from catsofa.scoring.items import Item, pairs, probes
from catsofa.scoring.items.cats import score_cats
from catsofa.scoring.likelihood import batches, released_padding, self_check
from catsofa.scoring.likelihood.backend import Backend
from catsofa.scoring.likelihood.engine import scores
from catsofa.scoring.protocols import Protocol
from catsofa.scoring.run.chunk_sizes import Sizes, Took
from catsofa.scoring.run.store import Run

WAYS: dict[type[Any], Callable[[Backend, Sequence[Any], Protocol], list[Score]]] = {
    Cat: score_cats,
    Pair: pairs.score_pairs,
    Probe: probes.score_probes,
}
AHEAD: Mapping[type[Any], Callable[[Backend, Sequence[Any], Protocol], list[Item | Score]]] = {
    Pair: pairs.items,
    Probe: probes.items,
}
"""What can be read and planned while a model is at work on something else: nothing in it forwards."""
LEAST, MOST = 1, 2048
"""Records in a chunk."""
WORK = 3e11
"""Parameters × records of a chunk on a CPU, at most."""
GPU_TIMES = 64
"""How many times the work a GPU is given at once."""


def score_all(backend: Backend, records: Iterable[Any], protocol: Protocol, run: Run) -> Iterator[Any]:
    """Score every record that the run does not hold yet; each is passed on when its scores are kept."""
    self_check.restore(backend.self_checks, run.self_checks())
    most = size(backend, protocol)
    sizes = None if most is None else Sizes(most, run.chunks(), lag=int(meanwhile(backend)))
    for number, (chunk, made) in enumerate(_made(backend, chunks(records, sizes), protocol, run)):
        if made:
            before, left_out, begun = backend.budget, self_check.signature(backend.self_checks), monotonic()
            found = made()
            took = (len(chunk), round(monotonic() - begun, 3))
            run.add(found, self_check.findings(backend.self_checks), took)
            note_taken(sizes, number, took)
            batches.give_pages_back()
            if backend.budget != before:
                run.note("out of memory", batch_tokens=backend.budget)
            if self_check.signature(backend.self_checks) != left_out:
                run.note("self-check", batching=self_check.signature(backend.self_checks))
        else:
            note_taken(sizes, number, (len(chunk), 0.0))
        yield from chunk


def note_taken(sizes: Sizes | None, number: int, took: Took) -> None:
    """Let later sizes know what a chunk took, unless the run had recorded that."""
    if sizes and number >= len(sizes.took):
        sizes.took.append(took)


Made = tuple[list[Any], Callable[[], list[Score]] | None]
"""A chunk, and what makes its scores; None where the run holds them."""


def _made(backend: Backend, stretches: Iterable[list[Any]], protocol: Protocol, run: Run) -> Iterator[Made]:
    """Each chunk with what makes its scores; the next one is tokenised meanwhile, if that costs the model no core."""
    waiting: deque[Made] = deque()
    with ThreadPoolExecutor(1) as thread:
        for chunk in stretches:
            kind, given = type(chunk[0]), (backend, chunk, protocol)
            if is_done(chunk, run):
                waiting.append((chunk, None))
            elif kind in AHEAD and meanwhile(backend):
                waiting.append((chunk, partial(_planned_scores, backend, thread.submit(AHEAD[kind], *given))))
            else:
                waiting.append((chunk, partial(WAYS[kind], *given)))
            if len(waiting) > meanwhile(backend):
                yield waiting.popleft()
        yield from waiting


def is_done(chunk: Sequence[Any], run: Run) -> bool:
    """Whether the run holds every score of a chunk."""
    items = [item for record in chunk for item in items_of(record)]
    return len(run.done(items)) == len(set(items))


def _planned_scores(backend: Backend, planned: Future[list[Item | Score]]) -> list[Score]:
    """The scores of what another thread has planned."""
    return scores(backend, planned.result())


def meanwhile(backend: Backend) -> bool:
    """Whether the processor is free while the model is at work."""
    return backend.model.device != "cpu"


def size(backend: Backend, protocol: Protocol) -> int | None:
    """Records in a chunk, at most: fewer for a larger model; all of them where a score depends on the whole call."""
    if protocol.padding == "tokenizer" and released_padding.changes_scores(backend):
        return None
    weights = sum(weight.numel() for weight in backend.model.module.parameters())
    times = 1 if backend.model.device == "cpu" else GPU_TIMES
    return times * int(min(max(WORK / weights, LEAST), MOST))


def chunks(records: Iterable[Any], sizes: Iterator[int] | None) -> Iterator[list[Any]]:
    """Stretches of records of one type, of these sizes; all records together where there are none."""
    left = iter(records)
    while chunk := list(islice(left, None if sizes is None else next(sizes))):
        kinds = {type(record) for record in chunk}
        if len(kinds) > 1 or not kinds <= set(WAYS):
            found = " and ".join(sorted(kind_name(kind) for kind in kinds))
            raise ValueError(f"found {found}; a model is scored on CATs, on CrowS-Pairs or on probes")
        yield chunk


def items_of(record: Cat | Pair | Probe) -> list[str]:
    """The ids under which a record's scores are kept."""
    return [candidate.id for candidate in record.candidates] if isinstance(record, Cat) else [record.id]
