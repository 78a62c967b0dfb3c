"""The yield of proposed associations: shares confirmed by people, per model and prompt, and per answer of a jury."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from catsofa.data.records import Annotation, Association
from catsofa.validation.agreement.intervals import share_limits
from catsofa.validation.decide.confirmed import Reviewed, reviewed
from catsofa.validation.judgements import Rule


@dataclass(frozen=True, slots=True, kw_only=True)
class Yield:
    """The number of associations of one origin that people confirmed."""

    origin: str
    proposed: int
    judged: int
    """Associations with all wanted judgements."""
    confirmed: int
    share: float
    """`confirmed` divided by `judged`."""
    low: float
    high: float
    """Confidence limits over groups, since associations of one group are not independent."""


def yields(
    associations: Sequence[Association], annotations: Iterable[Annotation], rule: Rule
) -> tuple[list[Yield], Reviewed]:
    """One row for all, for each model and prompt, and for each answer of each juror (these overlap); and the review."""
    judged = list(annotations)
    known = {one.extra.get("of") for one in judged}
    candidates = [one for one in associations if one.id in known]
    review = reviewed(candidates, judged, rule)
    kept_ids = {one.id for one in review.kept}
    full = {name for name, seats in review.votes.counted.seats.items() if not seats.missing}
    origins: dict[str, list[Association]] = defaultdict(list)
    for one in associations:
        origins["all"].append(one)
        for source in one.extra.get("said_by", ()):
            origins[f"{source['model']}, {source['prompt']}"].append(one)
        for juror, label in one.extra.get("jury", {}).items():
            origins[f"{juror}: {label}"].append(one)
    rows = []
    for origin, members in origins.items():
        done = [one for one in members if one.id in full]
        groups: dict[str, list[bool]] = defaultdict(list)
        for one in done:
            groups[one.identity].append(one.id in kept_ids)
        won, out_of = (np.array([function(hits) for hits in groups.values()], float) for function in (sum, len))
        low, high = share_limits(won, out_of)
        rows.append(
            Yield(
                origin=origin,
                proposed=len(members),
                judged=len(done),
                confirmed=sum(one.id in kept_ids for one in done),
                share=float(won.sum() / len(done)) if done else float("nan"),
                low=low,
                high=high,
            )
        )
    return rows, review
