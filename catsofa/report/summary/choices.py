"""Where chat models stand: tests of every two models on their choices."""

from collections.abc import Sequence
from functools import partial
from itertools import combinations
from math import isclose

from catsofa.data.files import BadInput
from catsofa.report.inputs import Finished, NotThere, data_of_choices, without_folders
from catsofa.report.summary.pairs import Pair
from catsofa.scoring.choosing.estimates import Rows, share_of
from catsofa.scoring.compare.choosing import Compared, Side, compared_by, side_of
from catsofa.scoring.statistics.changes import paired_tests
from catsofa.scoring.statistics.intervals import RESAMPLES, Interval, Limits
from catsofa.scoring.statistics.margins import nearness

PREFERENCE = "preference"
FEWER = 1_000
"""Resamples behind the position effect of each pair."""
Found = tuple[dict[str, Limits], dict[tuple[str, str], Pair], str]
"""The limits of each model, what is found of every two, and why nothing is tested."""


def of_choices(runs: Sequence[Finished]) -> Found:
    """The preferences of several chat models on the same requests, before the correction."""
    if len(runs) < 2:
        return {}, {}, ""
    try:
        data = data_of_choices(runs[0])
        sides = {run.model: side_of(run.folder, data, again=False) for run in runs if run.folder.is_dir()}
    except (BadInput, NotThere) as error:
        return {}, {}, without_folders(str(error))
    if len(sides) < len(runs):
        return {}, {}, "a file holds no reply to single requests"
    limits = {run.model: found for run in runs if (found := _limits(sides[run.model], run)) is not None}
    in_order = {model: side.take(sorted(side.replies, key=repr)) for model, side in sides.items()}
    pairs = {
        (one, other): pair
        for (one, first), (other, second) in combinations(in_order.items(), 2)
        if (pair := _pair(first, second)) is not None
    }
    return limits, pairs, ""


def _limits(side: Side, run: Finished) -> Limits | None:
    """The preference at any level; None where it is not that of the report, which may be made otherwise."""
    rows, told = side.rows, run.report["results"]["overall"][PREFERENCE]["value"]
    if told is None or not isclose(share_of(rows, resamples=0, seed=0).value, told, abs_tol=1e-9):
        return None
    return partial(_at, rows, run.signature.resamples, run.signature.seed)


def _at(rows: Rows, resamples: int, seed: int, level: float) -> Interval:
    """The preference at a level."""
    return share_of(rows, resamples=resamples, seed=seed, level=level)


def _pair(first: Side, second: Side) -> Pair | None:
    """The preferences of two models over the requests that both decide; None where they have none to compare."""
    shared = sorted(first.replies.keys() & second.replies.keys(), key=repr)
    if not shared:
        return None
    how = {"resamples": FEWER, "seed": 0}  # they say whether position may explain the choices, and make no p
    compared = compared_by(first.take(shared), second.take(shared), how)
    found = next((of for of in compared if of.name == PREFERENCE), None)
    return None if found is None or found.undefined else _tested(found)


def _tested(of: Compared) -> Pair:
    """The difference of two models, with p of equal values and of equal distances from the ideal."""
    both = {"moved": of.measure, "nearer": nearness(of.measure)}
    after, before = of.sides  # a test is of the second less the first
    tested = paired_tests(before, after, both, resamples=RESAMPLES)
    less, lead = (float(one(after.sum(axis=0)) - one(before.sum(axis=0))) for one in both.values())
    return Pair(
        difference=less, decided=of.decided, apart=tested["moved"].p(0.0), nearer=tested["nearer"].p(0.0), lead=lead
    )
