"""CATs: the comparisons that a model wins and decides in each CAT, and the preferences that flip on paraphrases."""

from collections.abc import Iterator, Sequence
from functools import partial
from math import nan
from typing import Any

import numpy as np

from catsofa.data.records import Cat
from catsofa.gate import kinds
from catsofa.gate.kinds import Paired
from catsofa.scoring.measures.cat_outcomes import LMS_OF, LMS_WON, SS_OF, SS_WON, Outcomes, jointly, outcomes
from catsofa.scoring.measures.registry import Given
from catsofa.scoring.measures.robustness import FLIPS
from catsofa.scoring.measures.stereoset import LMS, SS
from catsofa.scoring.protocols import Protocol
from catsofa.scoring.statistics.intervals import Array

PARTS = {"lms": (LMS, LMS_WON, LMS_OF), "ss": (SS, SS_WON, SS_OF)}
"""Measures with their columns; icat follows from the two measures."""
NAMED = "flips"


def of_run(cats: Sequence[Cat], score_set: Given, protocol: Protocol) -> kinds.Outcomes:
    """Returns the outcome of each CAT by the scores."""
    results = outcomes(
        cats, score_set.numbers(), ties=protocol.ties, rule=protocol.stereoset.rule, unknown=None, error=score_set.error
    )
    rows = np.column_stack([results.counts, results.prefers, results.complete, results.decided])
    return kinds.coded([kinds.written(row) for row in rows])


def tests(
    cats: Sequence[Cat], before: kinds.Outcomes, after: kinds.Outcomes, protocol: Protocol, seed: int
) -> Iterator[Paired]:
    """Yields lms and ss of all CATs and of each domain, over the comparisons that both runs decide."""
    sides, average = [_rows(cats, held) for held in (before, after)], protocol.stereoset.average
    scored = sides[0].complete & sides[1].complete
    for name, rows in kinds.sets_of(sides[0].domains):
        one, other = jointly(*(side.take(rows & scored) for side in sides))
        terms = np.unique(one.terms)
        columns = [side.columns(average) for side in (one, other)]
        _, sums = one.by_term()
        for measure, (metric, won, compared) in PARTS.items():
            usable = sums[:, compared] > 0
            own = np.isin(np.arange(4), [won, compared])
            earlier, later = (np.where(own, part[usable], 0.0) for part in columns)
            clusters = len(earlier)
            # both comparisons of lms in a CAT have one unrelated sentence, so that they may turn together
            made = one.by_term((one.counts[:, compared] > 0).astype(np.float64))[1][usable, 0]
            each = 1 / made / clusters if average == "terms" else 1 / made.sum()
            values = [np.divide(s.counts[:, won], s.counts[:, compared], out=np.full(len(s), nan),
                                where=s.counts[:, compared] > 0) for s in (one, other)]  # fmt: skip
            decided = ~np.isnan(values[0])
            yield Paired(
                name=measure, set=name, measure=metric, before=earlier, after=later,
                step=float(100 * np.mean(each)) if clusters else 0.0,
                items=int(decided.sum()), decided=float(decided.sum() / rows.sum()),
                terms=kinds.moved(terms[usable], *(kinds.shares(part, won, compared) for part in (earlier, later))),
                each=partial(kinds.moved, one.ids[decided], *(value[decided] for value in values)),
                known=bool(sides[0].counts[rows, compared].any()),
                undefined="" if clusters else "no comparison is decided by both runs",
            )  # fmt: skip


def _rows(cats: Sequence[Cat], held: kinds.Outcomes) -> Outcomes:
    """Returns the outcomes of a baseline, joined to their records."""
    rows = kinds.decoded_numbers(held).reshape(-1, 8)
    return Outcomes(
        ids=np.array([cat.id for cat in cats], dtype=np.str_),
        kinds=np.array([cat.kind for cat in cats], dtype=np.str_),
        domains=np.array([cat.bias_type for cat in cats], dtype=np.str_),
        terms=np.array([cat.target for cat in cats], dtype=np.str_),
        counts=rows[:, :4],
        prefers=rows[:, 4],
        complete=rows[:, 5] > 0,
        decided=rows[:, 6:],
        ties=np.zeros((len(rows), 3), dtype=bool),
        unknown=np.full(len(rows), nan),
    )


def flip_tests(
    cats: Sequence[Cat], before: kinds.Outcomes, after: kinds.Outcomes, protocol: Protocol, seed: int
) -> Iterator[Paired]:
    """Yields the flip rate of all CATs and of each domain, over the CATs whose flip both runs decide."""
    sides = [kinds.decoded_numbers(held)[:, 0] for held in (before, after)]
    ids, domains, terms = (np.array([getattr(cat, field) for cat in cats]) for field in ("id", "bias_type", "target"))
    decided = np.isfinite(sides[0]) & np.isfinite(sides[1])
    for name, rows in kinds.sets_of(domains):
        used = rows & decided
        names, group = np.unique(terms[used], return_inverse=True)
        counts = np.bincount(group, minlength=len(names)).astype(np.float64)
        turned = [np.bincount(group, weights=side[used], minlength=len(names)).astype(np.float64) for side in sides]
        columns: list[Array] = [np.column_stack([part, counts]) for part in turned]  # fmt: skip
        yield Paired(
            name=NAMED, set=name, measure=FLIPS, before=columns[0], after=columns[1], items=int(used.sum()),
            decided=float(used.sum() / rows.sum()), step=100 / used.sum() if used.any() else 0.0,
            terms=kinds.moved(names, *(kinds.shares(part, 0, 1) for part in columns)),
            each=partial(kinds.moved, ids[used], *(side[used] for side in sides)),
            known=bool(np.isfinite(sides[0][rows]).any()),
            undefined="" if used.any() else "no CAT has a decided preference in both runs, original and paraphrase",
        )  # fmt: skip


def of_flips(cats: Sequence[Cat], turned: dict[str, Any]) -> kinds.Outcomes:
    """Returns the flip of each CAT in order: 1, 0, a half, or NaN."""
    return kinds.coded([kinds.written([turned.get(cat.id, nan)]) for cat in cats])
