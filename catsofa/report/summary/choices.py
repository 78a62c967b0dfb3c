"""Pairwise tests of chat models on their choices."""

from collections.abc import Sequence
from functools import partial
from itertools import combinations
from math import isclose

from catsofa.data.files import BadInput
from catsofa.data.visible import without_folders
from catsofa.report.inputs import Finished, NotThere, data_of_choices
from catsofa.report.summary.pairs import Pair
from catsofa.scoring.choosing.estimates import Rows, share_of
from catsofa.scoring.compare.choosing import Compared, Side, compared_by, side_of
from catsofa.scoring.statistics.changes import paired_tests
from catsofa.scoring.statistics.intervals import RESAMPLES, Interval, Limits
from catsofa.scoring.statistics.margins import nearness

PREFERENCE = "preference"
FEWER = 1_000
"""The number of resamples for the position effect of each pair."""
Found = tuple[dict[str, Limits], dict[tuple[str, str], Pair], str]
"""The limits of each model, the results of every pair, and the reason if nothing is tested."""


def of_choices(runs: Sequence[Finished]) -> Found:
    """Compares the preferences of chat models on the same requests, before Holm's correction."""
    if len(runs) < 2:
        return {}, {}, ""
    try:
        data = data_of_choices(runs[0])
        sides = {run.model: side_of(run.folder, data, again=False) for run in runs if run.folder.is_dir()}
    except (BadInput, NotThere) as error:
        return {}, {}, without_folders(str(error))
    if len(sides) < len(runs):
        return {}, {}, "a file holds no reply to single requests"
    limits = {run.model: model_limits for run in runs if (model_limits := _limits(sides[run.model], run)) is not None}
    in_order = {model: side.take(sorted(side.replies, key=repr)) for model, side in sides.items()}
    pairs = {
        (one, other): pair
        for (one, first), (other, second) in combinations(in_order.items(), 2)
        if (pair := _pair(first, second)) is not None
    }
    return limits, pairs, ""


def _limits(side: Side, run: Finished) -> Limits | None:
    """Returns the preference at any level; None if the report has another value, perhaps computed differently."""
    rows, reported = side.rows, run.report["results"]["overall"][PREFERENCE]["value"]
    if reported is None or not isclose(share_of(rows, resamples=0, seed=0).value, reported, abs_tol=1e-9):
        return None
    return partial(_at, rows, run.signature.resamples, run.signature.seed)


def _at(rows: Rows, resamples: int, seed: int, level: float) -> Interval:
    """Returns the preference with limits at a level."""
    return share_of(rows, resamples=resamples, seed=seed, level=level)


def _pair(first: Side, second: Side) -> Pair | None:
    """Compares the preferences of two models over the requests that both decide; None if there are none."""
    shared = [key for key in first.replies if key in second.replies]
    if not shared:
        return None
    how = {"resamples": FEWER, "seed": 0}  # only to check whether position may explain the choices, not for p
    compared = compared_by(first.take(shared), second.take(shared), how)
    preference = next((comparison for comparison in compared if comparison.name == PREFERENCE), None)
    return None if preference is None or preference.undefined else _tested(preference)


def _tested(comparison: Compared) -> Pair:
    """Returns the difference of two models, with p of equal values and of equal distances from the ideal."""
    both = {"moved": comparison.measure, "nearer": nearness(comparison.measure)}
    after, before = comparison.sides  # a test takes the second less the first
    tested = paired_tests(before, after, both, resamples=RESAMPLES)
    less, lead = (float(one(after.sum(axis=0)) - one(before.sum(axis=0))) for one in both.values())
    return Pair(
        difference=less,
        decided=comparison.decided,
        apart=tested["moved"].p(0.0),
        nearer=tested["nearer"].p(0.0),
        lead=lead,
    )
