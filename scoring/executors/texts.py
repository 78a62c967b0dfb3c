"""Scoring by a model that gives the log-probabilities of texts: on a server, in vLLM, or a user-defined class."""

__all__ = ["OwnModel"]

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import repeat
from math import isfinite
from pathlib import Path
from time import monotonic
from typing import Any
from typing import Protocol as Interface

from catsofa.data.extras import MissingExtra
from catsofa.data.files import BadInput, short
from catsofa.data.plugins import what
from catsofa.data.servers.endpoints import Endpoint
from catsofa.data.servers.reply_store import ReplyStore
from catsofa.scoring import served
from catsofa.scoring.executors import About, Embedding, NoVectors, Scored, Scorer
from catsofa.scoring.executors.chunk_sizes import Took
from catsofa.scoring.items.texts import Query
from catsofa.scoring.models.given import UNHASHED
from catsofa.scoring.protocols import Protocol
from catsofa.scoring.served import ServedModel, vllm
from catsofa.scoring.served.embeddings import ServedVectors
from catsofa.scoring.served.replies import REPLIES, ROUNDING
from catsofa.scoring.served.scores import TextModel, refuse, score
from catsofa.scoring.signature import model_label, place_of
from catsofa.scoring.vectors import TextEncoder

SCORED_BY = ("first_token", "length", "causal_pair", "crows")
"""Options that the score of a text depends on."""
CHUNK = 256
"""Records whose texts are requested together."""
ROUNDS = 32
"""Records of a chunk for each concurrent request."""


class TextScorer(Scorer):
    """A model that returns the log-probabilities of texts on request."""

    whole_chunks = False

    def __init__(self, model: TextModel, protocol: Protocol, about: About) -> None:
        self.model, self.protocol, self.about = model, protocol, about

    def sizes(self, took: Iterable[Took]) -> Iterator[int]:
        """Yields the same number of records for each chunk."""
        return repeat(CHUNK)

    def score(self, chunks: Iterable[Sequence[Any]], folder: Path | None) -> Iterator[Scored]:
        """Yields the scores of each chunk, in order."""
        for chunk in chunks:
            begun = monotonic()
            yield Scored(score(self.model, chunk, self.protocol), round(monotonic() - begun, 3))


class ServedScorer(TextScorer):
    """A model on a server; each reply is stored in the run folder before it is used."""

    model: ServedModel

    def sizes(self, took: Iterable[Took]) -> Iterator[int]:
        """Yields large chunks, so that few requests wait for the last ones of a chunk."""
        return repeat(max(CHUNK, ROUNDS * self.model.endpoint.concurrency))

    def score(self, chunks: Iterable[Sequence[Any]], folder: Path | None) -> Iterator[Scored]:
        """Yields the scores of each chunk, in order; a text with a stored reply is not requested again."""
        server = self.model.identity()["at"]
        with ReplyStore(folder and folder / REPLIES, self.model.endpoint.hide, server=server) as replies:
            self.model = replace(self.model, replies=replies)
            yield from super().score(chunks, folder)


@dataclass(frozen=True, slots=True)
class Served:
    """Queries a server; `start` is the model's start token, if the server adds none."""

    endpoint: Endpoint
    start: str = ""

    @contextmanager
    def open(
        self, model: str, protocol: Protocol, nsp: str | Path | None, loading: Mapping[str, Any]
    ) -> Iterator[TextScorer]:
        """Opens a model by its name on the server, after a few test questions."""
        _refuse_head(nsp)
        connected = served.connect(model, self.endpoint, start=self.start, **loading)
        refuse(connected, protocol)
        yield ServedScorer(connected, protocol, _about(connected.name, connected.label, connected.identity()))

    def embed(self, model: str, protocol: Protocol, loading: Mapping[str, Any]) -> Embedding:
        """Opens the embeddings endpoint of the model, which pools in its own way."""
        requested = {"start": self.start, **loading}
        requested |= {"pooling": protocol.seat.pooling, "layer": protocol.seat.layer != -1}
        requested |= {"special_tokens": not protocol.seat.special_tokens}
        if refused := [option for option, value in requested.items() if value]:
            raise ValueError(f"{model} is asked for vectors by its server; it has no {' or '.join(refused)} to choose")
        address, unit_length = self.endpoint.base_url or "the default address", protocol.seat.unit_length
        key = {"encoder": model, "kind": "served", "at": address, "unit_length": unit_length}
        vectors = ServedVectors(model, self.endpoint)
        label = f"{model} at {address} kind=served" + " unit_length=True" * unit_length
        identity = {"served": model, "at": address, "unit_length": unit_length}
        return Embedding(TextEncoder(key, vectors, keep=vectors.keep), _about(model, label, identity))


