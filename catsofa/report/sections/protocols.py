"""One model by two protocols in a report, such as likelihood against pseudo-likelihood: paired by item."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from catsofa.report import figures
from catsofa.report.cells import Words, between, chance, limited, stars
from catsofa.report.elements import Cell, Figure, Number, Section, Table
from catsofa.report.inputs import Finished, NotThere, cats, of_cats, protocol, without_folders
from catsofa.scoring.measures.robustness import changes, flip_rate
from catsofa.scoring.signature import without_hashes
from catsofa.scoring.statistics.changes import Change
from catsofa.scoring.statistics.holm import holm

WORDS = Words(
    "One model by two protocols",
    "The same models on the same CATs, scored in two ways; the change is paired by item. Stars after Holm's "
    "correction over all changes in the table: * p < .05, ** p < .01, *** p < .001.",
    "A change says that the numbers depend on how a sentence is scored; it does not say which way is right.",
)
WAYS = {"left-to-right": "LL (the words of the blank, left to right)", "pseudo": "PLL (each other word hidden in turn)"}
Group = tuple[str, Sequence[Finished]]


@dataclass(frozen=True, slots=True)
class Paired:
    """A model by two protocols: the changes of its measures, and how many preferences differ."""

    model: str
    one: Finished
    other: Finished
    changes: Mapping[str, Change]
    differ: Number
    both: str
    """CATs scored by both, of all."""


def protocols(name: str, groups: Sequence[Group]) -> Iterator[Section]:
    """A section for every two groups that differ in their protocol alone and share a model."""
    pairs = [(a, b) for a, b in combinations([runs for kind, runs in groups if kind == "stereoset"], 2) if _alike(a, b)]
    for number, (here, there) in enumerate(pairs, 1):
        found, notes = _paired(here, there)
        if found or notes:
            yield _section(f"{name}-{number}", found, notes, here[0], there[0])


def _alike(here: Sequence[Finished], there: Sequence[Finished]) -> bool:
    """Whether two groups differ in their protocol alone."""
    one, other = (
        replace(runs[0].signature, model="", protocol="", options="", batching="", seed=0) for runs in (here, there)
    )
    return one == other


def _paired(here: Sequence[Finished], there: Sequence[Finished]) -> tuple[list[Paired], list[str]]:
    """The models that are in both groups, and why some of them cannot be paired."""
    others = {run.signature.model: run for run in there}
    found: list[Paired] = []
    notes: list[str] = []
    for one in here:
        if other := others.get(one.signature.model):
            try:
                found.append(_pair(one, other))
            except NotThere as error:
                notes.append(without_folders(f"{one.model}: no paired change: {error}."))
    return found, notes


def _pair(one: Finished, other: Finished) -> Paired:
    """One model by two protocols, over the CATs that both scored."""
    ways = protocol(one), protocol(other)
    for option in ("ties", "rule", "average"):
        if len({way.options()[option] for way in ways}) > 1:
            raise NotThere(f"the two protocols make their numbers otherwise ({option}), not only their scores")
    items = cats(one)
    before, after = of_cats(one, items), of_cats(other, items)
    both = before.complete & after.complete
    if not both.any():
        raise NotThere("no CAT is scored by both")
    before, after = before.take(both), after.take(both)
    return Paired(
        one.model,
        one,
        other,
        changes(before, after, average=ways[0].stereoset.average, seed=ways[0].seed),
        between(flip_rate(before, after, seed=ways[0].seed), 1),
        f"{np.count_nonzero(both):,} of {len(both):,}",
    )


def _section(name: str, found: Sequence[Paired], notes: Sequence[str], one: Finished, other: Finished) -> Section:
    """The changes of each model."""
    here, there = _apart(one, other)
    ways = [run.manifest.get("identity", {}).get("protocol", {}).get("masked") for run in (one, other)]
    named = [f"{p}: {WAYS[way]}" for p, way in zip((here, there), ways, strict=True) if way in WAYS]
    table = Table(
        name=f"{name}-changes",
        caption=f"From {here} to {there}: changes with paired 95 % intervals over target terms",
        columns=("model", "measure", here, there, "change", "p (Holm)", "preferences that differ, %", "CATs in both"),
        rows=tuple(_rows(found)),
        by=("model",),
        signatures=tuple(str(run.signature) for pair in found for run in (pair.one, pair.other)),
        notes=(
            *notes,
            "Each column has the signatures of its own protocol; the change is over the comparisons "
            "that both decide, in the CATs that both scored.",
            *([f"How masked models are scored. {'; '.join(named)}."] if len(set(ways)) > 1 else ()),
        ),
    )
    values = {
        here: {pair.model: _overall(pair.one, "icat") for pair in found},
        there: {pair.model: _overall(pair.other, "icat") for pair in found},
    }
    drawn = Figure(
        name=f"{name}-icat",
        caption="icat of each model by both protocols, with 95 % intervals",
        alt="; ".join(f"{way}, {model}: {icat}" for way, of in values.items() for model, icat in of.items()),
        draw=lambda: figures.bars(values, "icat"),
    )
    masked = len(set(ways)) > 1 and None not in ways
    words = replace(WORDS, title="LL against PLL: one model by two protocols") if masked else WORDS
    return words.section(
        name, f"{without_hashes(one.signature.data)}, {here} and {there}", [table], [drawn] if found else []
    )


def _apart(one: Finished, other: Finished) -> tuple[str, str]:
    """The names of two protocols; two of one name are told apart by the hash of their options."""
    names = one.signature.protocol, other.signature.protocol
    options = one.signature.options, other.signature.options
    return names if names[0] != names[1] else (f"{names[0]}@{options[0]}", f"{names[1]}@{options[1]}")


def _rows(found: Sequence[Paired]) -> Iterator[tuple[Cell, ...]]:
    """A row for each model and measure; all changes are one family of tests."""
    family = [(pair, measure, change) for pair in found for measure, change in pair.changes.items()]
    for (pair, measure, change), p in zip(family, holm([change.p for _, _, change in family]), strict=True):
        sides = (_overall(run, measure) for run in (pair.one, pair.other))
        differ: Cell = pair.differ if measure == "ss" else ""
        yield (pair.model, measure, *sides, between(change.by, 1, stars(p)), chance(p), differ, pair.both)


def _overall(run: Finished, measure: str) -> Number:
    """A measure of both tasks together."""
    of: Any = run.report["results"]["overall"]
    return limited(of, measure)
