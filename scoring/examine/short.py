"""Short forms: a few items of a task whose mean orders the models like all of its items."""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from catsofa.data.statistics import WIDE, Array, students
from catsofa.scoring.examine.matrix import ItemMatrix
from catsofa.scoring.examine.order import correlations, deviations
from catsofa.scoring.statistics.intervals import ALIKE, Interval

FOLDS = 5
FEWEST_MODELS = 10
"""Fewest models for which each of five folds leaves out at least two."""
RANDOM = 100
"""Random short forms of the same length, for comparison."""

Rows = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShortForm:
    """The chosen items, and how well such a choice predicts the scores of held-out models."""

    items: tuple[str, ...]
    intercept: float
    slope: float
    """Score on all items = intercept + slope × score on these items, fitted over all models."""
    r: Interval
    """Pearson's r between the scores on all items and their cross-validated predictions."""
    error: Interval
    """Mean absolute error of the predictions, with Student's t interval over models."""
    largest: float
    """Largest error; the error of one more model is below it with probability n / (n + 1) for n models."""
    random_r: Interval
    """Median of r over random short forms, and the limits that contain 95 % of them."""
    random_largest: Interval

    def to_dict(self) -> dict[str, Any]:
        """Returns the numbers by name."""
        return {
            "length": len(self.items),
            "items": list(self.items),
            "line": {"intercept": self.intercept, "slope": self.slope},
            "r": self.r.to_dict(),
            "error": {**self.error.to_dict(), "largest": self.largest},
            "random": {"forms": RANDOM, "r": self.random_r.to_dict(), "largest": self.random_largest.to_dict()},
        }


def short_form(matrix: ItemMatrix, length: int, seed: int) -> ShortForm | str:
    """Chooses items one by one for the largest Pearson's r with the score on all items; or returns why not.

    Domains keep their shares, and each term of a domain has at most as many items as are needed to fill the domain. The
    choice is repeated without each fifth of the models, and predicts the scores of that fifth.
    """
    items, models = matrix.values.shape
    if models < FEWEST_MODELS:
        return f"fewer than {FEWEST_MODELS} models, from which a choice of items is mostly chance"
    if not 2 <= length < items:
        return f"{length:,} of {items:,} items are no short form; expected 2 to {items - 1:,}"
    rng = np.random.default_rng(seed)
    folds = rng.permutation(np.arange(models) % FOLDS)
    values, room = matrix.values, _Room.of(matrix, length)
    chosen = [_greedy(values[:, folds != fold], deepcopy(room)) for fold in range(FOLDS)]
    truth, predicted = _told(values, folds, chosen)
    r, errors = float(correlations(truth, predicted)), np.abs(predicted - truth)
    edge = WIDE / sqrt(models - 3)
    low, high = (float(np.tanh(np.arctanh(np.clip(r, -1 + ALIKE, 1 - ALIKE)) + side)) for side in (-edge, edge))
    mean, reach = float(errors.mean()), students(models) * float(errors.std(ddof=1)) / sqrt(models)
    drawn = []
    for _ in range(RANDOM):
        true, random = _told(values, folds, [_random(deepcopy(room), rng)] * FOLDS)
        drawn.append((float(correlations(true, random)), float(np.abs(random - true).max())))
    best = _greedy(values, room)
    intercept, slope = _line(*_scores(values, folds >= 0, best))
    return ShortForm(
        items=tuple(matrix.items[np.sort(best)].tolist()),
        intercept=intercept,
        slope=slope,
        r=Interval(r, low, high),
        error=Interval(mean, max(0.0, mean - reach), mean + reach),
        largest=float(errors.max()),
        random_r=_middle([r for r, _ in drawn]),
        random_largest=_middle([error for _, error in drawn]),
    )


