"""Loads plugins of other packages from entry points: measures, formats, models, lint rules."""

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from catsofa.data.visible import visible

LOADED = set[str]()
"""The plugins whose code this process has run."""
NAME = re.compile(r"\w[\w.-]*")


@dataclass(frozen=True, slots=True)
class Plugins:
    """The usable plugins by name, and the reasons why others cannot be used."""

    parts: Mapping[str, Any]
    broken: Mapping[str, str] = field(default_factory=dict)
    """One sentence for each entry point without a usable plugin."""

    def hint(self) -> str:
        """The end of an error message about a plugin that may be among the broken ones."""
        return "".join(f"; {why}" for why in self.broken.values())


def load(
    group: str,
    kind: str,
    reserved_names: Mapping[str, str],
    faults: Callable[[str, Any], Iterable[str]],
    clashes: Callable[[Mapping[str, Any]], Mapping[str, str]] = lambda parts: {},
) -> Plugins:
    """All plugins registered in a group, each checked.

    `reserved_names` maps each name that catsofa uses to its description. `faults` gives the reasons why a plugin
    cannot be used; `clashes` gives the reasons that involve other plugins.
    """
    entries, parts, broken = defaultdict[str, list[EntryPoint]](list), dict[str, Any](), dict[str, str]()
    for entry in entry_points(group=group):
        entries[entry.name].append(entry)
    for name, points in entries.items():
        why = _cannot_be_named(name, points, reserved_names)
        if not why:
            try:
                LOADED.add(points[0].value)
                parts[name] = points[0].load()
                why = next(iter(faults(name, parts[name])), "")
            except (Exception, SystemExit) as error:  # noqa: BLE001  a package may raise anything
                why = what(error)
        if why:
            broken[name] = _sentence(kind, name, points, why)
    parts = {name: part for name, part in parts.items() if name not in broken}
    for name, why in clashes(parts).items():
        broken[name] = _sentence(kind, name, entries[name], why)
    return Plugins({name: part for name, part in parts.items() if name not in broken}, broken)


def what(error: BaseException) -> str:
    """An exception of another package as one line of text."""
    return " ".join(visible(f"{type(error).__name__}: {error}").split())


def _sentence(kind: str, name: str, entries: Collection[EntryPoint], why: str) -> str:
    """The error for a plugin that cannot be used, with its packages."""
    places = " and ".join(f"{entry.dist.name} ({entry.value})" if entry.dist else entry.value for entry in entries)
    return visible(f"the {kind} {name!r} of {places} cannot be used: {why}; mend or uninstall its package")


def _cannot_be_named(name: str, entries: Collection[EntryPoint], reserved_names: Mapping[str, str]) -> str:
    """The reason why an entry point cannot have its name; empty if it can."""
    if not NAME.fullmatch(name):
        return "its name must consist of letters, digits, `-`, `_` and `.`"
    if name in reserved_names:
        return f"catsofa has {reserved_names[name]} of this name"
    return f"{len(entries)} entry points have this name" if len(entries) > 1 else ""
