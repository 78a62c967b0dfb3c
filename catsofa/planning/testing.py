"""The tests of a plan: an estimate from finished runs, its interval, and a p-value that agrees with the interval."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import islice
from math import isnan, nan, sqrt
from typing import Any

import numpy as np

from catsofa.data import sources
from catsofa.data.statistics import ALPHA, LEVEL
from catsofa.gate import kinds
from catsofa.planning.hypotheses import OVERALL, SETS, Hypothesis, within
from catsofa.report.inputs import Finished, NotThere, of_cats
from catsofa.report.inputs import protocol as protocol_of
from catsofa.scoring.measures import bbq
from catsofa.scoring.measures.bbq.registered import answers
from catsofa.scoring.measures.cat_outcomes import Outcomes, jointly
from catsofa.scoring.measures.crows_pairs import METRIC, by_pair, preferences
from catsofa.scoring.measures.registry import Given
from catsofa.scoring.measures.seat import interval_over_targets
from catsofa.scoring.measures.sofa.grid import Grid, Placed, log_ppl_star, placed, variances
from catsofa.scoring.measures.stereoset import ICAT, measures
from catsofa.scoring.protocols import Protocol
from catsofa.scoring.run.origins import data_of
from catsofa.scoring.signature import first_of
from catsofa.scoring.statistics.changes import NO_LIMITS, PairedTest, paired_tests
from catsofa.scoring.statistics.intervals import RESAMPLES, UNDEFINED, Array, Interval, Limits, Measure, intervals
from catsofa.scoring.statistics.margins import margin_test
from catsofa.scoring.statistics.mean_variances import Mean, interval, mean_of

LEAST = 2 / (RESAMPLES + 1)
"""The least possible p, given the number of resamples behind most intervals."""
HALVINGS = 12
"""Number of bisections of the bracket of p, which fix p to a thousandth of its size."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """The result of runs on a hypothesis: the value, or the difference of two, with its 95 % interval and p."""

    value: Interval = UNDEFINED
    p: float = nan
    """The smallest 1 - level whose interval supports the hypothesis; 1 if the value itself does not support it."""
    undefined: str = ""
    """Why p is undefined; empty if it is defined."""


def of_one(hypothesis: Hypothesis, margin: float, limits: Limits) -> Estimate:
    """Returns the estimate of one value against a number; bisects the level for p, so that p and interval agree."""
    estimated = limits(LEVEL)
    if isnan(estimated.value):
        return Estimate(estimated, undefined="the run has no value")
    if isnan(estimated.low):
        return Estimate(estimated, undefined="the value has no interval: too few clusters, or all are alike")
    fits = partial(within, hypothesis.sign, hypothesis.number, margin)
    if not fits(Interval(estimated.value, estimated.value, estimated.value)):
        return Estimate(estimated, 1.0)
    low, high = (LEAST, ALPHA) if fits(estimated) else (ALPHA, 1.0)
    for _ in range(HALVINGS):
        middle = sqrt(low * high)
        low, high = (low, middle) if fits(limits(1 - middle)) else (middle, high)
    return Estimate(estimated, high)


def of_two(hypothesis: Hypothesis, margin: float, test: PairedTest, equivalent: float) -> Estimate:
    """Returns the estimate of a difference by the paired test of `compare`; `equivalent` is `check`'s one-sided p."""
    change = test.change()
    value = change.by.value
    if isnan(value):
        return Estimate(change.by, undefined="no item is decided by both runs")
    if hypothesis.sign == "=":
        return Estimate(change.by, min(1.0, 2 * equivalent))
    if not within(hypothesis.sign, 0.0, margin, Interval(value, value, value)):
        return Estimate(change.by, 1.0)
    if change.unlimited:
        return Estimate(change.by, undefined=NO_LIMITS)
    return Estimate(change.by, test.p(margin if value > 0 else -margin))


@dataclass(frozen=True)
class Items:
    """The records of a data set in its order, with derived forms that all models share."""

    records: Sequence[Any]

    @cached_property
    def by_id(self) -> list[Any]:
        """The records in the order of their ids."""
        return sorted(self.records, key=lambda record: str(record.id))

    @cached_property
    def coded(self) -> bbq.Coded:
        """The encoded questions."""
        return bbq.Coded.of(self.records)

    @cached_property
    def placed(self) -> Placed:
        """Probes by category, stereotype and identity."""
        return placed(self.records)


