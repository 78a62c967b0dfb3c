"""Describes a table whose columns fit no kind of record: its columns, the needed ones, and likely misspellings."""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches

LIKELY = 0.5
"""The least share of the needed columns, right or misspelt, that makes a kind of record likely."""
NEAR = 0.75
"""The least similarity of a misspelt name."""


def of_columns(names: Sequence[str], needed: Mapping[str, Sequence[str]]) -> tuple[str, str]:
    """Returns what was found and what was expected, from the columns that each kind of record needs."""
    spelt = {kind: {column: _near(column, names) for column in columns} for kind, columns in needed.items()}
    kind = max(spelt, key=lambda one: sum(map(bool, spelt[one].values())) / len(spelt[one]))
    found = f"a table with the columns {', '.join(names)}"
    near = {column: name for column, name in spelt[kind].items() if name}
    if len(near) < LIKELY * len(spelt[kind]):
        return found, f"a table with the columns of {columns_of_each(needed)}"
    advice = [f"rename {name} to {column}" for column, name in near.items() if name != column]
    advice += [f"add {column}" for column in spelt[kind] if column not in near]
    return found, f"{kind} with the columns {', '.join(needed[kind])}: {', '.join(advice)}"


def columns_of_each(needed: Mapping[str, Sequence[str]]) -> str:
    """Returns the columns that each kind of record needs, as a text."""
    return "; ".join(f"{kind}: {', '.join(columns)}" for kind, columns in needed.items())


def _near(column: str, names: Sequence[str]) -> str:
    """Returns the column itself if it is among the names, or the most similar name; empty without one."""
    plain = {name.casefold().strip().replace("_", "-").replace(" ", "-"): name for name in names}
    close = get_close_matches(column.replace("_", "-"), plain, n=1, cutoff=NEAR)
    return column if column in names else plain[close[0]] if close else ""
