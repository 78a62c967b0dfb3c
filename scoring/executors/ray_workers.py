"""Scoring on a Ray cluster; the run folder is the same as on one machine.

The workers hold the models. This process reads the records, distributes chunks of the size that one machine scores at a
time, and stores the scores. A run can begin on one machine and end on another, and no score depends on the machine.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
"""Parts of a model that stay with the worker."""
Result = tuple[Scored, dict[str, Any]]
"""Scores, and the findings of the worker's self-checks."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """Facts about the model that a worker holds."""

    fields: Mapping[str, Any]
    """Fields of `Model` except those in `HELD`."""
    architecture: str
    records: int
    """Most records scored at a time."""


@dataclass(frozen=True, slots=True)
class Ray:
    """Runs a model in each worker of a cluster."""

    cluster: Cluster

    @contextmanager
    def open(
        self, model: str, protocol: Protocol, nsp: str | Path | None, loading: Mapping[str, Any]
    ) -> Iterator["RayScorer"]:
        """Opens the model in each worker; `loading` is that of `Local`."""
        place = str(Path(model).resolve()) if Path(model).is_dir() else model
        head = nsp and str(Path(nsp).resolve())
        with Workers(partial(start, place, model, protocol, head, loading), self.cluster) as workers:
            yield RayScorer(workers, nsp)

    def embed(self, model: str, protocol: Protocol, loading: Mapping[str, Any]) -> Embedding:
        """Opens the encoder in this process."""
        return local.Local().embed(model, protocol, loading)


def start(
    place: str, name: str, protocol: Protocol, nsp: str | Path | None, loading: Mapping[str, Any]
) -> tuple[Loaded, Callable[[Sequence[Any]], Result]]:
    """Loads the model in a worker; returns facts about it, and the function that scores a chunk of records."""
    model = replace(local.Local().load(place, loading), name=name)
    scorer = local.scorer(model, protocol, nsp, loading)
    records = local.size(scorer.backend, protocol)
    if records is None:
        raise ValueError(
            f"{protocol.name} scores all texts in one padded call, which cannot be divided: --engine local"
        )
    portable = {field.name: getattr(model, field.name) for field in fields(Model) if field.name not in HELD}

    def work(chunk: Sequence[Any]) -> Result:
        (scored,) = scorer.score([chunk], None)
        return scored, self_check.findings(scorer.self_checks)

    return Loaded(portable, type(model.module).__name__, records), work


class RayScorer(Scorer):
    """A model in the workers of a cluster."""

    def __init__(self, workers: "Workers[Loaded, Sequence[Any], Result]", nsp: str | Path | None = None) -> None:
        self._workers = workers
        self.about: About = local.about(_stand_in(workers.about), nsp)
        self._self_checks = {MODEL: Batching()} | ({HEAD: Batching()} if nsp else {})

    @property
    def self_checks(self) -> Mapping[str, Batching]:
        """Self-check findings of the workers."""
        return self._self_checks

    def sizes(self, took: Iterable[Took]) -> Sizes:
        """Returns sizes that follow from all finished chunks, in any order."""
        return Sizes(self._workers.about.records, took, lag=None)

    def score(self, chunks: Iterable[Sequence[Any]], folder: Path | None) -> Iterator[Scored]:
        """Yields the scores of each chunk, in order."""
        for _, (scored, findings) in self._workers.map(chunks):
            self_check.restore(self._self_checks, findings)
            yield scored

    def precision(self, records: Callable[[], Iterable[Any]], scores: Iterable[Score]) -> dict[str, Any]:
        """Returns, for half precision, a note that the error is not measured on a cluster."""
        dtype = self.about.facts["dtype"]
        return {"dtype": dtype, "checked": 0, "reason": DIVIDED} if dtype in HALVES else {}


def _stand_in(about: Loaded) -> Model:
    """Returns a placeholder of the model, whose network has a class name but no weights."""
    network = type(about.architecture, (), {})
    return Model(**about.fields, module=network(), tokenizer=None)
