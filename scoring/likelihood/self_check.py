"""Self-check of batching: the texts that batching strains most are scored again alone, and must get the same numbers.

Alone means one text per forward pass, torch's own products, the whole network and the model's own logits. A part of the
engine that changes a number is left out from then on, and the work is repeated. The check uses the batches of the run
itself, with their real widths, and runs again whenever a later batch strains a text more.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import asdict, dataclass, field, replace
from itertools import chain
from math import isfinite
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from catsofa.scoring.likelihood.batches import FAILURES, OneRowTooLarge, out_of_memory
from catsofa.scoring.measures.ties import BATCH_ERROR

TREES, PADDING, TOGETHER, PRODUCTS, EXIT = "prefix trees", "padding", "rows together", "packed products", "early exit"
MODEL, HEAD = "model", "next-sentence head"
INSTEAD = {
    TREES: "plain batches",
    PADDING: "batches of one length",
    TOGETHER: "batches of one row",
    PRODUCTS: "torch's own products",
    EXIT: "the whole network and the model's own logits",
}
"""Each part of the engine that may change a number, and its replacement."""
CLOSE = {"float32": BATCH_ERROR, "float64": 1e-8}
"""Largest difference between a log-probability in a batch and alone, in nats; for vectors, a share of the largest."""
ROUNDING = {"bfloat16": 3 * 2**-7, "float16": 3 * 2**-10}
"""In half precision: largest root mean square over a text, relative to its least probable token; three roundings."""
LEAST_NATS = 5.0
"""Lower limit of that scale: a text with only more probable tokens is treated as if one had this many nats."""
MOST_TOKENS = 10**6
"""Larger than any row, so that shortness is a positive number."""
ONE_BY_ONE = "score them again in a new run with --batch-tokens 1"
BATCHED = {TREES, PADDING, TOGETHER}
"""Parts of the engine that a batch of one text does not use."""
IRREPRODUCIBLE = (
    "the model gives one text different numbers in two equal calls, so none of its scores can be trusted; "
    "look for randomness in its code"
)
SHARE = 0.01
"""Share of the forwarded tokens that are forwarded again in random texts."""
ROWS = 64
"""A text alone costs at least a batch's tokens divided by this number."""
FIRST = 32
"""Random texts from the first batches of a run; `SHARE` pays for them afterwards."""
SUSPECTS = 32
"""After a fault, most texts to check again among those whose numbers differ with and without the part left out."""
CLASSES = 4
"""Classes of row lengths: a model that pools or convolves by steps depends on the remainder of the length."""

Numbers = TypeVar("Numbers", bound=NDArray[np.floating[Any]])
Strains = NDArray[np.int64]
"""A line for each row that may be checked: how much batching strains it, by several measures; 0 is no strain."""

Positions = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Attempt(Generic[Numbers]):
    """Answers made in batches, the indices of those that may be checked, and the strains of these."""

    answers: Sequence[Numbers]
    places: Sequence[int]
    strains: Strains
    lengths: Positions
    """Number of positions of each answer's own text."""
    beside: Mapping[str, Positions]
    """By measure, the largest number of positions in the batch of each answer."""
    together: Positions
    """Number of rows in the batch of each answer."""
    forwarded: int
    """Tokens that went through the network."""


