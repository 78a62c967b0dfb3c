"""Tests vectors computed by the user, in a file that is used in place of a model."""

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pyarrow as pa
import pytest
from helpers.records import PAIRS, TEST
from pyarrow import parquet
from typer.testing import CliRunner

from catsofa.cli import app
from catsofa.data import formats
from catsofa.data.files import BadInput
from catsofa.data.records import AssociationTest
from catsofa.scoring import vectors as encoders
from catsofa.scoring.evaluate import evaluate
from catsofa.scoring.measures import seat

TEXTS = ["The zorb sang.", "and/or florins", "ein Zörb"]
VECTORS = np.array([[1, 0, 2], [0, 1, 4], [9, 9, 9]], dtype=np.float32)


def npz(path: Path, texts: list[str], vectors: Any) -> None:
    """Writes two arrays."""
    np.savez(path, texts=np.array(texts), vectors=vectors)


def columns(path: Path, texts: list[str], vectors: Any) -> None:
    """Writes two columns of Parquet."""
    parquet.write_table(pa.table({"text": texts, "vector": [list(map(float, row)) for row in vectors]}), path)


def groups(path: Path, texts: list[str], vectors: Any) -> None:
    """Writes a group for each set, with a dataset for each text."""
    with h5py.File(path, "w") as file:
        for n, (text, vector) in enumerate(zip(texts, vectors, strict=True)):
            file.require_group(f"targ{n % 2 + 1}")[text] = vector


WRITERS: dict[str, Callable[[Path, list[str], Any], None]] = {
    "v.npz": npz,
    "v.parquet": columns,
    "v.h5": groups,
    "v.hdf5": groups,
}


@pytest.mark.parametrize("name", WRITERS)
def test_each_text_has_its_vector_and_no_other_has_one(tmp_path: Path, name: str) -> None:
    """Vectors are found by the exact text, also with a slash or a non-ASCII letter; a missing text gives NaN."""
    WRITERS[name](tmp_path / name, TEXTS, VECTORS)
    encoder = encoders.load(str(tmp_path / name))
    rows = encoder.encode([TEXTS[1], "the zorb sang.", TEXTS[2], TEXTS[0]])
    assert rows[[0, 2, 3]].tolist() == VECTORS[[1, 2, 0]].tolist()
    assert np.isnan(rows[1]).all()
    assert (encoder.key["kind"], encoder.unknown) == ("computed", None)


@pytest.mark.parametrize("encoding", ["cls", "mean"])
@pytest.mark.parametrize("name", ["v.npz", "v.h5"])
def test_the_released_code_gives_the_same_effects(shared: Path, tmp_path: Path, name: str, encoding: str) -> None:
    """On vectors of a small BERT written by the original code, six tests have its effect sizes and exact p."""
    oracles = shared / "oracles"
    texts = json.loads((oracles / "seat_tinybert_texts.json").read_text())
    WRITERS[name](tmp_path / name, texts, np.load(oracles / f"seat_tinybert_{encoding}.npz")["enc"])
    expected = {
        row["test"]: row
        for row in json.loads((oracles / "seat_tinybert_sentbias.json").read_text())["results"]
        if row["encoding"] == encoding
    }
    tests = [test for test in formats.read_as(shared / "data" / "seat", AssociationTest) if test.id in expected]
    rows = seat.results(tests, encoders.load(str(tmp_path / name)), resamples=0, exact_limit=100_000)["results"]
    assert {row["test"] for row in rows} == set(expected)
    for row in rows:
        assert row["effect_size"] == pytest.approx(expected[row["test"]]["effect_size"], abs=1e-5)
        assert not row["exact"] or row["p_value"] == expected[row["test"]]["p_value"]


def test_a_text_without_a_vector_leaves_its_test_unscored_with_the_reason(tmp_path: Path) -> None:
    """If one target of X is missing, the test has no effect size and the reason names the text. The digest is that of
    the file."""
    texts = [text for words in (TEST.x, TEST.y, TEST.a, TEST.b) for text in words.items]
    rng = np.random.default_rng(0)
    npz(tmp_path / "whole.npz", texts, rng.normal(size=(len(texts), 4)))
    npz(tmp_path / "part.npz", texts[1:], rng.normal(size=(len(texts) - 1, 4)))
    whole, part = (evaluate(str(tmp_path / f"{name}.npz"), [TEST], resamples=20) for name in ("whole", "part"))
    assert whole.to_dict()["results"][0]["effect_size"] is not None
    (row,) = part.to_dict()["results"]
    assert row["effect_size"] is None
    assert texts[0] in row["reason"]
    assert "kind=computed" in str(whole.signature)
    assert str(whole.signature) != str(part.signature)


