"""Evaluates judgements of sentences written as neutral, beside the three sentences of a CAT."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from catsofa.data.judging.accepted import NEUTRAL, WRITTEN
from catsofa.data.records import LABELS, Annotation
from catsofa.validation.agreement.intervals import share_limits
from catsofa.validation.decide.votes import Decision, Votes, vote
from catsofa.validation.judgements import Rule

UNDECIDED = "undecided"
BY_SEVERAL = "two or more"
"""Items with at least two votes for stereotype or anti-stereotype."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """A share of the items, with confidence limits over target terms."""

    count: int
    share: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """The judgements of the sentences that were written as one label."""

    written: str
    items: int
    """The denominator: items with all their judgements, decided or not."""
    short: int
    """Items with fewer judgements; they are in no share, even if votes already decide them."""
    targets: int
    decided: dict[str, Share]
    """Shares by decided label, UNDECIDED and BY_SEVERAL."""
    judgements: dict[str, Share]
    """Shares of single judgements of these items, by label."""


def written_as(annotations: Iterable[Annotation], rule: Rule) -> tuple[list[Written], Votes]:
    """One row for each label that sentences were written as, neutral first, and the votes."""
    judged = list(annotations)
    meant = {one.item: (str(one.extra.get(WRITTEN, "")), str(one.extra.get("target", ""))) for one in judged}
    if not any(label == NEUTRAL for label, _ in meant.values()):
        raise ValueError(
            f"no annotation is of an item {WRITTEN} as {NEUTRAL}; expected the annotations.jsonl of a study of the "
            "kind validate-neutral"
        )
    votes = vote(judged, rule, lambda annotation: str(annotation.extra.get("cluster_id", annotation.item)))
    rows = []
    for kind in (NEUTRAL, *LABELS):
        decisions = [each for item, each in votes.decisions.items() if meant[item][0] == kind]
        targets: dict[str, list[Decision]] = defaultdict(list)
        for each in decisions:
            if each.judges >= votes.counted.asked.get(each.item, rule.of):
                targets[meant[each.item][1]].append(each)
        rows.append(_row(kind, len(decisions), list(targets.values())))
    return rows, votes


def _row(kind: str, items: int, targets: Sequence[Sequence[Decision]]) -> Written:
    """The row for these items, which are grouped by target term."""
    coloured = [label for label in LABELS if label != "unrelated"]

    def shared(won: list[int], out_of: list[int]) -> Share:
        low, high = share_limits(np.array(won, float), np.array(out_of, float))
        share = sum(won) / sum(out_of) if sum(out_of) else float("nan")
        return Share(count=sum(won), share=share, low=low, high=high)

    sizes = [len(each) for each in targets]
    judges = [sum(one.judges for one in each) for each in targets]
    labels = (NEUTRAL, *LABELS)
    by_several = [sum(sum(one.votes.get(c, 0) for c in coloured) > 1 for one in each) for each in targets]
    return Written(
        written=kind,
        items=sum(sizes),
        short=items - sum(sizes),
        targets=len(targets),
        decided={
            name: shared([sum((one.label or UNDECIDED) == name for one in each) for each in targets], sizes)
            for name in (*labels, UNDECIDED)
        }
        | {BY_SEVERAL: shared(by_several, sizes)},
        judgements={
            name: shared([sum(one.votes.get(name, 0) for one in each) for each in targets], judges) for name in labels
        },
    )
