"""Robustness: how rephrasing changes the numbers of a model and its single preferences."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from catsofa.data.percentages import in_percent
from catsofa.data.records import Candidate, Cat, Refused
from catsofa.data.tables import Tabular
from catsofa.scoring.choices import Average, Rule, Ties
from catsofa.scoring.measures.cat_outcomes import Outcomes, Scores, jointly, outcomes
from catsofa.scoring.measures.stereoset import MEASURES, NEEDS, Measures, measures
from catsofa.scoring.statistics.changes import NO_CHANGE, Change, paired_changes
from catsofa.scoring.statistics.intervals import (
    RESAMPLES,
    Array,
    Interval,
    Measure,
    Seed,
    intervals,
    ratio,
    wilson,
)

__all__ = ["changes", "flip_rate", "flips", "flips_per_term", "robustness"]

ORIGINAL_KIND = "original_kind"
"""Key in `extra` for the task of the original CAT, if a control has another task."""


@dataclass(frozen=True, slots=True)
class Joined:
    """CATs with their paraphrases, the refused paraphrases, and the CATs without a paraphrase."""

    pairs: list[tuple[Cat, Cat]]
    refused: list[Refused]
    missing: list[str]


def join(originals: Iterable[Cat], paraphrases: Iterable[Cat]) -> Joined:
    """Pair each paraphrase with the CAT whose id it has."""
    by_id = {cat.id: cat for cat in originals}
    pairs, refused = [], []
    for paraphrase in paraphrases:
        if reason := _reason(by_id.get(paraphrase.id), paraphrase):
            refused.append(Refused(id=paraphrase.id, reason=reason, text=paraphrase.context))
        else:
            pairs.append((by_id[paraphrase.id], paraphrase))
    matched = {original.id for original, _ in pairs}
    return Joined(pairs=pairs, refused=refused, missing=[item for item in by_id if item not in matched])


def _reason(original: Cat | None, paraphrase: Cat) -> str:
    """Returns why these two are no pair; empty if they are. A paraphrase keeps task, target, domain and fills."""
    if original is None:
        return "no_original"
    if original.kind != paraphrase.extra.get(ORIGINAL_KIND, paraphrase.kind):
        return "other_kind"
    for name in ("target", "bias_type"):
        if getattr(original, name) != getattr(paraphrase, name):
            return f"other_{name}"
    verdicts = {_fill(candidate, paraphrase[candidate.label]) for candidate in original.candidates}
    return max(verdicts)


def _fill(candidate: Candidate, rephrased: Candidate) -> str:
    """Returns the reason why fills differ, or ""; a fill known only on one side must be in the text of the other."""
    fill, new_fill = (side.fill.casefold() if side.fill is not None else None for side in (candidate, rephrased))
    if fill is not None and new_fill is not None:
        return "" if fill == new_fill else "other_fills"
    if fill is not None:
        return "" if fill in rephrased.text.casefold() else "lost_fills"
    return "" if new_fill is None or new_fill in candidate.text.casefold() else "other_fills"


FLIPS = Measure(name="flips", pieces=ratio(0, 1), ideal=0, least=0, most=100)
"""Percent of items whose preference between stereotype and anti-stereotype changes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TermFlips:
    """The changed preferences about one target term; the limits are Wilson's."""

    term: str
    domain: str
    items: int
    rate: Interval

    def to_dict(self) -> dict[str, Any]:
        """The row by column name."""
        return {"term": self.term, "domain": self.domain, "items": self.items, **self.rate.to_dict()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison(Tabular):
    """A model on CATs and on their paraphrases, over the comparisons that are decided in both."""

    original: Measures
    paraphrase: Measures
    changes: Mapping[str, Change]
    flips: Interval
    flips_coverage: float
    """Share of the compared items with a decided preference on both sides; a tie is not decided."""
    terms: Sequence[TermFlips]
    """Sorted by the share of changed preferences, the highest first."""
    items: int
    coverage: float
    """Share of the originals that are compared."""
    refused: Mapping[str, int]
    """Reason to the number of paraphrases, among those with a score, that could not be joined."""
    same: bool
    """True if both sides have the same scores of the same texts, so that nothing can change."""
    before: Outcomes = field(repr=False)
    after: Outcomes = field(repr=False)
    """The compared outcomes, row by row."""

    def to_dict(self) -> dict[str, Any]:
        """The comparison as in catsofa's JSON."""
        return {
            "items": self.items,
            "coverage": self.coverage,
            "refused": dict(self.refused),
            "original": self.original.to_dict(),
            "paraphrase": self.paraphrase.to_dict(),
            "change": {name: change.to_dict() for name, change in self.changes.items()},
            "flips": {**self.flips.to_dict(), "coverage": self.flips_coverage},
            "terms": [row.to_dict() for row in self.terms],
            "flipped": flipped(self.before, self.after),
        }

    def rows(self) -> list[dict[str, Any]]:
        """A flat row for each measure, and one for the changed preferences."""
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
        """A phrase with the number of compared items."""
        return f"{self.items:,} items, {in_percent(self.coverage, 0)} of the originals"


def robustness(
    originals: Iterable[Cat],
    original_scores: Scores,
    paraphrases: Iterable[Cat],
    paraphrase_scores: Scores,
    *,
    unknown: Collection[str] | None = None,
    paraphrase_unknown: Collection[str] | None = None,
    errors: tuple[float, float] = (0.0, 0.0),
    ties: Ties = "excluded",
    rule: Rule = "pairwise",
    average: Average = "terms",
    resamples: int = RESAMPLES,
    seed: Seed = 0,
) -> Comparison:
    """Compare scores of CATs with those of their paraphrases, joined by id; misaligned ones are refused and counted.

    `unknown` and `paraphrase_unknown` are the candidates with unknown tokens on each side, or None if not counted.
    `errors` are the numerical errors of the scores on each side: scores that differ by at most the error are ties.
    """
    cats, reworded = list(originals), list(paraphrases)
    joined = join(cats, reworded)
    if not joined.pairs:
        counts = dict(Counter(refused.reason for refused in joined.refused)) or "there is none"
        raise ValueError(f"no paraphrase can be joined with a CAT by its id ({counts})")
    scored = {cat.id for cat in reworded if any(each.id in paraphrase_scores for each in cat.candidates)}
    reasons = Counter(refused.reason for refused in joined.refused if refused.id in scored)
    originals, rephrased = zip(*joined.pairs, strict=True)
    before = outcomes(originals, original_scores, ties=ties, rule=rule, unknown=unknown, error=errors[0])
    after = outcomes(rephrased, paraphrase_scores, ties=ties, rule=rule, unknown=paraphrase_unknown, error=errors[1])
    both = before.complete & after.complete
    if not both.any():
        raise ValueError(
            f"none of the {len(both):,} joined CATs is scored in both files; do their ids belong together?"
        )
    before, after = jointly(before.take(both), after.take(both))
    return Comparison(
        original=measures(before, average=average, resamples=resamples, seed=seed),
        paraphrase=measures(after, average=average, resamples=resamples, seed=seed),
        changes=changes(before, after, average=average, resamples=resamples, seed=seed),
        flips=flip_rate(before, after, resamples=resamples, seed=seed),
        flips_coverage=decided_share(before, after),
        terms=flips_per_term(before, after),
        items=int(both.sum()),
        coverage=len(np.unique(before.ids)) / len(cats),
        refused=dict(reasons),
        same=dict(original_scores) == dict(paraphrase_scores),
        before=before,
        after=after,
    )


def changes(
    before: Outcomes, after: Outcomes, *, average: Average = "terms", resamples: int = RESAMPLES, seed: Seed = 0
) -> dict[str, Change]:
    """Returns the change of lms, ss and icat between two outcomes of the same items; NaN if undefined.

    The rows of both outcomes must match. The change covers the comparisons that both sides decide.
    """
    before, after = jointly(before, after)
    columns, other_columns = before.columns(average), after.columns(average)
    defined = {
        name: measure
        for name, measure in MEASURES.items()
        if not any(isnan(float(measure(side.sum(axis=0)))) for side in (columns, other_columns))
    }
    rows = {name: ((columns + other_columns)[:, NEEDS[name]] > 0).any(axis=1) for name in defined}
    moved: dict[str, Change] = {}
    if defined and all(mask.all() for mask in rows.values()):
        moved = paired_changes(columns, other_columns, defined, resamples=resamples, seed=seed)
    else:
        for name, measure in defined.items():
            sides = columns[rows[name]], other_columns[rows[name]]
            moved |= paired_changes(*sides, {name: measure}, resamples=resamples, seed=seed)
    return dict.fromkeys(MEASURES, NO_CHANGE) | moved


def flips(before: Outcomes, after: Outcomes) -> Array:
    """Returns 1 for each changed preference, 0 for an unchanged one, NaN if it is not decided on both sides.

    If the protocol halves ties, a change from or to a tie counts as a half.
    """
    return np.abs(before.prefers - after.prefers)


def decided_share(before: Outcomes, after: Outcomes) -> float:
    """The share of items whose preference is decided on both sides."""
    return float(np.isfinite(flips(before, after)).mean())


def flipped(before: Outcomes, after: Outcomes) -> list[dict[str, str | float]]:
    """Each item with a changed preference; a preference is 1 for the stereotype, 0 for the anti-stereotype."""
    return [
        {
            "item": str(before.ids[row]),
            "term": str(before.terms[row]),
            "domain": str(before.domains[row]),
            "original": float(before.prefers[row]),
            "paraphrase": float(after.prefers[row]),
        }
        for row in np.flatnonzero(flips(before, after) > 0)
    ]


def flip_rate(before: Outcomes, after: Outcomes, *, resamples: int = RESAMPLES, seed: Seed = 0) -> Interval:
    """Percent of the decided items with a changed preference, with its interval over target terms."""
    _, turned = _turned(before, after)
    return intervals(turned, {"flips": FLIPS}, resamples=resamples, seed=seed)["flips"]


def _turned(before: Outcomes, after: Outcomes) -> tuple[NDArray[np.str_], Array]:
    """Returns the target terms with decided items, and for each the numbers of changed and of decided preferences."""
    turned = flips(before, after)
    terms, sums = before.by_term(np.stack([np.nan_to_num(turned), np.isfinite(turned)], axis=1))
    decided = sums[:, 1] > 0
    return terms[decided], sums[decided]


def flips_per_term(before: Outcomes, after: Outcomes) -> list[TermFlips]:
    """Each target term of each domain with its percentage of changed preferences, highest first, then by name."""
    rows = []
    for domain in np.unique(before.domains):
        sides = (side.of(domain=domain) for side in (before, after))
        for term, (turned, items) in zip(*_turned(*sides), strict=True):
            share = float(100 * turned / items)
            rate = Interval(share, *wilson(share, int(items)))
            rows.append(TermFlips(term=str(term), domain=str(domain), items=int(items), rate=rate))
    return sorted(rows, key=lambda row: (-row.rate.value, row.term))
