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
    registry = plugins.load(GROUP, "format", dict.fromkeys(names, "a format"), _faults)
    return replace(registry, parts={name: _guarded(part) for name, part in registry.parts.items()})


def _faults(name: str, plugin: Any) -> Iterator[str]:
    """The reasons why the object of an entry point is not a usable format."""
    if f"{type(plugin).__module__}.{type(plugin).__qualname__}" != FORMAT:
        yield f"found {short(plugin)}; expected an instance of {FORMAT}"
        return
    if plugin.name != name:
        yield f"its `name` is {plugin.name!r}; expected {name!r}, the name of the entry point"
    lacking = [
        one.name for one in fields(plugin) if "Callable" in str(one.type) and not callable(getattr(plugin, one.name))
    ]
    if lacking:
        yield f"its `{lacking[0]}` is {short(getattr(plugin, lacking[0]))}; expected a function"
    if not plugin.holds or not all(isinstance(kind, type) for kind in plugin.holds):
        yield f"its `holds` is {short(plugin.holds)}; expected the types of its records"


def _guarded(plugin: "Format") -> "Format":
    """The format with wrapped functions, whose exceptions name the format."""

    def matches(path: Path, head: bytes) -> bool:
        with _named(plugin, "matches"):
            return bool(plugin.matches(path, head))

    def read(path: Path) -> Iterator[Any]:
        with _named(plugin, "read"):
            yield from plugin.read(path)

    def write(records: Iterable[Any], path: Path) -> int:
        with _named(plugin, "write"):
            return int(plugin.write(records, path))

    def loses(record: Any) -> list[str]:
        with _named(plugin, "loses"):
            return list(plugin.loses(record))

    return replace(plugin, matches=matches, read=read, write=write, loses=loses)


@contextmanager
def _named(plugin: "Format", method: str) -> Iterator[None]:
    """Turn an exception of a format's function into a ValueError that names both; faults of data stay unchanged."""
    try:
        yield
    except (BadInput, OSError, MemoryError):
        raise
    except Exception as error:
        if str(error).startswith(f"the format {plugin.name!r} failed"):
            raise
        raise ValueError(f"the format {plugin.name!r} failed in `{method}`: {what(error)}; mend its package") from error
