"""Association tests: how much more strongly each target associates with the attributes A than with B."""

from collections.abc import Iterator, Sequence
from functools import partial
from math import nan

import numpy as np

from catsofa.data.records import AssociationTest
from catsofa.gate import kinds
from catsofa.gate.kinds import Paired
from catsofa.scoring.protocols import Protocol
from catsofa.scoring.statistics.intervals import Array, Measure

X, X_SUM, X_SQUARES, Y, Y_SUM, Y_SQUARES = range(6)
"""Columns of a target, for the sets X and Y: 1 for membership, its association, and the square of the association."""


def of_run(rows: Sequence[dict[str, object]]) -> kinds.Outcomes:
    """Returns the associations of the targets of each scored test."""
    return {
        str(row["test"]): {
            side: kinds.written([nan if one is None else one for one in associations[side]]) for side in "xy"
        }
        for row in rows
        if isinstance(associations := row.get("associations"), dict) and associations  # empty without a score
    }


def tests(
    records: Sequence[AssociationTest], before: kinds.Outcomes, after: kinds.Outcomes, protocol: Protocol, seed: int
) -> Iterator[Paired]:
    """Yields the effect size of each test that a run has scored, over its targets."""
    for test in records:
        if test.id not in before and test.id not in after:
            continue
        sides = [_columns(held.get(test.id, {"x": "", "y": ""})) for held in (before, after)]
        names = np.array([*test.x.items, *test.y.items])
        listed = all(len(side) == len(names) for side in sides)
        scored = np.isfinite(sides[0] + sides[1]).all(axis=1) if listed else np.zeros(0, dtype=bool)
        earlier, later = (side[scored] for side in sides) if listed else (np.empty((0, 6)), np.empty((0, 6)))
        alike = bool(len(earlier)) and bool(earlier[:, [X, Y]].any(axis=0).all())
        values = [side[:, X_SUM] - side[:, Y_SUM] for side in (earlier, later)]
        yield Paired(
            name="seat", set=test.id, measure=EFFECT, before=earlier, after=later, items=len(earlier),
            decided=len(earlier) / len(names),
            each=partial(kinds.moved, names[scored], *values) if alike else list,
            known=test.id in before,
            undefined="" if alike else "the runs have no vectors of the same targets",
        )  # fmt: skip


def _columns(held: dict[str, str]) -> Array:
    """Returns a row for each target; NaN for a target without a vector."""
    x, y = (kinds.numbers_in(held[side]) for side in ("x", "y"))
    columns = np.zeros((len(x) + len(y), 6))
    columns[: len(x), X : X_SQUARES + 1] = np.column_stack([np.ones(len(x)), x, x**2])
    columns[len(x) :, Y : Y_SQUARES + 1] = np.column_stack([np.ones(len(y)), y, y**2])
    return columns


def _effect(sums: Array) -> Array:
    """Returns d: the difference of the means over the standard deviation of all targets, with equal set weights."""
    with np.errstate(invalid="ignore", divide="ignore"):
        x, y = sums[..., X_SUM] / sums[..., X], sums[..., Y_SUM] / sums[..., Y]
        squares = (sums[..., X_SQUARES] / sums[..., X] + sums[..., Y_SQUARES] / sums[..., Y]) / 2
        count = sums[..., X] + sums[..., Y]
        spread = (squares - ((x + y) / 2) ** 2) * count / (count - 1)
        return np.asarray((x - y) / np.sqrt(spread))[..., None]


EFFECT = Measure(name="seat", pieces=_effect, ideal=0, least=-2, most=2)
