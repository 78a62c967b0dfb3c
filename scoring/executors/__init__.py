"""Executors: where a model runs while it is scored. Each opens a scorer, which one loop (run/session.py) feeds."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple
from typing import Protocol as Interface

from catsofa.data.records import Score
from catsofa.scoring.executors.chunk_sizes import Took
from catsofa.scoring.likelihood.self_check import MODEL, Batching
from catsofa.scoring.protocols import Protocol
from catsofa.scoring.vectors import TextEncoder


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """Describes the model of a scorer, for manifests and signatures."""

    name: str
    label: str
    """The model in a signature."""
    identity: Mapping[str, Any]
    """What a score depends on: in a run folder, none of it may change."""
    scored_by: tuple[str, ...]
    """The options of a protocol that a score depends on."""
    head: Mapping[str, Any] = field(default_factory=dict)
    """The identity of a trained next-sentence head."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """Facts for a reader of the run folder, on which no score depends."""
    unused: str = ""
    """A sentence about weights of layers that the network does not use, or about a model without a digest."""
    dtype: str = ""
    perplexity: str = ""
    """The substitute for a text's perplexity in a model that does not read from left to right."""
    counts_unknown: bool = False
    """Whether unknown tokens are counted."""


class Scored(NamedTuple):
    """The scores of one chunk, and the seconds that they took."""

    scores: list[Score]
    seconds: float


class Scorer(ABC):
    """A model that is ready to score records by one protocol."""

    about: About
    whole_chunks = True
    """Whether a chunk with a missing score is scored as a whole, since its scores share batches."""
    budget = 0
    """Tokens of a batch, which shrink where memory runs out; 0 for a model that another program runs."""

    @property
    def self_checks(self) -> Mapping[str, Batching]:
        """The findings of the self-checks by the part of the model."""
        return {}

    @abstractmethod
    def sizes(self, took: Iterable[Took]) -> Iterator[int] | None:
        """The number of records in each chunk, after those that a run recorded; None for a single chunk."""

    @abstractmethod
    def score(self, chunks: Iterable[list[Any]], folder: Path | None) -> Iterator[Scored]:
        """The scores of each chunk, in order; `folder` is that of the run."""

    def precision(self, records: Callable[[], Iterable[Any]], scores: Iterable[Score]) -> dict[str, Any]:
        """For half precision: the measured error, and how many preferences lie within it."""
        return {}

    def work(self) -> dict[str, Any]:
        """Counts of the work, for the journal of a run."""
        return {}


@dataclass(frozen=True, slots=True)
class Embedding:
    """A model that is ready to give vectors."""

    encoder: TextEncoder
    about: About

    @property
    def self_checks(self) -> Mapping[str, Batching]:
        """The findings of the self-checks."""
        return {MODEL: self.encoder.batching}


class NoVectors:
    """An executor whose models give no vectors."""

    no_vectors: str
    """The reason."""

    def embed(self, model: Any, protocol: Protocol, loading: Mapping[str, Any]) -> Embedding:
        """Refuse association tests."""
        raise ValueError(
            f"association tests need vectors, and {self.no_vectors}; expected CATs, pairs, probes or questions"
        )


class Executor(Interface):
    """Opens a model."""

    def open(
        self, model: Any, protocol: Protocol, nsp: str | Path | None, loading: Mapping[str, Any]
    ) -> AbstractContextManager[Scorer]:
        """The model, ready to score; `nsp` is the folder of a trained next-sentence head."""

    def embed(self, model: Any, protocol: Protocol, loading: Mapping[str, Any]) -> Embedding:
        """The model, ready to give vectors."""
