"""k-suppression: what may be published about people so that nobody is one of fewer than k."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

WITHHELD = "withheld"
LEAST = 3
"""The smallest k."""
Person = Mapping[str, str]
"""What is known of one person, by column."""
Step = tuple[str, Mapping[str, str]]
"""A column, and the wider value of each value in it; what has none is withheld."""


def generalised(
    people: Mapping[str, Person], steps: Iterable[Step], k: int, before: Mapping[str, Person] | None = None
) -> dict[str, dict[str, str]]:
    """What may be published of each person: with every combination of columns, k people or more.

    Step by step, the values of those in smaller combinations are made wider; who is still alone at the end has all
    columns withheld. With `before`, what was published earlier, both together tell no fewer than k people apart.
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
        if not shown and 0 < len(nothing) < k:  # one group more, so that those who say nothing are k too
            groups = Counter(tuple(sorted(row.items())) for name, row in rows.items() if name not in set(nothing))
            smallest = min(groups, key=lambda values: (groups[values], values), default=None)
            shown = [name for name, row in rows.items() if tuple(sorted(row.items())) == smallest]
        if not shown:
            return rows
        for name in shown:
            rows[name] = dict.fromkeys(rows[name], WITHHELD)


def steps_of(columns: Sequence[str], wider: Mapping[str, Mapping[str, str]]) -> list[Step]:
    """The steps that make these columns wider one after another: first to the wider value, then to nothing."""
    return [step for column in columns for step in ((column, wider[column]), (column, {}))]


def small_cells(table: Mapping[str, Mapping[str, int]], k: int) -> set[tuple[str, str]]:
    """The cells of a table of counts of people that may not be shown, as (row, column).

    They are those of 1 to k - 1 people, and, where the hidden cells of a row or column hold fewer than k together,
    the next smallest there: the sum of the line would give them away.
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
