"""Text encoders: sentence-transformers, any model of transformers, static vectors, and vectors that you computed."""

__all__ = ["load"]

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf, nan
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from catsofa.scoring import models
from catsofa.scoring.choices import Pooling
from catsofa.scoring.likelihood.self_check import Batching
from catsofa.scoring.models import computed_vectors, static_vectors
from catsofa.scoring.models.files import digest_of, find
from catsofa.scoring.models.model import DTYPES, Model
from catsofa.scoring.models.reader import dropped_by, unknown_ids
from catsofa.scoring.vectors.pooled_states import PooledStates, default_pooling

Vector = NDArray[np.float64]
Matrix = NDArray[np.floating[Any]]


@dataclass(frozen=True, slots=True)
class TextEncoder:
    """A text encoder: a function from texts to vectors, and the key that identifies it."""

    key: Mapping[str, Any]
    vectors: Callable[[Sequence[str]], Matrix]
    batching: Batching = field(default_factory=Batching)
    """Findings of the self-check, for a model whose batches are built in this process."""
    unknown: Collection[str] | None = None
    """Texts read so far that have unknown tokens; None if they are not counted."""
    unused: str = ""
    """Warning about weights of layers that the network does not use."""
    keep: Callable[[Path | None], None] = lambda _: None
    """Receives the folder of the run; an encoder on a server stores its replies there."""

    def encode(self, texts: Sequence[str]) -> Matrix:
        """Returns one row per text, scaled to length one if the key says so."""
        rows = self.vectors(texts)
        if self.key.get("unit_length"):
            with np.errstate(invalid="ignore"):
                rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return rows


def load(
    name: str,
    *,
    pooling: Pooling | None = None,
    layer: int = -1,
    unit_length: bool = False,
    special_tokens: bool = True,
    device: str | None = None,
    dtype: str = "float32",
    revision: str | None = None,
    **loading: Any,
) -> TextEncoder:
    """Loads the encoder in a folder, a file of vectors, or a hub id; `of_model` explains each option.

    `loading` holds further arguments of `models.load`.
    """
    path, unknown = Path(name).expanduser(), set[str]()
    options = {"pooling": pooling is not None, "layer": layer != -1, "special_tokens": not special_tokens}
    options |= {option: bool(value) for option, value in loading.items()}
    if path.is_file() and path.name.endswith(static_vectors.WORD_ENDINGS):
        _refuse(name, "a file of word vectors", options)
        lookup = static_vectors.word_vectors(path, unknown)
        return TextEncoder(_key(name, "words", path, unit_length), lookup, unknown=unknown)
    if path.is_file() and path.name.endswith(computed_vectors.ENDINGS):
        _refuse(name, "a file of computed vectors", options)
        return TextEncoder(_key(name, "computed", path, unit_length), computed_vectors.computed_vectors(path))
    folder = _with_modules(name, path, revision)
    if folder and static_vectors.is_token_folder(folder):
        _refuse(name, "a static embedding", options)
        lookup = static_vectors.token_vectors(folder, unknown)
        return TextEncoder(_key(name, "tokens", folder, unit_length), lookup, unknown=unknown)
    if folder:
        _refuse(name, "a sentence-transformers model, which pools in its own way", options)
        key = _key(name, "sentence-transformers", folder, unit_length) | {"dtype": dtype}
        return _sentence_transformer(folder, device, dtype, key)
    model = models.load(name, device=device, dtype=dtype, revision=revision, **loading)
    return _encoder(model, pooling, layer, unit_length, special_tokens)


def of_model(
    model: Model,
    *,
    pooling: Pooling | None = None,
    layer: int = -1,
    unit_length: bool = False,
    special_tokens: bool = True,
) -> TextEncoder:
    """Returns the encoder of a loaded model: `pooling` of the states of `layer` (-1 the last, 0 the embeddings).

    The default pooling is SEAT's for the kind of model: the last token of a causal model, [CLS] if the tokenizer has
    one, else the mean, as for the encoder of an encoder-decoder.
    """
    return _encoder(model.as_it_is(), pooling, layer, unit_length, special_tokens)


def _encoder(model: Model, pooling: Pooling | None, layer: int, unit_length: bool, special_tokens: bool) -> TextEncoder:
    """Returns the encoder of a model whose digest is that of its weights in memory, as right after loading."""
    chosen = pooling or default_pooling(model)
    reading = {"pooling": chosen, "layer": layer, "special_tokens": special_tokens, "unit_length": unit_length}
    states = PooledStates(model, chosen, layer, special_tokens)
    return TextEncoder(
        {"encoder": model.name, "kind": "transformers"} | model.identity() | reading,
        states,
        states.batching,
        states.unknown,
        model.unused,
    )


def _key(name: str, kind: str, place: Path, unit_length: bool) -> dict[str, Any]:
    """Returns the key of an encoder without its own options: its name, and the hash of its files."""
    return {"encoder": name, "kind": kind, "digest": _digest(name, place), "unit_length": unit_length}


def _digest(name: str, place: Path) -> str:
    """Returns the hash of a model's files, or its commit on the hub, which names its folder in the hub's cache."""
    return digest_of(place) if place.is_file() or Path(name).expanduser().is_dir() else place.name


def _refuse(name: str, encoder: str, options: Mapping[str, bool]) -> None:
    """Raises ValueError for options that this encoder does not have."""
    if refused := [option for option, is_given in options.items() if is_given]:
        raise ValueError(f"{name} is {encoder}; it has no {' or '.join(refused)} to choose")


def _with_modules(name: str, path: Path, revision: str | None) -> Path | None:
    """Returns the folder of a sentence-transformers or model2vec model, downloaded if needed; None for others."""
    if path.is_dir():
        return path if (path / "modules.json").is_file() or static_vectors.is_token_folder(path) else None
    from huggingface_hub import hf_hub_download, snapshot_download
    from huggingface_hub.errors import EntryNotFoundError, LocalEntryNotFoundError

    source = find(name, revision)
    try:
        hf_hub_download(source.name.partition("@")[0], "modules.json", revision=source.revision)
    except (EntryNotFoundError, LocalEntryNotFoundError):
        return None
    return Path(snapshot_download(source.name.partition("@")[0], revision=source.revision))


def _sentence_transformer(folder: Path, device: str | None, dtype: str, key: Mapping[str, Any]) -> TextEncoder:
    """Returns an encoder for a sentence-transformers model, with the model's own pooling.

    If transformers tokenises, unknown tokens are counted, and a text longer than the model reads gets NaN.
    """
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(folder), device=device, model_kwargs={"dtype": DTYPES.get(dtype, dtype)})

    tokenizer, unknown = model.tokenizer, set[str]()
    counts = hasattr(tokenizer, "backend_tokenizer")
    ids, dropped = (unknown_ids(tokenizer), dropped_by(tokenizer)) if counts else (frozenset[int](), None)
    longest = (model.max_seq_length or inf) - (tokenizer.num_special_tokens_to_add() if counts else 0)

    def encode(texts: Sequence[str]) -> Matrix:
        rows = model.encode(list(texts), convert_to_tensor=True, show_progress_bar=False)
        matrix: Matrix = rows.float().cpu().numpy()
        token_ids = tokenizer(list(texts), add_special_tokens=False, verbose=False)["input_ids"] if counts else []
        for text, tokens, row in zip(texts, token_ids, matrix, strict=counts):
            if not ids.isdisjoint(tokens) or (dropped and dropped(text)):
                unknown.add(text)
            if len(tokens) > longest:
                row[:] = nan
        return matrix

    return TextEncoder(key, encode, unknown=unknown if counts else None)
