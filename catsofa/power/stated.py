"""Variance models that need no run: a data set and stated numbers."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from math import comb, isnan, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from catsofa.data.records import KINDS, AssociationTest, Cat, Pair
from catsofa.data.statistics import LEVEL
from catsofa.power.simulation import Design, change_of, leaves_out, refuses
from catsofa.scoring.choices import Average
from catsofa.scoring.measures.cat_outcomes import LMS_OF, LMS_WON, SS_OF, SS_WON
from catsofa.scoring.measures.crows_pairs import METRIC
from catsofa.scoring.measures.seat import effect_size
from catsofa.scoring.measures.seat.permutation_test import p_value
from catsofa.scoring.measures.stereoset import MEASURES, icat
from catsofa.scoring.statistics import intervals as bootstrap
from catsofa.scoring.statistics.intervals import Array, Measure, intervals

Counts = NDArray[np.int64]

OVERALL = "overall"
POINTS = "points"
HALF = 50.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Stated:
    """The assumptions about one measure: rounded medians over the models that StereoSet released."""

    mean: float
    between: float
    """Standard deviation of the true values of target terms, in points."""
    differ: float
    """Percentage of the comparisons that two models decide differently."""
    apart: float
    """Standard deviation of the true changes of target terms between two models, in points."""
    comparisons: float
    """Number of independent comparisons that a CAT equals; the two comparisons of lms are correlated."""


STATED = {
    "ss": Stated(mean=59, between=5, differ=39, apart=3, comparisons=1),
    "lms": Stated(mean=84, between=3, differ=25, apart=3, comparisons=1.34),
}
PLACES = {"ss": (SS_WON, SS_OF), "lms": (LMS_WON, LMS_OF)}
CATS = "; ".join(
    f"{name}: SD between terms {of.between:g} points; two models differ on {of.differ:g} % of the comparisons, SD of "
    f"their change between terms {of.apart:g} points"
    for name, of in STATED.items()
)
PAIRS = f"every pair is a draw of its own, without ties; two models differ on {STATED['ss'].differ:g} % of the pairs"
TARGETS = "the associations of targets are normal numbers, with one variance in X and Y"
SPLITS = 999
"""Number of splits drawn if more exist."""


def cats_designs(cats: Sequence[Cat], average: Average) -> Iterator[Design]:
    """Yields for each task and domain: ss and lms against 50, and changes of ss, lms and icat."""
    for task, domain, part in parts(cats):
        _, counts = np.unique([cat.target for cat in part], return_counts=True)
        about: dict[str, Any] = {"task": task, "domain": domain, "items": len(part), "clusters": len(counts)}
        about |= {"called": "terms", "unit": POINTS}
        for name in STATED:
            share = partial(_share, name, counts, average)
            yield Design(
                test=f"{name} against 50",
                most=HALF,
                shows=partial(_leaves_out, MEASURES[name], share),
                estimate=partial(_value, MEASURES[name], share),
                **about,
            )
        for name, (measure, effects, most) in CHANGES.items():
            sides = partial(_sides, counts, average, effects)
            yield Design(
                test=f"change of {name}",
                most=most,
                shows=partial(_moves, measure, sides),
                estimate=partial(_change, measure, sides),
                **about,
            )


def parts(cats: Sequence[Cat]) -> Iterator[tuple[str, str, list[Cat]]]:
    """Yields each task with each of its domains, if it has several, and with all; then both tasks together."""
    tasks = [kind for kind in KINDS if any(cat.kind == kind for cat in cats)]
    for kind in tasks:
        some = [cat for cat in cats if cat.kind == kind]
        domains = sorted({cat.bias_type for cat in some})
        if len(domains) > 1:
            yield from ((kind, name, [cat for cat in some if cat.bias_type == name]) for name in domains)
        yield kind, OVERALL, some
    if len(tasks) > 1:
        yield "both", OVERALL, list(cats)


Columns = Callable[[float, int, np.random.Generator], Array]
Sides = Callable[[float, int, np.random.Generator], tuple[Array, Array]]


def _leaves_out(measure: Measure, columns: Columns, effect: float, clusters: int, rng: np.random.Generator) -> bool:
    """Returns True if the bootstrap interval excludes 50."""
    return leaves_out(columns(effect, clusters, rng), measure, HALF, rng)


def _value(measure: Measure, columns: Columns, clusters: int, rng: np.random.Generator) -> float:
    """Returns the estimate without an effect."""
    return float(measure(columns(0.0, clusters, rng).sum(axis=0)))


def _moves(measure: Measure, sides: Sides, effect: float, clusters: int, rng: np.random.Generator) -> bool:
    """Returns True if the paired test of `compare` has a p of at most 5 %."""
    return refuses(*sides(effect, clusters, rng), measure, 0.0, rng)


def _change(measure: Measure, sides: Sides, clusters: int, rng: np.random.Generator) -> float:
    """Returns the change without an effect."""
    return change_of(*sides(0.0, clusters, rng), measure)


def _made(name: str, counts: Counts, terms: int) -> Counts:
    """Returns the number of independent comparisons of each term; repeats the cluster sizes of the data."""
    sizes = np.rint(np.resize(counts, terms) * STATED[name].comparisons).astype(np.int64)
    return np.asarray(np.maximum(1, sizes))


def _true(share: float, between: float, terms: int, rng: np.random.Generator) -> Array:
    """Returns the true shares of terms, drawn from a beta distribution with this mean and standard deviation."""
    if not 0 < share < 1:
        return np.full(terms, share)
    size = max(share * (1 - share) / (between / 100) ** 2 - 1, 0.1)
    return np.asarray(rng.beta(share * size, (1 - share) * size, terms))


def _columns(won: dict[str, Counts], totals: dict[str, Counts], average: Average) -> Array:
    """Returns the columns as `Outcomes.columns` does."""
    rows = np.zeros((len(next(iter(won.values()))), 4))
    for name, wins in won.items():
        whole = totals[name] if average == "terms" else np.ones_like(totals[name])
        rows[:, PLACES[name][0]], rows[:, PLACES[name][1]] = wins / whole, totals[name] / whole
    return rows


def _share(name: str, counts: Counts, average: Average, effect: float, terms: int, rng: np.random.Generator) -> Array:
    """Draws one model whose measure is `effect` points above 50."""
    totals = _made(name, counts, terms)
    won = rng.binomial(totals, _true((HALF + effect) / 100, STATED[name].between, terms, rng))
    return _columns({name: won}, {name: totals}, average)


Effects = dict[str, float]
"""Measure to its change for one point of effect."""
CHANGES: dict[str, tuple[Measure, Effects, float]] = {
    "ss": (MEASURES["ss"], {"ss": 1.0}, 100 - STATED["ss"].mean),
    "lms": (MEASURES["lms"], {"lms": -1.0}, STATED["lms"].mean),
    "icat": (
        MEASURES["icat"],
        {"lms": 0.0, "ss": HALF / STATED["lms"].mean},
        icat(STATED["lms"].mean, STATED["ss"].mean),
    ),
}
"""Measure, changes for a point of effect (icat changes with ss), and the largest effect."""


def _sides(
    counts: Counts, average: Average, effects: Effects, effect: float, terms: int, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Draws two models on the same CATs, or one on CATs and their paraphrases."""
    before, after, totals = dict[str, Counts](), dict[str, Counts](), dict[str, Counts]()
    for name, slope in effects.items():
        stated, totals[name] = STATED[name], _made(name, counts, terms)
        share = _true(stated.mean / 100, stated.between, terms, rng)
        moved = slope * effect / 100 + rng.normal(0, stated.apart / 100, terms)
        # limit the flips to the comparisons available on either side, or clipping would reduce the change
        room = np.minimum(2 * share + moved, 2 * (1 - share) - moved)
        turned = np.maximum(np.minimum(stated.differ / 100, room), np.abs(moved))
        before[name] = rng.binomial(totals[name], share)
        down = rng.binomial(before[name], np.clip((turned - moved) / (2 * share), 0, 1))
        up = rng.binomial(totals[name] - before[name], np.clip((turned + moved) / (2 * (1 - share)), 0, 1))
        after[name] = before[name] - down + up
    return _columns(before, totals, average), _columns(after, totals, average)


