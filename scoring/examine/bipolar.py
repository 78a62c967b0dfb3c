"""A two-parameter logistic model whose zero is "no preference", not the mean of the models.

P(model j prefers the stereotype on item i) = logistic(a_i (θ_j − b_i)) = logistic(a_i θ_j + d_i). The data fix only
a_i θ_j + d_i, so zero and unit of θ are a choice. Here the a_i have mean 1 and the d_i mean 0: θ_j is the mean of model
j's log odds over the items, and θ = 0 the model whose log odds are 0 on average. Mean and variance of θ are free.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan, sqrt
from typing import Any

import numpy as np
from scipy import special

from catsofa.data.statistics import WIDE, Array, students

FEWEST_MODELS = 20
"""Models from which slopes of items are estimated."""
FEWEST_ITEMS = 100
"""Items from which a model's place is close enough to take as known where items are estimated."""
NODES = np.stack(np.meshgrid(np.linspace(-4, 4, 13), np.linspace(-4, 4, 21)), axis=-1).reshape(-1, 2)
"""Standard slopes and levels over which the likelihood of an item is summed."""
HEIGHTS = -(NODES**2).sum(axis=1) / 2
STEPS, CLOSE = 300, 1e-3
"""Steps of EM at most, and the change of a model's place below which they end."""
LEAST = 1e-4
"""The least variance of slopes and levels."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bipolar:
    """Where models lie beside "no preference", and how items respond to it."""

    models: tuple[str, ...]
    theta: Array
    """Mean log odds of each model over the items: above 0 it prefers stereotypes."""
    theta_error: Array
    items: tuple[str, ...]
    slope: Array
    """a: how much the log odds of an item rise with θ; the mean is 1, and below 0 the item is turned around."""
    slope_error: Array
    level: Array
    """d = −ab: the log odds of an item at θ = 0; their mean is 0."""
    level_error: Array
    mean: float
    """Mean of θ over models like these."""
    mean_error: float
    spread: float
    """Standard deviation of θ over models like these."""

    def sides(self) -> tuple[int, int]:
        """Models whose interval lies above 0, and below."""
        reach = WIDE * self.theta_error
        return int((self.theta > reach).sum()), int((self.theta < -reach).sum())

    def limits(self) -> tuple[float, float]:
        """Student's t interval of the mean over models."""
        reach = students(len(self.models)) * self.mean_error
        return self.mean - reach, self.mean + reach

    def to_dict(self) -> dict[str, Any]:
        """The numbers by name; an item has a threshold b where its slope is above or below 0 for certain."""
        (low, high), reach = self.limits(), WIDE * self.theta_error
        places = np.stack([self.theta, self.theta_error, self.theta - reach, self.theta + reach], axis=1).tolist()
        columns = np.stack([self.slope, self.slope_error, self.level, self.level_error], axis=1).tolist()
        sure = (np.abs(self.slope) > WIDE * self.slope_error).tolist()
        return {
            "mean": self.mean,
            "spread": self.spread,
            "interval": {"low": low, "high": high},
            "models": [
                {"model": name, **dict(zip(("theta", "error", "low", "high"), row, strict=True))}
                for name, row in zip(self.models, places, strict=True)
            ],
            "items": [
                {
                    "item": name,
                    **dict(zip(("a", "a_error", "d", "d_error"), row, strict=True)),
                    "b": -row[2] / row[0] if known else nan,
                }
                for name, row, known in zip(self.items, columns, sure, strict=True)
            ],
        }


