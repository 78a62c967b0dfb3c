"""Measures of other packages: the outcome of each record by the package, and the tests of these outcomes."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from catsofa.gate import kinds
from catsofa.gate.kinds import Paired
from catsofa.scoring.measures.plugins import guarded
from catsofa.scoring.measures.registry import Given, named
from catsofa.scoring.protocols import Protocol


class Own:
    """The outcomes and the tests of another package's measure that has a `metric` and `outcomes`."""

    def __init__(self, kind: str) -> None:
        self.measure = named(kind)
        if self.measure.metric is None or self.measure.metric.ideal is None:
            raise ValueError(
                f"the measure {kind!r} has no `metric` with an ideal value, so that no change of it is for the worse; "
                "`check` needs one, and the method `outcomes`"
            )

    def of_run(self, records: Sequence[Any], score_set: Given, protocol: Protocol) -> kinds.Outcomes:
        """Returns the row of each record in the columns of the metric; NaN for a record that does not count."""
        with guarded(self.measure, "outcomes"):
            rows = self.measure.outcomes(records, score_set, protocol)
            return kinds.coded([kinds.written(rows.get(record.id, [np.nan])) for record in records])

    def tests(
        self, records: Sequence[Any], before: kinds.Outcomes, after: kinds.Outcomes, protocol: Protocol, seed: int
    ) -> Iterator[Paired]:
        """Yields the metric of all records and of each domain, over those that count in both runs, by target term."""
        held = [[kinds.numbers_in(text) for text in kinds.decoded(side)] for side in (before, after)]
        width = max((len(row) for side in held for row in side), default=1)
        one, other = (np.array([row if len(row) == width else np.full(width, np.nan) for row in side]) for side in held)
        counted = np.isfinite(one).all(axis=1) & np.isfinite(other).all(axis=1)
        ids = np.array([str(record.id) for record in records])
        terms = np.array([str(getattr(record, "target", "") or record.id) for record in records])
        metric = self.measure.metric
        assert metric is not None
        for name, rows in kinds.sets_of(np.array([str(getattr(record, "bias_type", "")) for record in records])):
            used = rows & counted
            names, place = np.unique(terms[used], return_inverse=True)
            sides = [np.zeros((len(names), width)) for _ in held]
            for sums, side in zip(sides, (one, other), strict=True):
                np.add.at(sums, place, side[used])
            turns = "distinct" in before and np.isfinite(metric.most - metric.least)
            yield Paired(
                name=metric.name, set=name, measure=metric, before=sides[0], after=sides[1], items=int(used.sum()),
                decided=float(used.sum() / rows.sum()),
                step=(metric.most - metric.least) / used.sum() if used.any() and turns else 0.0,
                each=partial(kinds.moved, ids[used], *(metric(side[used]) for side in (one, other))),
                known=bool(np.isfinite(one[rows]).all(axis=1).any()),
                undefined="" if used.any() else "no record counts in both runs",
            )  # fmt: skip
