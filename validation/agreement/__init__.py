"""Inter-annotator agreement: percent, Fleiss' kappa, Krippendorff's alpha, unanimous share, with intervals.

Every statistic here is a function of sums over items, so the sums are computed once. A bootstrap is then one
matrix product of weights and sums.
"""

__all__ = ["agreement"]

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import isnan, nan
from typing import Any

import numpy as np

from catsofa.data.judging.ratings import Floats, Ratings, numbered, units_of
from catsofa.data.percentages import in_percent
from catsofa.data.progress import SILENT, Progress
from catsofa.data.records import Annotation
from catsofa.data.tables import Tabular
from catsofa.validation.agreement.intervals import FEWEST, Limits, kappa_limits, share_limits
from catsofa.validation.columns import Column
from catsofa.validation.judgements import answers, questions_of

STATISTICS = ("fleiss_kappa", "krippendorff_alpha", "percent", "unanimous")
CORRECTED = STATISTICS[:2]
"""The chance-corrected statistics."""
PREVALENT = 0.8
"""From this share of one label on, chance agreement is so high that kappa says little about the annotators."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement(Tabular):
    """The four statistics of a set of items, with their 95 % confidence intervals; NaN if undefined."""

    fleiss_kappa: float
    krippendorff_alpha: float
    percent: float
    unanimous: float
    items: int
    """Items that at least two people judged; other items cannot show agreement."""
    judged: int
    """Items that at least one person judged."""
    annotations: int
    prevalence: float
    """The share of the most frequent label."""
    chance: float
    """The agreement expected if people answered at random with the observed shares of the labels."""
    units: int = 0
    """The number of resampled units: the items, or the CATs or whole items that they belong to."""
    questions: int = 1
    """The number of questions asked about these items; with several, kappa and alpha are undefined."""
    low: Mapping[str, float] = field(default_factory=dict)
    high: Mapping[str, float] = field(default_factory=dict)

    def rows(self) -> list[dict[str, Any]]:
        """One flat row: the statistics with their limits, and the counts behind them."""
        row: dict[str, Any] = {}
        for name in STATISTICS:
            row |= {name: getattr(self, name), f"{name}_low": self.low.get(name), f"{name}_high": self.high.get(name)}
        return [{**row, "items": self.items, "judged": self.judged, "annotations": self.annotations}]

    def heading(self) -> str:
        """The note on kappa, and the reason for a missing interval."""
        return "; ".join(filter(None, (self.note, self.withheld)))

    @property
    def withheld(self) -> str:
        """The reason why a known statistic has no interval; empty if it has one."""
        if not self.items:
            return ""
        if self.units < FEWEST:
            return f"no interval: fewer than {FEWEST} items, or CATs, say too little of others ({self.units})"
        if not isnan(self.fleiss_kappa) and isnan(self.low["fleiss_kappa"]) and not isnan(self.low["percent"]):
            return (
                "no interval of kappa: all labels but one come from a single item, or CAT, "
                "or people agree on every item, or CAT, as far as on the others"
            )
        return ""

    @property
    def note(self) -> str:
        """A note that readers need before they read kappa; empty if there is none."""
        if self.items == 0:
            return "no item was judged by two people"
        if self.questions > 1:
            return (
                f"these are answers to {self.questions} questions, and nobody answers one with the labels of another: "
                "chance agreement, and so kappa and alpha, is that of one question (By question)"
            )
        if np.isnan(self.fleiss_kappa):
            return (
                "all answers to items that two people or more judged are one label: "
                "chance would agree as well, so kappa is undefined"
            )
        if self.prevalence >= PREVALENT and self.fleiss_kappa < 1:
            return (
                f"{in_percent(self.prevalence, 0)} of the answers are one label, so chance alone would agree on "
                f"{in_percent(self.chance, 0)} and a few other answers make kappa low however well people agree "
                "(the prevalence paradox): read percent and unanimous"
            )
        return ""


def agreement(
    annotations: Iterable[Annotation], *, unit: Mapping[str, str] | None = None, resamples: int = 1000, seed: int = 0
) -> Agreement:
    """Agreement over all items, with confidence intervals over items, or over the units they belong to."""
    judgements = answers(annotations)
    ratings, questions = Ratings.of(judgements), len(questions_of(judgements))
    sums = item_sums(ratings)
    whole = sums.sum(axis=0, keepdims=True)
    judged = sums[:, 0] > 0
    labels = len(ratings.labels)
    shares, counts = whole[0, 3 : 3 + labels], whole[0, 3 + labels : -1]
    numbers = numbered(map(str, units_of(ratings.items, unit or {})[judged]))[1]
    totals = np.zeros((int(numbers.max(initial=-1)) + 1, sums.shape[1]))
    np.add.at(totals, numbers, sums[judged])
    limits = _limits(totals, resamples, seed)
    values = dict(zip(STATISTICS, statistics_of(whole)[0].tolist(), strict=True))
    if questions > 1:
        values |= dict.fromkeys(CORRECTED, nan)
        limits |= dict.fromkeys(CORRECTED, (nan, nan))
    return Agreement(
        **values,
        questions=questions,
        items=int(judged.sum()),
        judged=len(judged),
        annotations=int(counts.sum()),
        prevalence=float(counts.max() / counts.sum()) if counts.any() else float("nan"),
        chance=float(((shares / shares.sum()) ** 2).sum()) if counts.any() and questions < 2 else nan,
        units=len(totals),
        low={name: low for name, (low, _) in limits.items()},
        high={name: high for name, (_, high) in limits.items()},
    )


def agreement_by(
    annotations: Iterable[Annotation],
    column: Column,
    *,
    unit: Mapping[str, str] | None = None,
    resamples: int = 1000,
    seed: int = 0,
    progress: Progress = SILENT,
) -> dict[str, Agreement]:
    """Agreement within each value of a column; a column about annotators groups judgements, not items."""
    groups: dict[str, list[Annotation]] = {}
    for annotation in answers(annotations):
        if (value := column.value(annotation)) is not None:
            groups.setdefault(value, []).append(annotation)
    parts = progress.each(sorted(groups))
    return {value: agreement(groups[value], unit=unit, resamples=resamples, seed=seed) for value in parts}


@dataclass(frozen=True, slots=True, kw_only=True)
class Agrees:
    """The share of other people's answers to the same items that agree with one person's answers."""

    percent: float
    items: int
    low: float
    high: float


def agreement_of_annotators(annotations: Iterable[Annotation]) -> dict[str, Agrees]:
    """Each person's agreement with the others on shared items; the confidence interval is over these items."""
    ratings = Ratings.of(answers(annotations))
    counts = ratings.counts()
    other_judges = counts.sum(axis=1)[ratings.item] - 1
    with np.errstate(invalid="ignore", divide="ignore"):
        share = (counts[ratings.item, ratings.label] - 1) / other_judges
    order = np.argsort(ratings.annotator, kind="stable")
    ends = np.cumsum(np.bincount(ratings.annotator, minlength=len(ratings.annotators)))
    result = {}
    for person, places in zip(ratings.annotators, np.split(order, ends[:-1]), strict=True):
        shares = share[places][other_judges[places] > 0]
        low, high = share_limits(shares, np.ones(len(shares)))
        result[person] = Agrees(
            percent=float(shares.mean()) if len(shares) else float("nan"), items=len(shares), low=low, high=high
        )
    return result


