"""The study of a facet: how far the items' answers depend on the prompt, the protocol or the sample.

Models, items and levels are crossed and random. The samples of a prompt are replies drawn anew for each model and item,
so that the first sample of one has nothing in common with the first of another: they are nested in model × item.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import ceil, isfinite, nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from catsofa.data.percentages import quantity
from catsofa.data.statistics import Array
from catsofa.scoring.examine.limits import COMPONENT, INVERSE, RELIABILITY, Estimate, estimate
from catsofa.scoring.examine.matrix import Levels
from catsofa.scoring.examine.order import LEAST
from catsofa.scoring.examine.variance import ratio, shares
from catsofa.scoring.statistics.intervals import resampled_sums

COMPONENTS = ("model", "item", "level", "model_item", "model_level", "item_level", "residual")
"""Components of models × items × levels."""
WITHIN = ("model", "item", "model_item", "residual")
"""Those of levels that are nested in model × item; the others are 0."""
WANTED = (0.8, 0.9)
"""Coefficients that a D-study asks for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facet:
    """The variance and the coefficients of models × items × levels."""

    name: str
    levels: tuple[str, ...]
    models: int
    items: int
    """Items that every model scored at every level; the others have no part in these numbers."""
    numbers: Mapping[str, Estimate]
    """Shares of variance, and for each number of `counts` the coefficient and the inverse of the items needed."""
    undefined: Mapping[str, str] = field(default_factory=dict)
    """Numbers or intervals that are missing, with the reason."""

    @property
    def components(self) -> tuple[str, ...]:
        """The names of the components."""
        return tuple(name for name in COMPONENTS if f"variance.{name}" in self.numbers)

    @property
    def counts(self) -> tuple[int, ...]:
        """The numbers of levels that the D-study is about: one, these, and twice as many."""
        return 1, len(self.levels), 2 * len(self.levels)

    def needs(self, levels: int, wanted: float) -> tuple[int | None, dict[str, int | None]]:
        """The items that reach a coefficient with so many levels, and their limits; None where no number does."""
        found = self.numbers[f"items.{levels}.{wanted}"].both
        low, high = _items(found.high), _items(found.low)
        return _items(found.value), {"low": low, "high": high if low else None}

    def to_dict(self) -> dict[str, Any]:
        """The numbers as they stand in our JSON; shares lie between 0 and 1."""
        numbers = {name: one for name, one in self.numbers.items() if not name.startswith("items.")}
        needs = {(levels, wanted): self.needs(levels, wanted) for levels in self.counts for wanted in WANTED}
        return {
            "levels": list(self.levels),
            "counts": {"models": self.models, "items": self.items},
            "variance": {name: self.numbers[f"variance.{name}"].value for name in self.components},
            "study": [
                {
                    "levels": levels,
                    "coefficient": self.numbers[f"coefficient.{levels}"].value,
                    "items_for": {str(wanted): needs[levels, wanted][0] for wanted in WANTED},
                }
                for levels in self.counts
            ],
            "undefined": dict(self.undefined),
            "intervals": {
                **{name: one.limits() for name, one in numbers.items()},
                **{f"items_for.{levels}.{wanted}": limits for (levels, wanted), (_, limits) in needs.items()},
            },
        }


def _items(inverse: float) -> int | None:
    """A number of items from its inverse; None where no number is enough, or none is known."""
    return max(1, ceil(1 / inverse - 1e-9)) if isfinite(inverse) and inverse > 0 else None


def studied(of: Levels, groups: NDArray[np.int64], *, resamples: int, seed: int) -> Facet | str:
    """The study of one facet, or why there is none: two levels, items and models are the least."""
    kept = np.isfinite(of.values).any(axis=(0, 1))
    names, values = tuple(np.array(of.levels)[kept].tolist()), of.values[:, :, kept]
    complete = np.isfinite(values).all(axis=(1, 2))
    if len(names) < 2:
        return f"one {of.name} with scores of its own"
    if complete.sum() < 2:
        return f"{quantity(int(complete.sum()), 'item')} that every model scored under every {of.name}"
    y = values[complete] - values[complete].mean()
    within, (items, models, levels) = of.nested, y.shape
    groups = np.unique(groups[complete], return_inverse=True)[1].reshape(-1)
    counts = (1, levels, 2 * levels)

    def numbers(sums: Array, of_models: int, of_levels: int) -> dict[str, Array]:
        parts = components(sums, of_models, of_levels, within=within)
        found = dict(zip((f"variance.{name}" for name in COMPONENTS), np.moveaxis(shares(parts), -1, 0), strict=True))
        found |= {f"coefficient.{n}": coefficient(parts, items, n) for n in counts}
        return found | {f"items.{n}.{w}": items_inverse(parts, n, w) for n in counts for w in WANTED}

    sums = level_sums(y, groups)
    found, draws = (numbers(each, models, levels) for each in (sums.sum(axis=0), resampled_sums(sums, resamples, seed)))
    one_less = range(models if models > 2 else 0), range(levels if levels > 2 else 0)
    others = [numbers(level_sums(np.delete(y, at, 1), groups).sum(axis=0), models - 1, levels) for at in one_less[0]]
    without = [numbers(level_sums(np.delete(y, at, 2), groups).sum(axis=0), models, levels - 1) for at in one_less[1]]
    few = {"coefficient": f"fewer than {LEAST} models"} if models < LEAST else {}
    if levels < 3:
        few["intervals"] = f"two {of.name}s do not say how far others would differ"
    return Facet(
        name=of.name,
        levels=names,
        models=models,
        items=items,
        numbers={
            name: estimate(
                nan if models < LEAST and not name.startswith("variance") else float(value),
                draws[name],
                len(sums),
                np.array([float(one[name]) for one in others]),
                COMPONENT if name.startswith("variance") else INVERSE if name.startswith("items") else RELIABILITY,
                levels=np.array([float(one[name]) for one in without]),
            )
            for name, value in found.items()
            if not within or name.partition(".")[2] in WITHIN or not name.startswith("variance")
        },
        undefined=few,
    )


