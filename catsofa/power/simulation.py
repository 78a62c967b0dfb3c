"""Power by simulation: how often a test finds an effect in data that are drawn from a variance model."""

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
"""Resamples within each simulated test: with so many, a permutation test has a level of 5 % and not less."""
SIMULATIONS = 1_000
WORK = 400_000
"""Clusters that are drawn for one power, so that large sets take fewer simulations."""
FEWEST = 200
"""Simulations for one power, at least."""
CLOSE = 0.01
"""A power that differs by less from the one that is wanted ends the search."""
STEPS = 5
ROUGH = 2
"""Steps of a search with `FEWEST` simulations; the others take `SIMULATIONS`."""
MOST_CLUSTERS = 20_000
"""Beyond it the clusters that an effect needs are not looked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """One test of one set of items."""

    test: str
    """What is tested, such as `ss against 50`."""
    unit: str
    """What the effect is measured in."""
    task: str = ""
    domain: str
    items: int
    clusters: int
    called: str
    """What the clusters are: terms, pairs, targets."""
    most: float
    """The largest effect that there can be."""
    shows: Callable[[float, int, np.random.Generator], bool]
    """Effect, number of clusters, generator: whether the test finds the effect in one drawn data set."""
    estimate: Callable[[int, np.random.Generator], float]
    """The estimate from one data set without an effect; its spread begins the search."""
    exact: Callable[[float, int], float] | None = None
    """The power in closed form, where there is one."""

    def power(self, effect: float, clusters: int = 0, *, seed: int = 0, rough: bool = False) -> Interval:
        """The power at an effect, with the Monte Carlo interval of the simulation; exact powers have none.

        A `rough` one takes fewer simulations, for a search.
        """
        clusters = clusters or self.clusters
        if self.exact:
            return Interval(self.exact(effect, clusters), nan, nan)
        rng, times = np.random.default_rng(seed), FEWEST if rough else simulations(clusters)
        share = sum(self.shows(effect, clusters, rng) for _ in range(times)) / times
        return Interval(share, *score_limits(share, times, float(special.ndtri((1 + LEVEL) / 2))))


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a design finds."""

    design: Design
    effect: float
    """The smallest effect with the power that is wanted; NaN where no effect has it, or the clusters do not vary."""
    power: Interval
    """The power at this effect, or at the largest that there can be."""
    at: Interval | None = None
    """The power at the effect that was asked about."""
    needed: int | None = None
    """Clusters that the effect asked about needs; None where they are more than `MOST_CLUSTERS`."""

    def to_dict(self) -> dict[str, object]:
        """The numbers as they stand in our JSON."""
        of = self.design
        about = {"test": of.test, "task": of.task, "domain": of.domain, "items": of.items, "clusters": of.clusters}
        row = {
            **about,
            "clusters_are": of.called,
            "effect": self.effect,
            "unit": of.unit,
            "impossible": self.impossible,
        }
        row |= {"power": self.power.to_dict(), "exact": of.exact is not None}
        if self.at is None:
            return row
        return {**row, "at": self.at.to_dict(), "needed": {"clusters": self.needed, "items": self.items_needed}}

    @property
    def impossible(self) -> bool:
        """Whether the set finds no effect that can be; without a variance nothing is known."""
        return isnan(self.effect) and not isnan(self.power.value)

    @property
    def items_needed(self) -> int | None:
        """Items that the effect asked about needs, as many for each cluster as now."""
        return None if self.needed is None else ceil(self.needed * self.design.items / self.design.clusters)


def leaves_out(rows: Array, measure: Measure, value: float, rng: np.random.Generator) -> bool:
    """Whether the bootstrap's interval of a measure over these clusters leaves a value out."""
    found = intervals(rows, {"m": measure}, resamples=RESAMPLES, seed=rng)["m"]
    return not isnan(found.low) and value not in found


def refuses(before: Array, after: Array, measure: Measure, value: float, rng: np.random.Generator) -> bool:
    """Whether the paired test of `compare` refuses this change of a measure."""
    test = paired_tests(before, after, {"m": measure}, resamples=RESAMPLES, seed=rng)["m"]
    return bool(test.p(value) <= 1 - LEVEL)


def change_of(before: Array, after: Array, measure: Measure) -> float:
    """The change of a measure between two runs over the same clusters."""
    return float(measure(after.sum(axis=0)) - measure(before.sum(axis=0)))


def simulations(clusters: int) -> int:
    """How many data sets of so many clusters are drawn for one power."""
    return max(FEWEST, min(SIMULATIONS, WORK // clusters))


def found(design: Design, effect: float | None = None, *, seed: int = 0) -> Found:
    """The smallest effect that a design finds; of an effect that is given, also its power and what it needs."""
    smallest, power = _smallest(design, seed)
    if effect is None or isnan(power.value):
        return Found(design=design, effect=smallest, power=power)
    if not 0 < effect <= design.most:
        raise ValueError(
            f"found the effect {effect:g}; expected a number above 0 and at most {design.most:g} {design.unit} for "
            f"{design.test}"
        )
    at = design.power(effect, seed=seed)
    return Found(design=design, effect=smallest, power=power, at=at, needed=_needed(design, effect, at, seed))


def _reach(power: float, clusters: int, times: int) -> float:
    """Standard errors between no effect and the one that a test over so many clusters finds with this power."""
    free = max(1, clusters - 1)
    kept = min(max(power, 0.5 / times), 1 - 0.5 / times)
    return max(0.1, float(special.stdtrit(free, (1 + LEVEL) / 2) + special.ndtri(kept)))


def _smallest(of: Design, seed: int) -> tuple[float, Interval]:
    """The effect whose power is the one wanted, by secants on the scale of normal quantiles; NaN where none has it."""
    if of.exact:
        low, high = 0.0, of.most
        for _ in range(40):
            middle = (low + high) / 2
            low, high = (low, middle) if of.exact(middle, of.clusters) >= POWER else (middle, high)
        reached = of.power(high)
        return (high if reached.value >= POWER else nan), reached
    rng, times = np.random.default_rng(seed), simulations(of.clusters)
    error = float(np.nanstd([of.estimate(of.clusters, rng) for _ in range(FEWEST)])) if of.clusters > 1 else 0.0
    if not error > ALIKE * of.most:
        return nan, UNDEFINED
    effect = min(of.most, error * _reach(POWER, of.clusters, times))
    for step in range(STEPS):
        power = of.power(effect, seed=seed, rough=step < ROUGH)
        if step == STEPS - 1 or (step >= ROUGH and power.low <= POWER <= power.high):
            break
        factor = _reach(POWER, of.clusters, times) / _reach(power.value, of.clusters, times)
        effect = min(of.most, effect * min(2.0, max(0.5, factor)))
    return (effect if power.high >= POWER else nan), power


def _needed(of: Design, effect: float, at: Interval, seed: int) -> int | None:
    """The clusters with which the effect is found with the power that is wanted."""
    clusters, power = of.clusters, at.value
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
        power = of.power(effect, clusters, seed=seed).value
    tried[clusters] = power
    return min(tried, key=lambda one: abs(tried[one] - POWER))
