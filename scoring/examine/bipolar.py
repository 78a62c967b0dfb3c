"""A two-parameter logistic model whose zero is "no preference", not the mean of the models.

P(model j prefers the stereotype on item i) = logistic(a_i (θ_j − b_i)) = logistic(a_i θ_j + d_i). The data fix only
a_i θ_j + d_i, so zero and unit of θ are a choice. Here the a_i have mean 1 and the d_i mean 0: θ_j is the mean of model
j's log odds over the items, and θ = 0 the model whose log odds are 0 on average. Mean and variance of θ are free.
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
"""Models from which slopes of items are estimated."""
FEWEST_ITEMS = 100
"""Items from which a model's place is close enough to take as known where items are estimated."""
STEPS, CLOSE = 300, 1e-3
"""Steps of EM at most, and the change of a model's place below which they end."""
ROUGH = 20
"""Steps of EM that find where to begin."""
FAR = 4.0
"""How far the log density of the slopes' spread may fall below its highest value before no more are tried."""
LEAST = 1e-4
"""The least variance of slopes and levels."""
NO_SLOPE = "the items have no slope in common, so that they measure no one preference"


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
    variance. The spread of the slopes is summed out too: few models leave it so unsure that slopes whose spread is
    taken as known have intervals that are too short. No item has an infinite level, also where all models agree.
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
    given = _Given(won, scored, *_grid(len(models)))
    begin = _Spreads(0.5, 0.0, 1.0, theta, float(theta.mean()), max(float(theta.std()), 0.1))
    fits = _fits(given, begin)
    if isinstance(fits, str):
        return fits
    weights = special.softmax([fit.height for fit in fits])

    def mixed(values: Array, variances: Array) -> tuple[Array, Array]:
        """The mean over the fits, and its standard error."""
        mean = np.tensordot(weights, values, axes=1)
        return mean, np.sqrt(np.tensordot(weights, variances + (values - mean) ** 2, axes=1))

    found, errors = mixed(np.array([fit.items for fit in fits]), np.array([fit.variances for fit in fits]))
    theta, error = mixed(np.array([fit.theta for fit in fits]), np.array([fit.error**2 for fit in fits]))
    mean, spread = (float(weights @ [getattr(fit, name) for fit in fits]) for name in ("mean", "spread"))
    # the variance of a model's place without the pull of their distribution
    apart = 1 / np.maximum(1 / error**2 - 1 / spread**2, 1e-9)
    return Bipolar(
        models=tuple(models),
        theta=theta,
        theta_error=error,
        items=tuple(items),
        slope=found[:, 0],
        slope_error=errors[:, 0],
        level=found[:, 1],
        level_error=errors[:, 1],
        mean=mean,
        mean_error=1 / sqrt(float((1 / (spread**2 + apart)).sum())),
        spread=spread,
    )


@dataclass(frozen=True, slots=True)
class _Given:
    """Preferences and where they are scored; standard slopes and levels to sum over, and their log density."""

    won: Array
    scored: Array
    grid: Array
    heights: Array


@dataclass(frozen=True, slots=True)
class _Spreads:
    """How slopes and levels of items are spread, where the models are, and how these are spread."""

    slopes: float
    """Standard deviation of a slope at a known level."""
    tilt: float
    """How much the mean slope rises with the level."""
    levels: float
    theta: Array
    mean: float
    spread: float


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fit:
    """What follows from one spread of the slopes, with mean slope 1 and mean level 0 over these items."""

    height: float
    """Log density of this spread, but for a constant."""
    spreads: _Spreads
    items: Array
    """Slope and level of each item."""
    variances: Array
    theta: Array
    error: Array
    mean: float
    spread: float


