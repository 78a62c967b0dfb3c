"""Reads static vectors, one per word or token without context; the vector of a text is the mean of its vectors.

Word vectors are text files (GloVe; word2vec and fastText with a header) or word2vec's binary format, plain or gzipped;
only requested words are kept. Token vectors are folders from model2vec or sentence-transformers.
"""

import gzip
import json
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
from numpy.typing import NDArray

from catsofa.data.files import BadInput, existing_file, read_text

Matrix = NDArray[np.float32]
Encode = Callable[[Sequence[str]], Matrix]

EXPECTED = "word vectors"
WORD_ENDINGS = (".txt", ".vec", ".bin", ".glove", ".w2v", ".gz")
_WORDS = re.compile(r"\w+(?:['’]\w+)*|[^\w\s]")


def words_of(text: str) -> list[str]:
    """The words and punctuation marks of a text, as written; GloVe has vectors for both, and for capitalised words."""
    return _WORDS.findall(text)


def word_vectors(path: Path | str, unknown: set[str]) -> Encode:
    """An encoder from texts to the mean of their word vectors; words are looked up as written, then in lower case.

    Missing words are left out. A text with a missing word is added to `unknown`; punctuation marks do not count.
    """
    path = existing_file(path, EXPECTED)

    def encode(texts: Sequence[str]) -> Matrix:
        split = [words_of(text) for text in texts]
        wanted = {form for words in split for word in words for form in (word, word.lower())}
        by_word = read_word_vectors(path, wanted)
        per_text = [[by_word.get(word, by_word.get(word.lower())) for word in words] for words in split]
        for text, words, vectors in zip(texts, split, per_text, strict=True):
            if any(vector is None and word[0].isalnum() for word, vector in zip(words, vectors, strict=True)):
                unknown.add(text)
        return _means([[vector for vector in vectors if vector is not None] for vectors in per_text])

    return encode


def read_word_vectors(path: Path, wanted: set[str]) -> dict[str, Matrix]:
    """The vectors of the wanted words; if a word occurs twice in the file, the first vector counts."""
    vectors: dict[str, Matrix] = {}
    with cast("IO[bytes]", gzip.open(path) if path.suffix == ".gz" else path.open("rb")) as file:
        first = file.readline()
        header = re.fullmatch(rb"(\d+) (\d+)\s*", first)
        size = int(header[2]) if header else len(first.split()) - 1
        if size < 2:
            raise BadInput(path, "a first line without a word and its numbers", EXPECTED, 1)
        if path.name.removesuffix(".gz").endswith(".bin"):
            if not header:
                raise BadInput(path, "no header of two numbers", "word2vec's binary format", 1)
            for word, raw in _binary_rows(file, int(header[1]), size, path):
                if word in wanted:
                    vectors.setdefault(word, _finite(np.frombuffer(raw, dtype="<f4").astype(np.float32), size, path))
            return vectors
        for line, text in enumerate(file if header else chain([first], file), start=2 if header else 1):
            word, _, rest = text.decode("utf-8", "replace").partition(" ")
            if (
                word in wanted
                and word not in vectors
                and (vector := _numbers(rest.split(), size, path, line)) is not None
            ):
                vectors[word] = vector
    return vectors


def _numbers(fields: list[str], size: int, path: Path, line: int) -> Matrix | None:
    """The vector after a word; None with too many fields: then the word contains a space, and no wanted word does."""
    if len(fields) > size:
        return None
    try:
        with np.errstate(over="ignore"):
            vector = np.array(fields, dtype=np.float32)
    except ValueError:
        raise BadInput(path, f"{' '.join(fields)[:40]!r}", f"{size} numbers after a word", line) from None
    return _finite(vector, size, path, line)


def _finite(vector: Matrix, size: int, path: Path, line: int | None = None) -> Matrix:
    if len(vector) < size or not np.isfinite(vector).all():
        raise BadInput(path, f"{np.isfinite(vector).sum()} finite numbers after a word", f"{size} of them", line)
    return vector


