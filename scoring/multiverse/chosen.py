"""Cells of choices: results of each item in the finished run of one way of asking."""

from math import nan
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from catsofa.scoring.choosing.estimates import Rows as Replies
from catsofa.scoring.choosing.estimates import choice_columns, preference_of, rows_of, units_of
from catsofa.scoring.choosing.items import WHICH
from catsofa.scoring.choosing.measured import Kept, kept_in
from catsofa.scoring.choosing.outcomes import CHOSEN
from catsofa.scoring.choosing.position import POSITION, SHARE, effect
from catsofa.scoring.choosing.replies import Reply
from catsofa.scoring.dataset import Data
from catsofa.scoring.multiverse.cells import Cell, Rows
from catsofa.scoring.multiverse.choices import written
from catsofa.scoring.multiverse.ways import name_of, options_of, way_of
from catsofa.scoring.statistics.intervals import UNDEFINED, Array, Interval

PART = "choices"
"""Name of the only part of a run of choices."""
MEASURES = {SHARE.name: SHARE, POSITION.name: POSITION}


class Chosen(NamedTuple):
    """A run of choices as a cell."""

    name: str
    """Differences between its way of asking and the default."""
    kind: str
    """Kind of its items."""
    options: dict[str, Any]
    cell: Cell


def chosen(run: Path, data: Data) -> Chosen:
    """Returns the run in a folder as a cell, with the numbers of its report; `data` must be those of the run."""
    stored = kept_in(run, data)
    kind, way = next(iter(stored.items.values())).kind, way_of(stored.replies, stored.asked.get("how", {}))
    options = {**options_of(way), "templates": written(way.templates)}
    return Chosen(name_of(way, kind), kind, options, _cell(stored, kind))


def _cell(stored: Kept, kind: str) -> Cell:
    """Returns the cell of a run.

    An item counts if a reply names an option, or is neutral, in a context that leaves it open.
    """
    rows, ids = rows_of(stored.replies, stored.items), np.array(sorted(stored.items))
    whole, signed = stored.report["results"]["overall"], stored.report["signature_parts"]
    valid = rows.open & (rows.weights[:, : len(CHOSEN)].sum(axis=1) > 0)

    def part(items: Rows) -> Replies:
        return rows.take(np.isin(rows.items, ids[items]))

    def columns(items: Rows) -> Array:
        selected = part(items)
        return choice_columns(selected, units_of(selected))

    def on(items: Rows) -> dict[str, Interval]:
        share, _, place = preference_of(part(items), resamples=signed["resamples"], seed=signed["seed"])
        return {SHARE.name: UNDEFINED if kind == WHICH else share, POSITION.name: place}

    def deciding(measure: str, sums: Array) -> float:
        return 1 - abs(float(effect(sums.sum(axis=0)))) if measure == SHARE.name else 1.0

    return Cell(
        numbers={name: Interval(*(_number(whole[name][end]) for end in ("value", "low", "high"))) for name in MEASURES},
        items=len(np.unique(rows.items[rows.open])),
        scored=np.isin(ids, rows.items[valid]),
        coverage=whole["coverage"],
        ties=0,
        key=frozenset(_key(reply, stored.asked.get("how", {}).get("wordings", {})) for reply in stored.replies),
        measures=MEASURES,
        columns=columns,
        on=on,
        outcomes=whole["outcomes"],
        undefined=whole["preference"].get("undefined", ""),
        deciding=deciding,
    )


def _number(value: float | None) -> float:
    """Returns a number of a report; NaN for null."""
    return nan if value is None else value


def _key(reply: Reply, wordings: dict[str, str]) -> tuple[Any, ...]:
    """Returns the request and its result; a prompt about one sentence has neither labels nor a neutral option."""
    several = len(reply.order) > 1
    request = (reply.item, reply.order, wordings.get(reply.template, reply.template), reply.sample)
    shown = (reply.labels, reply.neutral) if several else ()
    return (*request, *shown, reply.outcome, tuple((reply.probabilities or {}).items()))
