"""Splits a set into development and test sets that share no target term, sibling term or near-duplicate."""

__all__ = ["split"]

import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from catsofa.data import formats
from catsofa.data.files import atomic_write
from catsofa.data.language.near_duplicates import NEAR, content, near_duplicates
from catsofa.data.languages.texts import language_of
from catsofa.data.progress import SILENT, Progress
from catsofa.data.tables import Tabular
from catsofa.validation.siblings import domain_of, groups_of, term_of

FAR = 1000
"""Missing items above which any block can be taken without search."""
MANY = 1000
"""Maximum number of blocks in the final search."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Split(Tabular):
    """The two sets, in the order of the records, with the numbers of blocks and near-duplicates."""

    dev: Sequence[Any]
    test: Sequence[Any]
    blocks: int
    """The number of movable blocks: groups of sibling terms, joined by near-duplicates."""
    near_duplicates: int

    def rows(self) -> list[dict[str, Any]]:
        """A flat row for each set and domain, and for each set as a whole."""
        report = self.report()
        sets = {**report["domains"], "overall": report}
        return [
            {"set": name, "domain": domain, **part[name]} for domain, part in sets.items() for name in ("dev", "test")
        ]

    def report(self) -> dict[str, Any]:
        """The sizes of the two sets, overall and by domain."""
        domains = sorted({domain_of(record) for record in (*self.dev, *self.test)})
        sides = {"dev": self.dev, "test": self.test}
        return {
            **{name: _sizes(side) for name, side in sides.items()},
            "share": _share(len(self.dev), len(self.test)),
            "domains": {
                domain: {
                    **{name: _sizes([r for r in side if domain_of(r) == domain]) for name, side in sides.items()},
                    "share": _share(*(sum(domain_of(r) == domain for r in side) for side in sides.values())),
                }
                for domain in domains
            },
            "blocks": self.blocks,
            "near_duplicates": self.near_duplicates,
        }


def split(
    records: Sequence[Any],
    *,
    dev: float = 0.25,
    seed: int = 0,
    siblings: Mapping[str, str] | None = None,
    near: float = NEAR,
    progress: Progress = SILENT,
) -> Split:
    """Draw whole blocks at random, so that each domain's development share is as close to `dev` as possible."""
    if not 0 < dev < 1:
        raise ValueError(f"dev is the share of the development set, above 0 and below 1, not {dev}")
    if not records:
        raise ValueError("there is nothing to split")
    languages = [language_of(record) for record in records]
    copies = list(near_duplicates([content(record) for record in records], near, progress, languages=languages))
    block = blocks(groups_of(records, siblings), [(pair.first, pair.second) for pair in copies])
    rng = np.random.default_rng(seed)
    chosen: set[int] = set()
    domains: dict[int, Counter[str]] = defaultdict(Counter)
    for record, one in zip(records, block, strict=True):
        domains[one][domain_of(record)] += 1
    block_sizes: dict[str, dict[int, int]] = defaultdict(dict)
    for one, counted in domains.items():  # a block of several domains belongs to the domain of most of its items
        block_sizes[max(counted, key=lambda domain: (counted[domain], domain))][one] = counted.total()
    for _, sizes in sorted(block_sizes.items()):
        order = [list(sizes)[n] for n in rng.permutation(len(sizes))]
        wanted = round(dev * sum(sizes.values()))
        chosen |= {order[n] for n in closest_subset([sizes[one] for one in order], wanted)}
    return Split(
        dev=[record for record, one in zip(records, block, strict=True) if one in chosen],
        test=[record for record, one in zip(records, block, strict=True) if one not in chosen],
        blocks=len(set(block)),
        near_duplicates=len(copies),
    )


def write(
    done: Split, folder: Path, *, like: Path, dev: float, seed: int, signature: Mapping[str, Any]
) -> dict[str, Any]:
    """Write both sets in the format of the source file, and a signed report as split.json."""
    chosen = formats.format_of(like)
    folder.mkdir(parents=True, exist_ok=True)
    files = {}
    for name, records in (("dev", done.dev), ("test", done.test)):
        if not records:
            raise ValueError(f"the {name} set would be empty: there are too few blocks to split {dev:.0%} off")
        files[name] = str(folder / f"{name}{chosen.suffix}")
        chosen.write(records, Path(files[name]))
    report = {"seed": seed, "asked": dev, **done.report(), "files": files, **signature}
    with atomic_write(folder / "split.json") as out:
        out.write(json.dumps(report, ensure_ascii=False, indent=1).encode())
    return report


def blocks(groups: Sequence[str], copies: Sequence[tuple[int, int]]) -> list[int]:
    """The block of each item: items of one group and near-duplicates must move together."""
    first: dict[str, int] = {}
    same_group = [(first.setdefault(group, place), place) for place, group in enumerate(groups) if group]
    rows, columns = np.array([*same_group, *copies, (0, 0)]).T
    joined = coo_array((np.ones(len(rows)), (rows, columns)), shape=(len(groups), len(groups)))
    return [int(block) for block in connected_components(joined, directed=False)[1]]


def closest_subset(sizes: Sequence[int], wanted: int) -> list[int]:
    """The positions of sizes whose sum is as close to `wanted` as possible; earlier sizes are preferred.

    Far from the target, any size is taken. Near the target, every sum that the next sizes can form is one bit.
    Walking back, a size is taken only if the sum cannot be formed without it.
    """
    places: list[int] = []
    rest: list[int] = []
    for place, size in enumerate(sizes):
        if wanted - size >= FAR:
            places.append(place)
            wanted -= size
        elif len(rest) < MANY:
            rest.append(place)
    rest.reverse()
    sums = [1]
    for place in rest:
        sums.append((sums[-1] | sums[-1] << sizes[place]) & ((1 << 2 * wanted + 1) - 1))
    remainder = min((s for s in range(sums[-1].bit_length()) if sums[-1] >> s & 1), key=lambda s: abs(s - wanted))
    for n in range(len(rest), 0, -1):
        if not sums[n - 1] >> remainder & 1:
            places.append(rest[n - 1])
            remainder -= sizes[rest[n - 1]]
    return places


def _sizes(records: Sequence[Any]) -> dict[str, int]:
    """The numbers of items and of target terms."""
    terms = {term_of(record) for record in records} - {""}
    return {"items": len(records), "terms": len(terms)}


def _share(dev: int, test: int) -> float:
    """The development set's share of the items."""
    return dev / (dev + test)
