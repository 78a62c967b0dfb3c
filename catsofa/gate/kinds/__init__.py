"""What a run makes of each item, kept compactly, and the paired tests of two such outcomes; one module a kind."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from math import isnan, nan
from typing import Any

import numpy as np

from catsofa.scoring.protocols import Protocol
from catsofa.scoring.statistics.intervals import Array, Measure

Outcomes = Mapping[str, Any]
"""The outcomes of a run as they lie in a baseline."""
LETTERS = "".join(chr(code) for code in range(33, 127) if chr(code) not in '"\\<>&')
"""One for each distinct outcome, where there are so few."""
OVERALL = "overall"


@dataclass(frozen=True, slots=True)
class Moved:
    """What one item or target term had before, and has now."""

    name: str
    before: float
    after: float

    def to_dict(self) -> dict[str, Any]:
        """The name and both values."""
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
    """Items that it rests on."""
    decided: float
    """Their share of the items of the set."""
    step: float = 0.0
    """How far one item moves the measure, on average; 0 of continuous outcomes."""
    terms: Sequence[Moved] = ()
    """The value of each target term, where items have some."""
    each: Callable[[], Sequence[Moved]] = list
    """Makes a list of the items whose outcome differs, where somebody reads it: of many models nobody does."""
    known: bool = True
    """Whether the baseline alone has a number."""
    caution: str = ""
    """Why a verdict on it may be wrong more often than in 5 % of sets; empty if nothing says so."""
    undefined: str = ""
    """Why the two have no numbers in common; empty if they have."""


Tests = Callable[[Sequence[Any], Outcomes, Outcomes, Protocol, int], Iterator[Paired]]
"""Records by id, the outcomes of baseline and run, the protocol and a seed to the pairs that can be tested."""
MODULES = {"stereoset": "cats", "crows_pairs": "pairs", "bbq": "questions", "sofa": "probes", "seat": "associations"}


def module_of(kind: str) -> Any:
    """What makes the outcomes and the tests of a measure: a module, or for one of another package an `Own`."""
    if kind in MODULES:
        return import_module(f"catsofa.gate.kinds.{MODULES[kind]}")
    return import_module("catsofa.gate.kinds.own").Own(kind)


def coded(values: Sequence[str]) -> dict[str, Any]:
    """Texts, of which many are equal: the distinct ones, and a letter for each text; or all, if too many differ."""
    distinct = sorted(set(values))
    if len(distinct) > len(LETTERS):
        return {"all": list(values)}
    letter = dict(zip(distinct, LETTERS, strict=False))
    return {"distinct": distinct, "letters": "".join(letter[value] for value in values)}


def decoded(held: Mapping[str, Any]) -> list[str]:
    """The texts that were coded."""
    if "all" in held:
        return list(held["all"])
    known = dict(zip(LETTERS, held["distinct"], strict=False))
    return [known[letter] for letter in held["letters"]]


def written(numbers: Sequence[float] | Array) -> str:
    """Numbers as one text, to nine digits."""
    return " ".join("-" if isnan(number) else f"{number:.9g}" for number in numbers)


def numbers_in(text: str) -> Array:
    """The numbers of such a text."""
    return np.array([nan if part == "-" else float(part) for part in text.split()], dtype=np.float64)


def decoded_numbers(held: Mapping[str, Any]) -> Array:
    """The numbers of the texts that were coded, a row for each; every distinct text is read once."""
    texts = decoded(held)
    number = {text: numbers_in(text) for text in set(texts)}
    return np.array([number[text] for text in texts])


def sets_of(names: Any) -> Iterator[tuple[str, Any]]:
    """All rows, then those of each domain, where there are several: its name and a mask."""
    yield OVERALL, np.ones(len(names), dtype=bool)
    if len(distinct := np.unique(names)) > 1:
        yield from ((str(name), names == name) for name in distinct)


def shares(columns: Array, won: int, of: int) -> Array:
    """The percentage of each cluster; NaN where it has none."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(100 * columns[:, won] / columns[:, of])


def moved(names: Iterable[Any], before: Array, after: Array) -> list[Moved]:
    """Those whose value differs."""
    rows = zip(names, before.tolist(), after.tolist(), strict=True)
    return [Moved(str(name), one, other) for name, one, other in rows if one != other]
