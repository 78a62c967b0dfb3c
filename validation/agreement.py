"""How far people agree: percent, Fleiss' kappa, Krippendorff's alpha, the unanimous share, with intervals.

Every statistic here is a function of sums over items, so the sums are taken once and a bootstrap is one
matrix product of weights and sums.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from catsofa.data.notebook import Tabular
from catsofa.data.records import Annotation
from catsofa.data.statistics import tail
from catsofa.validation.columns import Column
from catsofa.validation.judgements import answers
from catsofa.validation.ratings import Floats, Indices, Ratings, numbered, units_of

Watch = Callable[[Sequence[str]], Iterable[str]]
"""Is given the parts of a set that agreement is taken of, and passes them on."""
STATISTICS = ("fleiss_kappa", "krippendorff_alpha", "percent", "unanimous")
PREVALENT = 0.8
"""From this share of one label on, chance agreement is so high that kappa says little about people."""
FEWEST = 10
"""Items, or CATs, below which no interval is given: it would miss the truth too often."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement(Tabular):
    """The four statistics of a set of items, with the ends of their 95 % intervals; NaN where undefined."""

    fleiss_kappa: float
    krippendorff_alpha: float
    percent: float
    unanimous: float
    items: int
    """Items that two people or more judged; the others can show no agreement."""
    judged: int
    """Items that anybody judged."""
    annotations: int
    prevalence: float
    """The share of the most frequent label."""
    chance: float
    """The agreement to be expected if people answered at random with the shares these labels have."""
    low: Mapping[str, float] = field(default_factory=dict)
    high: Mapping[str, float] = field(default_factory=dict)

    def rows(self) -> list[dict[str, Any]]:
        """One flat row: the statistics with their limits, and what they rest on."""
        row: dict[str, Any] = {}
        for name in STATISTICS:
            row |= {name: getattr(self, name), f"{name}_low": self.low.get(name), f"{name}_high": self.high.get(name)}
        return [{**row, "items": self.items, "judged": self.judged, "annotations": self.annotations}]

    def heading(self) -> str:
        """What a reader must know before reading kappa."""
        return self.note

    @property
    def note(self) -> str:
        """What a reader must know before reading kappa, or nothing."""
        if self.items == 0:
            return "no item was judged by two people"
        if np.isnan(self.fleiss_kappa):
            return "everybody gave one and the same label: chance would agree as well, so kappa is undefined"
        if self.prevalence >= PREVALENT and self.fleiss_kappa < 1:
            return (
                f"{self.prevalence:.0%} of the answers are one label, so chance alone would agree on "
                f"{self.chance:.0%} and a few other answers make kappa low however well people agree "
                "(the prevalence paradox): read percent and unanimous"
            )
        return ""


def agreement(
    annotations: Iterable[Annotation],
    *,
    unit: Mapping[str, str] | None = None,
    resamples: int = 1000,
    seed: int = 0,
) -> Agreement:
    """Agreement over all items, with percentile intervals from resampling items, or the units they belong to."""
    ratings = Ratings.of(answers(annotations))
    sums = item_sums(ratings)
    return _agreement(ratings, sums, units_of(ratings.items, unit or {}), resamples, seed)


def agreement_by(
    annotations: Iterable[Annotation],
    column: Column,
    *,
    unit: Mapping[str, str] | None = None,
    resamples: int = 1000,
    seed: int = 0,
    watch: Watch = iter,
) -> dict[str, Agreement]:
    """Agreement within each value of a column; one that describes annotators groups judgements, not items."""
    groups: dict[str, list[Annotation]] = {}
    for annotation in answers(annotations):
        if (value := column.value(annotation)) is not None:
            groups.setdefault(value, []).append(annotation)
    parts = watch(sorted(groups))
    return {value: agreement(groups[value], unit=unit, resamples=resamples, seed=seed) for value in parts}


@dataclass(frozen=True, slots=True, kw_only=True)
class Agrees:
    """The share of other people's answers to the same items that one person's answers agree with."""

    percent: float
    items: int
    low: float
    high: float


def agreement_of_annotators(
    annotations: Iterable[Annotation], *, resamples: int = 1000, seed: int = 0
) -> dict[str, Agrees]:
    """How far each person agrees with the others on the items they share; resampling the person's items."""
    ratings = Ratings.of(answers(annotations))
    counts = ratings.counts()
    others = counts.sum(axis=1)[ratings.item] - 1
    with np.errstate(invalid="ignore", divide="ignore"):
        share = (counts[ratings.item, ratings.label] - 1) / others
    rng = np.random.default_rng(seed)
    order = np.argsort(ratings.annotator, kind="stable")
    ends = np.cumsum(np.bincount(ratings.annotator, minlength=len(ratings.annotators)))
    result = {}
    for person, places in zip(ratings.annotators, np.split(order, ends[:-1]), strict=True):
        shares = share[places][others[places] > 0]
        low, high = _mean_interval(shares, rng, resamples)
        result[person] = Agrees(
            percent=float(shares.mean()) if len(shares) else float("nan"),
            items=len(shares),
            low=low,
            high=high,
        )
    return result


