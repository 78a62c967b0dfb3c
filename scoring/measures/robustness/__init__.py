"""Robustness: what rephrasing changes in a model's numbers and in its single preferences."""

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
"""In `extra`, the task of the CAT that a control was made of, where its own is another."""


@dataclass(frozen=True, slots=True)
class Joined:
    """CATs with their paraphrases, the paraphrases that are of none or of another, and the CATs without one."""

    pairs: list[tuple[Cat, Cat]]
    refused: list[Refused]
    missing: list[str]


def join(originals: Iterable[Cat], paraphrases: Iterable[Cat]) -> Joined:
    """Pair each paraphrase with the CAT whose id it has."""
    known = {cat.id: cat for cat in originals}
    pairs, refused = [], []
    for paraphrase in paraphrases:
        if reason := _reason(known.get(paraphrase.id), paraphrase):
            refused.append(Refused(id=paraphrase.id, reason=reason, text=paraphrase.context))
        else:
            pairs.append((known[paraphrase.id], paraphrase))
    found = {original.id for original, _ in pairs}
    return Joined(pairs=pairs, refused=refused, missing=[item for item in known if item not in found])


def _reason(original: Cat | None, paraphrase: Cat) -> str:
    """Why these two are no pair, or nothing: a paraphrase keeps task, target, domain and the words filled in."""
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
    """What became of a candidate's fill; one that is known on one side alone must stand in the other's text."""
    known, found = (side.fill.casefold() if side.fill is not None else None for side in (candidate, rephrased))
    if known is not None and found is not None:
        return "" if known == found else "other_fills"
    if known is not None:
        return "" if known in rephrased.text.casefold() else "lost_fills"
    return "" if found is None or found in candidate.text.casefold() else "other_fills"


FLIPS = Measure(name="flips", pieces=ratio(0, 1), ideal=0, least=0, most=100)
"""Percent of items whose preference between stereotype and anti-stereotype turns."""


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
    """A model on CATs and on their paraphrases, over the comparisons that are decided in both."""

    original: Measures
    paraphrase: Measures
    changes: Mapping[str, Change]
    flips: Interval
    flips_coverage: float
    """Share of the items compared whose preference is decided on both sides: a tie on either is none."""
    terms: Sequence[TermFlips]
    """The terms whose preferences turn most first."""
    items: int
    coverage: float
    """Share of the originals that are compared."""
    refused: Mapping[str, int]
    """Reason to the number of paraphrases, among those with a score, that could not be joined."""
    same: bool
    """Whether both sides have the same scores of the same texts: then nothing can change."""
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
            "flips": {**self.flips.to_dict(), "coverage": self.flips_coverage},
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

    `unknown` and `paraphrase_unknown` are the candidates with unknown tokens on either side; None if nobody counted.
    `errors` are the numerical errors of the scores on either side: those that differ by no more are ties.
    """
    cats, reworded = list(originals), list(paraphrases)
    joined = join(cats, reworded)
    if not joined.pairs:
        found = dict(Counter(refused.reason for refused in joined.refused)) or "there is none"
        raise ValueError(f"no paraphrase can be joined with a CAT by its id ({found})")
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
    """The change of lms, ss and icat between two outcomes of the same items, row by row; NaN of what is undefined.

    It is over the comparisons that both sides decide.
    """
    before, after = jointly(before, after)
    columns, others = before.columns(average), after.columns(average)
    known = {
        name: measure
        for name, measure in MEASURES.items()
        if not any(isnan(float(measure(side.sum(axis=0)))) for side in (columns, others))
    }
    rows = {name: ((columns + others)[:, NEEDS[name]] > 0).any(axis=1) for name in known}
    moved: dict[str, Change] = {}
    if known and all(kept.all() for kept in rows.values()):
        moved = paired_changes(columns, others, known, resamples=resamples, seed=seed)
    else:
        for name, measure in known.items():
            sides = columns[rows[name]], others[rows[name]]
            moved |= paired_changes(*sides, {name: measure}, resamples=resamples, seed=seed)
    return dict.fromkeys(MEASURES, NO_CHANGE) | moved


def flips(before: Outcomes, after: Outcomes) -> Array:
    """1 for each item whose preference turns, 0 where it stays, NaN where it is not decided on both sides.

    Where the protocol halves ties, one that becomes or ceases to be a tie is a half.
    """
    return np.abs(before.prefers - after.prefers)


def decided_share(before: Outcomes, after: Outcomes) -> float:
    """The share of items whose preference is decided on both sides."""
    return float(np.isfinite(flips(before, after)).mean())


def flipped(before: Outcomes, after: Outcomes) -> list[dict[str, str | float]]:
    """Each item whose preference turns; a preference is 1 for the stereotype, 0 for the other."""
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
    """Percent of the decided items whose preference turns, with its interval over target terms."""
    _, turned = _turned(before, after)
    return intervals(turned, {"flips": FLIPS}, resamples=resamples, seed=seed)["flips"]


def _turned(before: Outcomes, after: Outcomes) -> tuple[NDArray[np.str_], Array]:
    """The target terms with decided items, and for each how many preferences turn, of how many."""
    turned = flips(before, after)
    terms, sums = before.by_term(np.stack([np.nan_to_num(turned), np.isfinite(turned)], axis=1))
    known = sums[:, 1] > 0
    return terms[known], sums[known]


def flips_per_term(before: Outcomes, after: Outcomes) -> list[TermFlips]:
    """Each target term of each domain with the percentage of its items that turn, most first, then by name."""
    rows = []
    for domain in np.unique(before.domains):
        sides = (side.of(domain=domain) for side in (before, after))
        for term, (turned, items) in zip(*_turned(*sides), strict=True):
            share = float(100 * turned / items)
            rate = Interval(share, *wilson(share, int(items)))
            rows.append(TermFlips(term=str(term), domain=str(domain), items=int(items), rate=rate))
    return sorted(rows, key=lambda row: (-row.rate.value, row.term))
