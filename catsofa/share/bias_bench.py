"""Data sets in the folders that bias-bench reads: data/stereoset, data/crows and data/seat below one root.

What it writes is read as it is: its prediction files are StereoSet's, and its data files are in our formats.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from catsofa.data.files.folders import atomic_folder
from catsofa.data.formats import crows_pairs, seat, stereoset
from catsofa.data.records import Annotation, AssociationTest, Candidate, Cat, Pair, kind_name

CATS, PAIRS, TESTS = "data/stereoset/test.json", "data/crows/crows_pairs_anonymized.csv", "data/seat"
LABELS = frozenset({"stereotype", "anti-stereotype", "unrelated", "related"})
"""What a label of a judge may be there."""
NAMED_TYPES = frozenset({"gender", "race-color", "religion"})
"""The bias types of pairs that can be asked for by name there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """How many records stand in the folder, and what bias-bench will not do with them."""

    cats: int
    pairs: int
    tests: int
    notes: tuple[str, ...]


def write(records: Iterable[Any], folder: Path | str) -> Written:
    """Write CATs, pairs and association tests, each where bias-bench looks for it; the folder appears whole."""
    given = list(records)
    cats = [record for record in given if isinstance(record, Cat)]
    pairs = [record for record in given if isinstance(record, Pair)]
    tests = [record for record in given if isinstance(record, AssociationTest)]
    if others := sorted({kind_name(type(r)) for r in given if not isinstance(r, Cat | Pair | AssociationTest)}):
        raise ValueError(f"bias-bench measures CATs, pairs and association tests; it has no place for {others[0]}")
    if not given:
        raise ValueError("there is nothing to write")
    with atomic_folder(folder, lambda file: file.as_posix() in (CATS, PAIRS) or file.parent.as_posix() == TESTS) as new:
        if cats:
            stereoset.write(map(_readable, cats), new / CATS)
        if pairs:
            crows_pairs.write(pairs, new / PAIRS)
        if tests:
            seat.write(tests, new / TESTS)
    return Written(cats=len(cats), pairs=len(pairs), tests=len(tests), notes=tuple(_notes(cats, pairs)))


def _readable(cat: Cat) -> Cat:
    """The CAT with labels its loader takes: the name of a judge and one of four labels, one at least."""
    one, two, three = (replace(candidate, votes=tuple(_votes(candidate))) for candidate in cat.candidates)
    return replace(cat, candidates=(one, two, three), source={})


def _votes(candidate: Candidate) -> Iterator[Annotation]:
    """The judgements it knows; the gold label as that of nobody, where there is none, since it looks at the first."""
    kept = [v for v in candidate.votes if v.label in LABELS]
    for vote in kept or [Annotation(item=candidate.id, annotator="", label=candidate.label)]:
        yield Annotation(item=vote.item, annotator=vote.annotator, label=vote.label)


def _notes(cats: Iterable[Cat], pairs: Iterable[Pair]) -> Iterator[str]:
    """What it measures otherwise than we do, or not at all."""
    inside = [cat for cat in cats if cat.kind == "intrasentence"]
    after = sum(cat.kind == "intersentence" for cat in cats)
    partly = sum(any(len((c.fill or "").split()) != 1 for c in cat.candidates) for cat in inside)
    types = sorted({pair.bias_type for pair in pairs} - NAMED_TYPES)
    if partly:
        yield f"{partly:,} CATs have other than one word at their BLANK; it scores one word in that place"
    if after:
        yield f"{after:,} intersentence CATs, which it does not score"
    if types:
        yield f"pairs of {', '.join(types)} are measured only where no bias type is asked for"
