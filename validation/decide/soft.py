"""Soft labels: for each label of an item, its share of judges, interval and posteriors; and the item's difficulty."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from catsofa.data.judging.estimate import Estimate
from catsofa.data.records import Annotation
from catsofa.data.statistics import WIDE, score_limits
from catsofa.validation.decide.votes import Votes
from catsofa.validation.judgements import question_of

SOFT, DIFFICULTY = "soft", "difficulty"
"""The keys in `extra` of the soft labels and the difficulty of an item."""
DIGITS = 4
Probable = dict[tuple[str, str], float]
"""Maps item and label to the posterior."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SoftLabel:
    """The certainty of an item's judges about one label."""

    share: float
    low: float
    high: float
    """The 95 % limits of the share (Wilson 1927), with the judges as a sample."""
    posterior: float | None
    """The probability by Dawid and Skene; None if judges may name several labels."""
    glad: float | None
    """The probability by GLAD; None if judges may name several labels."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Soft:
    """The soft labels and the difficulty of an item."""

    labels: Mapping[str, SoftLabel] = field(default_factory=dict)
    difficulty: float | None = None
    """By GLAD: a person with ability a is right with probability σ(a / difficulty); None if there is no estimate."""


def soft_labels(votes: Votes) -> dict[str, Soft]:
    """The soft labels of each item, for every label of its question; posteriors use all items of the question."""
    questions: dict[str, list[Annotation]] = defaultdict(list)
    for judged in votes.counted.votes.values():
        for annotation in judged:
            questions[question_of(annotation)].append(annotation)
    result: dict[str, Soft] = {}
    for question, judged in questions.items():
        several = any("|" in annotation.label for annotation in judged)
        labels = sorted({label for annotation in judged for label in annotation.label.split("|")})
        by_ds, by_glad, difficulty = Probable(), Probable(), dict[str, float]()
        if not several:
            by_ds, by_glad = _probable(votes.counted.estimate(question)), _probable(votes.counted.glad(question))
            difficulty = votes.counted.glad(question).difficulties()
        for item in dict.fromkeys(annotation.item for annotation in judged):
            decision = votes.decisions[item]
            soft = {}
            for label in labels:
                share = decision.votes.get(label, 0) / decision.judges
                low, high = score_limits(share, decision.judges, WIDE)
                soft[label] = SoftLabel(
                    share=round(share, DIGITS),
                    low=round(low, DIGITS),
                    high=round(high, DIGITS),
                    posterior=by_ds.get((item, label)),
                    glad=by_glad.get((item, label)),
                )
            result[item] = Soft(labels=soft, difficulty=difficulty.get(item))
    return result


def as_extra(soft: Soft) -> dict[str, Any]:
    """The soft labels and the difficulty of an item, in the form for `extra`."""
    labels = {
        label: {"share": one.share, "interval": [one.low, one.high], "posterior": one.posterior, "glad": one.glad}
        for label, one in soft.labels.items()
    }
    return {SOFT: labels, DIFFICULTY: soft.difficulty}


def _probable(estimate: Estimate) -> Probable:
    """The posterior of each item and label, rounded so that files do not depend on the machine."""
    rows = zip(estimate.ratings.items, estimate.posterior.round(DIGITS).tolist(), strict=True)
    return {(item, label): p for item, row in rows for label, p in zip(estimate.ratings.labels, row, strict=True)}
