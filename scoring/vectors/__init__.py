"""Texts to vectors: sentence-transformers, any model of transformers, static vectors, vectors that you computed."""

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
    """An encoder made of a function and the key that names it."""

    key: Mapping[str, Any]
    vectors: Callable[[Sequence[str]], Matrix]
    batching: Batching = field(default_factory=Batching)
    """Findings of the self-check, of a model that is asked in batches made here."""
    unknown: Collection[str] | None = None
    """The texts read so far with unknown tokens; None where nobody counts them."""
    unused: str = ""
    """A sentence about weights of layers that the network does not use."""
    keep: Callable[[Path | None], None] = lambda _: None
    """Is told the folder of the run, by an encoder that keeps replies there."""

    def encode(self, texts: Sequence[str]) -> Matrix:
        """A row for each text, of length one where the key says so."""
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
    """The encoder in a folder, a file of vectors, or a hub id; `of_model` says what each option means.

    `loading` holds what else `models.load` takes.
    """
    path, unknown = Path(name).expanduser(), set[str]()
    given = {"pooling": pooling is not None, "layer": layer != -1, "special_tokens": not special_tokens}
    given |= {option: bool(value) for option, value in loading.items()}
    if path.is_file() and path.name.endswith(static_vectors.WORD_ENDINGS):
        _refuse(name, "a file of word vectors", given)
        found = static_vectors.word_vectors(path, unknown)
        return TextEncoder(_key(name, "words", path, unit_length), found, unknown=unknown)
    if path.is_file() and path.name.endswith(computed_vectors.ENDINGS):
        _refuse(name, "a file of computed vectors", given)
        return TextEncoder(_key(name, "computed", path, unit_length), computed_vectors.computed_vectors(path))
    folder = _with_modules(name, path, revision)
    if folder and static_vectors.is_token_folder(folder):
        _refuse(name, "a static embedding", given)
        found = static_vectors.token_vectors(folder, unknown)
        return TextEncoder(_key(name, "tokens", folder, unit_length), found, unknown=unknown)
    if folder:
        _refuse(name, "a sentence-transformers model, which pools in its own way", given)
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
    """The encoder of a loaded model: `pooling` of the states of `layer` (-1 the last, 0 the embeddings).

    Without `pooling` a model is read as SEAT reads its kind: a causal one by its last token, one with a [CLS] token by
    that, an encoder-decoder by the mean of its encoder.
    """
    return _encoder(model.as_it_is(), pooling, layer, unit_length, special_tokens)


def _encoder(model: Model, pooling: Pooling | None, layer: int, unit_length: bool, special_tokens: bool) -> TextEncoder:
    """The encoder of a model whose digest is that of its weights in memory, as it is right after loading."""
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
    """The key of an encoder without options of its own: its name, and the hash of its files."""
    return {"encoder": name, "kind": kind, "digest": _digest(name, place), "unit_length": unit_length}


def _digest(name: str, place: Path) -> str:
    """The hash of a model's files, or its commit on the hub, which names the folder in the hub's cache."""
    return digest_of(place) if place.is_file() or Path(name).expanduser().is_dir() else place.name


def _refuse(name: str, what: str, given: Mapping[str, bool]) -> None:
    """Refuse options that this encoder does not have."""
    if refused := [option for option, is_given in given.items() if is_given]:
        raise ValueError(f"{name} is {what}; it has no {' or '.join(refused)} to choose")


def _with_modules(name: str, path: Path, revision: str | None) -> Path | None:
    """The folder of a sentence-transformers or model2vec model, fetched from the hub if need be; None if it is none."""
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
    """A sentence-transformers model with its own pooling.

    Where transformers tokenises, unknown tokens are counted and a text longer than the model reads has no vector.
    """
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(folder), device=device, model_kwargs={"dtype": DTYPES.get(dtype, dtype)})

    tokenizer, unknown = model.tokenizer, set[str]()
    counts = hasattr(tokenizer, "backend_tokenizer")
    ids, dropped = (unknown_ids(tokenizer), dropped_by(tokenizer)) if counts else (frozenset[int](), None)
    longest = (model.max_seq_length or inf) - (tokenizer.num_special_tokens_to_add() if counts else 0)

    def encode(texts: Sequence[str]) -> Matrix:
        rows = model.encode(list(texts), convert_to_tensor=True, show_progress_bar=False)
        found: Matrix = rows.float().cpu().numpy()
        read = tokenizer(list(texts), add_special_tokens=False, verbose=False)["input_ids"] if counts else []
        for text, of, row in zip(texts, read, found, strict=counts):
            if not ids.isdisjoint(of) or (dropped and dropped(text)):
                unknown.add(text)
            if len(of) > longest:
                row[:] = nan
        return found

    return TextEncoder(key, encode, unknown=unknown if counts else None)
