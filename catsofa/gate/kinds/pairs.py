"""Pairs: which sentence of each pair a model prefers."""

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from catsofa.data.records import Pair
from catsofa.gate import kinds
from catsofa.gate.kinds import Paired
from catsofa.scoring.measures.crows_pairs import METRIC, by_pair, preferences
from catsofa.scoring.measures.registry import Given
from catsofa.scoring.protocols import Protocol


def of_run(pairs: Sequence[Pair], score_set: Given, protocol: Protocol) -> kinds.Outcomes:
    """Returns for each pair whether it is won; NaN for a pair that does not count."""
    results = preferences(
        pairs,
        by_pair(score_set.scores),
        ties=protocol.ties,
        rounding=protocol.crows_pairs.rounding,
        error=score_set.error,
    )
    rows = zip(results.won, results.decided, strict=True)
    return kinds.coded([kinds.written([won if counts else np.nan]) for won, counts in rows])


def tests(
    pairs: Sequence[Pair], before: kinds.Outcomes, after: kinds.Outcomes, protocol: Protocol, seed: int
) -> Iterator[Paired]:
    """Yields the score of all pairs and of each bias type, over the pairs that both runs decide."""
    won = [kinds.decoded_numbers(held)[:, 0] for held in (before, after)]
    ids, types = (np.array([getattr(pair, field) for pair in pairs]) for field in ("id", "bias_type"))
    decided = np.isfinite(won[0]) & np.isfinite(won[1])
    for name, rows in kinds.sets_of(types):
        used = rows & decided
        sides = [np.column_stack([side[used], np.ones(used.sum())]) for side in won]
        yield Paired(
            name="crows_pairs", set=name, measure=METRIC, before=sides[0], after=sides[1], items=int(used.sum()),
            decided=float(used.sum() / rows.sum()), step=100 / used.sum() if used.any() else 0.0,
            each=partial(kinds.moved, ids[used], *(side[used] for side in won)),
            known=bool(np.isfinite(won[0][rows]).any()),
            undefined="" if used.any() else "no pair is decided by both runs",
        )  # fmt: skip
