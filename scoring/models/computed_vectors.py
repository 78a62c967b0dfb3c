"""Reads precomputed vectors from a file: one vector per text, from any encoder.

An npz file has arrays `texts` and `vectors`; a Parquet file has columns `text` and `vector`. In an HDF5 file, the
dataset name of each vector is its text, in groups or not, as in the released code of SEAT.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from catsofa.data.files import BadInput, existing_file, short
from catsofa.scoring.models.static_vectors import Encode, Matrix

ENDINGS = (".npz", ".h5", ".hdf5", ".parquet")
EXPECTED = "computed vectors: `texts` and `vectors` (npz), `text` and `vector` (Parquet), vectors named by texts (HDF5)"

LEAST = 1e-30
"""The minimum of a vector's largest absolute value; below it, the other values lose digits in float32."""
REAL = "biufO"
"""Dtype kinds with real numbers; objects are converted one by one. Complex numbers would lose a part, and dates or
words are not numbers."""


def computed_vectors(path: Path | str) -> Encode:
    """An encoder that looks up the vector of the exact text in the file; NaN for a missing text."""
    path = existing_file(path, EXPECTED)
    vectors = _by_text(path, _READERS[path.suffix.lower()](path))
    nothing = np.full(len(next(iter(vectors.values()))), np.nan, dtype=np.float32)

    def encode(texts: Sequence[str]) -> Matrix:
        return np.stack([vectors.get(text, nothing) for text in texts])

    return encode


def _by_text(path: Path, pairs: Iterable[tuple[Any, Any]]) -> dict[str, Matrix]:
    """Text to vector; vectors must be finite and of one length, and a text may not have two different vectors."""
    vectors: dict[str, Matrix] = {}
    for text, vector in pairs:
        try:
            numbers = np.asarray(vector)
            with np.errstate(over="ignore"):
                row = numbers.astype(np.float32, casting="unsafe" if numbers.dtype.kind in REAL else "safe")
        except (TypeError, ValueError):
            raise BadInput(path, f"{short(vector)} as the vector of {short(text)}", "numbers") from None
        size = len(next(iter(vectors.values()))) if vectors else row.size
        if not isinstance(text, str) or row.shape != (size,) or size < 2 or not np.isfinite(row).all():
            problem = f"{row.shape} with {np.isfinite(row).sum()} finite numbers for {short(text)}"
            raise BadInput(path, problem, f"a text and a vector of {max(size, 2)} finite numbers")
        if np.any(numbers) and np.abs(row).max() < LEAST:
            expected = f"a number of {LEAST:g} or more; multiply all vectors, which changes no cosine"
            raise BadInput(path, f"a vector of smaller numbers for {short(text)}", expected)
        if text in vectors and not np.array_equal(vectors[text], row):
            raise BadInput(path, f"two vectors of {short(text)}", "one vector for each text")
        vectors[text] = row
    if not vectors:
        raise BadInput(path, "no vector", EXPECTED)
    return vectors


def _npz(path: Path) -> Iterator[tuple[Any, Any]]:
    """The pairs from the arrays `texts` and `vectors`, without unpickling."""
    from lzma import LZMAError
    from zipfile import BadZipFile
    from zlib import error as broken

    faults = (OSError, KeyError, TypeError, ValueError, RuntimeError, EOFError, BadZipFile, LZMAError, broken)
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            texts, vectors = arrays["texts"], arrays["vectors"]
    except faults as error:
        raise BadInput(path, f"no arrays of that kind ({short(error)})", EXPECTED) from None
    if texts.ndim != 1 or texts.shape != vectors.shape[:1]:
        raise BadInput(path, f"{texts.shape} texts and {vectors.shape} vectors", EXPECTED)
    return zip(texts.tolist(), vectors, strict=True)


def _parquet(path: Path) -> Iterator[tuple[Any, Any]]:
    """The pairs from the columns `text` and `vector`."""
    import pyarrow as pa
    from pyarrow import parquet

    try:
        table = parquet.read_table(path)
    except (pa.ArrowException, OSError) as error:
        raise BadInput(path, f"no Parquet ({short(error)})", EXPECTED) from None
    if not {"text", "vector"} <= set(table.column_names):
        raise BadInput(path, f"the columns {', '.join(table.column_names)}", "the columns text and vector")
    try:
        return zip(table["text"].to_pylist(), table["vector"].to_pylist(), strict=True)
    except UnicodeDecodeError as error:
        raise BadInput(path, f"a text that is not UTF-8 ({short(error)})", EXPECTED) from None


def _hdf5(path: Path) -> Iterator[tuple[Any, Any]]:
    """The pairs of dataset name (the text) and vector; a text with a slash is stored as nested groups."""
    import h5py

    pairs = list[tuple[str, Any]]()

    def add(name: str, one: Any) -> None:
        if isinstance(one, h5py.Dataset):
            pairs.append((name, one[()]))

    try:
        with h5py.File(path, "r") as file:
            for name, one in file.items():
                if isinstance(one, h5py.Group):
                    one.visititems(add)
                else:
                    add(name, one)
    except (OSError, KeyError, TypeError, ValueError, RuntimeError) as error:
        raise BadInput(path, f"no HDF5 of that kind ({short(error)})", EXPECTED) from None
    return iter(pairs)


_READERS: dict[str, Callable[[Path], Iterator[tuple[Any, Any]]]] = {
    ".npz": _npz,
    ".parquet": _parquet,
    ".h5": _hdf5,
    ".hdf5": _hdf5,
}
