"""Executors: where a model runs while it is scored. Each opens a scorer, which the loop in run/session.py feeds."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple
from typing import Protocol as Interface

from catsofa.data.records import Score
from catsofa.scoring.executors.chunk_sizes import Took
from catsofa.scoring.likelihood.self_check import MODEL, Batching
from catsofa.scoring.protocols import Protocol
from catsofa.scoring.score_columns import ScoreColumns
from catsofa.scoring.vectors import TextEncoder


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """Describes the model of a scorer, for manifests and signatures."""

    name: str
    label: str
    """Name of the model in a signature."""
    identity: Mapping[str, Any]
    """Facts that a score depends on; none of them may change within a run folder."""
    scored_by: tuple[str, ...]
    """Protocol options that a score depends on."""
    head: Mapping[str, Any] = field(default_factory=dict)
    """Identity of a trained next-sentence head."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """Further facts for readers of the run folder; no score depends on them."""
    unused: str = ""
    """A warning about weights of unused layers, or about a model without a digest."""
    dtype: str = ""
    perplexity: str = ""
    """Substitute for a text's perplexity, for a model that does not read from left to right."""
    counts_unknown: bool = False
    """True if unknown tokens are counted."""


class Scored(NamedTuple):
    """Scores of one chunk, and the seconds that they took."""

    scores: list[Score]
    seconds: float
    columns: ScoreColumns | None = None
    """Scores beside those in `scores`."""


class Scorer(ABC):
    """A model that is ready to score records by one protocol."""

    about: About
    whole_chunks = True
    """True if a chunk with a missing score is scored again as a whole, because its scores share batches."""
    budget = 0
    """Most tokens in a batch, reduced if memory runs out; 0 for a model that another program runs."""

    @property
    def self_checks(self) -> Mapping[str, Batching]:
        """Self-check findings, by part of the model."""
        return {}

    @abstractmethod
    def sizes(self, took: Iterable[Took]) -> Iterator[int] | None:
        """Returns the number of records in each chunk, given the recorded chunks of a run; None for a single chunk."""

    @abstractmethod
    def score(self, chunks: Iterable[Sequence[Any]], folder: Path | None) -> Iterator[Scored]:
        """Yields the scores of each chunk, in order; `folder` is the run folder."""

    def precision(self, records: Callable[[], Iterable[Any]], scores: Iterable[Score]) -> dict[str, Any]:
        """Returns the measured error of half precision, and how many preferences lie within it; else empty."""
        return {}

    def work(self) -> dict[str, Any]:
        """Returns counts of the work, for the journal of a run."""
        return {}


@dataclass(frozen=True, slots=True)
class Embedding:
    """A model that is ready to give vectors."""

    encoder: TextEncoder
    about: About

    @property
    def self_checks(self) -> Mapping[str, Batching]:
        """Self-check findings."""
        return {MODEL: self.encoder.batching}


class NoVectors:
    """An executor whose models give no vectors."""

    no_vectors: str
    """Reason, for the error message."""

    def embed(self, model: Any, protocol: Protocol, loading: Mapping[str, Any]) -> Embedding:
        """Raises ValueError, because association tests need vectors."""
        raise ValueError(
            f"association tests need vectors, and {self.no_vectors}; expected CATs, pairs, probes or questions"
        )


class Executor(Interface):
    """Interface of executors, which open models."""

    def open(
        self, model: Any, protocol: Protocol, nsp: str | Path | None, loading: Mapping[str, Any]
    ) -> AbstractContextManager[Scorer]:
        """Opens the model for scoring; `nsp` is the folder of a trained next-sentence head."""

    def embed(self, model: Any, protocol: Protocol, loading: Mapping[str, Any]) -> Embedding:
        """Opens the model for vectors."""