@dataclass(slots=True)
class _Room:
    """Items that a short form can still take."""

    domains: Rows
    """Index of each item's domain; `terms`: index of its term within the domain."""
    terms: Rows
    of_domain: Rows
    """Items that each domain may still give; `of_term`: items that each term may still give."""
    of_term: Rows
    taken: list[int]

    @classmethod
    def of(cls, matrix: ItemMatrix, length: int) -> "_Room":
        """Returns domain quotas by largest remainders, and per term the smallest quota that fills its domain."""
        pairs = np.stack([np.unique(matrix.domains, return_inverse=True)[1].reshape(-1), matrix.groups], axis=1)
        strata, terms, sizes = np.unique(pairs, axis=0, return_inverse=True, return_counts=True)
        exact = length * np.bincount(pairs[:, 0]) / len(pairs)
        wanted = np.floor(exact).astype(np.int64)
        wanted[np.argsort(wanted - exact, kind="stable")[: length - wanted.sum()]] += 1
        most = np.zeros(len(strata), dtype=np.int64)
        for domain, count in enumerate(wanted.tolist()):
            mine = strata[:, 0] == domain
            most[mine] = next(n for n in range(count + 1) if np.minimum(sizes[mine], n).sum() >= count)
        return cls(pairs[:, 0], terms.reshape(-1), wanted, most, [])

    def open(self) -> NDArray[np.bool_]:
        """Returns a mask of the items that can be taken."""
        available = (self.of_domain[self.domains] > 0) & (self.of_term[self.terms] > 0)
        available[self.taken] = False
        return available

    def take(self, item: int) -> None:
        """Takes an item and reduces the quotas."""
        self.taken.append(item)
        self.of_domain[self.domains[item]] -= 1
        self.of_term[self.terms[item]] -= 1


def _greedy(values: Array, room: _Room) -> list[int]:
    """Takes items one by one, each time the one whose mean with those taken has the largest r with all items."""
    away, scored = deviations(values)
    whole = away.sum(axis=0) / np.maximum(scored.sum(axis=0), 1)
    sums, counts = np.zeros(len(whole)), np.zeros(len(whole))
    while (available := room.open()).any():
        r = correlations((sums + away) / np.maximum(counts + scored, 1), whole)
        item = int(np.argmax(np.where(available, np.nan_to_num(r, nan=-2.0), -np.inf)))
        room.take(item)
        sums, counts = sums + away[item], counts + scored[item]
    return room.taken


def _random(room: _Room, rng: np.random.Generator) -> list[int]:
    """Takes items in random order while the quotas last."""
    for item in rng.permutation(len(room.terms)).tolist():
        if room.of_domain[room.domains[item]] and room.of_term[room.terms[item]]:
            room.take(item)
    return room.taken


def _scores(values: Array, known: NDArray[np.bool_], chosen: Sequence[int]) -> tuple[Array, Array]:
    """Returns each model's mean over the chosen items and over all items.

    A missing score counts as the item's mean over the known models.
    """
    scored = np.isfinite(values[:, known])
    sums = np.where(scored, values[:, known], 0.0).sum(axis=1)
    level = sums / np.maximum(scored.sum(axis=1), 1)
    filled = np.where(np.isfinite(values), values, level[:, None])
    return filled[chosen].mean(axis=0), filled.mean(axis=0)


def _line(short: Array, whole: Array) -> tuple[float, float]:
    """Returns intercept and slope of the least-squares line; slope 0 if the short scores do not differ."""
    away = short - short.mean()
    slope = float(away @ whole / (away @ away)) if np.abs(away).max() > ALIKE else 0.0
    return float(whole.mean()) - slope * float(short.mean()), slope


def _told(values: Array, folds: Rows, chosen: Sequence[Sequence[int]]) -> tuple[Array, Array]:
    """Returns each model's score on all items, and its prediction from the items and line of the other folds."""
    truth, predicted = np.empty(len(folds)), np.empty(len(folds))
    for fold, items in enumerate(chosen):
        out = folds == fold
        short, whole = _scores(values, ~out, items)
        intercept, slope = _line(short[~out], whole[~out])
        truth[out], predicted[out] = whole[out], intercept + slope * short[out]
    return truth, predicted


def _middle(values: Sequence[float]) -> Interval:
    """Returns the median, and the limits that contain 95 % of the values."""
    low, median, high = np.nanquantile(values, (0.025, 0.5, 0.975))
    return Interval(median, low, high)