def bipolar(values: Array, models: Sequence[str], items: Sequence[str]) -> Bipolar | str:
    """The model fitted to preferences between 0 and 1, ties ½, NaN unscored; or why there is none.

    Slopes and levels of items are a pair drawn from a normal distribution and summed out (marginal maximum likelihood
    by EM, quadrature over both), since items are many and models few. θ has a normal distribution of free mean and
    variance. No item has an infinite level, also where all models agree.
    """
    if len(models) < FEWEST_MODELS:
        return f"fewer than {FEWEST_MODELS} models, with which the slope of an item is mostly chance"
    if len(items) < FEWEST_ITEMS:
        return f"fewer than {FEWEST_ITEMS} items, with which the place of a model is too rough"
    if not (np.nanmin(values) >= 0 and np.nanmax(values) <= 1):
        return "scores are not preferences between 0 and 1"
    scored = np.isfinite(values).astype(np.float64)
    won = np.where(scored > 0, values, 0.0)
    theta = special.logit((won.sum(axis=0) + 0.5) / (scored.sum(axis=0) + 1))
    error = np.zeros_like(theta)
    mean, spread, cover = float(theta.mean()), max(float(theta.std()), 0.1), np.diag([0.25, 1.0])
    for _ in range(STEPS):
        before = theta
        nodes = NODES @ np.linalg.cholesky(cover).T + (1.0, 0.0)
        weights = _weights(nodes, theta, won, scored)
        centre = (weights @ nodes).mean(axis=0)
        if centre[0] <= 0:
            return "the items have no slope in common, so that they measure no one preference"
        square = np.einsum("iq,qa,qb->ab", weights, nodes - centre, nodes - centre, optimize=True) / len(items)
        theta, error = _placed(nodes, theta, weights, won, scored, mean, spread)
        # slopes have mean 1 and levels mean 0 again: θ takes over their unit and zero (parameter-expanded EM)
        theta, error = centre[0] * theta + centre[1], centre[0] * error
        turn = np.array([[1 / centre[0], 0.0], [-centre[1] / centre[0], 1.0]])
        cover = turn @ square @ turn.T + LEAST * np.eye(2)
        mean, spread = float(theta.mean()), sqrt(float(theta.var() + (error**2).mean()))
        if np.abs(theta - before).max() < CLOSE:
            break
    else:
        return f"EM did not settle in {STEPS:,} steps"
    nodes = NODES @ np.linalg.cholesky(cover).T + (1.0, 0.0)
    weights = _weights(nodes, theta, won, scored)
    found = weights @ nodes
    errors = np.sqrt(weights @ nodes**2 - found**2)
    # exactly so over these items
    unit, zero = found.mean(axis=0).tolist()
    found = np.stack([found[:, 0] / unit, found[:, 1] - found[:, 0] * zero / unit], axis=1)
    theta, error, mean, spread = unit * theta + zero, unit * error, unit * mean + zero, unit * spread
    # the variance of a model's place without the pull of their distribution
    apart = 1 / np.maximum(1 / error**2 - 1 / spread**2, 1e-9)
    return Bipolar(
        models=tuple(models),
        theta=theta,
        theta_error=error,
        items=tuple(items),
        slope=found[:, 0],
        slope_error=errors[:, 0] / unit,
        level=found[:, 1],
        level_error=errors[:, 1],
        mean=mean,
        mean_error=1 / sqrt(float((1 / (spread**2 + apart)).sum())),
        spread=spread,
    )


def _weights(nodes: Array, theta: Array, won: Array, scored: Array) -> Array:
    """How probable each node is for each item, given its scores: items × nodes."""
    reach = nodes[:, :1] * theta + nodes[:, 1:]
    return np.asarray(special.softmax(won @ reach.T - scored @ np.logaddexp(0, reach).T + HEIGHTS, axis=1))


def _placed(
    nodes: Array, theta: Array, weights: Array, won: Array, scored: Array, mean: float, spread: float
) -> tuple[Array, Array]:
    """Each model one step of Newton's method nearer to the maximum, and its error by Louis's (1982) information."""
    share = special.expit(nodes[:, :1] * theta + nodes[:, 1:])
    count, wins, slope = weights.T @ scored, weights.T @ won, nodes[:, :1]
    whole = (count * share * (1 - share) * slope**2).sum(axis=0) + spread**-2
    rise = ((wins - count * share) * slope).sum(axis=0) - (theta - mean) / spread**2
    # information that is lost since slopes and levels are not known
    each = won * (weights @ slope) - scored * (weights @ (share * slope))
    lost = ((wins * (1 - 2 * share) + count * share**2) * slope**2).sum(axis=0) - (each**2).sum(axis=0)
    return theta + np.clip(rise / whole, -1, 1), 1 / np.sqrt(np.maximum(whole - lost, spread**-2))
