"""Variance components of items × models by analysis of variance, and the coefficients that follow from them.

If every cell is scored, the equations are the expected mean squares of the textbooks. With missing cells the sums of
squares follow Henderson's (1953) first method, which is unbiased if scores are missing for reasons unrelated to their
value.
"""

from math import ceil, isnan, nan

import numpy as np
from numpy.typing import NDArray

from catsofa.data.statistics import Array

SCALARS = 14
"""Columns of `term_sums` before the columns of each model."""
CROSSED = ("model", "item", "residual")
"""Components of models × items."""
NESTED = ("model", "term", "item", "model_term", "residual")
"""Components of models × items within terms."""
SINGULAR = 1e-12
"""Determinant of the scaled equations below which they have no unique solution."""


def term_sums(values: Array, groups: NDArray[np.int64]) -> Array:
    """Returns a row for each term, whose column sums determine the components; NaN is unscored."""
    scored = np.isfinite(values)
    # centred to avoid rounding errors; the components do not depend on the mean
    y = np.where(scored, values - values[scored].mean(), 0.0) if scored.any() else np.zeros_like(values)
    per_item, of_item = scored.sum(axis=1).astype(np.float64), y.sum(axis=1)
    terms = int(groups.max()) + 1

    def by_term(rows: Array) -> Array:
        return np.bincount(groups, weights=rows, minlength=terms).astype(np.float64)

    n = np.stack([by_term(column.astype(np.float64)) for column in scored.T], axis=1)
    s = np.stack([by_term(column) for column in y.T], axis=1)
    whole, total = n.sum(axis=1), s.sum(axis=1)
    safe = np.maximum(whole, 1)
    squares = by_term(per_item**2)
    scalars = [
        whole > 0,
        by_term((per_item > 0).astype(np.float64)),
        whole,
        squares,
        whole**2,
        (n**2).sum(axis=1),
        (n**2).sum(axis=1) / safe,
        squares / safe,
        (n > 0).sum(axis=1),
        total**2 / safe,
        by_term(of_item**2 / np.maximum(per_item, 1)),
        (s**2 / np.maximum(n, 1)).sum(axis=1),
        by_term((y**2).sum(axis=1)),
        total,
    ]
    return np.concatenate([np.stack(scalars, axis=1).astype(np.float64), n, s, n**2], axis=1)


def components(sums: Array, *, nested: bool = False) -> Array:
    """Returns the components of `CROSSED` or `NESTED` from sums of columns (…, columns); they may be negative.

    Each sum of squares is set equal to its expectation, which is linear in the components.
    """
    terms, items, cells, item2, term2, cell2, cell2_term, item2_term, pairs, t_t, t_i, t_mt, t_all, total = np.moveaxis(
        sums[..., :SCALARS], -1, 0
    )
    n, s, n2 = np.moveaxis(sums[..., SCALARS:].reshape(*sums.shape[:-1], 3, -1), -2, 0)
    safe = np.maximum(n, 1)
    models, t_m = (n > 0).sum(axis=-1), (s**2 / safe).sum(axis=-1)
    model2, within = (n**2).sum(axis=-1) / cells, (n2 / safe).sum(axis=-1)
    one = np.ones_like(cells)
    if nested:  # columns: squared mean, then `NESTED`
        rows = [
            [one, model2, term2 / cells, item2 / cells, cell2 / cells, one],
            [one, cells, within, models, within, models],
            [one, cell2_term, cells, item2_term, cell2_term, terms],
            [one, items, cells, cells, items, items],
            [one, cells, cells, pairs, cells, pairs],
            [one, cells, cells, cells, cells, cells],
        ]
        observed = [total**2 / cells, t_m, t_t, t_i, t_mt, t_all]
    else:
        rows = [
            [one, model2, item2 / cells, one],
            [one, cells, models, models],
            [one, items, cells, items],
            [one, cells, cells, cells],
        ]
        observed = [total**2 / cells, t_m, t_i, t_all]
    equations = np.stack([np.stack(np.broadcast_arrays(*row), axis=-1) for row in rows], axis=-2).astype(np.float64)
    scale = cells[..., None]
    equations[..., 1:] /= scale[..., None]
    solvable = np.abs(np.linalg.det(equations)) > SINGULAR
    equations[~solvable] = np.eye(len(rows))
    solved = np.linalg.solve(equations, np.stack(observed, axis=-1)[..., None])[..., 1:, 0] / scale
    return np.where(solvable[..., None], solved, nan)


def shares(estimates: Array) -> Array:
    """Returns each component as a share of the total; a negative one counts as 0 in the total, and stays negative."""
    total = np.maximum(estimates, 0).sum(axis=-1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(estimates / np.where(total > 0, total, nan))


def crossed_coefficient(sums: Array) -> Array:
    """Returns Cronbach's alpha of the models' means (KR-20 for scores 0 and 1): σ²(m) / (σ²(m) + σ²(e)/n).

    n is the harmonic mean of the numbers of items that the models scored.
    """
    model, _, error = np.moveaxis(components(sums), -1, 0)
    return ratio(model, error / _per_model(sums))


def nested_coefficient(sums: Array) -> Array:
    """Returns the coefficient over other terms: σ²(m) / (σ²(m) + σ²(mt)·Σn(t)²/n² + σ²(e)/n)."""
    model, _, _, with_term, error = np.moveaxis(components(sums, nested=True), -1, 0)
    n, _, n2 = np.moveaxis(sums[..., SCALARS:].reshape(*sums.shape[:-1], 3, -1), -2, 0)
    uneven = np.where(n > 0, n2 / np.maximum(n, 1) ** 2, nan)
    return ratio(model, np.maximum(with_term, 0) * np.nanmean(uneven, axis=-1) + error / _per_model(sums))


def _per_model(sums: Array) -> Array:
    """Returns the harmonic mean of the numbers of items that the models scored."""
    n = sums[..., SCALARS:].reshape(*sums.shape[:-1], 3, -1)[..., 0, :]
    return np.asarray((n > 0).sum(axis=-1) / np.where(n > 0, 1 / np.maximum(n, 1), 0).sum(axis=-1))


def ratio(true: Array, error: Array) -> Array:
    """Returns true variance / (true + error variance); NaN where the sum is not positive."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(true + error > 0, true / (true + error), nan))


def needed(coefficient: float, count: int, wanted: float) -> int | None:
    """Returns how many items (or terms) reach the wanted coefficient, by Spearman–Brown; None if no number does.

    `count` items of the same kind have `coefficient`.
    """
    if isnan(coefficient) or coefficient <= 0:
        return None
    return ceil(count * wanted / (1 - wanted) * (1 - coefficient) / coefficient - 1e-9) if coefficient < 1 else 1
