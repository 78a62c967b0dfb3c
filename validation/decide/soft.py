"""Soft labels: for every label of an item the share of its judges, the share's interval, and the posterior."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from catsofa.data.records import Annotation
from catsofa.data.statistics import WIDE, score_limits
from catsofa.validation.decide.votes import Votes
from catsofa.validation.judgements import question_of

SOFT = "soft"
"""Where in `extra` the soft labels of an item are."""
DIGITS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class SoftLabel:
    """How sure the judges of an item were of one label."""

    share: float
    low: float
    high: float
    """The limits of the share, 95 % (Wilson 1927), as if other judges like these were asked."""
    posterior: float | None
    """The probability by Dawid and Skene; None where a judge may name several labels."""


Soft = Mapping[str, SoftLabel]
"""The soft labels of an item, by label."""


def soft_labels(votes: Votes) -> dict[str, Soft]:
    """The soft labels of each item, by every label that its question had; the posterior comes of all its items."""
    questions: dict[str, list[Annotation]] = defaultdict(list)
    for judged in votes.counted.votes.values():
        for annotation in judged:
            questions[question_of(annotation)].append(annotation)
    found: dict[str, Soft] = {}
    for question, judged in questions.items():
        several = any("|" in annotation.label for annotation in judged)
        labels = sorted({label for annotation in judged for label in annotation.label.split("|")})
        probable: dict[str, dict[str, float]] = {}
        if not several:
            estimate = votes.counted.estimate(question)
            rows = (zip(estimate.ratings.labels, row, strict=True) for row in estimate.posterior.tolist())
            probable = dict(zip(estimate.ratings.items, map(dict, rows), strict=True))
        for item in dict.fromkeys(annotation.item for annotation in judged):
            decision = votes.decisions[item]
            found[item] = {
                label: _soft(decision.votes.get(label, 0), decision.judges, probable.get(item, {}).get(label))
                for label in labels
            }
    return found


def as_extra(soft: Soft) -> dict[str, Any]:
    """Soft labels as the `extra` of a record holds them."""
    return {
        label: {"share": one.share, "interval": [one.low, one.high], "posterior": one.posterior}
        for label, one in soft.items()
    }


def _soft(cast: int, judges: int, posterior: float | None) -> SoftLabel:
    """One label of an item, rounded so that a file does not depend on the machine."""
    share = cast / judges
    low, high = score_limits(share, judges, WIDE)
    return SoftLabel(
        share=round(share, DIGITS),
        low=round(low, DIGITS),
        high=round(high, DIGITS),
        posterior=None if posterior is None else round(posterior, DIGITS),
    )
