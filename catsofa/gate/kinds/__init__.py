"""The outcome of each item of a run in a compact form, and the paired tests of two runs; one module for each kind."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from math import isnan, nan
from typing import Any

import numpy as np

from catsofa.scoring.protocols import Protocol
from catsofa.scoring.statistics.intervals import Array, Measure

Outcomes = Mapping[str, Any]
"""The outcomes of a run in the format of a baseline."""
LETTERS = "".join(chr(code) for code in range(33, 127) if chr(code) not in '"\\<>&')
"""One letter for each distinct outcome, if they are few enough."""
OVERALL = "overall"


@dataclass(frozen=True, slots=True)
class Moved:
    """The value of one item or target term before and after."""

    name: str
    before: float
    after: float

    def to_dict(self) -> dict[str, Any]:
        """Returns the name and both values."""
        return {"name": self.name, "before": self.before, "after": self.after}


@dataclass(frozen=True, slots=True, kw_only=True)
class Paired:
    """One measure of one set of items: the same clusters of both runs, row by row."""

    name: str
    set: str
    measure: Measure
    before: Array
    after: Array
    items: int
    """Number of items that the measure uses."""
    decided: float
    """Share of the items of the set that the measure uses."""
    step: float = 0.0
    """Average change of the measure when one item changes; 0 for continuous outcomes."""
    terms: Sequence[Moved] = ()
    """The value of each target term, if items have target terms."""
    each: Callable[[], Sequence[Moved]] = list
    """Returns the items whose outcome differs. Computed only on request, because comparisons of many models do not
    read it."""
    known: bool = True
    """True if the baseline has a value, whatever the run has."""
    caution: str = ""
    """Why a verdict may be wrong in more than 5 % of sets; empty if no such reason is known."""
    undefined: str = ""
    """Why the two runs have no values in common; empty if they have some."""


Tests = Callable[[Sequence[Any], Outcomes, Outcomes, Protocol, int], Iterator[Paired]]
"""Takes the records by id, the outcomes of baseline and run, the protocol and a seed; yields the pairs to test."""
MODULES = {"stereoset": "cats", "crows_pairs": "pairs", "bbq": "questions", "sofa": "probes", "seat": "associations"}


def module_of(kind: str) -> Any:
    """Returns a module with the outcomes and tests of a measure; an `Own` for a measure of another package."""
    if kind in MODULES:
        return import_module(f"catsofa.gate.kinds.{MODULES[kind]}")
    return import_module("catsofa.gate.kinds.own").Own(kind)


def coded(values: Sequence[str]) -> dict[str, Any]:
    """Encodes texts: the distinct texts and a letter for each text; all texts, if too many are distinct."""
    distinct = sorted(set(values))
    if len(distinct) > len(LETTERS):
        return {"all": list(values)}
    letter = dict(zip(distinct, LETTERS, strict=False))
    return {"distinct": distinct, "letters": "".join(letter[value] for value in values)}


def decoded(held: Mapping[str, Any]) -> list[str]:
    """Returns the texts that `coded` encoded."""
    if "all" in held:
        return list(held["all"])
    texts = dict(zip(LETTERS, held["distinct"], strict=False))
    return [texts[letter] for letter in held["letters"]]


def written(numbers: Sequence[float] | Array) -> str:
    """Returns numbers as one text, with nine digits."""
    return " ".join("-" if isnan(number) else f"{number:.9g}" for number in numbers)


def numbers_in(text: str) -> Array:
    """Returns the numbers in a text that `written` returned; a dash is NaN."""
    return np.array([nan if part == "-" else float(part) for part in text.split()], dtype=np.float64)


def decoded_numbers(held: Mapping[str, Any]) -> Array:
    """Returns the numbers in encoded texts, a row for each text; parses every distinct text once."""
    texts = decoded(held)
    number = {text: numbers_in(text) for text in set(texts)}
    return np.array([number[text] for text in texts])


def sets_of(names: Any) -> Iterator[tuple[str, Any]]:
    """Yields a name and a mask of rows: for all rows, then for each domain if the rows have several."""
    yield OVERALL, np.ones(len(names), dtype=bool)
    if len(distinct := np.unique(names)) > 1:
        yield from ((str(name), names == name) for name in distinct)


def shares(columns: Array, won: int, total: int) -> Array:
    """Returns the percentage of each cluster; NaN for a cluster without cases."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(100 * columns[:, won] / columns[:, total])


def moved(names: Iterable[Any], before: Array, after: Array) -> list[Moved]:
    """Returns the names whose value differs, with both values."""
    rows = zip(names, before.tolist(), after.tolist(), strict=True)
    return [Moved(str(name), one, other) for name, one, other in rows if one != other]
