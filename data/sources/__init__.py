"""Finds and reads released sets by name; an existing local path takes precedence.

A set used by name is checked against its published SHA-256 at every use; a local path is the user's own file.
"""

__all__ = ["read"]

from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from catsofa.data.files import BadInput
from catsofa.data.sources.checks import refuse_wrong
from catsofa.data.sources.prepared import prepared
from catsofa.data.sources.released import Source, how_to_bring, named, root_of, table

if TYPE_CHECKING:
    from catsofa.data.sources.fetch import Progress


HUB = "hf:"
"""The prefix of addresses of data sets on the Hugging Face Hub."""


def find_checked(source: Source) -> Path | None:
    """The local path of a source, or None; refuses a file whose SHA-256 differs from the released one."""
    if root := root_of(source):
        refuse_wrong(source, root)
        return source.below(root)
    return None


def path(name: str) -> Path:
    """The checked local path of a source; if it is missing, the error says how to get it."""
    source = named(name)
    if file := find_checked(source):
        return prepared(source, file)
    raise ValueError(f"{name} is not on this machine: run 'catsofa data fetch {name}', or {how_to_bring(source)}")


def resolve(name_or_path: str | Path, progress: "Progress | None" = None) -> Path:
    """The path to read: an existing file or folder, otherwise a checked source or a Hub set, fetched if missing."""
    if Path(name_or_path).exists() or isinstance(name_or_path, Path):
        return Path(name_or_path)
    if name_or_path.startswith(HUB):
        from catsofa.data.sources.hub import path_of  # few uses need this library

        return path_of(name_or_path)
    if name_or_path in table():
        from catsofa.data.sources.fetch import fetch  # imports TLS and archives, which few uses need

        source = table()[name_or_path]
        return prepared(source, find_checked(source) or fetch(name_or_path, progress=progress).path)
    close = get_close_matches(name_or_path, table(), n=1)
    expected = "a file or folder, or the name of a source" + (f" ({close[0]}?)" if close else "")
    raise BadInput(name_or_path, "no such file", expected)


def read(name_or_path: str | Path | Iterable[Any]) -> Iterator[Any]:
    """The records of a source, of a file in any format, or of a data frame or a Dataset."""
    from catsofa.data import formats

    if not isinstance(name_or_path, str | Path):
        from catsofa.data.sources.in_memory import records_in

        return iter(records_in(name_or_path))
    source = table().get(str(name_or_path)) if not Path(name_or_path).exists() else None
    return formats.read(resolve(name_or_path), source.format if source else None)
