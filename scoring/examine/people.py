"""Correlation of people's agreement on items with the models' preference and with item–rest correlations."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from catsofa.data.statistics import Array, draw_counts, spearman
from catsofa.scoring.examine.limits import CORRELATION, Estimate, estimate
from catsofa.scoring.examine.matrix import ItemMatrix
from catsofa.scoring.examine.order import LEAST, deviations, item_rest

FEWEST_ITEMS = 10
"""Fewest items with judgements for a correlation."""


def with_people(
    matrix: ItemMatrix, left_out: Sequence[Array], *, resamples: int, seed: int
) -> dict[str, Estimate] | str:
    """Returns Spearman's rho, over items, of people's agreement with two numbers of each item; or why it is missing.

    The two numbers are the mean preference of the models and the item–rest correlation. Empty without judgements.
    """
    judged = np.isfinite(matrix.people)
    if not judged.any():
        return {}
    if judged.sum() < FEWEST_ITEMS:
        return f"fewer than {FEWEST_ITEMS} items with judgements of people"
    if matrix.values.shape[1] < LEAST:
        return f"fewer than {LEAST} models"
    people, groups = matrix.people[judged], matrix.take(judged).groups
    terms, rng = int(groups.max()) + 1, np.random.default_rng(seed)
    counts = draw_counts(terms, resamples, rng)[:, groups].astype(np.int64)
    sides: dict[str, Callable[[Array], Array]] = {
        "preference": lambda values: np.nanmean(values, axis=1),
        "item_rest": lambda values: item_rest(*deviations(values))[:, 0],
    }
    estimates = {}
    for name, of_items in sides.items():
        whole = of_items(matrix.values)[judged]
        draws = np.array([_rho(whole, people, np.repeat(np.arange(len(whole)), copies)) for copies in counts])
        without = np.array([_rho(of_items(values)[judged], people) for values in left_out])
        estimates[f"people.{name}"] = estimate(_rho(whole, people), draws, terms, without, CORRELATION)
    return estimates


def _rho(one: Array, other: Array, rows: NDArray[np.int64] | None = None) -> float:
    """Returns Spearman's rho of these rows, without rows whose first number is undefined."""
    one, other = (one, other) if rows is None else (one[rows], other[rows])
    defined = np.isfinite(one)
    return float(spearman(one[defined], other[defined]))
