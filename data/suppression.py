"""k-suppression: generalises published data about people, so that every person is one of at least k."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

WITHHELD = "withheld"
LEAST = 3
"""The smallest k."""
Person = Mapping[str, str]
"""The known values of one person, by column."""
Step = tuple[str, Mapping[str, str]]
"""A column, and the wider value of each of its values; a value without a wider one is withheld."""


def generalised(
    people: Mapping[str, Person], steps: Iterable[Step], k: int, before: Mapping[str, Person] | None = None
) -> dict[str, dict[str, str]]:
    """The publishable values of each person: at least k people share every combination of columns.

    Each step widens the values of people in smaller combinations; if a combination stays too small, all its columns
    are withheld. With `before` (values published earlier), both releases together also keep groups of at least k.
    """
    rows = {name: dict(person) for name, person in people.items()}
    earlier = {name: tuple(sorted(person.items())) for name, person in (before or {}).items()}

    def small() -> list[str]:
        alone = Counter[object](tuple(sorted(row.items())) for row in rows.values())
        joint = Counter[object]((earlier.get(name), tuple(sorted(row.items()))) for name, row in rows.items())
        return [
            name
            for name, row in rows.items()
            if min(alone[values := tuple(sorted(row.items()))], joint[earlier.get(name), values]) < k
        ]

    for column, wider in steps:
        for name in small():
            value = rows[name][column]
            rows[name][column] = wider.get(value) or (value if value in wider.values() else WITHHELD)
    while True:
        shown = [name for name in small() if set(rows[name].values()) != {WITHHELD}]
        nothing = [name for name, row in rows.items() if set(row.values()) == {WITHHELD}]
        if (
            not shown and 0 < len(nothing) < k
        ):  # withhold one more group, so that the withheld people are at least k too
            groups = Counter(tuple(sorted(row.items())) for name, row in rows.items() if name not in set(nothing))
            smallest = min(groups, key=lambda values: (groups[values], values), default=None)
            shown = [name for name, row in rows.items() if tuple(sorted(row.items())) == smallest]
        if not shown:
            return rows
        for name in shown:
            rows[name] = dict.fromkeys(rows[name], WITHHELD)


def steps_of(columns: Sequence[str], wider: Mapping[str, Mapping[str, str]]) -> list[Step]:
    """The steps that generalise these columns in turn: first to the wider value, then to withheld."""
    return [step for column in columns for step in ((column, wider[column]), (column, {}))]


def small_cells(table: Mapping[str, Mapping[str, int]], k: int) -> set[tuple[str, str]]:
    """The cells of a table of counts of people that must be hidden, as (row, column).

    These are cells of 1 to k - 1 people. If the hidden cells of a line (row or column) have fewer than k people
    together, the next smallest cell is hidden too. Otherwise the sum of the line would reveal them.
    """
    hidden = {(row, column) for row, counts in table.items() for column, n in counts.items() if 0 < n < k}
    lines: dict[tuple[bool, str], list[tuple[int, str, str]]] = defaultdict(list)
    for row, counts in table.items():
        for column, n in counts.items():
            lines[True, row].append((n, row, column))
            lines[False, column].append((n, row, column))
    while True:
        more = set()
        for line in map(sorted, lines.values()):
            shown = [(row, column) for _, row, column in line if (row, column) not in hidden]
            if shown and len(shown) < len(line) and sum(n for n, *cell in line if tuple(cell) in hidden) < k:
                more.add(shown[0])
        if not more:
            return hidden
        hidden |= more
