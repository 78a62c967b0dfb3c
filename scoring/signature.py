"""Signatures: the data, model and protocol behind a number, and whether two numbers are comparable."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from catsofa.data.digests import DIGITS
from catsofa.data.files import BadInput
from catsofa.data.files.checksums import sha256_of

FIRST = "first "
"""How a subset begins: `first 100@1f…`."""
CHANGED = "memory:"
"""How the digest of a model begins whose weights were changed after they were loaded."""
UNKNOWN_MODEL = "predictions:"
"""How a signature begins to name a file of scores, which does not say whose they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """Everything a number depends on; two numbers differ by their models alone if all the rest is equal."""

    data: str
    """Name of the data, with the hash of its records."""
    model: str
    """Name of the model and its hash or revision, or of a prediction file and its hash."""
    protocol: str
    options: str = ""
    """Hash of every option of the protocol, so that its name alone vouches for nothing."""
    way: str = ""
    """How a model of this kind was asked, where that makes another quantity: a pseudo-perplexity is no perplexity."""
    subset: str = ""
    dtype: str = ""
    batching: str = ""
    """Parts of the engine that the self-check left out, which keeps the numbers the same; empty if none."""
    seed: int = 0
    resamples: int = 0
    """Resamples behind the interval."""
    version: str = ""
    """Of catsofa."""

    def __str__(self) -> str:
        """One line: `data:dev.json@1f… | model:gpt2@607a… | protocol:catsofa | …`; what is empty is left out."""
        return " | ".join(f"{name}:{value}" for name, value in asdict(self).items() if value != "")

    def to_dict(self) -> dict[str, str | int]:
        """The parts by name, and the line."""
        return {**asdict(self), "line": str(self)}

    @classmethod
    def of(cls, parts: Mapping[str, Any]) -> "Signature":
        """The signature with these parts, as `to_dict` returns them."""
        return cls(**{name: value for name, value in parts.items() if name != "line"})

    def compared(self) -> dict[str, str | int]:
        """The parts by name as they are compared: of the data the hash alone, whatever their file is called."""
        return {**asdict(self), "data": hashes_in(self.data)}


def joint_subset(subsets: Iterable[str], common: Iterable[int]) -> str:
    """The subset behind numbers of several runs: what each used, and how many items are in common; empty if all."""
    used = [subset or "all" for subset in dict.fromkeys(subsets)]
    if used in ([], ["all"]):
        return ""
    counts = sorted({*common})
    number = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    return f"{' and '.join(used)}, {number} in common"


def first_of(subset: str) -> int | None:
    """How many of the first records a run's subset is; None for all of them."""
    first = subset.partition("@")[0].removeprefix(FIRST)
    return int(first) if first else None


def hashes_in(data: str) -> str:
    """The hashes in the names of one or more data sets; a name without a hash stays."""
    return " ".join(name.rpartition("@")[2] for name in data.split(" "))


def without_hashes(names: str) -> str:
    """The names of data or of a subset as a heading has them."""
    return re.sub(r"@[0-9a-f]{6,64}\b", "", names)


def differences(one: Signature, other: Signature) -> list[str]:
    """The reasons why two numbers are not comparable; none if only their models and batching differ."""
    mine, others = one.compared(), other.compared()
    here, there = asdict(one), asdict(other)
    return [
        f"{name}: {_named(here[name])} and {_named(there[name])}"
        for name in here
        if name not in ("model", "batching") and mine[name] != others[name]
    ]


def _named(part: str | int) -> str | int:
    """A part of a signature for people; a seed of 0 is one."""
    return "none" if part == "" else part


def data_label(name: str, digest: str) -> str:
    """A data set in a signature: its name and the hash of its records."""
    return f"{name}@{digest[:DIGITS]}"


def model_label(name: str, digest: str, *how: str) -> str:
    """A model in a signature: its name, the hash of its files or its revision, and how it was used."""
    how = (*["changed in memory"] * digest.startswith(CHANGED), *how)
    return " ".join([f"{shown_name(name)}@{digest.removeprefix('sha256:').removeprefix(CHANGED)[:DIGITS]}", *how])


def predictions_label(path: Path | str) -> str:
    """A file of scores in a signature: what it is, since it does not say which model made them."""
    return UNKNOWN_MODEL + name_of(path)


def shown_name(name: str) -> str:
    """A model as a signature names it: a folder by its own name, wherever it lies, since its weights have a hash."""
    return Path(name).resolve().name if Path(name).exists() else name


def place_of(name: str) -> str | None:
    """The absolute path of a model's folder or file; None if the model is none on this machine."""
    return str(Path(name).resolve()) if Path(name).exists() else None


def name_of(path: Path | str) -> str:
    """A file by its name and the hash of its bytes; a folder by its name and the hash of its files' names and bytes.

    For what is neither a data set nor a model: files of scores and of results, vectors. Stored signatures hold this
    form, which is not that of `sha256_of_files`.
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
