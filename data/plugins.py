"""Parts of other packages, which register them under entry points: measures, formats, models, lint rules."""

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from catsofa.data.visible import visible

NAME = re.compile(r"\w[\w.-]*")


@dataclass(frozen=True, slots=True)
class Plugins:
    """The parts of other packages by name, and why others cannot be used."""

    parts: Mapping[str, Any]
    broken: Mapping[str, str] = field(default_factory=dict)
    """A sentence for each entry point that gives no such part."""

    def hint(self) -> str:
        """The end of an error about a part that may be among the broken ones."""
        return "".join(f"; {why}" for why in self.broken.values())


def load(
    group: str,
    kind: str,
    taken: Mapping[str, str],
    faults: Callable[[str, Any], Iterable[str]],
    clashes: Callable[[Mapping[str, Any]], Mapping[str, str]] = lambda parts: {},
) -> Plugins:
    """Every part that is registered in a group, each checked.

    `taken` says of each name that catsofa has what it is. `faults` are the reasons why a part cannot be used;
    `clashes` are those that lie in other parts.
    """
    entries, parts, broken = defaultdict[str, list[EntryPoint]](list), dict[str, Any](), dict[str, str]()
    for entry in entry_points(group=group):
        entries[entry.name].append(entry)
    for name, found in entries.items():
        why = _cannot_be_named(name, found, taken)
        if not why:
            try:
                parts[name] = found[0].load()
                why = next(iter(faults(name, parts[name])), "")
            except (Exception, SystemExit) as error:  # noqa: BLE001  a package may raise anything
                why = what(error)
        if why:
            broken[name] = _sentence(kind, name, found, why)
    parts = {name: part for name, part in parts.items() if name not in broken}
    for name, why in clashes(parts).items():
        broken[name] = _sentence(kind, name, entries[name], why)
    return Plugins({name: part for name, part in parts.items() if name not in broken}, broken)


def what(error: BaseException) -> str:
    """An exception of another package on one line."""
    return " ".join(visible(f"{type(error).__name__}: {error}").split())


def _sentence(kind: str, name: str, entries: Collection[EntryPoint], why: str) -> str:
    """The error for a part that cannot be used, with its packages."""
    places = " and ".join(f"{entry.dist.name} ({entry.value})" if entry.dist else entry.value for entry in entries)
    return visible(f"the {kind} {name!r} of {places} cannot be used: {why}; mend or uninstall its package")


def _cannot_be_named(name: str, entries: Collection[EntryPoint], taken: Mapping[str, str]) -> str:
    """Why an entry point cannot have its name; empty if it can."""
    if not NAME.fullmatch(name):
        return "its name must consist of letters, digits, `-`, `_` and `.`"
    if name in taken:
        return f"catsofa has {taken[name]} of this name"
    return f"{len(entries)} entry points have this name" if len(entries) > 1 else ""
