"""Signatures: the data, model and protocol behind a result, and whether two results are comparable."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from catsofa.data.digests import DIGITS
from catsofa.data.files import BadInput
from catsofa.data.files.checksums import sha256_of

FIRST = "first "
"""Prefix of a subset name: `first 100@1f…`."""
CHANGED = "memory:"
"""Prefix of a model's digest if its weights were changed after loading."""
UNKNOWN_MODEL = "predictions:"
"""Prefix of the model name for a file of scores, which does not say which model made them."""
LOOKED_UP = re.compile(r" kind=(words|tokens|computed)\b")
"""Vectors that are looked up, always in float32; signatures of earlier versions do not name their precision."""

RECORDED_LATER = ("options", "dtype", "version")
"""Fields that every result has; files of scores and results of earlier versions do not name them."""
UNRECORDED = "not recorded"
FREE = ("version", "dtype", "seed", "resamples")
"""Fields that may differ between two runs whose items are compared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """Everything that a result depends on; if only `model` differs, two results differ by their models alone."""

    data: str
    """Name of the data, with the hash of its records."""
    model: str
    """Name of the model with its hash or revision, or of a prediction file with its hash."""
    protocol: str
    options: str = ""
    """Hash of all options of the protocol, because the protocol's name alone does not guarantee them."""
    way: str = ""
    """How a model of this kind was asked, if that gives another quantity: a pseudo-perplexity is not a perplexity."""
    subset: str = ""
    dtype: str = ""
    """Precision of the computation; weights may be stored in another, and their hash is in `model`."""
    batching: str = ""
    """Parts of the engine that the self-check switched off to keep the numbers the same; empty if none."""
    seed: int = 0
    resamples: int = 0
    """Number of resamples behind the interval."""
    version: str = ""
    """Version of catsofa."""

    def __str__(self) -> str:
        """Returns one line, `data:dev.json@1f… | model:gpt2@607a… | protocol:catsofa | …`, without empty fields."""
        return " | ".join(f"{name}:{value}" for name, value in asdict(self).items() if value != "")

    def to_dict(self) -> dict[str, str | int]:
        """Returns the fields by name, and the line as `line`."""
        return {**asdict(self), "line": str(self)}

    @classmethod
    def of(cls, parts: Mapping[str, Any]) -> "Signature":
        """Builds a signature from its fields as `to_dict` returns them."""
        return cls(**{name: value for name, value in parts.items() if name != "line"})

    def compared(self) -> dict[str, str | int]:
        """Returns the fields for a comparison: of the data only the hash, and the precision of looked-up vectors."""
        return {**asdict(self), "data": hashes_in(self.data), "dtype": self.precision}

    @property
    def precision(self) -> str:
        """The precision of the computation, also of vectors that are looked up; empty if it is unknown."""
        return self.dtype or ("float32" if LOOKED_UP.search(self.model) else "")


def joint_subset(subsets: Iterable[str], common: Iterable[int]) -> str:
    """Returns the subset of several runs' results: each run's subset and the number of common items; empty for all."""
    used = [subset or "all" for subset in dict.fromkeys(subsets)]
    if used in ([], ["all"]):
        return ""
    counts = sorted({*common})
    number = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    return f"{' and '.join(used)}, {number} in common"


def first_of(subset: str) -> int | None:
    """Returns N if a subset is the first N records, and None if it is all of them."""
    first = subset.partition("@")[0].removeprefix(FIRST)
    return int(first) if first else None


def hashes_in(data: str) -> str:
    """Returns the hashes in the names of one or more data sets; a name without a hash stays."""
    return " ".join(name.rpartition("@")[2] for name in data.split(" "))


def without_hashes(names: str) -> str:
    """Returns the names of data or of a subset without hashes, for headings."""
    return re.sub(r"@[0-9a-f]{6,64}\b", "", names)


def differences(one: Signature, other: Signature) -> list[str]:
    """Returns why two results are not comparable; empty if only their models and batching differ."""
    mine, theirs = one.compared(), other.compared()
    shown = [{**fields, "data": signature.data} for fields, signature in ((mine, one), (theirs, other))]
    return [
        f"{name}: {' and '.join(str(_named(name, fields[name])) for fields in shown)}"
        for name in mine
        if name not in ("model", "batching") and mine[name] != theirs[name]
    ]


def apart(one: Signature, other: Signature) -> list[str]:
    """Returns why the items of two runs are not comparable: all differences except those in `FREE`."""
    return [why for why in differences(one, other) if why.partition(":")[0] not in FREE]


def distinctions(keys: Sequence[object], signatures: Sequence[Signature]) -> list[str]:
    """Returns for each signature its parts that differ from those of signatures with an equal key; empty if alone."""
    alike: dict[object, list[dict[str, str | int]]] = {}
    for key, signature in zip(keys, signatures, strict=True):
        alike.setdefault(key, []).append(signature.compared())
    return [
        ", ".join(
            _distinct(name, part)
            for name, part in signature.compared().items()
            if name not in ("model", "batching") and any(other[name] != part for other in alike[key])
        )
        for key, signature in zip(keys, signatures, strict=True)
    ]


def _distinct(name: str, part: str | int) -> str:
    """Returns a signature field for a heading; data, precision and subsets need no name."""
    if part == "":
        return f"{name} {UNRECORDED}" if name in RECORDED_LATER else f"no {name}"
    return str(part) if name in ("data", "dtype", "subset") else f"{name} {part}"


def _named(name: str, part: str | int) -> str | int:
    """Returns a signature field for display: `none` if it is empty and may be; a seed of 0 is a value."""
    return part if part != "" else UNRECORDED if name in RECORDED_LATER else "none"


def data_label(name: str, digest: str) -> str:
    """Returns a data set's label for a signature: its name and the hash of its records."""
    return f"{name}@{digest[:DIGITS]}"


def model_label(name: str, digest: str, *how: str) -> str:
    """Returns a model's label for a signature: its name, its revision or the hash of its files, and how it was used."""
    how = (*["changed in memory"] * digest.startswith(CHANGED), *how)
    return " ".join([f"{shown_name(name)}@{digest.removeprefix('sha256:').removeprefix(CHANGED)[:DIGITS]}", *how])


def predictions_label(path: Path | str) -> str:
    """Returns the label of a file of scores for a signature; the file does not say which model made them."""
    return UNKNOWN_MODEL + name_of(path)


def shown_name(name: str) -> str:
    """Returns a model's name for a signature; a folder loses its parents, because the hash identifies the weights."""
    return Path(name).resolve().name if Path(name).exists() else name


def place_of(name: str) -> str | None:
    """Returns the absolute path of a model's folder or file; None if the model is not on this machine."""
    return str(Path(name).resolve()) if Path(name).exists() else None


def name_of(path: Path | str) -> str:
    """Returns a label: a file's name and hash of bytes, or a folder's name and hash of its files' names and bytes.

    For files of scores, results and vectors, which are neither a data set nor a model. Stored signatures contain this
    form, which differs from that of `sha256_of_files`.
    """
    path = Path(path)
    if not path.exists():
        raise BadInput(path, "no such file", "a file or folder to name")
    if path.is_file():
        return f"{path.name}@{sha256_of(path)[:DIGITS]}"
    whole = sha256()
    for file in sorted(part for part in path.rglob("*") if part.is_file()):
        whole.update(file.relative_to(path).as_posix().encode() + b"\0" + bytes.fromhex(sha256_of(file)))
    return f"{path.resolve().name}@{whole.hexdigest()[:DIGITS]}"
