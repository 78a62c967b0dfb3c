"""Robustness: what rephrasing changes in a model's numbers and in its single preferences."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from catsofa.data.notebook import Tabular
from catsofa.data.records import Cat
from catsofa.scoring.alignment import join
from catsofa.scoring.cat_outcomes import Outcomes, Scores, outcomes
from catsofa.scoring.intervals import (
    RESAMPLES,
    Array,
    Interval,
    Measure,
    Seed,
    intervals,
    paired_intervals,
    ratio,
    wilson,
)
from catsofa.scoring.protocols import Average, Rule, Ties
from catsofa.scoring.significance import paired_randomisation
from catsofa.scoring.stereoset import MEASURES, Measures, measures

FLIPS = Measure(name="flips", pieces=ratio(0, 1), ideal=0, least=0, most=100)
"""Percent of items whose preference between stereotype and anti-stereotype turns."""


@dataclass(frozen=True, slots=True)
class Change:
    """How far a measure moves from original to paraphrase, and the p of the paired randomisation over terms."""

    by: Interval
    p: float

    def to_dict(self) -> dict[str, float]:
        """The change, its limits and p by name."""
        return {**self.by.to_dict(), "p": self.p}


@dataclass(frozen=True, slots=True, kw_only=True)
class TermFlips:
    """How many preferences about one target term turn; the limits are Wilson's."""

    term: str
    domain: str
    items: int
    rate: Interval

    def to_dict(self) -> dict[str, Any]:
        """The row by column name."""
        return {"term": self.term, "domain": self.domain, "items": self.items, **self.rate.to_dict()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison(Tabular):
    """A model on CATs and on their paraphrases, over the items that are scored in both."""

    original: Measures
    paraphrase: Measures
    changes: Mapping[str, Change]
    flips: Interval
    terms: Sequence[TermFlips]
    """The terms whose preferences turn most first."""
    items: int
    coverage: float
    """Share of the originals that are compared."""
    refused: Mapping[str, int]
    """Reason to the number of paraphrases that could not be joined."""
    before: Outcomes = field(repr=False)
    after: Outcomes = field(repr=False)
    """The outcomes compared, row by row."""

    def to_dict(self) -> dict[str, Any]:
        """The comparison as it stands in our JSON."""
        return {
            "items": self.items,
            "coverage": self.coverage,
            "refused": dict(self.refused),
            "original": self.original.to_dict(),
            "paraphrase": self.paraphrase.to_dict(),
            "change": {name: change.to_dict() for name, change in self.changes.items()},
            "flips": self.flips.to_dict(),
            "terms": [row.to_dict() for row in self.terms],
            "flipped": flipped(self.before, self.after),
        }

    def rows(self) -> list[dict[str, Any]]:
        """A flat row for each measure, and one for the preferences that turn."""
        changes = [
            {
                "measure": name,
                **getattr(self.original, name).row("original"),
                **getattr(self.paraphrase, name).row("paraphrase"),
                **change.by.row("change"),
                "p": change.p,
            }
            for name, change in self.changes.items()
        ]
        return [*changes, {"measure": "flips", **self.flips.row("change")}]

    def heading(self) -> str:
        """How many items the numbers are of."""
        return f"{self.items:,} items, {self.coverage:.0%} of the originals"


def robustness(
    originals: Iterable[Cat],
    original_scores: Scores,
    paraphrases: Iterable[Cat],
    paraphrase_scores: Scores,
    *,
    ties: Ties = "half",
    rule: Rule = "pairwise",
    average: Average = "terms",
    resamples: int = RESAMPLES,
    seed: Seed = 0,
) -> Comparison:
    """Compare scores of CATs with those of their paraphrases, joined by id; misaligned ones are refused and counted."""
    cats = list(originals)
    joined = join(cats, paraphrases)
    reasons = Counter(refused.reason for refused in joined.refused)
    if not joined.pairs:
        raise ValueError(f"no paraphrase can be joined with a CAT by its id ({dict(reasons) or 'there is none'})")
    before = outcomes((cat for cat, _ in joined.pairs), original_scores, ties=ties, rule=rule)
    after = outcomes((cat for _, cat in joined.pairs), paraphrase_scores, ties=ties, rule=rule)
    both = before.complete & after.complete
    if not both.any():
        raise ValueError(
            f"none of the {len(both):,} joined CATs is scored in both files; do their ids belong together?"
        )
    before, after = before.take(both), after.take(both)
    return Comparison(
        original=measures(before, average=average, resamples=resamples, seed=seed),
        paraphrase=measures(after, average=average, resamples=resamples, seed=seed),
        changes=changes(before, after, average=average, resamples=resamples, seed=seed),
        flips=flip_rate(before, after, resamples=resamples, seed=seed),
        terms=flips_per_term(before, after),
        items=int(both.sum()),
        coverage=len(np.unique(before.ids)) / len(cats),
        refused=dict(reasons),
        before=before,
        after=after,
    )


def changes(
    before: Outcomes, after: Outcomes, *, average: Average = "terms", resamples: int = RESAMPLES, seed: Seed = 0
) -> dict[str, Change]:
    """The change of lms, ss and icat between two outcomes of the same items, row by row."""
    columns, others = before.columns(average), after.columns(average)
    by = paired_intervals(columns, others, MEASURES, resamples=resamples, seed=seed)
    p = {name: paired_randomisation(columns, others, measure, seed=seed) for name, measure in MEASURES.items()}
    return {name: Change(by[name], p[name]) for name in MEASURES}


def flips(before: Outcomes, after: Outcomes) -> Array:
    """1 for each item whose preference turns, a half where it becomes or ceases to be a tie, else 0."""
    return np.abs(before.prefers - after.prefers)


def flipped(before: Outcomes, after: Outcomes) -> list[dict[str, str | float]]:
    """Each item whose preference turns or becomes a tie; a preference is 1 for the stereotype, 0 for the other."""
    return [
        {
            "item": str(before.ids[row]),
            "term": str(before.terms[row]),
            "domain": str(before.domains[row]),
            "original": float(before.prefers[row]),
            "paraphrase": float(after.prefers[row]),
        }
        for row in np.flatnonzero(flips(before, after))
    ]


def flip_rate(before: Outcomes, after: Outcomes, *, resamples: int = RESAMPLES, seed: Seed = 0) -> Interval:
    """Percent of items whose preference turns, with its interval over target terms."""
    return intervals(_turned(before, after)[1], {"flips": FLIPS}, resamples=resamples, seed=seed)["flips"]


def _turned(before: Outcomes, after: Outcomes) -> tuple[NDArray[np.str_], Array]:
    """The target terms, and for each how many preferences turn, of how many."""
    turned = flips(before, after)
    return before.by_term(np.stack([turned, np.ones_like(turned)], axis=1))


def flips_per_term(before: Outcomes, after: Outcomes) -> list[TermFlips]:
    """Each target term of each domain with the percentage of its items that turn, the most turning first."""
    rows = []
    for domain in np.unique(before.domains):
        sides = (side.of(domain=domain) for side in (before, after))
        for term, (turned, items) in zip(*_turned(*sides), strict=True):
            share = float(100 * turned / items)
            rate = Interval(share, *wilson(share, int(items)))
            rows.append(TermFlips(term=str(term), domain=str(domain), items=int(items), rate=rate))
    return sorted(rows, key=lambda row: -row.rate.value)
