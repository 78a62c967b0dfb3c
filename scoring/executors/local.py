"""Scoring in this process, chunk by chunk; while a GPU scores one chunk, the CPU tokenises the next."""

import atexit
import gc
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from sys import version as python
from time import monotonic
from typing import Any

from catsofa.data.processes import uncollected
from catsofa.data.records import Score
from catsofa.scoring import next_sentence, vectors
from catsofa.scoring.executors import About, Embedding, Scored, Scorer
from catsofa.scoring.executors.chunk_sizes import Sizes, Took
from catsofa.scoring.items import score
from catsofa.scoring.items.score import Planned
from catsofa.scoring.likelihood import batches, engine, half_precision
from catsofa.scoring.likelihood.backend import Backend
from catsofa.scoring.likelihood.queries import Answer, Question
from catsofa.scoring.likelihood.self_check import Batching
from catsofa.scoring.measures.registry import measure_of
from catsofa.scoring.models import load
from catsofa.scoring.models.files import digest_of
from catsofa.scoring.models.model import Kind, Model
from catsofa.scoring.next_sentence import NextSentence
from catsofa.scoring.protocols import Protocol
from catsofa.scoring.signature import model_label, place_of

SCORED_BY = (
    "masked", "pieces", "masks", "pseudo", "blank", "first_token", "length", "causal_pair", "masked_pair", "crows",
    "padding",
)  # fmt: skip
"""Options that a text's score depends on; the others only affect what is computed from the scores."""
PERPLEXITIES: dict[Kind, str] = {
    "masked": "pseudo-perplexity",
    "sequence-to-sequence": "perplexity of a gap that is the whole text",
}
"""Substitute for a text's perplexity in models that do not read from left to right."""
LIBRARIES = ("torch", "transformers", "tokenizers", "numpy")
LEAST, MOST = 1, 8192
"""Fewest and most records in a chunk on a CPU."""
WORK = 3e11
"""Most parameters × records of a chunk on a CPU."""
GPU_TIMES, GPU_MOST = 64, 32768
"""Factor by which a chunk is larger on a GPU, and the most records in it."""


Plan = list[Planned]
"""The items of a chunk, for each protocol."""


class Local:
    """Runs a model in this process; reuses the model that was loaded last."""

    def __init__(self) -> None:
        self._named: tuple[str, dict[str, Any]] | None = None
        self._model: Model | None = None

    def load(self, name: str, loading: Mapping[str, Any]) -> Model:
        """Returns the model of this name; releases the previous model before it loads another one."""
        arguments = {option: value for option, value in loading.items() if option != "batch_tokens"}
        if self._model is None or self._named != (name, arguments):
            self._model, self._named = None, (name, arguments)
            self._model = load(name, **arguments)
        return self._model

    @contextmanager
    def open(
        self, model: str | Model, protocol: Protocol, nsp: str | Path | None, loading: Mapping[str, Any]
    ) -> Iterator["LocalScorer"]:
        """Opens the model for scoring; `loading` holds the arguments of `models.load`, and `batch_tokens`."""
        with uncollected():  # a fifth of the CPU time of thousands of imports went to collections
            loaded = self.load(model, loading) if isinstance(model, str) else model.as_it_is()
            opened = scorer(loaded, protocol, nsp, loading)
        yield opened

    def embed(self, model: str | Model, protocol: Protocol, loading: Mapping[str, Any]) -> Embedding:
        """Opens the encoder of a model; the encoder's key names it."""
        how = {
            option: getattr(protocol.seat, option) for option in ("pooling", "layer", "unit_length", "special_tokens")
        }
        arguments = {option: value for option, value in loading.items() if option != "batch_tokens"}
        encoder = vectors.load(model, **how, **arguments) if isinstance(model, str) else vectors.of_model(model, **how)
        key = {part: value for part, value in encoder.key.items() if part not in ("encoder", "model", "digest")}
        options = (f"{part}={value}" for part, value in key.items() if value not in (None, "", False))
        name = str(encoder.key["encoder"])
        about = About(
            name=name,
            label=model_label(name, str(encoder.key["digest"]), *options),
            identity={part: value for part, value in encoder.key.items() if part not in ("model", "encoder")},
            scored_by=SCORED_BY,
            facts={"place": place_of(name)},
            unused=encoder.unused,
            dtype=str(encoder.key.get("dtype", "float32")),  # vectors that are looked up are in float32
        )
        return Embedding(encoder, about)


def scorer(model: Model, protocol: Protocol, nsp: str | Path | None, loading: Mapping[str, Any]) -> "LocalScorer":
    """Returns the scorer of a loaded model with the trained head of a folder."""
    backend = Backend(model, loading.get("batch_tokens"), _loaded_head(nsp, model))
    _settle_memory()
    return LocalScorer(backend, protocol, about=about(model, nsp))


def _loaded_head(nsp: str | Path | None, model: Model) -> NextSentence | None:
    """Returns the trained head of this folder; raises ValueError if it was trained on another model."""
    if nsp is None:
        return None
    head = next_sentence.load(nsp, device=model.device)
    if head.about.get("settings", {}).get("model") not in (None, model.digest):
        raise ValueError(f"the head was trained on {head.about.get('base')}, and {model.name} is another model")
    return head


