"""Power by simulation: how often a test detects an effect in data drawn from a variance model."""

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, isnan, nan

import numpy as np
from scipy import special

from catsofa.data.statistics import LEVEL, score_limits
from catsofa.scoring.statistics.changes import paired_tests
from catsofa.scoring.statistics.intervals import ALIKE, UNDEFINED, Array, Interval, Measure, intervals

POWER = 0.8
RESAMPLES = 399
"""Resamples within each simulated test; with this number a permutation test reaches a level of exactly 5 %."""
SIMULATIONS = 1_000
WORK = 400_000
"""Total number of clusters drawn for one power, so that large sets take fewer simulations."""
FEWEST = 200
"""Least number of simulations for one power."""
CLOSE = 0.01
"""The search ends when the power differs from the target by this much or less."""
STEPS = 5
ROUGH = 2
"""Steps of a search with `FEWEST` simulations; the others use up to `SIMULATIONS`."""
MOST_CLUSTERS = 20_000
"""Largest number of clusters that the search considers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """One test of one set of items."""

    test: str
    """The tested quantity, such as `ss against 50`."""
    unit: str
    """Unit of the effect."""
    task: str = ""
    domain: str
    items: int
    clusters: int
    called: str
    """Name of the clusters: terms, pairs, targets."""
    most: float
    """The largest possible effect."""
    shows: Callable[[float, int, np.random.Generator], bool]
    """Takes effect, number of clusters and generator; returns True if the test detects the effect in one drawn data
    set."""
    estimate: Callable[[int, np.random.Generator], float]
    """Returns the estimate from one data set without an effect; the spread of estimates starts the search."""
    exact: Callable[[float, int], float] | None = None
    """The power in closed form, if it has one."""

    def power(self, effect: float, clusters: int = 0, *, seed: int = 0, rough: bool = False) -> Interval:
        """Returns the power at an effect, with the Monte Carlo interval of the simulation; exact powers have none.

        With `rough`, fewer simulations are run, for a search.
        """
        clusters = clusters or self.clusters
        if self.exact:
            return Interval(self.exact(effect, clusters), nan, nan)
        rng, times = np.random.default_rng(seed), FEWEST if rough else simulations(clusters)
        share = sum(self.shows(effect, clusters, rng) for _ in range(times)) / times
        return Interval(share, *score_limits(share, times, float(special.ndtri((1 + LEVEL) / 2))))


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The effects that a design detects."""

    design: Design
    effect: float
    """The smallest effect with the required power; NaN if no effect has it, or if the clusters do not vary."""
    power: Interval
    """The power at this effect, or at the largest possible effect."""
    at: Interval | None = None
    """The power at the requested effect."""
    needed: int | None = None
    """Clusters needed for the requested effect; None above `MOST_CLUSTERS`, or without a requested effect."""

    def to_dict(self) -> dict[str, object]:
        """Returns the numbers for JSON."""
        test_design = self.design
        about = {
            "test": test_design.test,
            "task": test_design.task,
            "domain": test_design.domain,
            "items": test_design.items,
            "clusters": test_design.clusters,
        }
        row = {
            **about,
            "clusters_are": test_design.called,
            "effect": self.effect,
            "unit": test_design.unit,
            "impossible": self.impossible,
        }
        row |= {"power": self.power.to_dict(), "exact": test_design.exact is not None}
        if self.at is None:
            return row
        return {**row, "at": self.at.to_dict(), "needed": {"clusters": self.needed, "items": self.items_needed}}

    @property
    def impossible(self) -> bool:
        """True if the set detects no possible effect; False if the power is unknown for lack of variance."""
        return isnan(self.effect) and not isnan(self.power.value)

    @property
    def items_needed(self) -> int | None:
        """Items needed for the requested effect, with the present number of items per cluster."""
        return None if self.needed is None else ceil(self.needed * self.design.items / self.design.clusters)


def leaves_out(rows: Array, measure: Measure, value: float, rng: np.random.Generator) -> bool:
    """Returns True if the bootstrap interval of a measure over these clusters excludes a value."""
    interval = intervals(rows, {"m": measure}, resamples=RESAMPLES, seed=rng)["m"]
    return not isnan(interval.low) and value not in interval