def level_sums(y: Array, groups: NDArray[np.int64]) -> Array:
    """A row for each term, so made that the components follow from the sums of the columns; every cell is scored.

    The number of items, the sum of each model at each level, and sums of squares: of items, items × models, items ×
    levels, and cells.
    """
    models, levels = y.shape[1:]
    squares = [
        y.sum(axis=(1, 2)) ** 2 / (models * levels),
        (y.sum(axis=2) ** 2).sum(axis=1) / levels,
        (y.sum(axis=1) ** 2).sum(axis=1) / models,
        (y**2).sum(axis=(1, 2)),
    ]
    columns = [np.ones(len(y)), *y.reshape(len(y), -1).T, *squares]
    terms = int(groups.max()) + 1
    return np.stack([np.bincount(groups, weights=column, minlength=terms) for column in columns], axis=1)


def components(sums: Array, models: int, levels: int, *, within: bool = False) -> Array:
    """The components of `COMPONENTS` by expected mean squares, from sums of columns; estimates may be negative.

    `within` pools the four mean squares of levels, which are then replicates in model × item without an effect.
    """
    n, cell = sums[..., 0], sums[..., 1:-4].reshape(*sums.shape[:-1], models, levels)
    t_i, t_mi, t_il, t_all = np.moveaxis(sums[..., -4:], -1, 0)
    t_m = (cell.sum(axis=-1) ** 2).sum(axis=-1) / (n * levels)
    t_l = (cell.sum(axis=-2) ** 2).sum(axis=-1) / (n * models)
    t_ml, mean = (cell**2).sum(axis=(-1, -2)) / n, cell.sum(axis=(-1, -2)) ** 2 / (n * models * levels)
    m, i, k = models - 1, n - 1, levels - 1
    ms_m, ms_i, ms_mi = (t_m - mean) / m, (t_i - mean) / i, (t_mi - t_m - t_i + mean) / (m * i)
    if within:
        rest = (t_all - t_mi) / (models * n * k)
        zero = np.zeros_like(rest)
        found = [
            (ms_m - ms_mi) / (n * levels),
            (ms_i - ms_mi) / (models * levels),
            zero,
            (ms_mi - rest) / levels,
            zero,
            zero,
            rest,
        ]
    else:
        ms_l, ms_ml, ms_il = (t_l - mean) / k, (t_ml - t_m - t_l + mean) / (m * k), (t_il - t_i - t_l + mean) / (i * k)
        rest = (t_all - t_mi - t_ml - t_il + t_m + t_i + t_l - mean) / (m * i * k)
        found = [
            (ms_m - ms_mi - ms_ml + rest) / (n * levels),
            (ms_i - ms_mi - ms_il + rest) / (models * levels),
            (ms_l - ms_ml - ms_il + rest) / (models * n),
            (ms_mi - rest) / levels,
            (ms_ml - rest) / n,
            (ms_il - rest) / models,
            rest,
        ]
    return np.stack(found, axis=-1)


def coefficient(parts: Array, items: int, levels: int) -> Array:
    """σ²(m) / (σ²(m) + σ²(mi)/n + σ²(ml)/k + σ²(e)/nk): that of the models' means over n items at k levels.

    Negative components of the error count as 0.
    """
    with_item, with_level, _, rest = np.moveaxis(np.maximum(parts[..., 3:], 0), -1, 0)
    return ratio(parts[..., 0], with_item / items + with_level / levels + rest / (items * levels))


def items_inverse(parts: Array, levels: int, wanted: float) -> Array:
    """One over the items with which so many levels reach the wanted coefficient; 0 or less where no number does."""
    odds = wanted / (1 - wanted)
    with_item, with_level, _, rest = np.moveaxis(np.maximum(parts[..., 3:], 0), -1, 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((parts[..., 0] - odds * with_level / levels) / (odds * (with_item + rest / levels)))