class VLLM(NoVectors):
    """Runs a model in vLLM, which occupies a whole GPU."""

    no_vectors = "vLLM gives none here"

    @contextmanager
    def open(
        self, model: str, protocol: Protocol, nsp: str | Path | None, loading: Mapping[str, Any]
    ) -> Iterator[TextScorer]:
        """Opens a model by folder or hub id, after a few test questions; `loading` goes to `vllm.load`."""
        _refuse_head(nsp)
        loaded = vllm.load(model, starts=protocol.first_token != "skip", **loading)
        refuse(loaded, protocol)
        facts = {"place": place_of(model)}
        yield TextScorer(loaded, protocol, _about(loaded.name, loaded.label, loaded.identity(), facts))


class OwnModel(Interface):
    """Interface of a user-defined model class."""

    @property
    def name(self) -> str:
        """Name in a signature."""

    @property
    def digest(self) -> str:
        """Text that changes when the weights change: a hash, a version or a revision."""

    def loglikelihood(self, queries: Sequence[Query]) -> Sequence[Sequence[float]]:
        """Returns for each (context, text) the natural log-probability of each token of the text after the context.

        Without a context, the first token is conditioned on the model's start token.
        """


class Own(NoVectors):
    """Queries a user-defined model class."""

    no_vectors = "a model with `loglikelihood` alone gives none"

    @contextmanager
    def open(
        self, model: OwnModel, protocol: Protocol, nsp: str | Path | None, loading: Mapping[str, Any]
    ) -> Iterator[TextScorer]:
        """Opens the model, after a test question about how it tokenises a sentence after a context."""
        _refuse_head(nsp)
        _refuse_other_models(model)
        if loading:
            raise ValueError(f"{model.name} is loaded already; {', '.join(loading)} cannot change it")
        checked = Asked(model)
        refuse(checked, protocol)
        about = _about(model.name, model_label(model.name, model.digest), {"digest": model.digest})
        if model.digest == UNHASHED:
            warning = f"the function {model.name} has no digest: another function of this name has the same signature"
            about = replace(about, unused=warning)
        yield TextScorer(checked, protocol, about)


class Asked:
    """A user-defined model class, whose answers are checked."""

    starts = True

    def __init__(self, model: OwnModel) -> None:
        self._model, self.name = model, model.name
        after, spaced, bare = self.loglikelihood(
            [(served.CONTEXT, f" {served.AFTER}"), ("", f" {served.AFTER}"), ("", served.AFTER)]
        )
        alike = {len(bare): False, len(spaced): True}
        self.space = alike.get(len(after))

    def loglikelihood(self, queries: Sequence[Query]) -> list[tuple[float, ...]]:
        """Returns the answers; raises ValueError if the class fails or returns no valid log-probabilities."""
        try:
            replies = self._model.loglikelihood(queries) if queries else []
            replies = list(replies) if isinstance(replies, Iterator) else replies
        except (BadInput, MissingExtra, MemoryError):
            raise
        except Exception as error:
            raise ValueError(
                f"{type(self._model).__name__}.loglikelihood of {self.name} failed: {what(error)}"
            ) from error
        try:
            answers = [tuple(map(float, answer)) for answer in replies]
        except (TypeError, ValueError):
            raise ValueError(
                f"{self.name} gave {short(replies)}; expected for each query the log-probability of each token"
            ) from None
        if len(answers) != len(queries):
            raise ValueError(
                f"{self.name} gave {len(answers)} answers to {len(queries)} queries; expected one for each"
            )
        for query, answer in zip(queries, answers, strict=True):
            if not answer or not all(isfinite(value) and value <= ROUNDING for value in answer):
                raise ValueError(
                    f"{self.name} gave {list(answer)[:5]} for {query}; expected a log-probability for each token"
                )
        return answers


def _refuse_other_models(model: Any) -> None:
    """Raises ValueError for an invalid model class, or a name that would break the format of a signature."""
    if isinstance(model, type):
        raise ValueError(f"found the class {model.__name__}; expected an instance of it, as {model.__name__}()")
    for part in ("name", "digest"):
        value = getattr(model, part, None)
        if not isinstance(value, str) or not value.strip() or not value.isprintable() or "|" in value:
            raise ValueError(
                f"the `{part}` of {type(model).__name__} is {short(value)}; expected a printable text without `|`"
            )
    if not callable(getattr(model, "loglikelihood", None)):
        raise ValueError(f"{type(model).__name__} has no method `loglikelihood`; expected one, as `OwnModel` has it")


def _about(name: str, label: str, identity: Mapping[str, Any], facts: Mapping[str, Any] | None = None) -> About:
    """Describes a model that is asked for texts."""
    return About(name=name, label=label, identity=identity, scored_by=SCORED_BY, facts=facts or {})


def _refuse_head(nsp: str | Path | None) -> None:
    """Raises ValueError for a trained head, which reads the states of a model in this process."""
    if nsp is not None:
        raise ValueError("a next-sentence head needs the states of a model in this process; use --engine local")
