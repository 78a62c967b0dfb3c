"""Order of items: is the file's own order more likely than random permutations of the same items?

The test of Oren et al. (2023) has one value for each contiguous shard: the log-likelihood of the file's order minus the
mean over permutations. A one-sided t-test follows over shards. It assumes that the file's order is one of equally
likely orders. So neighbours are compared first. If they are more or less alike than in permutations, another group of
permutations is used, or the test is refused.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from math import isfinite, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, special

from catsofa.data.language.words import words
from catsofa.data.progress import SILENT, Progress
from catsofa.data.statistics import ALPHA, students
from catsofa.scoring.contamination.result import Test
from catsofa.scoring.contamination.texts import ItemText, log_likelihoods
from catsofa.scoring.likelihood.backend import Backend
from catsofa.scoring.statistics.holm import holm
from catsofa.scoring.statistics.intervals import Interval

SHARDS = 50
"""Most shards that are scored, evenly over the file."""
FEWEST = 10
"""Fewest shards for Student's t."""
LEAST = 3
"""Smallest size of a full shard in units; the end of a stretch or the token limit can end a shard earlier."""
TOKENS = 1024
"""Most tokens of a shard, if the model reads more."""
PERMUTATIONS = 25
"""Random orders of each shard."""
SHUFFLES = 999
"""Random orders with which neighbours are compared."""
ROUNDING = 1e-12
STAND = ("target", "domain", "task", "stereotype")
"""Labels of adjacent items that form one unit if all of them are equal."""
UNIT = "nats a shard above random orders"

Unit = Sequence[int]
"""Items that stay together, by their positions in the file."""
Places = NDArray[np.int64]
Compared = Callable[[Places, Places], float]
"""Mean similarity (or rise) between items at some positions and items at others."""


@dataclass(frozen=True, slots=True)
class Design:
    """The units to permute in each shard, and how neighbours compare with those in permutations."""

    permuted: str
    shards: Sequence[Sequence[Unit]]
    neighbours: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Comparison of neighbours in the file and in permutations, with Holm's p-value."""
    reason: str = ""
    """Reason why the file's order cannot be one of these permutations."""


def order_test(backend: Backend, items: Sequence[ItemText], seed: int = 0, progress: Progress = SILENT) -> Test:
    """Tests the order of the items in their file."""
    tokenised = backend.reader.bare(item.text for item in items)
    lengths = [len(tokenised[item.text].ids) + 1 for item in items]  # plus a line break
    rng = np.random.default_rng(seed)
    most = min(backend.reader.limit - 1, TOKENS)
    tried: list[Design] = []
    for permuted, units, stretches in designs(items):
        shards = shards_of(units, stretches, lengths, most)
        if len(shards) < FEWEST:
            reason = f"{len(shards)} shards of two or more, and Student's t needs {FEWEST}"
            tried.append(Design(permuted, shards, reason=reason))
            continue
        within = {unit[0]: stretch for unit, stretch in zip(units, stretches, strict=True)}
        neighbours = compared(items, shards, within, rng)
        if not (broken := [name for name, comparison in neighbours.items() if comparison["holm"] <= ALPHA]):
            return _tested(backend, items, Design(permuted, shards, neighbours), rng, progress)
        reason = f"neighbours differ from those in permutations in {' and '.join(broken)}"
        tried.append(Design(permuted, shards, neighbours, reason))
    refusals = {design.permuted: {"reason": design.reason, "neighbours": design.neighbours} for design in tried}
    reason = "; ".join(f"{design.permuted}: {design.reason}" for design in tried)
    message = f"no permutation of this file is as likely as its own order ({reason})"
    return Test(name="order", unit=UNIT, counts={"items": len(items)}, facts={"refused": refusals}, reason=message)


def designs(items: Sequence[ItemText]) -> Iterator[tuple[str, Sequence[Unit], Sequence[int]]]:
    """Yields what can be permuted: units in the order of the file, with the stretch in which each may move.

    The units are items within the whole file, within stretches of one domain, or of one target; or whole stretches of
    one target.
    """
    single = [(index,) for index in range(len(items))]
    yield "items", single, [0] * len(items)
    for names, label in (
        (("domain", "task"), "items within stretches of one domain"),
        (("domain", "task", "target"), "items within stretches of one target"),
    ):
        keys = [tuple(item.labels.get(name, "") for name in names) for item in items]
        if len(set(keys)) > 1:
            changes = np.cumsum([0, *(one != other for one, other in pairwise(keys))])
            yield label, single, changes.tolist()
    keys = [tuple(item.labels.get(name, "") for name in STAND) for item in items]
    runs = [tuple(run) for _, run in groupby(range(len(items)), keys.__getitem__)]
    if len(runs) < len(items):
        yield "stretches of one target", runs, [0] * len(runs)


