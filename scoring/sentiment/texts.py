"""Texts and the class of each: from a file, or from a folder with a training set and a test set as on the hub."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from catsofa.data.digests import hex_digest
from catsofa.data.files import BadInput, csv_files, existing_file, json_files, lines, short

EXPECTED = "texts with the columns text and label, as CSV, TSV, JSON lines or Parquet"
EXPECTED_LABEL = "the name of a class, or its number from 0"
ENDINGS = {".csv", ".tsv", ".jsonl", ".json", ".parquet"}
HELD_OUT = 0.1
"""Share of the texts of a single file that is held out."""
Row = tuple[int, Any, Any]
"""Number of a row or line, its text, its label."""


@dataclass(frozen=True, slots=True, eq=False)
class Texts:
    """Texts, the class of each as a number, the names of the classes, and which texts are held out."""

    texts: Sequence[str]
    labels: NDArray[np.int64]
    classes: tuple[str, ...]
    held_out: NDArray[np.bool_]

    def indices(self, *, held_out: bool) -> NDArray[np.int64]:
        """Returns the indices of the texts to train on, or of those held out."""
        return np.flatnonzero(self.held_out == held_out)

    def digest(self) -> str:
        """Returns the SHA-256 of all texts, their classes and their sets."""
        total = hashlib.sha256(json.dumps(self.classes).encode())
        for row in zip(self.texts, self.labels.tolist(), self.held_out.tolist(), strict=True):
            total.update(json.dumps(row).encode())
        return total.hexdigest()


def read(path: Path | str) -> Texts:
    """Reads the texts of a file, a tenth of them held out by hash; or of the files `train…` and `test…` of a folder."""
    path = Path(path)
    if not path.is_dir():
        # copies of a text fall on the same side
        rows = [(*row, int(hex_digest(row[0], 8), 16) / 2**32 < HELD_OUT) for row in _labelled(path)]
    else:
        files = sorted(file for file in path.rglob("*") if _ending(file) in ENDINGS)
        parts = {name: [file for file in files if file.name.startswith(name)] for name in ("train", "test")}
        if missing := [name for name, part in parts.items() if not part]:
            raise BadInput(path, f"no file {missing[0]}…", "a folder with files train… and test… of " + EXPECTED)
        rows = [(*row, name == "test") for name, part in parts.items() for file in part for row in _labelled(file)]
    texts, named, held_out = zip(*rows, strict=True)
    classes = tuple(dict.fromkeys(sorted(named)))
    sides = [{label for label, held in zip(named, held_out, strict=True) if held == side} for side in (False, True)]
    if len(classes) < 2 or sides[0] != sides[1]:
        train, test = (", ".join(sorted(side)) or "none" for side in sides)
        raise BadInput(path, f"the classes {train} to train on and {test} held out", "the same two or more in both")
    numbers = np.array([classes.index(label) for label in named], dtype=np.int64)
    return Texts(texts, numbers, classes, np.array(held_out, dtype=np.bool_))


def _ending(path: Path) -> str:
    """Returns the file ending that names the format."""
    return Path(path.name.removesuffix(".gz")).suffix.lower()


def _labelled(path: Path) -> Iterator[tuple[str, str]]:
    """Yields each text and the name of its class; raises BadInput with the line for a row without either."""
    names: Sequence[str] = ()
    if _ending(path) == ".parquet":
        names, rows = _parquet(path)
    elif _ending(path) in (".jsonl", ".json"):
        rows = _json_lines(path)
    else:
        rows = ((line, row["text"], row["label"]) for line, row in csv_files.rows(path, ("text", "label"), EXPECTED))
    for line, text, label in rows:
        if not isinstance(text, str) or not text.strip():
            raise BadInput(path, f"the text {short(text)}", "a text that is not empty", line)
        yield text, _class_name(label, names, path, line)


def _class_name(label: Any, names: Sequence[str], path: Path, line: int) -> str:
    """Returns the name of a class; a number without a name becomes `LABEL_0` and so on, as in transformers."""
    text = label.strip() if isinstance(label, str) else str(label) if type(label) is int else ""
    if not re.fullmatch(r"[+-]?\d+(\.\d*)?", text):
        if not text:
            raise BadInput(path, f"the label {short(label)}", EXPECTED_LABEL, line)
        return text
    if not re.fullmatch(r"\d{1,4}", text) or (names and int(text) >= len(names)):
        raise BadInput(path, f"the label {short(label)}", f"{EXPECTED_LABEL}; remove texts without a class", line)
    return names[int(text)] if names else f"LABEL_{int(text)}"


def _json_lines(path: Path) -> Iterator[Row]:
    """Yields the rows of JSON lines."""
    for line, text in lines(path, EXPECTED):
        row = json_files.Node(json_files.parse(text, path, EXPECTED, line), path, EXPECTED, line=line)
        yield line, row.text("text"), row.child("label").value


def _parquet(path: Path) -> tuple[Sequence[str], Iterator[Row]]:
    """Returns the class names that the file has in the format of the hub's data sets, and the rows."""
    import pyarrow as pa
    from pyarrow import parquet

    existing_file(path, EXPECTED)
    try:
        table = parquet.read_table(path)
        texts, labels = (table[name].to_pylist() for name in ("text", "label"))
        about: Mapping[str, Any] = json.loads((table.schema.metadata or {}).get(b"huggingface", b"{}"))
        names = about.get("info", {}).get("features", {}).get("label", {}).get("names", ())
    except (pa.ArrowException, OSError, KeyError, ValueError, AttributeError) as error:
        raise BadInput(path, f"no Parquet file of such columns ({short(error)})", EXPECTED) from None
    return names, iter(zip(range(1, len(texts) + 1), texts, labels, strict=True))
