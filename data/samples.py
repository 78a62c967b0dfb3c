"""Stratified samples: domains keep their shares, and target groups take turns."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Protocol, TypeVar

from catsofa.data.digests import hex_digest


class _HasId(Protocol):
    """An object with an id."""

    @property
    def id(self) -> str:
        """The id."""


T = TypeVar("T", bound=_HasId)


def stratified(items: Iterable[T], limit: int, stratum_of: Callable[[T], tuple[str, str]], seed: int = 0) -> list[T]:
    """At most `limit` items, in the order of the data; with one seed, a larger sample includes every smaller one.

    `stratum_of` gives the domain and target group of an item. Each domain keeps its share. Within a domain, each
    target group contributes one item before any contributes a second.
    """
    every = list(items)
    domains: dict[str, list[tuple[int, str, T]]] = defaultdict(list)
    counts: dict[tuple[str, str], int] = defaultdict(int)
    for digest, item in sorted(((hex_digest(f"{seed}\0{item.id}"), item) for item in every), key=lambda pair: pair[0]):
        stratum = stratum_of(item)
        domains[stratum[0]].append((counts[stratum], digest, item))
        counts[stratum] += 1
    ranked = [
        ((place + 0.5) / len(members), domain, item.id)
        for domain, members in domains.items()
        for place, (_, _, item) in enumerate(sorted(members, key=lambda member: member[:2]))
    ]
    ids = {name for _, _, name in sorted(ranked)[:limit]}
    return [item for item in every if item.id in ids]
