"""Whether the items on which people agree are those that models prefer, or those that order the models."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from catsofa.data.statistics import Array, draw_counts, spearman
from catsofa.scoring.examine.limits import CORRELATION, Estimate, estimate
from catsofa.scoring.examine.matrix import ItemMatrix
from catsofa.scoring.examine.order import LEAST, deviations, item_rest

FEWEST_ITEMS = 10
"""Items with judgements from which a correlation says something."""


def with_people(
    matrix: ItemMatrix, left_out: Sequence[Array], *, resamples: int, seed: int
) -> dict[str, Estimate] | str:
    """Spearman's rho over items of people's agreement with two numbers of each item; or why there is none."""
    asked = np.isfinite(matrix.people)
    if not asked.any():
        return {}
    if asked.sum() < FEWEST_ITEMS:
        return f"fewer than {FEWEST_ITEMS} items with judgements of people"
    if matrix.values.shape[1] < LEAST:
        return f"fewer than {LEAST} models"
    people, groups = matrix.people[asked], matrix.take(asked).groups
    terms, rng = int(groups.max()) + 1, np.random.default_rng(seed)
    counts = draw_counts(terms, resamples, rng)[:, groups].astype(np.int64)
    sides: dict[str, Callable[[Array], Array]] = {
        "preference": lambda values: np.nanmean(values, axis=1),
        "item_rest": lambda values: item_rest(*deviations(values))[:, 0],
    }
    found = {}
    for name, of_items in sides.items():
        whole = of_items(matrix.values)[asked]
        draws = np.array([_rho(whole, people, np.repeat(np.arange(len(whole)), of)) for of in counts])
        without = np.array([_rho(of_items(values)[asked], people) for values in left_out])
        found[f"people.{name}"] = estimate(_rho(whole, people), draws, terms, without, CORRELATION)
    return found


def _rho(one: Array, other: Array, rows: NDArray[np.int64] | None = None) -> float:
    """Spearman's rho of these rows, those without a number left out."""
    one, other = (one, other) if rows is None else (one[rows], other[rows])
    known = np.isfinite(one)
    return float(spearman(one[known], other[known]))