def about(model: Model, nsp: str | Path | None = None) -> About:
    """Describes a loaded model, and the trained head that it is used with."""
    head = {"nsp": digest_of(Path(nsp))} if nsp else {}
    identity = {key: value for key, value in model.identity().items() if key != "model"}
    with_head = [f"with {model_label(str(nsp), digest)}" for digest in head.values()]
    facts = {"device": model.device, "dtype": model.dtype, "precision": model.precision}
    libraries = {"python": python.split()[0], **{library: version(library) for library in LIBRARIES}}
    return About(
        name=model.name,
        label=model_label(model.name, model.digest, *with_head),
        identity=identity,
        scored_by=SCORED_BY,
        head=head,
        facts={"place": place_of(model.name), **facts, **libraries},
        unused=model.unused,
        dtype=model.precision,
        perplexity=PERPLEXITIES.get(model.kind, ""),
        counts_unknown=True,
    )


def _settle_memory() -> None:
    """Collects garbage of the imports, and excludes the remaining objects from collection until exit.

    A finaliser of that garbage would swallow a Ctrl-C that comes while it runs. At exit the objects are included again:
    libraries count what remains, and print it as leaks (nanobind, in torch).
    """
    gc.collect()
    gc.freeze()
    atexit.unregister(gc.unfreeze)
    atexit.register(gc.unfreeze)


class LocalScorer(Scorer):
    """A loaded model that scores each chunk by one protocol, or by several in turn.

    A question that an earlier protocol asked about the chunk is not forwarded again.
    """

    def __init__(self, backend: Backend, *protocols: Protocol, about: About) -> None:
        self.backend, self.protocol, self.about = backend, protocols[0], about
        self._protocols = protocols

    @property
    def self_checks(self) -> Mapping[str, Batching]:
        """Self-check findings."""
        return self.backend.self_checks

    @property
    def budget(self) -> int:  # type: ignore[override]  # it shrinks
        """Most tokens of a batch."""
        return self.backend.budget

    def sizes(self, took: Iterable[Took]) -> Sizes | None:
        """Returns sizes that keep a chunk to ten seconds; None if all records make one chunk."""
        most = size(self.backend, self.protocol)
        return None if most is None else Sizes(most, took, lag=int(meanwhile(self.backend)))

    def score(self, chunks: Iterable[Sequence[Any]], folder: Path | None) -> Iterator[Scored]:
        """Yields the scores of each chunk, in order."""
        plans = _Plans(map(self._plan, chunks))
        with _collecting_by_chunk() as collect:
            while True:
                begun = monotonic()
                if (plan := plans.next()) is None:
                    return
                # no thread: a thread that holds the interpreter lock would delay the model
                self.backend.meanwhile = plans.make if meanwhile(self.backend) else None
                columns, scores, answered = None, list[Score](), dict[Question, Answer]()
                try:
                    for items in plan:
                        questions = score.asked(items)
                        missing = (
                            [question for question in questions if question not in answered] if answered else questions
                        )
                        answers = engine.ask(self.backend, missing)
                        if len(self._protocols) > 1:
                            answered |= zip(missing, answers, strict=True)
                            answers = [answered[question] for question in questions]
                        columns, others = score.reduced(items, answers)
                        scores += others
                finally:
                    self.backend.meanwhile = None
                yield Scored(scores, round(monotonic() - begun, 3), columns)
                del plan, items, scores, columns, answered, answers
                collect()

    def _plan(self, chunk: Sequence[Any]) -> Plan:
        """Returns the items of a chunk; those of several protocols have no columns."""
        if len(self._protocols) == 1:
            return [score.planned(self.backend, chunk, self.protocol)]
        return [Planned(None, score.items(self.backend, chunk, protocol)) for protocol in self._protocols]

    def precision(self, records: Callable[[], Iterable[Any]], scores: Iterable[Score]) -> dict[str, Any]:
        """Returns the measured error of half precision, and how many preferences lie within it."""
        measure = measure_of(type(next(iter(records()))), self.protocol)
        return half_precision.precision(measure, self.backend, records, scores, self.protocol, score.score)

    def work(self) -> dict[str, Any]:
        """Returns the tally of the backend."""
        return {"work": asdict(self.backend.tally)}


class _Plans:
    """Plans of the chunks in turn; the next plan can be made in advance."""

    def __init__(self, plans: Iterator[Plan]) -> None:
        self._plans = plans
        self._made = list[Future[Plan | None]]()

    def make(self) -> None:
        """Makes the next plan; an error is stored until `next` asks for the plan."""
        future = Future[Plan | None]()
        self._made.append(future)
        try:
            future.set_result(next(self._plans, None))
        except Exception as error:  # noqa: BLE001  # raised by `next`
            future.set_exception(error)

    def next(self) -> Plan | None:
        """Returns the next plan; None after the last one."""
        if not self._made:
            self.make()
        return self._made.pop().result()


@contextmanager
def _collecting_by_chunk() -> Iterator[Callable[[], None]]:
    """Stops automatic garbage collection, and yields a function that collects after each chunk.

    A chunk is hundreds of thousands of objects without a cycle, and repeated scans of them took a third of the CPU
    time.
    """

    def collect() -> None:
        gc.collect(1)
        batches.give_pages_back()

    with uncollected():
        yield collect


def meanwhile(backend: Backend) -> bool:
    """Returns True if the CPU is free while the model works."""
    return backend.model.device != "cpu"


def size(backend: Backend, protocol: Protocol) -> int | None:
    """Returns the most records in a chunk, fewer for a larger model; None if scores depend on the whole call."""
    if protocol.sofa.padding == "tokenizer" and backend.model.pads_left:
        return None
    weights = sum(weight.numel() for weight in backend.model.module.parameters())
    times, most = (1, MOST) if backend.model.device == "cpu" else (GPU_TIMES, GPU_MOST)
    return int(min(max(times * WORK / weights, LEAST), most))
