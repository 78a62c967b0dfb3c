"""Variance models fitted to runs: their clusters, drawn with replacement."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np

from catsofa.data.files import BadInput
from catsofa.data.records import Cat
from catsofa.gate import kinds
from catsofa.gate.snapshots import taken
from catsofa.power.simulation import RESAMPLES, Design, change_of, leaves_out, refuses
from catsofa.power.stated import OVERALL, POINTS, parts
from catsofa.report.inputs import read
from catsofa.scoring.choices import Average
from catsofa.scoring.choosing import position
from catsofa.scoring.choosing.estimates import choice_columns, undefined_in, units_of
from catsofa.scoring.choosing.items import DECISIONS, WHICH, WORDS
from catsofa.scoring.compare.choosing import Side, compared_by
from catsofa.scoring.measures.cat_outcomes import Outcomes, jointly
from catsofa.scoring.measures.crows_pairs import METRIC, Preferences
from catsofa.scoring.measures.robustness import FLIPS, flips
from catsofa.scoring.measures.stereoset import MEASURES, NEEDS
from catsofa.scoring.signature import hashes_in
from catsofa.scoring.statistics.intervals import Array, Measure

UNITS = {"preference": "share", "sofa": "of the score", "seat": "d"}
"""Units of measures that are not in points."""


def alone(columns: Array, measure: Measure, **about: Any) -> Design:
    """Returns the design of one measure against a fixed value, detected if the interval excludes the value."""
    truth = float(measure(columns.sum(axis=0)))
    down = truth - measure.least >= measure.most - truth

    def drawn(clusters: int, rng: np.random.Generator) -> Array:
        return columns[rng.integers(len(columns), size=clusters)]

    def shows(effect: float, clusters: int, rng: np.random.Generator) -> bool:
        return leaves_out(drawn(clusters, rng), measure, truth - effect if down else truth + effect, rng)

    return Design(
        test=f"{measure.name} against a fixed value",
        clusters=len(columns),
        most=truth - measure.least if down else measure.most - truth,
        shows=shows,
        estimate=lambda clusters, rng: float(measure(drawn(clusters, rng).sum(axis=0))),
        **{"unit": UNITS.get(measure.name, POINTS), **about},
    )


def changed(columns: Array, later: Array, measure: Measure, **about: Any) -> Design:
    """Returns the design of a change of a measure, detected if the paired test rejects the shifted change."""
    truth = change_of(columns, later, measure)

    def drawn(clusters: int, rng: np.random.Generator) -> tuple[Array, Array]:
        rows = rng.integers(len(columns), size=clusters)
        return columns[rows], later[rows]

    return Design(
        test=f"change of {measure.name}",
        clusters=len(columns),
        most=measure.most - measure.least,
        shows=lambda effect, clusters, rng: refuses(*drawn(clusters, rng), measure, truth - effect, rng),
        estimate=lambda clusters, rng: change_of(*drawn(clusters, rng), measure),
        **{"unit": UNITS.get(measure.name, POINTS), **about},
    )


def of_cats(cats: Sequence[Cat], sides: Sequence[Outcomes], average: Average) -> Iterator[Design]:
    """Yields ss and lms of one run, or changes of ss, lms and icat between two, by task and domain."""
    for task, domain, part in parts(cats):
        names = {cat.id for cat in part}
        taken_in = [side.take(np.array([name in names for name in side.ids.tolist()])) for side in sides]
        about = {"task": task, "domain": domain, "called": "terms"}
        if len(taken_in) == 1:
            columns = taken_in[0].columns(average)
            for name in ("ss", "lms"):
                used = columns[(columns[:, NEEDS[name]] > 0).any(axis=1)]
                items = int((taken_in[0].counts[:, NEEDS[name]] > 0).any(axis=1).sum())
                if len(used):
                    yield alone(used, MEASURES[name], items=items, **about)
            continue
        one, other = jointly(*taken_in)
        earlier, later = one.columns(average), other.columns(average)
        for name, measure in MEASURES.items():
            rows = (earlier[:, NEEDS[name]] > 0).all(axis=1)
            items = int((one.counts[:, NEEDS[name]] > 0).all(axis=1).sum())
            if rows.any():
                yield changed(earlier[rows], later[rows], measure, items=items, **about)


def of_flips(cats: Sequence[Cat], before: Outcomes, after: Outcomes) -> Iterator[Design]:
    """Yields the share of preferences that flip on paraphrases, by task and domain."""
    turned = dict(zip(before.ids.tolist(), flips(before, after).tolist(), strict=True))
    for task, domain, part in parts(cats):
        rows = [(cat.target, turned[cat.id]) for cat in part if not isnan(turned.get(cat.id, float("nan")))]
        if rows:
            _, group = np.unique([term for term, _ in rows], return_inverse=True)
            columns = np.column_stack([np.bincount(group, [flip for _, flip in rows]), np.bincount(group)])
            yield alone(columns.astype(np.float64), FLIPS, task=task, domain=domain, items=len(rows), called="terms")


def of_pairs(sides: Sequence[Preferences]) -> Iterator[Design]:
    """Yields the score of one run, or its change between two, for all pairs and for each bias type."""
    decided = np.logical_and.reduce([side.decided for side in sides])
    for name, rows in kinds.sets_of(sides[0].types):
        used = rows & decided
        columns = [np.column_stack([side.won[used], np.ones(used.sum())]) for side in sides]
        about: dict[str, Any] = {"domain": name, "items": int(used.sum()), "called": "pairs"}
        if used.any():
            one, *other = columns
            yield changed(one, other[0], METRIC, **about) if other else alone(one, METRIC, **about)


def of_choices(sides: Sequence[Side]) -> Iterator[Design]:
    """Yields the preference of one run of choices by domain, or the tests of `compare` for two runs."""
    first = sides[0]
    how: dict[str, Any] = {"resamples": RESAMPLES, "seed": 0}
    if len(sides) == 2:
        for pair in compared_by(first, sides[1], how):
            if not pair.undefined:
                items = len(np.unique(first.rows.items))
                yield replace(
                    changed(*pair.sides, pair.measure, domain=OVERALL, items=items, called="clusters", unit="share"),
                    test=f"change of {pair.name}",
                )
        return
    if (kind := next(iter(first.items.values())).kind) in (WORDS, DECISIONS, WHICH):
        raise ValueError(f"found choices of {kind}, which have no preference between two sides; expected --against too")
    rows = first.rows
    for name, mask in kinds.sets_of(rows.domains):
        part = rows.take(mask & rows.open)
        if not len(part.items) or undefined_in(part, **how)[0]:
            continue
        columns = choice_columns(part, units_of(part))
        columns = columns[columns[:, position.OF :].any(axis=1)]
        yield alone(columns, position.PREFERENCE, domain=name, items=len(np.unique(part.items)), called="clusters",
                    unit=POINTS)  # fmt: skip


def of_runs(first: Path, other: Path, data_path: Path) -> Iterator[Design]:
    """Yields the tests of `check` for two runs of `score` on probes, association tests or questions."""
    one, two = (taken(read(path), [data_path]) for path in (first, other))
    for side, path in ((one, first), (two, other)):
        if side.snapshot.kind != one.snapshot.kind or hashes_in(side.snapshot.signature.data) != hashes_in(
            one.snapshot.signature.data
        ):
            raise BadInput(path, f"a run on {side.snapshot.signature.data}", f"a run on {one.snapshot.signature.data}")
    make = kinds.module_of(one.snapshot.kind).tests
    outcomes: tuple[Mapping[str, Any], ...] = (one.snapshot.outcomes, two.snapshot.outcomes)
    for pair in make(one.records, *outcomes, one.protocol, 0):
        if not pair.undefined and len(pair.before) > 1:
            yield changed(pair.before, pair.after, pair.measure, domain=pair.set, items=pair.items, called="clusters")
