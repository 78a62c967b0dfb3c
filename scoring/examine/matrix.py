"""A matrix of items × models: how far each model prefers the stereotype on each item."""

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from catsofa.data.percentages import quantity
from catsofa.data.statistics import Array


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemMatrix:
    """A row for each item, a column for each model."""

    values: Array
    """1 where the model prefers the stereotype, 0 the anti-stereotype, 0.5 a tie, or any score; NaN if unscored."""
    models: tuple[str, ...]
    items: NDArray[np.str_]
    """Ids of the items."""
    tasks: NDArray[np.str_]
    """The part of the benchmark that an item belongs to; parts are examined apart."""
    domains: NDArray[np.str_]
    terms: NDArray[np.str_]
    """The cluster of an item, such as its target term; the id of the item where it has none."""
    preferences: bool = True
    """Whether a value says which of two sides the model prefers; else it is a score."""
    people: Array = field(default_factory=lambda: np.empty(0))
    """Share of people's judgements that confirm an item's labels; NaN where nobody was asked, empty if nowhere."""

    def __post_init__(self) -> None:
        """Refuse rows or columns without a name."""
        if not len(self.people):
            object.__setattr__(self, "people", np.full(len(self.items), np.nan))
        names = [len(self.items), len(self.tasks), len(self.domains), len(self.terms), len(self.people)]
        if self.values.shape != (len(self.items), len(self.models)) or len(set(names)) > 1:
            raise ValueError(
                f"a matrix needs an id, a task, a domain and a term for each row, and a model for each column; found "
                f"{self.values.shape[0]:,} rows with {names} names and {self.values.shape[1]} columns with "
                f"{len(self.models)} models"
            )

    def take(self, rows: NDArray[np.bool_]) -> "ItemMatrix":
        """The rows of a mask."""
        parts = {name: getattr(self, name)[rows] for name in ("values", "items", "tasks", "domains", "terms", "people")}
        return replace(self, **parts)

    def scored(self) -> "ItemMatrix":
        """The items and models with any score."""
        known = np.isfinite(self.values)
        models, rows = np.asarray(known.any(axis=0)), np.asarray(known.any(axis=1))
        names = tuple(name for name, kept in zip(self.models, models, strict=True) if kept)
        return replace(self.take(rows), values=self.values[np.ix_(rows, models)], models=names)

    def size(self) -> str:
        """How many items and models, for people."""
        return f"{quantity(len(self.items), 'item')} scored by {quantity(len(self.models), 'model')}"

    def parts(self) -> "dict[str, ItemMatrix]":
        """The items of each task, in the order in which the tasks come."""
        return {str(task): self.take(self.tasks == task) for task in dict.fromkeys(self.tasks.tolist())}

    @property
    def groups(self) -> NDArray[np.int64]:
        """The number of each item's term."""
        return np.unique(self.terms, return_inverse=True)[1].reshape(-1)
