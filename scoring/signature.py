"""Signatures: what a number is a number of, in one line, and whether two numbers may stand side by side."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from hashlib import file_digest, sha256
from pathlib import Path

from catsofa.data.files import BadInput

DIGITS = 12
"""Hexadecimal digits of a SHA-256 that are shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """Everything a number depends on; two numbers differ by their models alone if all the rest is equal."""

    data: str
    """Name of the data, with the hash of its bytes."""
    model: str
    """Name of the model and its revision, or of a prediction file and its hash."""
    protocol: str
    options: str = ""
    """Hash of every option of the protocol, so that its name alone vouches for nothing."""
    way: str = ""
    """How a model of this kind was asked, where that makes another quantity: a pseudo-perplexity is no perplexity."""
    subset: str = ""
    dtype: str = ""
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


def differences(one: Signature, other: Signature, *, apart_from: Iterable[str] = ("model",)) -> list[str]:
    """What keeps two numbers from standing side by side, in words; nothing, if only their models differ."""
    here, there = asdict(one), asdict(other)
    return [
        f"{name}: {here[name] or 'none'} and {there[name] or 'none'}"
        for name in here
        if name not in set(apart_from) and here[name] != there[name]
    ]


def name_of(path: Path | str) -> str:
    """A file by its name and the hash of its bytes; a folder by its name and the hash of its files' names and bytes."""
    path = Path(path)
    if not path.exists():
        raise BadInput(path, "no such file", "a file or folder to name")
    if path.is_file():
        return f"{path.name}@{_digest(path).hex()[:DIGITS]}"
    whole = sha256()
    for file in sorted(part for part in path.rglob("*") if part.is_file()):
        whole.update(file.relative_to(path).as_posix().encode() + b"\0" + _digest(file))
    return f"{path.resolve().name}@{whole.hexdigest()[:DIGITS]}"


def _digest(path: Path) -> bytes:
    """The SHA-256 of a file's bytes."""
    with path.open("rb") as file:
        return file_digest(file, "sha256").digest()