def item_sums(ratings: Ratings) -> Floats:
    """One row an item, zero where fewer than two people judged; the columns are the sums all statistics need.

    1 | percent agreement | unanimous | share of each label | count of each label | agreeing pairs / (n - 1)
    """
    counts = ratings.counts()
    n = counts.sum(axis=1)
    pairs = (counts * (counts - 1)).sum(axis=1)
    safe = np.maximum(n, 2)
    columns = [np.ones_like(n), pairs / (safe * (safe - 1)), counts.max(axis=1, initial=0) == n]
    rows = np.column_stack([*columns, counts / safe[:, None], counts, pairs / (safe - 1)])
    return np.where((ratings.people() >= 2)[:, None], rows, 0.0)


def statistics_of(sums: Floats) -> Floats:
    """The statistics in the order of STATISTICS, one column each, from one row of summed item rows each.

    Fleiss: (P - Pe) / (1 - Pe), P the mean percent of the items, Pe the sum of squares of the mean label
    shares; with equal numbers of judges it is Fleiss 1971, with unequal ones Gwet's extension of it.
    Krippendorff: 1 - observed / expected disagreement, every answer weighed by its pairs.
    """
    labels = (sums.shape[1] - 4) // 2
    items, percent, unanimous = sums[:, 0], sums[:, 1], sums[:, 2]
    shares, counts, agreeing = sums[:, 3 : 3 + labels], sums[:, 3 + labels : -1], sums[:, -1]
    with np.errstate(invalid="ignore", divide="ignore"):
        percent, unanimous = percent / items, unanimous / items
        by_chance = ((shares / items[:, None]) ** 2).sum(axis=1)
        kappa = (percent - by_chance) / (1 - by_chance)
        n = counts.sum(axis=1)
        expected = (n**2 - (counts**2).sum(axis=1)) / (n * (n - 1))
        alpha = 1 - (1 - agreeing / n) / expected
    # one label alone leaves nothing to be expected: undefined, not perfect, and rounding must not hide it
    alone = (counts > 0).sum(axis=1) < 2
    kappa[alone] = alpha[alone] = np.nan
    return np.column_stack([kappa, alpha, percent, unanimous])


def bootstrap(sums: Floats, units: Indices, resamples: int, seed: int) -> Floats:
    """The statistics of `resamples` sets of as many units, drawn with replacement; one row a set."""
    totals = np.zeros((int(units.max(initial=-1)) + 1, sums.shape[1]))
    np.add.at(totals, units, sums)
    rng = np.random.default_rng(seed)
    rows: list[Floats] = []
    for _ in range(0, resamples, 100):
        size = min(100, resamples - len(rows) * 100)
        weights = rng.multinomial(len(totals), np.full(len(totals), 1 / len(totals)), size=size)
        rows.append(statistics_of(weights @ totals))
    return np.concatenate(rows)


def _agreement(ratings: Ratings, sums: Floats, units: Indices, resamples: int, seed: int) -> Agreement:
    """The statistics of all items, each with the interval of its bootstrap."""
    whole = sums.sum(axis=0, keepdims=True)
    judged = sums[:, 0] > 0
    labels = len(ratings.labels)
    shares, counts = whole[0, 3 : 3 + labels], whole[0, 3 + labels : -1]
    low, high = _interval(sums[judged], numbered(map(str, units[judged]))[1], resamples, seed)
    values = dict(zip(STATISTICS, statistics_of(whole)[0].tolist(), strict=True))
    return Agreement(
        **values,
        items=int(judged.sum()),
        judged=len(judged),
        annotations=int(counts.sum()),
        prevalence=float(counts.max() / counts.sum()) if counts.any() else float("nan"),
        chance=float(((shares / shares.sum()) ** 2).sum()) if counts.any() else float("nan"),
        low=low,
        high=high,
    )


def _interval(sums: Floats, units: Indices, resamples: int, seed: int) -> tuple[dict[str, float], dict[str, float]]:
    """The ends of the 95 % intervals; none (NaN) from fewer than `FEWEST` units."""
    if units.max(initial=0) + 1 < FEWEST or resamples < 1:
        nothing = dict.fromkeys(STATISTICS, float("nan"))
        return nothing, nothing
    drawn = bootstrap(sums, units, resamples, seed)
    low, high = _percentiles(drawn, int(units.max()) + 1)
    return dict(zip(STATISTICS, low, strict=True)), dict(zip(STATISTICS, high, strict=True))


def _mean_interval(values: Floats, rng: np.random.Generator, resamples: int) -> tuple[float, float]:
    """The 95 % percentile interval of a mean."""
    if len(values) < 2 or resamples < 1:
        return float("nan"), float("nan")
    drawn = values[rng.integers(len(values), size=(resamples, len(values)))].mean(axis=1, keepdims=True)
    low, high = _percentiles(drawn, len(values))
    return low[0], high[0]


def _percentiles(drawn: Floats, clusters: int) -> tuple[Sequence[float], Sequence[float]]:
    """The limits of the 95 % interval of each column, over the resamples in which it is defined."""
    beyond, ends = 100 * tail(clusters), []
    for column in drawn.T:
        known = column[~np.isnan(column)]
        ends.append(np.percentile(known, [beyond, 100 - beyond]) if len(known) else np.full(2, np.nan))
    low, high = np.array(ends).T
    return low.tolist(), high.tolist()
