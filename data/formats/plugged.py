"""Formats of other packages, registered under an entry point."""

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from catsofa.data import plugins
from catsofa.data.files import BadInput, short
from catsofa.data.plugins import Plugins, what

if TYPE_CHECKING:
    from catsofa.data.formats import Format

GROUP = "catsofa.formats"
FORMAT = "catsofa.data.formats.Format"
"""The name of the class Format, which cannot be imported here: its module imports this one."""


def load(names: Collection[str]) -> Plugins:
    """All registered formats, checked; `names` are the formats of catsofa itself."""
    found = plugins.load(GROUP, "format", dict.fromkeys(names, "a format"), _faults)
    return replace(found, parts={name: _guarded(part) for name, part in found.parts.items()})


def _faults(name: str, found: Any) -> Iterator[str]:
    """The reasons why the object of an entry point is not a usable format."""
    if f"{type(found).__module__}.{type(found).__qualname__}" != FORMAT:
        yield f"found {short(found)}; expected an instance of {FORMAT}"
        return
    if found.name != name:
        yield f"its `name` is {found.name!r}; expected {name!r}, the name of the entry point"
    lacking = [
        one.name for one in fields(found) if "Callable" in str(one.type) and not callable(getattr(found, one.name))
    ]
    if lacking:
        yield f"its `{lacking[0]}` is {short(getattr(found, lacking[0]))}; expected a function"
    if not found.holds or not all(isinstance(kind, type) for kind in found.holds):
        yield f"its `holds` is {short(found.holds)}; expected the types of its records"


def _guarded(of: "Format") -> "Format":
    """The format with wrapped functions, whose exceptions name the format."""

    def matches(path: Path, head: bytes) -> bool:
        with _named(of, "matches"):
            return bool(of.matches(path, head))

    def read(path: Path) -> Iterator[Any]:
        with _named(of, "read"):
            yield from of.read(path)

    def write(records: Iterable[Any], path: Path) -> int:
        with _named(of, "write"):
            return int(of.write(records, path))

    def loses(record: Any) -> list[str]:
        with _named(of, "loses"):
            return list(of.loses(record))

    return replace(of, matches=matches, read=read, write=write, loses=loses)


@contextmanager
def _named(of: "Format", method: str) -> Iterator[None]:
    """Turn an exception of a format's function into a ValueError that names both; faults of data stay unchanged."""
    try:
        yield
    except (BadInput, OSError, MemoryError):
        raise
    except Exception as error:
        if str(error).startswith(f"the format {of.name!r} failed"):
            raise
        raise ValueError(f"the format {of.name!r} failed in `{method}`: {what(error)}; mend its package") from error
