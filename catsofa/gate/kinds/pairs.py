"""Pairs: which sentence of each a model prefers."""

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from catsofa.data.records import Pair
from catsofa.gate import kinds
from catsofa.gate.kinds import Paired
from catsofa.scoring.measures.crows_pairs import METRIC, by_pair, preferences
from catsofa.scoring.measures.registry import Given
from catsofa.scoring.protocols import Protocol


def of_run(pairs: Sequence[Pair], given: Given, protocol: Protocol) -> kinds.Outcomes:
    """Whether each pair is won, and whether it counts."""
    found = preferences(
        pairs, by_pair(given.scores), ties=protocol.ties, rounding=protocol.crows_pairs.rounding, error=given.error
    )
    rows = zip(found.won, found.decided, strict=True)
    return kinds.coded([kinds.written([won if counts else np.nan]) for won, counts in rows])


def tests(
    pairs: Sequence[Pair], before: kinds.Outcomes, after: kinds.Outcomes, protocol: Protocol, seed: int
) -> Iterator[Paired]:
    """The score of all pairs and of each bias type, over the pairs that both runs decide."""
    won = [kinds.decoded_numbers(held)[:, 0] for held in (before, after)]
    ids, types = (np.array([getattr(pair, field) for pair in pairs]) for field in ("id", "bias_type"))
    known = np.isfinite(won[0]) & np.isfinite(won[1])
    for name, rows in kinds.sets_of(types):
        kept = rows & known
        sides = [np.column_stack([side[kept], np.ones(kept.sum())]) for side in won]
        yield Paired(
            name="crows_pairs", set=name, measure=METRIC, before=sides[0], after=sides[1], items=int(kept.sum()),
            decided=float(kept.sum() / rows.sum()), step=100 / kept.sum() if kept.any() else 0.0,
            each=partial(kinds.moved, ids[kept], *(side[kept] for side in won)),
            known=bool(np.isfinite(won[0][rows]).any()),
            undefined="" if kept.any() else "no pair is decided by both runs",
        )  # fmt: skip
