"""A two-parameter logistic model whose zero is "no preference", not the mean of the models.

P(model j prefers the stereotype on item i) = logistic(a_i (θ_j − b_i)) = logistic(a_i θ_j + d_i). The data determine
only a_i θ_j + d_i, so the zero and the unit of θ are conventions. Here the a_i have mean 1 and the d_i mean 0. Then θ_j
is the mean of model j's log odds over the items. A model with θ = 0 has log odds of 0 on average. The mean and the
variance of θ are free.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count
from math import log, nan, sqrt
from typing import Any

import numpy as np
from scipy import special

from catsofa.data.statistics import WIDE, Array, students

FEWEST_MODELS = 20
"""Fewest models for which slopes of items are estimated."""
FEWEST_ITEMS = 100
"""Fewest items with which a model's position is precise enough to be fixed while items are estimated."""
STEPS, CLOSE = 300, 1e-3
"""Largest number of EM steps, and the change of a model's position below which EM stops."""
ROUGH = 20
"""EM steps that find the starting point."""
FAR = 4.0
"""Drop of the log density below its highest value at which no further spread of the slopes is tried."""
LEAST = 1e-4
"""Smallest variance of slopes and levels."""
NO_SLOPE = "the items have no slope in common, so that they measure no one preference"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bipolar:
    """Positions of models relative to "no preference", and the response of items to them."""

    models: tuple[str, ...]
    theta: Array
    """Mean log odds of each model over the items; above 0 the model prefers stereotypes."""
    theta_error: Array
    items: tuple[str, ...]
    slope: Array
    """a: how much the log odds of an item rise with θ; the mean is 1, and an item below 0 is reversed."""
    slope_error: Array
    level: Array
    """d = −ab: the log odds of an item at θ = 0; the mean is 0."""
    level_error: Array
    mean: float
    """Mean of θ over the population of such models."""
    mean_error: float
    spread: float
    """Standard deviation of θ over the population of such models."""

    def sides(self) -> tuple[int, int]:
        """Returns the numbers of models whose interval lies above 0, and below 0."""
        reach = WIDE * self.theta_error
        return int((self.theta > reach).sum()), int((self.theta < -reach).sum())

    def limits(self) -> tuple[float, float]:
        """Returns Student's t interval of the mean over models."""
        reach = students(len(self.models)) * self.mean_error
        return self.mean - reach, self.mean + reach

    def to_dict(self) -> dict[str, Any]:
        """Returns the numbers by name; an item has a threshold b only if the interval of its slope excludes 0."""
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
                    "b": -row[2] / row[0] if certain else nan,
                }
                for name, row, certain in zip(self.items, columns, sure, strict=True)
            ],
        }


def bipolar(values: Array, models: Sequence[str], items: Sequence[str]) -> Bipolar | str:
    """Fits the model to preferences between 0 and 1 (ties ½, NaN unscored), or returns the reason for a failure.

    The slope and level of an item are a random pair from a normal distribution, because items are many and models few.
    The pair is integrated out: marginal maximum likelihood by EM, with quadrature over both. θ has a normal
    distribution with free mean and variance. The spread of the slopes is integrated out too: few models leave it so
    uncertain that a fixed spread would make intervals too short. No item has an infinite level, even if all models
    agree.
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
    data = _Given(won, scored, *_grid(len(models)))
    begin = _Spreads(0.5, 0.0, 1.0, theta, float(theta.mean()), max(float(theta.std()), 0.1))
    fits = _fits(data, begin)
    if isinstance(fits, str):
        return fits
    weights = special.softmax([fit.height for fit in fits])

    def mixed(values: Array, variances: Array) -> tuple[Array, Array]:
        """Returns the mean over the fits, and its standard error."""
        mean = np.tensordot(weights, values, axes=1)
        return mean, np.sqrt(np.tensordot(weights, variances + (values - mean) ** 2, axes=1))

    estimates, errors = mixed(np.array([fit.items for fit in fits]), np.array([fit.variances for fit in fits]))
    theta, error = mixed(np.array([fit.theta for fit in fits]), np.array([fit.error**2 for fit in fits]))
    mean, spread = (float(weights @ [getattr(fit, name) for fit in fits]) for name in ("mean", "spread"))
    # variance of a model's position without the shrinkage towards their distribution
    apart = 1 / np.maximum(1 / error**2 - 1 / spread**2, 1e-9)
    return Bipolar(
        models=tuple(models),
        theta=theta,
        theta_error=error,
        items=tuple(items),
        slope=estimates[:, 0],
        slope_error=errors[:, 0],
        level=estimates[:, 1],
        level_error=errors[:, 1],
        mean=mean,
        mean_error=1 / sqrt(float((1 / (spread**2 + apart)).sum())),
        spread=spread,
    )


@dataclass(frozen=True, slots=True)
class _Given:
    """Preferences and the mask of scored cells; the grid of standard slopes and levels, and its log density."""

    won: Array
    scored: Array
    grid: Array
    heights: Array


@dataclass(frozen=True, slots=True)
class _Spreads:
    """Spread of the items' slopes and levels, positions of the models, and the distribution of positions."""

    slopes: float
    """Standard deviation of a slope at a known level."""
    tilt: float
    """Rise of the mean slope with the level."""
    levels: float
    theta: Array
    mean: float
    spread: float


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fit:
    """Estimates for one spread of the slopes, with mean slope 1 and mean level 0 over these items."""

    height: float
    """Log density of this spread, up to a constant."""
    spreads: _Spreads
    items: Array
    """Slope and level of each item."""
    variances: Array
    theta: Array
    error: Array
    mean: float
    spread: float