def pairs_designs(pairs: Sequence[Pair]) -> Iterator[Design]:
    """Yields for all pairs and for each bias type the score against 50, and its change."""
    types = sorted({pair.bias_type for pair in pairs})
    for name in [*(types if len(types) > 1 else ()), OVERALL]:
        count = sum(name in (OVERALL, pair.bias_type) for pair in pairs)
        about: dict[str, Any] = {"domain": name, "items": count, "clusters": count, "called": "pairs"}
        about |= {"unit": POINTS, "most": HALF}
        yield Design(
            test="score against 50",
            shows=partial(_leaves_out, METRIC, _won),
            estimate=partial(_value, METRIC, _won),
            exact=_beyond,
            **about,
        )
        yield Design(
            test="change of score",
            shows=partial(_moves, METRIC, _turned),
            estimate=partial(_change, METRIC, _turned),
            **about,
        )


def _won(effect: float, pairs: int, rng: np.random.Generator) -> Array:
    """Draws one model whose score is `effect` points above 50."""
    return np.column_stack([rng.random(pairs) < 0.5 + effect / 100, np.ones(pairs)]).astype(np.float64)


@cache
def least_count(pairs: int) -> int:
    """Returns the least count above one half whose interval, as in `score`, excludes 50; `pairs` + 1 if none does."""
    resamples = int(min(bootstrap.RESAMPLES, max(1_000, 20_000_000 // pairs)))

    def out(won: int) -> bool:
        rows = np.column_stack([np.arange(pairs) < won, np.ones(pairs)]).astype(np.float64)
        interval = intervals(rows, {"m": METRIC}, resamples=resamples)["m"]
        return not isnan(interval.low) and HALF not in interval

    low, high = pairs // 2, pairs + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if out(middle) else (middle, high)
    return high


def _beyond(effect: float, pairs: int) -> float:
    """Returns the binomial probability of the counts, at either end, whose interval excludes 50."""
    least, share = least_count(pairs), 0.5 + effect / 100
    return float(special.bdtrc(least - 1, pairs, share) + special.bdtr(pairs - least, pairs, share))


def _turned(effect: float, pairs: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Draws two models on the same pairs, the first with a score of 50."""
    moved, differ = effect / 100, max(STATED["ss"].differ / 100, effect / 100)
    before = rng.random(pairs) < 0.5
    turned = rng.random(pairs) < np.where(before, differ - moved, min(1.0, differ + moved))
    one, other = (np.column_stack([side, np.ones(pairs)]).astype(np.float64) for side in (before, before ^ turned))
    return one, other


def seat_designs(tests: Sequence[AssociationTest]) -> Iterator[Design]:
    """Yields the effect size of each test against 0."""
    for test in tests:
        if (count := len(test.x.items)) != len(test.y.items):
            continue  # `score` does not score such a test
        yield Design(
            test="effect size d against 0",
            unit="d",
            domain=test.id,
            items=2 * count,
            clusters=count,
            called="targets a side",
            most=1.99,
            shows=_separates,
            estimate=lambda targets, rng: effect_size(*_targets(0.0, targets, rng)),
        )


def _targets(effect: float, targets: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Draws associations of targets from a population with this effect size."""
    apart = effect / sqrt(1 - effect**2 / 4)
    return rng.normal(apart, 1, targets), rng.normal(0, 1, targets)


def _separates(effect: float, targets: int, rng: np.random.Generator) -> bool:
    """Returns True if the one-sided permutation test of SEAT has a p of at most 5 %."""
    x, y = _targets(effect, targets, rng)
    few = SPLITS if comb(2 * targets, targets) > SPLITS else comb(2 * targets, targets)
    return p_value(x, y, exact_limit=few, samples=SPLITS, seed=int(rng.integers(2**31))).p <= 1 - LEVEL
