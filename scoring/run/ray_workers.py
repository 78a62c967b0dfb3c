"""A model on a data set with the work spread over a Ray cluster; the run folder is that of one machine.

The workers hold the models; this process reads the records, hands out the stretches that one machine would score at a
time, and keeps their scores. So a run may be begun here and ended there, and no score depends on where it was made.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any

from catsofa.data.records import Score
from catsofa.data.runs.ray_cluster import Cluster, Workers
from catsofa.scoring import next_sentence
from catsofa.scoring.dataset import Watched, data
from catsofa.scoring.evaluate import Watch, _about, _identity, _report, _same_model
from catsofa.scoring.likelihood import self_check
from catsofa.scoring.likelihood.backend import Backend
from catsofa.scoring.likelihood.self_check import HEAD, MODEL, Batching
from catsofa.scoring.models import Model, load
from catsofa.scoring.protocols import Protocol, named
from catsofa.scoring.results import Report
from catsofa.scoring.run.chunk_sizes import Sizes
from catsofa.scoring.run.chunks import WAYS, chunks, is_done, size
from catsofa.scoring.run.store import Run
from catsofa.scoring.statistics.intervals import RESAMPLES

HELD = ("module", "tokenizer")
"""What of a model stays with the worker."""
Scored = tuple[list[Score], dict[str, Any], float]
"""Scores, the findings of the worker's self-checks, and the seconds that it took."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """What is known of the model that a worker holds."""

    fields: Mapping[str, Any]
    """Those of `Model` but its network and tokenizer."""
    architecture: str
    records: int
    """How many of them are scored at a time."""


def evaluate(
    model: str,
    on: str | Path | Sequence[Any],
    cluster: Cluster,
    *,
    protocol: str | Protocol = "catsofa",
    out: str | Path | None = None,
    limit: int | None = None,
    nsp: str | Path | None = None,
    batch_tokens: int | None = None,
    with_terms: bool = False,
    resamples: int = RESAMPLES,
    watch: Watch = iter,
    **loading: Any,
) -> Report:
    """What `scoring.evaluate` says of CATs, CrowS-Pairs or probes, with each worker of a cluster holding the model."""
    chosen, of = named(protocol) if isinstance(protocol, str) else protocol, data(on, limit)
    if nsp is not None:
        chosen = replace(chosen, causal_pair="nsp", masked_pair="nsp")
    place = str(Path(model).resolve()) if Path(model).is_dir() else model
    head = nsp and str(Path(nsp).resolve())
    start = partial(_start, place, model, chosen, head, batch_tokens, loading)
    with Workers(start, cluster) as workers:
        loaded = _stand_in(workers.about)
        with Run.begin(out, _identity(loaded.identity(), of, chosen, nsp), _about(loaded, of, chosen, nsp)) as run:
            backend: Any = _Elsewhere(loaded, {MODEL: Batching()} | ({HEAD: Batching()} if nsp else {}))
            self_check.restore(backend.self_checks, run.self_checks())
            for _ in watch(Watched(_score_all(workers, of.records(), run, backend), of)):
                pass
            found = _report(of, chosen, backend, run, resamples, nsp)
            run.finish(found.to_dict())
    return found if with_terms else replace(found, terms=())


def _start(
    place: str,
    name: str,
    protocol: Protocol,
    nsp: str | Path | None,
    batch_tokens: int | None,
    loading: Mapping[str, Any],
) -> tuple[Loaded, Any]:
    """In a worker: load the model; what is known of it, and the function that scores a stretch of records."""
    model = replace(load(place, **loading), name=name)
    head = next_sentence.load(nsp, device=model.device) if nsp else None
    if head:
        _same_model(head, model)
    backend = Backend(model, batch_tokens, head)
    records = size(backend, protocol)
    if records is None:
        raise ValueError(
            f"{protocol.name} scores all texts in one padded call, which cannot be divided: --engine local"
        )
    known = {field.name: getattr(model, field.name) for field in fields(Model) if field.name not in HELD}

    def work(chunk: Sequence[Any]) -> Scored:
        begun = monotonic()
        found = WAYS[type(chunk[0])](backend, chunk, protocol)
        return found, self_check.findings(backend.self_checks), round(monotonic() - begun, 3)

    return Loaded(known, type(model.module).__name__, records), work


def _score_all(
    workers: "Workers[Loaded, list[Any], Scored]", records: Iterable[Any], run: Run, backend: "_Elsewhere"
) -> Iterator[Any]:
    """Score every record that the run does not hold yet; something is passed on for each that is kept."""
    before, sizes = Counter[str](), Sizes(workers.about.records, run.chunks(), lag=None)

    def left() -> Iterator[list[Any]]:
        for chunk in chunks(records, sizes):
            if is_done(chunk, run):
                before["done"] += len(chunk)
            else:
                yield chunk

    for chunk, (scores, findings, seconds) in workers.map(left()):
        self_check.restore(backend.self_checks, findings)
        run.add(scores, self_check.findings(backend.self_checks), (len(chunk), seconds))
        sizes.took.append((len(chunk), seconds))
        yield from chunk
    yield from range(before["done"])


@dataclass(frozen=True, slots=True)
class _Elsewhere:
    """A backend whose model is in other processes."""

    model: Model
    self_checks: dict[str, Batching]
    """What the workers' self-checks found."""


def _stand_in(about: Loaded) -> Model:
    """The model, with a network that has a name and is not here."""
    network = type(about.architecture, (), {"hf_device_map": {"": "the workers"}})
    return Model(**about.fields, module=network(), tokenizer=None)