def item_sums(ratings: Ratings) -> Floats:
    """One row per item, zero if fewer than two people judged; the columns are the sums that all statistics need.

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
    """One row of statistics, in the order of STATISTICS, for each row of summed item rows.

    Fleiss: (P - Pe) / (1 - Pe), P the mean percent of the items, Pe the sum of squares of the mean label
    shares; equal numbers of judges give Fleiss 1971, unequal ones Gwet's extension.
    Krippendorff: 1 - observed / expected disagreement, with every answer weighted by its pairs.
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
    # with one label alone the statistic is undefined, not perfect; rounding must not hide this
    alone = (counts > 0).sum(axis=1) < 2
    kappa[alone] = alpha[alone] = np.nan
    return np.column_stack([kappa, alpha, percent, unanimous])


def _limits(totals: Floats, resamples: int, seed: int) -> dict[str, Limits]:
    """The limits of the 95 % intervals; NaN without resamples or with fewer than `FEWEST` units."""
    if resamples < 1 or len(totals) < FEWEST:
        return dict.fromkeys(STATISTICS, (nan, nan))
    of_shares = (share_limits(totals[:, column], totals[:, 0]) for column in (1, 2))
    return dict(zip(STATISTICS, (*kappa_limits(totals, statistics_of, resamples, seed), *of_shares), strict=True))
