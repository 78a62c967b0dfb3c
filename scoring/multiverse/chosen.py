"""Cells of choices: what the finished run of one way of asking says of each item."""

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
"""The only part of a data set that a model is asked about."""
MEASURES = {SHARE.name: SHARE, POSITION.name: POSITION}


class Chosen(NamedTuple):
    """A run of choices as a cell."""

    name: str
    """What its way of asking sets apart from the default one."""
    kind: str
    """What its items are."""
    options: dict[str, Any]
    cell: Cell


def chosen(run: Path, data: Data) -> Chosen:
    """The run in a folder as a cell, with the numbers of its report; `data` must be those of the run."""
    kept = kept_in(run, data)
    kind, way = next(iter(kept.items.values())).kind, way_of(kept.replies, kept.asked.get("how", {}))
    options = {**options_of(way), "templates": written(way.templates)}
    return Chosen(name_of(way, kind), kind, options, _cell(kept, kind))


def _cell(kept: Kept, kind: str) -> Cell:
    """The cell of a run: an item counts if a reply names an option, or is neutral, in a context that leaves it open."""
    rows, ids = rows_of(kept.replies, kept.items), np.array(sorted(kept.items))
    whole, signed = kept.report["results"]["overall"], kept.report["signature_parts"]
    read = rows.open & (rows.weights[:, : len(CHOSEN)].sum(axis=1) > 0)

    def part(items: Rows) -> Replies:
        return rows.take(np.isin(rows.items, ids[items]))

    def columns(items: Rows) -> Array:
        found = part(items)
        return choice_columns(found, units_of(found))

    def on(items: Rows) -> dict[str, Interval]:
        share, _, place = preference_of(part(items), resamples=signed["resamples"], seed=signed["seed"])
        return {SHARE.name: UNDEFINED if kind == WHICH else share, POSITION.name: place}

    def deciding(measure: str, sums: Array) -> float:
        return 1 - abs(float(effect(sums.sum(axis=0)))) if measure == SHARE.name else 1.0

    return Cell(
        numbers={name: Interval(*(_number(whole[name][end]) for end in ("value", "low", "high"))) for name in MEASURES},
        items=len(np.unique(rows.items[rows.open])),
        scored=np.isin(ids, rows.items[read]),
        coverage=whole["coverage"],
        ties=0,
        key=frozenset(_key(reply, kept.asked.get("how", {}).get("wordings", {})) for reply in kept.replies),
        measures=MEASURES,
        columns=columns,
        on=on,
        outcomes=whole["outcomes"],
        undefined=whole["preference"].get("undefined", ""),
        deciding=deciding,
    )


def _number(value: float | None) -> float:
    """A number of a report, where none is null."""
    return nan if value is None else value


def _key(reply: Reply, wordings: dict[str, str]) -> tuple[Any, ...]:
    """What was asked, and what came of it; a prompt about one sentence has neither labels nor a neutral option."""
    several = len(reply.order) > 1
    asked = (reply.item, reply.order, wordings.get(reply.template, reply.template), reply.sample)
    shown = (reply.labels, reply.neutral) if several else ()
    return (*asked, *shown, reply.outcome, tuple((reply.probabilities or {}).items()))