def _grid(models: int) -> tuple[Array, Array]:
    """Standard slopes and levels, the closer the more the models say of an item; and their log density."""
    step = min(0.5, 4 / sqrt(models))
    slopes, levels = (np.arange(-(3.5 // one), 3.5 // one + 1) * one for one in (1.75 * step, step))
    grid = np.stack(np.meshgrid(slopes, levels), axis=-1).reshape(-1, 2)
    heights = -(grid**2).sum(axis=1) / 2
    return grid, heights - special.logsumexp(heights)


def _fits(given: _Given, begin: _Spreads) -> list[_Fit] | str:
    """Fits at spreads of the slopes in equal steps, to both sides until they are improbable; or why there are none.

    A spread s has the prior density s², which keeps it from 0 (compare Chung, Rabe-Hesketh and others 2013).
    """
    rough = _settled(given, begin, free=True)
    if isinstance(rough, str):
        return rough
    square, items = rough.spreads.slopes**2, len(given.won)
    alone = 1 / max(1 / float(rough.variances[:, 0].mean()) - 1 / square, 0.01)
    step = sqrt(square + sqrt(2 / items) * (square + alone)) - sqrt(square)
    place, found = int(rough.spreads.slopes / step), list[_Fit]()
    for places in (count(place), range(place - 1, -1, -1)):
        near = rough.spreads
        for at in places:
            fit = _settled(given, replace(near, slopes=step * (at + 0.5)), free=False)
            if isinstance(fit, str):
                return fit
            found.append(fit)
            near = fit.spreads
            if fit.height < max(one.height for one in found) - FAR:
                break
    return found


def _settled(given: _Given, begin: _Spreads, *, free: bool) -> _Fit | str:
    """The fit at one spread of the slopes; if `free`, a few steps towards the most probable spread."""
    of, won, scored = begin, given.won, given.scored
    for _ in range(ROUGH if free else STEPS):
        levels = of.levels * given.grid[:, 1]
        nodes = np.stack([1 + of.tilt * levels + of.slopes * given.grid[:, 0], levels], axis=1)
        reach = nodes[:, :1] * of.theta + nodes[:, 1:]
        chances = won @ reach.T - scored @ np.logaddexp(0, reach).T + given.heights
        weights = special.softmax(chances, axis=1)
        theta, error = _placed(nodes, of, weights, special.expit(reach), won, scored)
        (slope, level), share = (weights @ nodes).mean(axis=0), weights.mean(axis=0)
        if slope <= 0:
            return NO_SLOPE
        square = ((nodes - (slope, level)).T * share) @ (nodes - (slope, level))
        left = square[0, 0] - square[0, 1] ** 2 / square[1, 1]
        # the mean that goes with the spread: θ takes over the unit and zero of the items (parameter-expanded EM)
        four = 4 * of.slopes**2
        unit = slope if free else 2 * (sqrt(slope**2 + four * (slope**2 + left)) - slope) / four
        shift = level * unit / slope
        turn = np.array([[1 / unit, 0.0], [-shift / unit, 1.0]])
        cover = turn @ square @ turn.T + LEAST * np.eye(2)
        theta, error = unit * theta + shift, unit * error
        moved, tilt = np.abs(theta - of.theta).max(), float(cover[0, 1] / cover[1, 1])
        of = _Spreads(
            slopes=sqrt(cover[0, 0] - tilt * cover[0, 1]) if free else of.slopes,
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
    found = weights @ nodes
    variances = weights @ nodes**2 - found**2
    unit, zero = found.mean(axis=0).tolist()
    if WIDE * of.slopes > sqrt(len(won)):  # the mean slope is not above 0 for certain
        return NO_SLOPE
    # places are summed out by Laplace's method
    prior = -(((of.theta - of.mean) / of.spread) ** 2).sum() / 2 - len(of.theta) * log(of.spread)
    height = float(special.logsumexp(chances, axis=1).sum() + prior + np.log(error).sum()) + 2 * log(of.slopes)
    return _Fit(
        height=height,
        spreads=of,
        items=np.stack([found[:, 0] / unit, found[:, 1] - found[:, 0] * zero / unit], axis=1),
        variances=variances / (unit**2, 1.0),
        theta=unit * of.theta + zero,
        error=unit * error,
        mean=unit * of.mean + zero,
        spread=unit * of.spread,
    )


def _placed(nodes: Array, of: _Spreads, weights: Array, share: Array, won: Array, scored: Array) -> tuple[Array, Array]:
    """Each model one step of Newton's method nearer to the maximum, and its error by Louis's (1982) information."""
    tally, wins, slope = weights.T @ scored, weights.T @ won, nodes[:, :1]
    whole = (tally * share * (1 - share) * slope**2).sum(axis=0) + of.spread**-2
    rise = ((wins - tally * share) * slope).sum(axis=0) - (of.theta - of.mean) / of.spread**2
    # information that is lost since slopes and levels are not known
    each = won * (weights @ slope) - scored * (weights @ (share * slope))
    lost = ((wins * (1 - 2 * share) + tally * share**2) * slope**2).sum(axis=0) - (each**2).sum(axis=0)
    return of.theta + np.clip(rise / whole, -1, 1), 1 / np.sqrt(np.maximum(whole - lost, of.spread**-2))