@pytest.mark.parametrize("form", [None, "--json", "--quiet"])
def test_score_exits_with_1_where_no_test_has_a_number(tmp_path: Path, form: str | None) -> None:
    """With vectors for some texts only, the table gives the reason and the exit code is 1; the complete file exits with
    0."""
    formats.named("seat").write([TEST], tmp_path / "tests")
    texts = [text for words in (TEST.x, TEST.y, TEST.a, TEST.b) for text in words.items]
    vectors = np.random.default_rng(0).normal(size=(len(texts), 4))
    npz(tmp_path / "whole.npz", texts, vectors)
    npz(tmp_path / "half.npz", texts[:2], vectors[:2])
    words = ["--on", str(tmp_path / "tests"), *([form] if form else [])]
    for name, code in (("whole", 0), ("half", 1)):
        assert CliRunner().invoke(app, ["score", str(tmp_path / f"{name}.npz"), *words]).exit_code == code


def test_vectors_that_float32_cannot_tell_apart_are_refused(tmp_path: Path) -> None:
    """Vectors around 1e-42, which keep three digits in float32, and around 1e-50, which keep none, are refused. A zero
    vector and a single small number are accepted."""
    for scale in (1e-42, 1e-50):
        npz(tmp_path / "v.npz", TEXTS, VECTORS.astype(np.float64) * scale)
        with pytest.raises(BadInput, match="multiply all vectors"):
            encoders.load(str(tmp_path / "v.npz"))
    npz(tmp_path / "v.npz", ["a zorb", "a florin"], np.array([[0.0, 0.0], [1.0, 1e-50]]))
    assert encoders.load(str(tmp_path / "v.npz")).encode(["a florin"]).tolist() == [[1.0, 0.0]]


def _two(path: Path) -> None:
    npz(path, ["a zorb", "a zorb"], np.array([[1, 2], [1, 3]]))


def _infinite(path: Path) -> None:
    npz(path, ["a zorb", "a florin"], np.array([[1, 2], [1, np.inf]]))


def _pickled(path: Path) -> None:
    np.savez(path, texts=np.array(["a zorb", None], dtype=object), vectors=np.eye(2))


def _other_lengths(path: Path) -> None:
    npz(path, ["a zorb"], np.eye(3))


def _ragged(path: Path) -> None:
    table = pa.table({"text": ["a zorb", "a florin"], "vector": [[1.0, 2.0], [1.0]]})
    parquet.write_table(table, path.with_suffix(".parquet"))


def _other_columns(path: Path) -> None:
    parquet.write_table(pa.table({"sentence": ["a zorb"]}), path.with_suffix(".parquet"))


def _scalar(path: Path) -> None:
    with h5py.File(path.with_suffix(".h5"), "w") as file:
        file["a zorb"] = 3.0


def _words(path: Path) -> None:
    with h5py.File(path.with_suffix(".h5"), "w") as file:
        file["a zorb"] = ["not", "numbers"]


def _no_file_of_its_kind(path: Path) -> None:
    for ending in (".h5", ".npz", ".parquet"):
        path.with_suffix(ending).write_bytes(b"no such format")


def _no_list(path: Path) -> None:
    np.savez(path, texts="a zorb", vectors=1.0)


def _one_array(path: Path) -> None:
    with path.open("wb") as file:
        np.save(file, np.eye(2))


def _damaged(path: Path) -> None:
    for compression in (zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA):
        place = path.with_stem(f"{path.stem}{compression}")
        with zipfile.ZipFile(place, "w", compression) as file:
            for name, array in {"texts": np.array(TEXTS), "vectors": np.eye(3)}.items():
                held = io.BytesIO()
                np.save(held, array)
                file.writestr(f"{name}.npy", held.getvalue())
        held = bytearray(place.read_bytes())
        held[60:100] = bytes(byte ^ 0x5A for byte in held[60:100])
        place.write_bytes(held)


def _complex(path: Path) -> None:
    npz(path, ["a zorb", "a florin"], np.eye(2) + 1j)


def _dates(path: Path) -> None:
    npz(path, ["a zorb", "a florin"], np.zeros((2, 2), "datetime64[s]"))


def _not_utf8(path: Path) -> None:
    texts = pa.array([b"a zorb", b"\xff"]).view(pa.string())
    parquet.write_table(pa.table({"text": texts, "vector": [[1.0, 2.0], [3.0, 4.0]]}), path.with_suffix(".parquet"))


@pytest.mark.parametrize(
    "write",
    [
        *(_two, _infinite, _pickled, _other_lengths, _ragged, _other_columns, _scalar, _words, _no_file_of_its_kind),
        *(_no_list, _one_array, _damaged, _complex, _dates, _not_utf8),
    ],
)
def test_a_file_that_does_not_say_one_vector_a_text_is_refused(tmp_path: Path, write: Callable[[Path], None]) -> None:
    """A file with duplicate texts, infinite or non-real numbers, pickles, missing columns, damage or another format is
    refused by name."""
    write(tmp_path / "v.npz")
    for path in tmp_path.iterdir():
        with pytest.raises(BadInput, match=path.name):
            encoders.load(str(path))


def test_such_a_file_gives_no_probabilities(tmp_path: Path) -> None:
    """A file of vectors is refused for pairs, because they need a model."""
    npz(tmp_path / "v.npz", TEXTS, VECTORS)
    with pytest.raises(ValueError, match="file of vectors"):
        evaluate(str(tmp_path / "v.npz"), PAIRS)