def _grid(models: int) -> tuple[Array, Array]:
    """Returns a grid of standard slopes and levels, finer for more models, and its log density."""
    step = min(0.5, 4 / sqrt(models))
    slopes, levels = (np.arange(-(3.5 // one), 3.5 // one + 1) * one for one in (1.75 * step, step))
    grid = np.stack(np.meshgrid(slopes, levels), axis=-1).reshape(-1, 2)
    heights = -(grid**2).sum(axis=1) / 2
    return grid, heights - special.logsumexp(heights)


def _fits(data: _Given, begin: _Spreads) -> list[_Fit] | str:
    """Returns fits at equidistant spreads of the slopes, to both sides until improbable; or the reason for a failure.

    A spread s has the prior density s², which keeps it away from 0 (compare Chung, Rabe-Hesketh and others 2013).
    """
    rough = _settled(data, begin, free=True)
    if isinstance(rough, str):
        return rough
    square, items = rough.spreads.slopes**2, len(data.won)
    alone = 1 / max(1 / float(rough.variances[:, 0].mean()) - 1 / square, 0.01)
    step = sqrt(square + sqrt(2 / items) * (square + alone)) - sqrt(square)
    place, fits = int(rough.spreads.slopes / step), list[_Fit]()
    for places in (count(place), range(place - 1, -1, -1)):
        near = rough.spreads
        for index in places:
            fit = _settled(data, replace(near, slopes=step * (index + 0.5)), free=False)
            if isinstance(fit, str):
                return fit
            fits.append(fit)
            near = fit.spreads
            if fit.height < max(one.height for one in fits) - FAR:
                break
    return fits


def _settled(data: _Given, begin: _Spreads, *, free: bool) -> _Fit | str:
    """Returns the fit at one spread of the slopes; with `free`, takes a few steps towards the most probable spread."""
    current, won, scored = begin, data.won, data.scored
    for _ in range(ROUGH if free else STEPS):
        levels = current.levels * data.grid[:, 1]
        nodes = np.stack([1 + current.tilt * levels + current.slopes * data.grid[:, 0], levels], axis=1)
        reach = nodes[:, :1] * current.theta + nodes[:, 1:]
        chances = won @ reach.T - scored @ np.logaddexp(0, reach).T + data.heights
        weights = special.softmax(chances, axis=1)
        theta, error = _placed(nodes, current, weights, special.expit(reach), won, scored)
        (slope, level), share = (weights @ nodes).mean(axis=0), weights.mean(axis=0)
        if slope <= 0:
            return NO_SLOPE
        square = ((nodes - (slope, level)).T * share) @ (nodes - (slope, level))
        residual = square[0, 0] - square[0, 1] ** 2 / square[1, 1]
        # the mean depends on the spread: θ takes over the unit and zero of the items (parameter-expanded EM)
        four = 4 * current.slopes**2
        unit = slope if free else 2 * (sqrt(slope**2 + four * (slope**2 + residual)) - slope) / four
        shift = level * unit / slope
        turn = np.array([[1 / unit, 0.0], [-shift / unit, 1.0]])
        cover = turn @ square @ turn.T + LEAST * np.eye(2)
        theta, error = unit * theta + shift, unit * error
        moved, tilt = np.abs(theta - current.theta).max(), float(cover[0, 1] / cover[1, 1])
        current = _Spreads(
            slopes=sqrt(cover[0, 0] - tilt * cover[0, 1]) if free else current.slopes,
            tilt=tilt,
            levels=sqrt(cover[1, 1]),
            theta=theta,
            mean=float(theta.mean()),
            spread=sqrt(float(theta.var() + (error**2).mean())),
        )
        if not free and moved < CLOSE:
            break
    else:
        if not free:
            return f"EM did not settle in {STEPS:,} steps"
    posterior = weights @ nodes
    variances = weights @ nodes**2 - posterior**2
    unit, zero = posterior.mean(axis=0).tolist()
    if WIDE * current.slopes > sqrt(len(won)):  # the interval of the mean slope includes 0
        return NO_SLOPE
    # integrate out the positions by Laplace's method
    prior = -(((current.theta - current.mean) / current.spread) ** 2).sum() / 2 - len(current.theta) * log(
        current.spread
    )
    height = float(special.logsumexp(chances, axis=1).sum() + prior + np.log(error).sum()) + 2 * log(current.slopes)
    return _Fit(
        height=height,
        spreads=current,
        items=np.stack([posterior[:, 0] / unit, posterior[:, 1] - posterior[:, 0] * zero / unit], axis=1),
        variances=variances / (unit**2, 1.0),
        theta=unit * current.theta + zero,
        error=unit * error,
        mean=unit * current.mean + zero,
        spread=unit * current.spread,
    )


def _placed(
    nodes: Array, current: _Spreads, weights: Array, share: Array, won: Array, scored: Array
) -> tuple[Array, Array]:
    """Moves each model by one Newton step towards the maximum, and returns its error by Louis's (1982) information."""
    tally, wins, slope = weights.T @ scored, weights.T @ won, nodes[:, :1]
    whole = (tally * share * (1 - share) * slope**2).sum(axis=0) + current.spread**-2
    rise = ((wins - tally * share) * slope).sum(axis=0) - (current.theta - current.mean) / current.spread**2
    # information lost because slopes and levels are unknown
    each = won * (weights @ slope) - scored * (weights @ (share * slope))
    lost = ((wins * (1 - 2 * share) + tally * share**2) * slope**2).sum(axis=0) - (each**2).sum(axis=0)
    return current.theta + np.clip(rise / whole, -1, 1), 1 / np.sqrt(np.maximum(whole - lost, current.spread**-2))
