"""Columns of annotations: whether a column describes items or annotators, and the group of each judgement."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from catsofa.data.records import Annotation

Describes = Literal["items", "annotators"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column with the value of each item or of each annotator."""

    name: str
    describes: Describes
    values: Mapping[str, str]

    def value(self, annotation: Annotation) -> str | None:
        """The group of a judgement: the value of its item or of its annotator."""
        return self.values.get(annotation.item if self.describes == "items" else annotation.annotator)


def column(annotations: Iterable[Annotation], name: str) -> Column:
    """The column with this name; raises a ValueError if the column describes neither items nor annotators.

    A column that is constant for each item describes items; one that is constant for each annotator describes
    annotators. If both hold (one annotator only, or people who judged items of one value only), the column describes
    items, and the groups hold the same judgements either way. Empty cells are ignored.
    """
    items: dict[str, set[str]] = {}
    people: dict[str, set[str]] = {}
    carried: set[str] = set()
    for annotation in annotations:
        carried |= annotation.extra.keys()
        if value := _text(annotation, name):
            items.setdefault(annotation.item, set()).add(value)
            people.setdefault(annotation.annotator, set()).add(value)
    if not items:
        raise ValueError(
            f"no annotation has anything in a column {name!r}; they carry {', '.join(sorted(carried)) or 'no other'}"
        )
    mixed_items, mixed_people = _varying(items), _varying(people)
    if mixed_items and mixed_people:
        raise ValueError(
            f"the column {name!r} differs within {mixed_items:,} of {len(items):,} items and within "
            f"{mixed_people:,} of {len(people):,} annotators; give a column that is constant for each item, or for "
            "each annotator"
        )
    values = people if mixed_items else items
    return Column(
        name=name,
        describes="annotators" if mixed_items else "items",
        values={key: min(held) for key, held in values.items()},
    )


def item_values(annotations: Iterable[Annotation], names: Iterable[str]) -> dict[str, str]:
    """The value of each item under the first of these keys that its annotation has; items without a value are omitted.

    An item with two values is refused, since its judgements would be counted under the wrong value.
    """
    names = tuple(names)
    values: dict[str, set[str]] = {}
    for annotation in annotations:
        if value := next((text for name in names if (text := _text(annotation, name))), ""):
            values.setdefault(annotation.item, set()).add(value)
    if mixed := _varying(values):
        first = next(item for item, held in values.items() if len(held) > 1)
        raise ValueError(
            f"{mixed:,} of {len(values):,} items have two values or more of {' or '.join(names)} (item {first!r}: "
            f"{', '.join(sorted(values[first]))}); give each item one, or rename the column if it describes annotators"
        )
    return {item: min(held) for item, held in values.items()}


def _text(annotation: Annotation, name: str) -> str:
    """An annotation's value for a key of `extra`, as text; empty if the cell is empty."""
    value = annotation.extra.get(name)
    return "" if value is None else str(value)


def _varying(values: Mapping[str, set[str]]) -> int:
    """The number of items or people with more than one value."""
    return sum(len(held) > 1 for held in values.values())