def _binary_rows(file: IO[bytes], count: int, size: int, path: Path) -> Iterator[tuple[str, bytes]]:
    """Each word of word2vec's binary format, with the bytes of its vector."""
    width, held, start = 4 * size, b"", 0
    for _ in range(count):
        while (end := held.find(b" ", start)) < 0 or len(held) < end + 1 + width:
            more = file.read(1 << 20)
            if not more:
                raise BadInput(path, "an end before the last word", f"{count:,} words of {size} numbers")
            held, start = held[start:] + more, 0
        yield held[start:end].lstrip(b"\n").decode("utf-8", "replace"), held[end + 1 : end + 1 + width]
        start = end + 1 + width


def is_token_folder(folder: Path) -> bool:
    """Returns True if a folder is a static embedding from model2vec or sentence-transformers."""
    return _tensors_in(folder) is not None


def token_vectors(folder: Path, unknown: set[str]) -> Encode:
    """An encoder from texts to the mean of their token vectors, multiplied by token weights if the folder has them.

    A text with an unknown token is added to `unknown`.
    """
    from safetensors.numpy import load_file
    from tokenizers import Tokenizer

    place = _tensors_in(folder)
    if place is None:
        raise ValueError(f"{folder} holds no static embedding")
    tensors = load_file(place / "model.safetensors")
    vectors = tensors.get("embeddings", tensors.get("embedding.weight"))
    if vectors is None:
        raise ValueError(f"{place / 'model.safetensors'} holds {', '.join(tensors)}, and no embeddings")
    tokenizer = Tokenizer.from_file(str(place / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    rows = tensors.get("mapping", np.arange(len(vectors)))
    weights = tensors.get("weights", np.ones(len(rows))).astype(np.float32)
    # model2vec leaves out unknown tokens, sentence-transformers keeps them
    unknown_id = _unknown(tokenizer)
    left_out = unknown_id if "embeddings" in tensors else None

    def encode(texts: Sequence[str]) -> Matrix:
        encoded = tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)
        unknown.update(text for text, one in zip(texts, encoded, strict=True) if unknown_id in one.ids)
        ids = [[token for token in one.ids if token != left_out] for one in encoded]
        return _means([vectors[rows[one]].astype(np.float32) * weights[one][:, None] if one else [] for one in ids])

    return encode


def _tensors_in(folder: Path) -> Path | None:
    """The folder with the vectors of a static embedding; None if `folder` is not a static embedding."""
    place = folder
    if (folder / "modules.json").is_file():
        listed = json.loads(read_text(folder / "modules.json", "modules"))
        first = listed[0] if isinstance(listed, list) and listed and isinstance(listed[0], dict) else {}
        if not str(first.get("type", "")).endswith("StaticEmbedding"):
            return None
        place = folder / str(first.get("path", ""))
    elif _model_type(folder) != "model2vec":
        return None
    whole = (place / "model.safetensors").is_file() and (place / "tokenizer.json").is_file()
    return place if whole else None


def _model_type(folder: Path) -> str:
    """The `model_type` in config.json; empty without this file."""
    config = folder / "config.json"
    return str(json.loads(read_text(config, "a configuration")).get("model_type")) if config.is_file() else ""


def _unknown(tokenizer: Any) -> int | None:
    """The id of the unknown token; None without one."""
    model = json.loads(tokenizer.to_str())["model"]
    unknown = model.get("unk_token")
    token_id: int | None = tokenizer.token_to_id(unknown) if unknown else model.get("unk_id")
    return token_id


def _means(per_text: Sequence[Sequence[Matrix] | Matrix]) -> Matrix:
    """The mean of the vectors of each text; NaN for a text without vectors."""
    size = next((len(vectors[0]) for vectors in per_text if len(vectors)), 1)
    nothing = np.full(size, np.nan, dtype=np.float32)
    return np.stack([np.mean(vectors, axis=0) if len(vectors) else nothing for vectors in per_text])
