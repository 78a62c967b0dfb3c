"""The report section on one model by two protocols, such as likelihood and pseudo-likelihood, paired by item."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from catsofa.data.visible import without_folders
from catsofa.report import figures
from catsofa.report.cells import Words, between, chance, limited, stars
from catsofa.report.elements import Cell, Figure, Number, Section, Table
from catsofa.report.inputs import Finished, NotThere, cats, of_cats, protocol
from catsofa.scoring.measures.robustness import changes, flip_rate
from catsofa.scoring.signature import distinctions, without_hashes
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
    """A model by two protocols: the changes of its measures, and the share of preferences that differ."""

    model: str
    one: Finished
    other: Finished
    changes: Mapping[str, Change]
    differ: Number
    both: str
    """The number of CATs that both scored, and the total."""


def protocols(name: str, groups: Sequence[Group]) -> Iterator[Section]:
    """Yields a section for every two StereoSet groups that differ only in their protocol and share a model."""
    pairs = [(a, b) for a, b in combinations([runs for kind, runs in groups if kind == "stereoset"], 2) if _alike(a, b)]
    firsts = [first[0].signature for first, _ in pairs]
    keys = [(without_hashes(first[0].signature.data), _apart(first[0], second[0])) for first, second in pairs]
    for number, ((first, second), parts) in enumerate(zip(pairs, distinctions(keys, firsts), strict=True), 1):
        paired, notes = _paired(first, second)
        if paired or notes:
            section = _section(f"{name}-{number}", paired, notes, first[0], second[0])
            yield replace(section, title=", ".join(filter(None, (section.title, parts))))


def _alike(first: Sequence[Finished], second: Sequence[Finished]) -> bool:
    """Returns True if two groups differ only in their protocol."""
    one, other = (
        replace(runs[0].signature, model="", protocol="", options="", batching="", seed=0) for runs in (first, second)
    )
    return one == other


def _paired(first: Sequence[Finished], second: Sequence[Finished]) -> tuple[list[Paired], list[str]]:
    """Returns the pairs of models in both groups, and notes on those that cannot be paired."""
    by_model = {run.signature.model: run for run in second}
    paired: list[Paired] = []
    notes: list[str] = []
    for one in first:
        if other := by_model.get(one.signature.model):
            try:
                paired.append(_pair(one, other))
            except NotThere as error:
                notes.append(without_folders(f"{one.model}: no paired change: {error}."))
    return paired, notes


def _pair(one: Finished, other: Finished) -> Paired:
    """Compares one model by two protocols on the CATs that both scored; raises NotThere if it is not possible."""
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


def _section(name: str, paired: Sequence[Paired], notes: Sequence[str], one: Finished, other: Finished) -> Section:
    """Returns the section with the changes of each model."""
    name_one, name_other = _apart(one, other)
    ways = [run.manifest.get("identity", {}).get("protocol", {}).get("masked") for run in (one, other)]
    named = [f"{p}: {WAYS[way]}" for p, way in zip((name_one, name_other), ways, strict=True) if way in WAYS]
    table = Table(
        name=f"{name}-changes",
        caption=f"From {name_one} to {name_other}: changes with paired 95 % intervals over target terms",
        columns=(
            "model",
            "measure",
            name_one,
            name_other,
            "change",
            "p (Holm)",
            "preferences that differ, %",
            "CATs in both",
        ),
        rows=tuple(_rows(paired)),
        by=("model",),
        signatures=tuple(str(run.signature) for pair in paired for run in (pair.one, pair.other)),
        notes=(
            *notes,
            "Each column has the signatures of its own protocol; the change is over the comparisons "
            "that both decide, in the CATs that both scored.",
            *([f"How masked models are scored. {'; '.join(named)}."] if len(set(ways)) > 1 else ()),
        ),
    )
    values = {
        name_one: {pair.model: _overall(pair.one, "icat") for pair in paired},
        name_other: {pair.model: _overall(pair.other, "icat") for pair in paired},
    }
    drawn = Figure(
        name=f"{name}-icat",
        caption="icat of each model by both protocols, with 95 % intervals",
        alt="; ".join(
            f"{way}, {model}: {icat}" for way, by_model in values.items() for model, icat in by_model.items()
        ),
        draw=lambda: figures.bars(values, "icat"),
    )
    masked = len(set(ways)) > 1 and None not in ways
    words = replace(WORDS, title="LL against PLL: one model by two protocols") if masked else WORDS
    return words.section(
        name, f"{without_hashes(one.signature.data)}, {name_one} and {name_other}", [table], [drawn] if paired else []
    )


def _apart(one: Finished, other: Finished) -> tuple[str, str]:
    """Returns the names of two protocols; equal names get the hash of their options."""
    names = one.signature.protocol, other.signature.protocol
    options = one.signature.options, other.signature.options
    return names if names[0] != names[1] else (f"{names[0]}@{options[0]}", f"{names[1]}@{options[1]}")


def _rows(paired: Sequence[Paired]) -> Iterator[tuple[Cell, ...]]:
    """Yields a row for each model and measure; Holm's correction is over all changes."""
    family = [(pair, measure, change) for pair in paired for measure, change in pair.changes.items()]
    for (pair, measure, change), p in zip(family, holm([change.p for _, _, change in family]), strict=True):
        sides = (_overall(run, measure) for run in (pair.one, pair.other))
        differ: Cell = pair.differ if measure == "ss" else ""
        yield (pair.model, measure, *sides, between(change.by, 1, stars(p)), chance(p), differ, pair.both)


def _overall(run: Finished, measure: str) -> Number:
    """Returns a measure over both tasks together."""
    overall: Any = run.report["results"]["overall"]
    return limited(overall, measure)
