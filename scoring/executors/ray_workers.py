"""Scoring on a Ray cluster; the run folder is that of one machine.

The workers hold the models; this process reads the records, hands out the stretches that one machine would score at a
time, and keeps their scores. So a run may be begun here and ended there, and no score depends on where it was made.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import Any

from catsofa.data.records import Score
from catsofa.data.runs.ray_cluster import Cluster, Workers
from catsofa.scoring.executors import About, Embedding, Scored, Scorer, local
from catsofa.scoring.executors.chunk_sizes import Sizes, Took
from catsofa.scoring.likelihood import self_check
from catsofa.scoring.likelihood.half_precision import DIVIDED, HALVES
from catsofa.scoring.likelihood.self_check import HEAD, MODEL, Batching
from catsofa.scoring.models.model import Model
from catsofa.scoring.protocols import Protocol

HELD = ("module", "tokenizer", "loaded")
"""What of a model stays with the worker."""
Result = tuple[Scored, dict[str, Any]]
"""Scores, and the findings of the worker's self-checks."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """What is known of the model that a worker holds."""

    fields: Mapping[str, Any]
    """Those of `Model` but its network and tokenizer."""
    architecture: str
    records: int
    """How many of them are scored at a time."""


@dataclass(frozen=True, slots=True)
class Ray:
    """Runs a model in each worker of a cluster."""

    cluster: Cluster

    @contextmanager
    def open(
        self, model: str, protocol: Protocol, nsp: str | Path | None, loading: Mapping[str, Any]
    ) -> Iterator["RayScorer"]:
        """The model in each worker, ready to score; `loading` is that of `Local`."""
        place = str(Path(model).resolve()) if Path(model).is_dir() else model
        head = nsp and str(Path(nsp).resolve())
        with Workers(partial(start, place, model, protocol, head, loading), self.cluster) as workers:
            yield RayScorer(workers, nsp)

    def embed(self, model: str, protocol: Protocol, loading: Mapping[str, Any]) -> Embedding:
        """The encoder in this process."""
        return local.Local().embed(model, protocol, loading)


def start(
    place: str, name: str, protocol: Protocol, nsp: str | Path | None, loading: Mapping[str, Any]
) -> tuple[Loaded, Callable[[list[Any]], Result]]:
    """In a worker: load the model; what is known of it, and the function that scores a stretch of records."""
    model = replace(local.Local().load(place, loading), name=name)
    scorer = local.scorer(model, protocol, nsp, loading)
    records = local.size(scorer.backend, protocol)
    if records is None:
        raise ValueError(
            f"{protocol.name} scores all texts in one padded call, which cannot be divided: --engine local"
        )
    known = {field.name: getattr(model, field.name) for field in fields(Model) if field.name not in HELD}

    def work(chunk: list[Any]) -> Result:
        (scored,) = scorer.score([chunk], None)
        return scored, self_check.findings(scorer.self_checks)

    return Loaded(known, type(model.module).__name__, records), work


class RayScorer(Scorer):
    """A model in the workers of a cluster."""

    def __init__(self, workers: "Workers[Loaded, list[Any], Result]", nsp: str | Path | None = None) -> None:
        self._workers = workers
        self.about: About = local.about(_stand_in(workers.about), nsp)
        self._self_checks = {MODEL: Batching()} | ({HEAD: Batching()} if nsp else {})

    @property
    def self_checks(self) -> Mapping[str, Batching]:
        """The findings of the workers' self-checks."""
        return self._self_checks

    def sizes(self, took: Iterable[Took]) -> Sizes:
        """Sizes that follow from the chunks that are done, whichever these are."""
        return Sizes(self._workers.about.records, took, lag=None)

    def score(self, chunks: Iterable[list[Any]], folder: Path | None) -> Iterator[Scored]:
        """The scores of each chunk, in order."""
        for _, (scored, findings) in self._workers.map(chunks):
            self_check.restore(self._self_checks, findings)
            yield scored

    def precision(self, records: Callable[[], Iterable[Any]], scores: Iterable[Score]) -> dict[str, Any]:
        """For half precision: that the error is not measured on a cluster."""
        dtype = self.about.facts["dtype"]
        return {"dtype": dtype, "checked": 0, "reason": DIVIDED} if dtype in HALVES else {}


def _stand_in(about: Loaded) -> Model:
    """The model, with a network that has a name and is not here."""
    network = type(about.architecture, (), {})
    return Model(**about.fields, module=network(), tokenizer=None)
