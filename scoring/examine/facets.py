"""Facet study: how much the answers to items depend on the prompt, the protocol or the sample.

Models, items and levels are crossed and random. The samples of a prompt are new replies for each model and item. The
first sample of one model has nothing in common with the first of another, so samples are nested in model × item.
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
"""Components if levels are nested in model × item; the others are 0."""
WANTED = (0.8, 0.9)
"""Coefficients for which the D-study gives the number of items."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facet:
    """Variance components and coefficients of models × items × levels."""

    name: str
    levels: tuple[str, ...]
    models: int
    items: int
    """Items that every model scored at every level; other items are excluded."""
    numbers: Mapping[str, Estimate]
    """Shares of variance; for each number in `counts`, the coefficient and the inverse of the items needed."""
    undefined: Mapping[str, str] = field(default_factory=dict)
    """Missing numbers or intervals, with the reason."""

    @property
    def components(self) -> tuple[str, ...]:
        """Names of the estimated components."""
        return tuple(name for name in COMPONENTS if f"variance.{name}" in self.numbers)

    @property
    def counts(self) -> tuple[int, ...]:
        """Numbers of levels in the D-study: one, the observed number, and twice that number."""
        return 1, len(self.levels), 2 * len(self.levels)

    def needs(self, levels: int, wanted: float) -> tuple[int | None, dict[str, int | None]]:
        """Returns how many items reach a coefficient with this many levels, and the limits; None if no number does."""
        inverse = self.numbers[f"items.{levels}.{wanted}"].both
        low, high = _items(inverse.high), _items(inverse.low)
        return _items(inverse.value), {"low": low, "high": high if low else None}

    def to_dict(self) -> dict[str, Any]:
        """Returns the study as a dictionary for JSON; shares lie between 0 and 1."""
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
    """Returns the number of items from its inverse; None if no number is enough or the inverse is unknown."""
    return max(1, ceil(1 / inverse - 1e-9)) if isfinite(inverse) and inverse > 0 else None


def studied(facet: Levels, groups: NDArray[np.int64], *, resamples: int, seed: int) -> Facet | str:
    """Returns the study of one facet, or the reason why it is impossible.

    A study needs two levels with scores, and two items that every model scored at every level.
    """
    observed = np.isfinite(facet.values).any(axis=(0, 1))
    names, values = tuple(np.array(facet.levels)[observed].tolist()), facet.values[:, :, observed]
    complete = np.isfinite(values).all(axis=(1, 2))
    if len(names) < 2:
        return f"one {facet.name} with scores of its own"
    if complete.sum() < 2:
        return f"{quantity(int(complete.sum()), 'item')} that every model scored under every {facet.name}"
    y = values[complete] - values[complete].mean()
    within, (items, models, levels) = facet.nested, y.shape
    groups = np.unique(groups[complete], return_inverse=True)[1].reshape(-1)
    counts = (1, levels, 2 * levels)

    def numbers(sums: Array, of_models: int, of_levels: int) -> dict[str, Array]:
        parts = components(sums, of_models, of_levels, within=within)
        by_name = dict(zip((f"variance.{name}" for name in COMPONENTS), np.moveaxis(shares(parts), -1, 0), strict=True))
        by_name |= {f"coefficient.{n}": coefficient(parts, items, n) for n in counts}
        return by_name | {f"items.{n}.{w}": items_inverse(parts, n, w) for n in counts for w in WANTED}

    sums = level_sums(y, groups)
    estimates, draws = (
        numbers(each, models, levels) for each in (sums.sum(axis=0), resampled_sums(sums, resamples, seed))
    )
    one_less = range(models if models > 2 else 0), range(levels if levels > 2 else 0)
    without_model = [
        numbers(level_sums(np.delete(y, index, 1), groups).sum(axis=0), models - 1, levels) for index in one_less[0]
    ]
    without = [
        numbers(level_sums(np.delete(y, index, 2), groups).sum(axis=0), models, levels - 1) for index in one_less[1]
    ]
    few = {"coefficient": f"fewer than {LEAST} models"} if models < LEAST else {}
    if levels < 3:
        few["intervals"] = f"two {facet.name}s do not say how far others would differ"
    return Facet(
        name=facet.name,
        levels=names,
        models=models,
        items=items,
        numbers={
            name: estimate(
                nan if models < LEAST and not name.startswith("variance") else float(value),
                draws[name],
                len(sums),
                np.array([float(one[name]) for one in without_model]),
                COMPONENT if name.startswith("variance") else INVERSE if name.startswith("items") else RELIABILITY,
                levels=np.array([float(one[name]) for one in without]),
            )
            for name, value in estimates.items()
            if not within or name.partition(".")[2] in WITHIN or not name.startswith("variance")
        },
        undefined=few,
    )


def level_sums(y: Array, groups: NDArray[np.int64]) -> Array:
    """Returns a row for each term, whose column sums determine the components; every cell must be scored.

    The columns are the number of items, the sum of each model at each level, and four sums of squares. These are of
    items, items × models, items × levels, and cells.
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
    """Returns the `COMPONENTS` by expected mean squares, from sums of columns; estimates may be negative.

    `within` pools the four mean squares of levels, because nested levels are replicates in model × item without an
    effect of their own.
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
        estimates = [
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
        estimates = [
            (ms_m - ms_mi - ms_ml + rest) / (n * levels),
            (ms_i - ms_mi - ms_il + rest) / (models * levels),
            (ms_l - ms_ml - ms_il + rest) / (models * n),
            (ms_mi - rest) / levels,
            (ms_ml - rest) / n,
            (ms_il - rest) / models,
            rest,
        ]
    return np.stack(estimates, axis=-1)


def coefficient(parts: Array, items: int, levels: int) -> Array:
    """Returns the coefficient of the models' means over n items at k levels.

    It is σ²(m) / (σ²(m) + σ²(mi)/n + σ²(ml)/k + σ²(e)/nk). Negative components of the error count as 0.
    """
    with_item, with_level, _, rest = np.moveaxis(np.maximum(parts[..., 3:], 0), -1, 0)
    return ratio(parts[..., 0], with_item / items + with_level / levels + rest / (items * levels))


def items_inverse(parts: Array, levels: int, wanted: float) -> Array:
    """Returns 1 / number of items that reach the wanted coefficient at this many levels; ≤ 0 if no number does."""
    odds = wanted / (1 - wanted)
    with_item, with_level, _, rest = np.moveaxis(np.maximum(parts[..., 3:], 0), -1, 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((parts[..., 0] - odds * with_level / levels) / (odds * (with_item + rest / levels)))
