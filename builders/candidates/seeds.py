"""Seeds: the groups to ask about, and their known associations."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from catsofa.builders.association_files import are_records
from catsofa.data import formats
from catsofa.data.digests import hex_digest
from catsofa.data.files import BadInput, csv_files
from catsofa.data.percentages import quantity
from catsofa.data.records import Association

EXPECTED = (
    "seeds (CSV with the columns identity and, where known, attribute, region, language, bias_type), or associations"
)
SHOTS = 6
"""Maximum number of known associations that a prompt shows."""


@dataclass(frozen=True, slots=True, order=True)
class Target:
    """A group of people, the region whose people may associate something with it, and their language."""

    identity: str
    region: str = ""
    language: str = "en"
    bias_type: str = field(default="", compare=False, repr=False)
    """The bias type of CATs about the group; no part of the question to a model."""


Seeds = Mapping[Target, tuple[str, ...]]
"""Each target with its known attributes, possibly none."""


def read(path: Path | str, region: str = "", language: str = "en") -> Seeds:
    """Returns the targets of a CSV or of associations in any format.

    `region` and `language` are defaults for rows without them.
    """
    path, by_group = Path(path), dict[tuple[str, str, str], list[tuple[str, str]]]()
    if not are_records(path, EXPECTED):
        for line, row in csv_files.rows(path, ("identity",), EXPECTED):
            csv_files.refuse_empty(row, ("identity",), path, EXPECTED, line)
            cells = {name: cell.strip() for name, cell in row.items()}
            group = cells["identity"], cells.get("region") or region, cells.get("language") or language
            by_group.setdefault(group, []).append((cells.get("attribute", ""), cells.get("bias_type", "")))
    else:
        for one in formats.read_as(path, Association):
            entry = one.attribute, str(one.extra.get("bias_type") or "")
            by_group.setdefault((one.identity, one.region or region, one.language), []).append(entry)
    types = {group: sorted({bias_type for _, bias_type in entry if bias_type}) for group, entry in by_group.items()}
    if several := {group[0]: named for group, named in types.items() if len(named) > 1}:
        first, named = next(iter(several.items()))
        expected = "one for each group; write the groups of each bias type into a file of its own"
        raise BadInput(
            path, f"{quantity(len(several), 'group')} with several bias types ({first}: {', '.join(named)})", expected
        )
    return {
        Target(*group, *types[group]): tuple(dict.fromkeys(attribute for attribute, _ in entries if attribute))
        for group, entries in by_group.items()
    }


def shots(seeds: Seeds, target: Target, draw: str) -> Sequence[tuple[str, str]]:
    """Returns a few known associations of other groups in the target's language, one per group, in hash order."""
    candidates = [
        (hex_digest(f"{draw}:{target}:{other.identity}:{attribute}"), other.identity, attribute)
        for other, attributes in seeds.items()
        for attribute in attributes
        if other.identity != target.identity and other.language == target.language
    ]
    first = {identity: attribute for _, identity, attribute in sorted(candidates, reverse=True)}
    return sorted(first.items(), key=lambda shot: hex_digest(f"{draw}:{target}:{shot}"))[:SHOTS]
