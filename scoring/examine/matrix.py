"""Matrix of items × models: how strongly each model prefers the stereotype on each item."""

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from catsofa.data.percentages import quantity
from catsofa.data.statistics import Array


@dataclass(frozen=True, slots=True, kw_only=True)
class Levels:
    """Scores of models on items at each level of a facet: a prompt, a protocol or a sample."""

    name: str
    levels: tuple[str, ...]
    values: Array
    """Items × models × levels; NaN if unscored."""
    nested: bool = False
    """True if levels are replicates drawn again for each item and model, as samples are."""

    def settled(self, tasks: NDArray[np.str_]) -> "tuple[Levels, list[str]]":
        """Returns the levels without duplicate scores in each task, and a sentence for each level left out.

        A level is left out of a task if it scores nothing there, or if it repeats all scores of an earlier level.
        """
        values, sentences = self.values.copy(), []
        for task in dict.fromkeys(tasks.tolist()):
            names: dict[bytes, str] = {}
            for index, name in enumerate(self.levels):
                level = values[tasks == task, :, index]
                if not np.isfinite(level).any():
                    sentences.append(f"{task}: {self.name} {name} scores nothing")
                    continue
                first = names.setdefault(np.where(np.isfinite(level), level, np.nan).tobytes(), name)
                if first != name:
                    values[tasks == task, :, index] = np.nan
                    sentences.append(
                        f"{task}: {self.name} {name} gives every score of {self.name} {first}; counted once"
                    )
        return replace(self, values=values), sentences

    def means(self, tasks: NDArray[np.str_]) -> Array:
        """Returns the mean over the levels that have scores in the task; NaN where one of them lacks the score."""
        means = np.full(self.values.shape[:2], np.nan)
        for task in np.unique(tasks):
            part = self.values[tasks == task]
            if (has_scores := np.isfinite(part).any(axis=(0, 1))).any():
                means[tasks == task] = part[:, :, has_scores].mean(axis=2)
        return means


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemMatrix:
    """Scores with a row for each item and a column for each model."""

    values: Array
    """1: the model prefers the stereotype, 0: the anti-stereotype, 0.5: a tie; or any score; NaN: unscored."""
    models: tuple[str, ...]
    items: NDArray[np.str_]
    """Item ids."""
    tasks: NDArray[np.str_]
    """Part of the benchmark that an item belongs to; parts are examined separately."""
    domains: NDArray[np.str_]
    terms: NDArray[np.str_]
    """Cluster of an item, such as its target term; the item's id if it has none."""
    preferences: bool = True
    """True if a value says which of two sides the model prefers; False if it is a score."""
    people: Array = field(default_factory=lambda: np.empty(0))
    """Share of human judgements that confirm an item's labels; NaN without judgements, empty if no item has any."""

    facets: tuple[Levels, ...] = ()
    """Facets that the scores are means over, with the scores of each level."""

    def __post_init__(self) -> None:
        """Raises ValueError if a row or a column has no name."""
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
        """Returns the rows of a mask."""
        parts = {name: getattr(self, name)[rows] for name in ("values", "items", "tasks", "domains", "terms", "people")}
        return replace(self, **parts, facets=tuple(replace(one, values=one.values[rows]) for one in self.facets))

    def scored(self) -> "ItemMatrix":
        """Returns the items and models with at least one score."""
        finite = np.isfinite(self.values)
        models, rows = np.asarray(finite.any(axis=0)), np.asarray(finite.any(axis=1))
        names = tuple(name for name, present in zip(self.models, models, strict=True) if present)
        selected = self.take(rows)
        facets = tuple(replace(one, values=one.values[:, models]) for one in selected.facets)
        return replace(selected, values=selected.values[:, models], models=names, facets=facets)

    def size(self) -> str:
        """Returns the numbers of items and models in words."""
        return f"{quantity(len(self.items), 'item')} scored by {quantity(len(self.models), 'model')}"

    def parts(self) -> "dict[str, ItemMatrix]":
        """Returns the items of each task, in the order in which the tasks first appear."""
        return {str(task): self.take(self.tasks == task) for task in dict.fromkeys(self.tasks.tolist())}

    @property
    def groups(self) -> NDArray[np.int64]:
        """Index of each item's term."""
        return np.unique(self.terms, return_inverse=True)[1].reshape(-1)