@dataclass(frozen=True)
class Scored:
    """A finished run with its records, in the order of its data, and its scores."""

    run: Finished
    protocol: Protocol
    items: Items
    given: Given

    @classmethod
    def read(cls, run: Finished) -> "Scored":
        """Reads the records and scores of a run; raises NotThere if they are missing."""
        if not run.kept:
            raise NotThere(f"{run.folder} holds no score of single items; give the folder of `catsofa score --out`")
        try:
            items = Items(list(islice(sources.read(data_of(run.folder)), first_of(run.signature.subset))))
        except ValueError as error:
            raise NotThere(str(error)) from None
        return cls(run, protocol_of(run), items, Given(scores=()) if run.kind == "seat" else run.scores)

    @cached_property
    def cats(self) -> Outcomes:
        """The outcome of each CAT in the run."""
        return of_cats(self.run, list(self.items.records), self.given)

    @cached_property
    def grids(self) -> list[Grid]:
        """The probes of each category."""
        return self.items.placed.grids(self.given.scores)

    @cached_property
    def answers(self) -> list[int | None]:
        """The likeliest answer to each question."""
        return answers(self.items.records, self.given)[0]

    def limits(self, measure: str, part: str) -> Limits:
        """Returns a value with its interval as a function of the level; at 95 % it equals the report of the run."""
        how: dict[str, Any] = {"resamples": RESAMPLES, "seed": self.protocol.seed}
        if self.run.kind == "stereoset":
            average = self.protocol.stereoset.average
            cats = self.cats if part == OVERALL else self.cats.of(domain=part)
            return lambda level: getattr(measures(cats, average=average, **how, level=level), measure)
        if self.run.kind == "crows_pairs":
            rounding, ties = self.protocol.crows_pairs.rounding, self.protocol.ties
            options: dict[str, Any] = {"ties": ties, "rounding": rounding, "error": self.given.error}
            preferred = preferences(self.items.records, by_pair(self.given.scores), **options)
            rows = preferred.decided & ((preferred.types == part) | (part == OVERALL))
            columns = np.stack([preferred.won, np.ones_like(preferred.won)], axis=1)[rows]
            return lambda level: intervals(columns, {"score": METRIC}, **how, level=level)["score"]
        if self.run.kind == "sofa":
            some = [grid for grid in self.grids if part in (OVERALL, grid.category)]
            return partial(interval, [_mean(grid, self.protocol) for grid in some])
        if self.run.kind == "bbq":
            places = zip(self.items.records, self.answers, strict=True)
            chosen = [place if part in (OVERALL, question.category) else None for question, place in places]
            return bbq.limits(self.items.coded, chosen, measure, **how)
        rows_of = (row for row in self.run.report["results"] if row["test"] == part and row.get("associations"))
        if (row := next(rows_of, None)) is None or row["effect_size"] is None:
            return lambda level: UNDEFINED
        x, y = (np.array([one for one in row["associations"][side] if one is not None]) for side in "xy")
        return partial(interval_over_targets, x, y)

    def outcomes(self, chosen: Protocol | None = None) -> kinds.Outcomes:
        """Returns the outcome of each record in the run by its protocol, or by this one, ordered by id."""
        module, chosen = kinds.module_of(self.run.kind), chosen or self.protocol
        if self.run.kind == "seat":
            return module.of_run(self.run.report["results"])  # type: ignore[no-any-return]
        if self.run.kind == "sofa":
            return module.of_grids(self.grids, chosen)  # type: ignore[no-any-return]
        if self.run.kind == "bbq":
            answered = dict(zip((one.id for one in self.items.records), self.answers, strict=True))
            return module.of_places(answered[one.id] for one in self.items.by_id)  # type: ignore[no-any-return]
        return module.of_run(self.items.by_id, self.given, chosen)  # type: ignore[no-any-return]

    def against(self, other: "Scored", measure: str, part: str) -> tuple[Array, Array, Measure, float]:
        """Returns the clusters of the other and this run, row by row, their measure, and its step for one item."""
        if measure == "icat":
            sides = [one.cats for one in (other, self)]
            rows = sides[0].complete & sides[1].complete & ((sides[0].domains == part) | (part == OVERALL))
            before, after = (
                side.columns(self.protocol.stereoset.average) for side in jointly(*(s.take(rows) for s in sides))
            )
            used = ((before + after) > 0).any(axis=1)
            return before[used], after[used], ICAT, 0.0
        make = kinds.module_of(self.run.kind).tests
        pairs = make(self.items.by_id, other.outcomes(), self.outcomes(), self.protocol, self.protocol.seed)
        sets = {str(getattr(record, SETS[self.run.kind])) for record in self.items.records}
        named = (part, OVERALL) if sets == {part} else (part,)  # a single set is all items, and has no own pair
        test = next((pair for pair in pairs if pair.name == measure and pair.set in named), None)
        if test is None or test.undefined:
            return np.empty((0, 1)), np.empty((0, 1)), METRIC, 0.0
        return test.before, test.after, test.measure, test.step


def _mean(grid: Grid, protocol: Protocol) -> Mean:
    """Returns the mean variance of a category over its stereotypes."""
    how = protocol.sofa
    starred = log_ppl_star(grid.means, how.normalisation, log_base=how.log_base, digits=how.ppl_digits)
    return mean_of(variances(starred, how.ddof), np.isfinite(starred).sum(axis=1), grid.stereotypes)


def estimate(hypothesis: Hypothesis, margin: float, runs: Sequence[Scored]) -> Estimate:
    """Returns the estimate of a hypothesis from one run or from two."""
    if len(runs) == 1:
        return of_one(hypothesis, margin, runs[0].limits(hypothesis.measure, hypothesis.set))
    after, before = runs
    columns, after_columns, measure, step = after.against(before, hypothesis.measure, hypothesis.set)
    how: dict[str, Any] = {"resamples": RESAMPLES, "seed": after.protocol.seed}
    test = paired_tests(columns, after_columns, {hypothesis.measure: measure}, **how)[hypothesis.measure]
    equivalent = (
        margin_test(columns, after_columns, measure, margin, step=step, **how).p_equivalent
        if hypothesis.sign == "="
        else nan
    )
    return of_two(hypothesis, margin, test, equivalent)
