"""A matrix of items × models: how far each model prefers the stereotype on each item."""

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from catsofa.data.percentages import quantity
from catsofa.data.statistics import Array


@dataclass(frozen=True, slots=True, kw_only=True)
class Levels:
    """The scores of models on items at each level of a facet: a prompt, a protocol or a sample."""

    name: str
    levels: tuple[str, ...]
    values: Array
    """Items × models × levels; NaN if unscored."""
    nested: bool = False
    """Whether levels are replicates drawn anew for each item and model, as samples are."""

    def settled(self, tasks: NDArray[np.str_]) -> "tuple[Levels, list[str]]":
        """The levels with scores of their own in each task; a sentence for each other, which is unscored there."""
        values, told = self.values.copy(), []
        for task in dict.fromkeys(tasks.tolist()):
            seen: dict[bytes, str] = {}
            for at, name in enumerate(self.levels):
                level = values[tasks == task, :, at]
                if not np.isfinite(level).any():
                    told.append(f"{task}: {self.name} {name} scores nothing")
                    continue
                first = seen.setdefault(np.where(np.isfinite(level), level, np.nan).tobytes(), name)
                if first != name:
                    values[tasks == task, :, at] = np.nan
                    told.append(f"{task}: {self.name} {name} gives every score of {self.name} {first}; counted once")
        return replace(self, values=values), told

    def means(self, tasks: NDArray[np.str_]) -> Array:
        """The mean over the levels that have scores in the task; NaN where one of them lacks the score."""
        found = np.full(self.values.shape[:2], np.nan)
        for task in np.unique(tasks):
            part = self.values[tasks == task]
            if (kept := np.isfinite(part).any(axis=(0, 1))).any():
                found[tasks == task] = part[:, :, kept].mean(axis=2)
        return found


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

    facets: tuple[Levels, ...] = ()
    """What the scores are means over, with the scores of each level."""

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
        return replace(self, **parts, facets=tuple(replace(one, values=one.values[rows]) for one in self.facets))

    def scored(self) -> "ItemMatrix":
        """The items and models with any score."""
        known = np.isfinite(self.values)
        models, rows = np.asarray(known.any(axis=0)), np.asarray(known.any(axis=1))
        names = tuple(name for name, kept in zip(self.models, models, strict=True) if kept)
        taken = self.take(rows)
        facets = tuple(replace(one, values=one.values[:, models]) for one in taken.facets)
        return replace(taken, values=taken.values[:, models], models=names, facets=facets)

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