@dataclass(slots=True)
class Batching:
    """Parts of the engine left out for one model, and the strains of the rows that verified the others."""

    left_out: dict[str, float | None] = field(default_factory=dict)
    """By part of the engine, the largest difference it made; None if the model gave no number with it."""
    reach: dict[str, list[int]] = field(default_factory=dict)
    """By way of asking, the largest strain that was checked, by measure."""
    crossed: dict[str, list[int]] = field(default_factory=dict)
    """By way of asking and measure, the limits checked by a shorter text in a batch that reaches the limit."""

    allowance: float = 0.0
    """Tokens that may still be forwarded again in random texts."""
    accepted: int = 0
    """Texts whose numbers were accepted."""
    late: int = 0
    """Texts accepted before a random text showed that a part changes numbers."""
    late_alone: bool = False
    """True if --batch-tokens 1 would not have avoided these late texts."""
    refused: Sequence[Any] = ()
    """Answers of the previous attempt, if a fault was found in it."""

    def add(self, other: Mapping[str, Any]) -> None:
        """Adds the findings of another process."""
        self.left_out |= other["left_out"]
        self.allowance = other.get("allowance", 0.0)
        self.accepted = max(self.accepted, other.get("accepted", 0))
        self.late = max(self.late, other.get("late", 0))
        self.late_alone |= bool(other.get("late_alone", False))
        for way, most in other["reach"].items():
            self.reach[way] = [max(pair) for pair in zip(most, self.reach.get(way, most), strict=True)]
        for way, limits in other["crossed"].items():
            self.crossed[way] = sorted({*limits, *self.crossed.get(way, ())})

    def beyond(self, way: str, strains: Strains) -> list[int]:
        """Returns the lines strained more than any checked before: for each measure, the most strained one."""
        reach = self._reached(way, strains)
        peaks = strains.argmax(0)
        return sorted(
            {int(line) for line, most, before in zip(peaks, strains.max(0), reach, strict=True) if most > before}
        )

    def cover(self, way: str, strains: Strains) -> None:
        """Records that these lines were checked."""
        reach = self._reached(way, strains)
        self.reach[way] = [max(int(most), before) for most, before in zip(strains.max(0), reach, strict=True)]

    def _reached(self, way: str, strains: Strains) -> list[int]:
        """Returns the largest strains checked; 0 for all if an earlier version recorded other measures."""
        reach = self.reach.get(way, ())
        return list(reach) if len(reach) == strains.shape[1] else [0] * strains.shape[1]

    def draw(self, attempt: Attempt[Any], least: int) -> list[int]:
        """Draws random texts to check, the first ones on credit: half by text, half by size of the batch."""
        self.allowance += SHARE * attempt.forwarded
        costs = np.maximum(attempt.lengths, least)
        sizes, which = np.unique(attempt.together, return_inverse=True)
        shares = 0.5 / len(costs) + 0.5 / len(sizes) / np.bincount(which)[which]
        advance = 0 if self.accepted else FIRST
        most = min(len(costs), max(advance, int(self.allowance // costs.min())))
        drawn = np.random.default_rng(self.accepted).choice(len(costs), most, replace=False, p=shares / shares.sum())
        paid = drawn[(np.cumsum(costs[drawn]) <= self.allowance) | (np.arange(most) < advance)]
        self.allowance -= int(costs[paid].sum())
        return [int(place) for place in paid]

    def suspects(self, engine: "Engine", attempt: Attempt[Any], vectors: bool) -> list[int]:
        """Draws texts whose numbers differ from those of the previous attempt: one of the two is wrong.

        A fault that moves from text to text with the batches shows here, whichever part was blamed first.
        """
        before, self.refused = self.refused, ()
        if len(before) != len(attempt.answers):
            return []
        pairs = enumerate(zip(before, attempt.answers, strict=True))
        moved = [place for place, (one, other) in pairs if not agree(engine, one, other, vectors)]
        random = np.random.default_rng(len(self.left_out))
        return [int(place) for place in random.permutation(moved)[:SUSPECTS]]

    @property
    def signature(self) -> str:
        """Parts left out, for a signature; empty for the ordinary engine."""
        return ", ".join(f"no {part}" for part in INSTEAD if part in self.left_out)

    def sentences(self, part: str) -> Iterator[str]:
        """Yields a warning for each part left out, and one for texts accepted before a fault was found."""
        for name, gap in self.left_out.items():
            if gap is None:
                yield f"self-check: this {part} fails with {name}, so {INSTEAD[name]} were used"
            else:
                effect = f"{name} changed the numbers of this {part} by up to {gap:.2g}"
                yield f"self-check: {effect}, so {INSTEAD[name]} were used, which change none"
        if self.late:
            remedy = "no option avoids this: do not use them" if self.late_alone else ONE_BY_ONE
            early = f"{self.late} texts were scored before that was seen"
            yield f"self-check: {early}, and their numbers may be wrong; {remedy}"


def signature(checks: Mapping[str, Batching]) -> str:
    """Returns the parts left out, for a signature."""
    named = {part: batching.signature for part, batching in checks.items() if batching.signature}
    return "; ".join(left_out if part == MODEL else f"{part}: {left_out}" for part, left_out in named.items())


def warnings(checks: Mapping[str, Batching]) -> tuple[str, ...]:
    """Returns the warnings of all parts of the model, for readers of the numbers."""
    return tuple(sentence for part, batching in checks.items() for sentence in batching.sentences(part))


def findings(checks: Mapping[str, Batching]) -> dict[str, Any]:
    """Returns the findings in the form that a run stores."""
    return {part: asdict(replace(batching, refused=())) for part, batching in checks.items()}


def restore(checks: Mapping[str, Batching], stored: Mapping[str, Any]) -> None:
    """Restores findings that a run stored, or that another process made."""
    for part, finding in stored.items():
        checks[part].add(finding)


class Engine(Protocol):
    """Interface of a backend for the check."""

    batching: Batching
    budget: int
    """Most tokens of a batch."""

    @property
    def device(self) -> str:
        """Device of the model: a check on one device says nothing about another."""

    @property
    def dtype(self) -> str:
        """Name of the model's floating type."""

    def alone(self, *without: str) -> AbstractContextManager[None]:
        """Forwards rows one at a time and without these parts of the engine, as a context manager."""


def passes(
    engine: Engine,
    path: str,
    attempt: Attempt[Numbers],
    alone: Callable[[int], Numbers],
    step: str,
    *,
    vectors: bool = False,
) -> bool:
    """Returns True if an attempt gives its most strained texts the numbers that they have alone.

    Otherwise the part of batching that changed them is left out from now on: `step`, if no other part is to blame.
    """
    batching = engine.batching
    way = ", ".join(filter(None, (path, engine.device, batching.signature)))
    crossings = {
        f"{way}, {measure}": crossing(attempt.lengths, beside, batching.crossed.get(f"{way}, {measure}", ()))
        for measure, beside in attempt.beside.items()
    }
    strained = {attempt.places[line]: None for line in batching.beyond(way, attempt.strains)}
    strained |= dict.fromkeys(chain.from_iterable(texts for texts, _ in crossings.values()))
    drawn = dict.fromkeys(
        [*batching.draw(attempt, engine.budget // ROWS), *batching.suspects(engine, attempt, vectors)]
    )
    wrong: list[tuple[float, int, Numbers]] = []
    for place in strained | drawn:
        expected = _expected(engine, place, alone)
        if expected is not None and not agree(engine, attempt.answers[place], expected, vectors):
            wrong.append((_distance(attempt.answers[place], expected), place, expected))
    if not wrong:
        batching.cover(way, attempt.strains)
        batching.crossed |= {name: limits for name, (_, limits) in crossings.items()}
        batching.accepted += len(attempt.answers)
        return True
    gap, place, expected = max(wrong, key=lambda one: one[0])
    parts = _causes(engine, place, expected, alone, vectors) or (step,)
    batching.left_out |= dict.fromkeys(parts, gap if isfinite(gap) else None)
    batching.refused = attempt.answers
    if strained.keys().isdisjoint(place for _, place, _ in wrong):
        batching.late = batching.accepted
        batching.late_alone |= vectors or engine.budget <= 1 or not BATCHED.issuperset(parts)
    return False


def row_strains(lengths: Sequence[int], beside: Sequence[tuple[int, int, int]]) -> Strains:
    """Returns the strains of rows: length, shortness, rows together, before, after, padding by remainder of length.

    `beside` holds the padding of each row, the rows of its batch, and those before it there.
    """
    long, (padding, together, before) = np.array(lengths), np.array(beside).T
    classes = long[:, None] % CLASSES == np.arange(CLASSES)
    after = together - 1 - before
    return np.column_stack([long, MOST_TOKENS - long, together, before, after, classes * padding[:, None]])


def together(strains: Strains) -> Positions:
    """Returns the number of rows in the batch of each row."""
    rows: Positions = strains[:, 2]
    return rows


def padding(strains: Strains) -> Positions:
    """Returns the padding of each row."""
    tokens: Positions = strains[:, -CLASSES:].sum(1)
    return tokens


def crossing(lengths: Positions, beside: Positions, checked: Sequence[int]) -> tuple[list[int], list[int]]:
    """Returns texts that test each limit a batch may cross for them, and the limits checked so far, these included.

    A model that reads a batch by its longest row changes the texts below a limit in the batches that reach it. One of
    these texts represents the limits up to twice its positions: a much shorter one might not feel the change.
    """
    pairs, first = np.unique(np.column_stack([lengths, beside]), axis=0, return_index=True)
    own, most = pairs.T
    size = int(most.max()) + 2
    begun, ended = (np.bincount(limits, minlength=size) for limits in (own + 1, most + 1))
    unchecked = np.cumsum(begun - ended) > 0
    covered = np.array(checked, dtype=np.int64)
    unchecked[covered[covered < size]] = False
    texts = []
    while unchecked.any():
        limit = int(np.flatnonzero(unchecked)[-1])
        below = np.flatnonzero((own < limit) & (limit <= most))
        near = below[2 * own[below] >= limit]
        line = int(near[0] if len(near) else below[-1])
        last = min(int(most[line]), 2 * int(own[line])) if len(near) else int(most[line])
        unchecked[own[line] + 1 : last + 1] = False
        covered = np.union1d(covered, np.arange(own[line] + 1, last + 1))
        texts.append(int(first[line]))
    return texts, covered.tolist()


def _expected(engine: Engine, place: int, alone: Callable[[int], Numbers]) -> Numbers | None:
    """Returns a text's numbers from the plain model; None if memory does not hold all its logits."""
    try:
        with engine.alone(PRODUCTS, EXIT):
            return alone(place)
    except (RuntimeError, MemoryError, OneRowTooLarge) as error:
        if isinstance(error, OneRowTooLarge) or out_of_memory(error):
            return None
        raise


def _causes(
    engine: Engine, place: int, expected: Numbers, alone: Callable[[int], Numbers], vectors: bool
) -> tuple[str, ...]:
    """Returns the parts that change a text even if it is alone; empty if batching does."""
    for without in ((), (EXIT,), (PRODUCTS,), (PRODUCTS, EXIT)):
        with engine.alone(*without), suppress(*FAILURES):
            if agree(engine, alone(place), expected, vectors):
                return without
    raise ValueError(IRREPRODUCIBLE)


def agree(engine: Engine, actual: Numbers, expected: Numbers, vectors: bool = False) -> bool:
    """Returns True if two answers of the same text differ by rounding at most."""
    scale = float(np.abs(expected).max(initial=0.0 if vectors else LEAST_NATS))
    if engine.dtype in ROUNDING:
        return _distance(actual, expected, mean=True) <= ROUNDING[engine.dtype] * scale
    return _distance(actual, expected) <= CLOSE[engine.dtype] * (scale if vectors else 1)


def _distance(actual: Numbers, expected: Numbers, *, mean: bool = False) -> float:
    """Returns the largest difference, or the root mean square; NaN equals only NaN."""
    with np.errstate(invalid="ignore"):
        gaps = np.abs(actual.astype(np.float64) - expected)
    gaps[(actual == expected) | (np.isnan(actual) & np.isnan(expected))] = 0
    gaps[np.isnan(gaps)] = np.inf
    return float(np.sqrt((gaps**2).mean()) if mean else gaps.max(initial=0.0))