def shards_of(
    units: Sequence[Unit], stretches: Sequence[int], lengths: Sequence[int], most: int
) -> list[Sequence[Unit]]:
    """Returns contiguous shards of two units or more, within a stretch and `most` tokens, evenly over the file."""
    size = max(LEAST, len(units) // SHARDS)
    shards: list[list[Unit]] = [[]]
    tokens, before = 0, None
    for unit, stretch in zip(units, stretches, strict=True):
        needed = sum(lengths[item] for item in unit)
        if stretch != before or tokens + needed > most or len(shards[-1]) == size:
            shards.append([])
            tokens, before = 0, stretch
        shards[-1].append(unit)
        tokens += needed
    whole = [
        shard for shard in shards if len(shard) > 1 and sum(lengths[item] for unit in shard for item in unit) <= most
    ]
    chosen = np.unique(np.linspace(0, len(whole) - 1, min(SHARDS, len(whole))).round().astype(int))
    return [whole[index] for index in chosen]


def compared(
    items: Sequence[ItemText],
    shards: Sequence[Sequence[Unit]],
    stretches: Mapping[int, int],
    rng: np.random.Generator,
) -> dict[str, dict[str, float]]:
    """Compares neighbours in the file with those in permutations within stretches; with Holm's two-sided p-values.

    `stretches` has the stretch of each unit by its first item. Units move over all shards of a stretch, because a label
    whose items are adjacent has the same value all over a shard.

    Neighbours may be alike in each label, in length, and in words (the Dice coefficient), or rise. Labels and texts
    rise in alphabetical order, lengths in letters. If two items swap their places, only a rise shows which kind came
    first. A quantity that is the same in every order shows nothing.
    """
    units = [unit for shard in shards for unit in shard]
    firsts, lasts = (np.array([unit[end] for unit in units]) for end in (0, -1))
    shard = np.repeat(np.arange(len(shards)), [len(each) for each in shards])
    within = np.array([stretches[unit[0]] for unit in units])
    inside = shard[1:] == shard[:-1]
    shuffled = [np.arange(len(units)), *(np.lexsort((rng.random(len(units)), within)) for _ in range(SHUFFLES))]
    results: dict[str, dict[str, float]] = {}
    p_values = []
    for name, compare in _comparisons(items).items():
        values = np.array([compare(lasts[order[:-1][inside]], firsts[order[1:][inside]]) for order in shuffled])
        own, others = values[0], values[1:]
        tails = (np.sum(others >= own - ROUNDING), np.sum(others <= own + ROUNDING))
        p_values.append(min(1.0, 2 * (1 + int(min(tails))) / (1 + SHUFFLES)))
        results[name] = {"file": float(own), "permuted": float(others.mean()), "p": p_values[-1]}
    return {name: {**one, "holm": p} for (name, one), p in zip(results.items(), holm(p_values), strict=True)}


def _comparisons(items: Sequence[ItemText]) -> dict[str, Compared]:
    """Returns the ways in which neighbours may be alike, or rise."""

    def same(codes: Places) -> Compared:
        return lambda one, other: float(np.mean(codes[one] == codes[other]))

    def rising(values: NDArray[Any]) -> Compared:
        return lambda one, other: float(np.mean(np.sign(values[other] - values[one])))

    comparisons: dict[str, Compared] = {}
    for name in items[0].labels:
        codes = np.unique([item.labels[name] for item in items], return_inverse=True)[1]
        if codes.max():
            comparisons |= {name: same(codes), f"rising {name}": rising(codes)}
    lengths = np.array([len(item.text) for item in items], dtype=float)
    comparisons["length"] = lambda one, other: -float(np.mean(np.abs(lengths[one] - lengths[other])))
    comparisons["rising length"] = rising(lengths)
    comparisons["rising text"] = rising(np.unique([item.text for item in items], return_inverse=True)[1])
    rows = [set(words(item.text)) for item in items]
    columns = {word: index for index, word in enumerate(sorted(set().union(*rows)))}
    places = [(index, columns[word]) for index, row in enumerate(rows) for word in row]
    row_numbers, column_numbers = np.array(places, dtype=np.int64).reshape(-1, 2).T
    table = sparse.csr_array(
        (np.ones(len(row_numbers)), (row_numbers, column_numbers)), shape=(len(rows), max(1, len(columns)))
    )
    counts = np.maximum(table.sum(axis=1), 0.5)

    def shared(one: Places, other: Places) -> float:
        common = table[one].multiply(table[other]).sum(axis=1)
        return float(np.mean(2 * common / (counts[one] + counts[other])))

    comparisons["words"] = shared
    return comparisons


def _tested(
    backend: Backend, items: Sequence[ItemText], design: Design, rng: np.random.Generator, progress: Progress
) -> Test:
    """Tests the values of the shards by Student's t."""
    values: list[float] = []
    for shard in progress.each(design.shards):
        orders = [range(len(shard)), *(rng.permutation(len(shard)) for _ in range(PERMUTATIONS))]
        texts = ["\n".join(items[item].text for unit in order for item in shard[unit]) for order in orders]
        likelihoods = log_likelihoods(backend, texts)
        values.append(float(likelihoods[0] - likelihoods[1:].mean()))
    finite = np.array([value for value in values if isfinite(value)])
    used = sum(len(unit) for shard in design.shards for unit in shard)
    counts = {
        "items": len(items),
        "used": used,
        "cut": len(values),
        "shards": len(finite),
        "permutations": PERMUTATIONS,
    }
    facts = {"permuted": design.permuted, "neighbours": design.neighbours}
    mean = float(finite.mean()) if len(finite) else float("nan")
    error = float(finite.std(ddof=1)) / sqrt(len(finite)) if len(finite) > 1 else 0.0
    if len(finite) < FEWEST or not error:
        reason = f"{len(finite)} shards with different values, and Student's t needs {FEWEST}"
        return Test(name="order", unit=UNIT, counts=counts, facts=facts, reason=reason)
    reach = students(len(finite)) * error
    p = float(special.stdtr(len(finite) - 1, -mean / error))
    return Test(
        name="order", unit=UNIT, value=Interval(mean, mean - reach, mean + reach), counts=counts, facts=facts, p=p
    )