def refuses(before: Array, after: Array, measure: Measure, value: float, rng: np.random.Generator) -> bool:
    """Returns True if the paired test of `compare` rejects this change of a measure."""
    test = paired_tests(before, after, {"m": measure}, resamples=RESAMPLES, seed=rng)["m"]
    return bool(test.p(value) <= 1 - LEVEL)


def change_of(before: Array, after: Array, measure: Measure) -> float:
    """Returns the change of a measure between two runs over the same clusters."""
    return float(measure(after.sum(axis=0)) - measure(before.sum(axis=0)))


def simulations(clusters: int) -> int:
    """Returns the number of data sets to draw for one power, by their number of clusters."""
    return max(FEWEST, min(SIMULATIONS, WORK // clusters))


def found(design: Design, effect: float | None = None, *, seed: int = 0) -> Found:
    """Returns the smallest effect that a design detects; for a given effect, also its power and required clusters."""
    smallest, power = _smallest(design, seed)
    if effect is None or isnan(power.value):
        return Found(design=design, effect=smallest, power=power)
    if not 0 < effect <= design.most:
        raise ValueError(
            f"found the effect {effect:g}; expected a number above 0 and at most {design.most:g} {design.unit} for "
            f"{design.test}"
        )
    at_effect = design.power(effect, seed=seed)
    return Found(
        design=design, effect=smallest, power=power, at=at_effect, needed=_needed(design, effect, at_effect, seed)
    )


def _reach(power: float, clusters: int, times: int) -> float:
    """Returns the number of standard errors between no effect and an effect that the test detects with this power."""
    free = max(1, clusters - 1)
    bounded = min(max(power, 0.5 / times), 1 - 0.5 / times)
    return max(0.1, float(special.stdtrit(free, (1 + LEVEL) / 2) + special.ndtri(bounded)))


def _smallest(test_design: Design, seed: int) -> tuple[float, Interval]:
    """Returns the effect with the required power, by secants on the scale of normal quantiles; NaN if none has it."""
    if test_design.exact:
        low, high = 0.0, test_design.most
        for _ in range(40):
            middle = (low + high) / 2
            low, high = (low, middle) if test_design.exact(middle, test_design.clusters) >= POWER else (middle, high)
        reached = test_design.power(high)
        return (high if reached.value >= POWER else nan), reached
    rng, times = np.random.default_rng(seed), simulations(test_design.clusters)
    error = (
        float(np.nanstd([test_design.estimate(test_design.clusters, rng) for _ in range(FEWEST)]))
        if test_design.clusters > 1
        else 0.0
    )
    if not error > ALIKE * test_design.most:
        return nan, UNDEFINED
    effect = min(test_design.most, error * _reach(POWER, test_design.clusters, times))
    for step in range(STEPS):
        power = test_design.power(effect, seed=seed, rough=step < ROUGH)
        if step == STEPS - 1 or (step >= ROUGH and power.low <= POWER <= power.high):
            break
        factor = _reach(POWER, test_design.clusters, times) / _reach(power.value, test_design.clusters, times)
        effect = min(test_design.most, effect * min(2.0, max(0.5, factor)))
    return (effect if power.high >= POWER else nan), power


def _needed(test_design: Design, effect: float, reached: Interval, seed: int) -> int | None:
    """Returns the number of clusters with which the effect has the required power."""
    clusters, power = test_design.clusters, reached.value
    tried = dict[int, float]()
    for _ in range(STEPS):
        tried[clusters] = power
        if abs(power - POWER) <= CLOSE:
            break
        times = simulations(clusters)
        factor = (_reach(POWER, clusters, times) / _reach(power, clusters, times)) ** 2
        clusters = max(2, ceil(clusters * min(8.0, max(0.125, factor))))
        if clusters > MOST_CLUSTERS:
            return None
        power = test_design.power(effect, clusters, seed=seed).value
    tried[clusters] = power
    return min(tried, key=lambda one: abs(tried[one] - POWER))
