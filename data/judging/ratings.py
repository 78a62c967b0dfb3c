"""Annotations as integer arrays, so that a statistic over many thousands of annotations is a few array operations."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from catsofa.data.records import Annotation

Indices = NDArray[np.intp]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratings:
    """The item, annotator and label of each annotation: position n of the three arrays is the n-th annotation."""

    items: tuple[str, ...]
    annotators: tuple[str, ...]
    labels: tuple[str, ...]
    item: Indices
    annotator: Indices
    label: Indices

    @classmethod
    def of(cls, annotations: Iterable[Annotation]) -> "Ratings":
        """Number the items and people in order of appearance, and the labels in alphabetical order."""
        rows = list(annotations)
        items, item = numbered(a.item for a in rows)
        annotators, annotator = numbered(a.annotator for a in rows)
        labels = tuple(sorted({a.label for a in rows}))
        place = {label: n for n, label in enumerate(labels)}
        label = np.array([place[a.label] for a in rows], dtype=np.intp)
        return cls(items=items, annotators=annotators, labels=labels, item=item, annotator=annotator, label=label)

    def __len__(self) -> int:
        """The number of annotations."""
        return len(self.item)

    def counts(self) -> Floats:
        """The number of times each item got each label: an array of items by labels."""
        flat = np.bincount(self.item * len(self.labels) + self.label, minlength=len(self.items) * len(self.labels))
        return flat.reshape(len(self.items), len(self.labels)).astype(np.float64)

    def people(self) -> Indices:
        """The number of different people who judged each item."""
        pairs = np.unique(self.item * len(self.annotators) + self.annotator)
        return np.bincount(pairs // max(len(self.annotators), 1), minlength=len(self.items))


def numbered(values: Iterable[str]) -> tuple[tuple[str, ...], Indices]:
    """The distinct values in order of appearance, and the index of each value among them."""
    places: dict[str, int] = {}
    codes = [places.setdefault(value, len(places)) for value in values]
    return tuple(places), np.array(codes, dtype=np.intp)


def units_of(items: Sequence[str], unit: Mapping[str, str]) -> Indices:
    """The unit number of each item; an item without a unit is a unit of its own."""
    return numbered(unit.get(item, item) for item in items)[1]
