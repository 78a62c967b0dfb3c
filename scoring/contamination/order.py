"""The order of items: is the file's own likelier than random permutations of the same items?

The test of Oren et al. (2023): one value for each contiguous shard, the log-likelihood of the file's order less the
mean over permutations, and a one-sided t over shards. It assumes that the file's order is one of equally likely orders.
So neighbours are looked at first: where they are more or less alike than in permutations, another group of
permutations is taken, or the test is refused.
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
"""Shards that are scored at most, evenly over the file."""
FEWEST = 10
"""Shards that Student's t needs."""
LEAST = 3
"""Units of a shard, where its stretch of the file has as many."""
TOKENS = 1024
"""The most tokens of a shard, where the model reads more."""
PERMUTATIONS = 25
"""Random orders of each shard."""
SHUFFLES = 999
"""Random orders with which neighbours are compared."""
ROUNDING = 1e-12
STAND = ("target", "domain", "task", "stereotype")
"""Labels of items that stand together as one unit."""
UNIT = "nats a shard above random orders"

Unit = Sequence[int]
"""Items that stay together, by their places in the file."""
Places = NDArray[np.int64]
Compared = Callable[[Places, Places], float]
"""How items at some places compare with those at others, on the mean."""


@dataclass(frozen=True, slots=True)
class Design:
    """What is permuted: shards of units, and how neighbours compare with those in permutations."""

    permuted: str
    shards: Sequence[Sequence[Unit]]
    neighbours: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """How neighbours compare in the file and in permutations, with Holm's p."""
    reason: str = ""
    """Why these permutations are none that the file's order could be one of."""


def order_test(backend: Backend, items: Sequence[ItemText], seed: int = 0, progress: Progress = SILENT) -> Test:
    """The test of the order in which the items stand in their file."""
    known = backend.reader.bare(item.text for item in items)
    lengths = [len(known[item.text].ids) + 1 for item in items]  # and a line break
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
        if not (broken := [name for name, found in neighbours.items() if found["holm"] <= ALPHA]):
            return _tested(backend, items, Design(permuted, shards, neighbours), rng, progress)
        reason = f"neighbours differ from those in permutations in {' and '.join(broken)}"
        tried.append(Design(permuted, shards, neighbours, reason))
    refusals = {design.permuted: {"reason": design.reason, "neighbours": design.neighbours} for design in tried}
    reason = "; ".join(f"{design.permuted}: {design.reason}" for design in tried)
    said = f"no permutation of this file is as likely as its own order ({reason})"
    return Test(name="order", unit=UNIT, counts={"items": len(items)}, facts={"refused": refusals}, reason=said)


def designs(items: Sequence[ItemText]) -> Iterator[tuple[str, Sequence[Unit], Sequence[int]]]:
    """What could be permuted: units in the order of the file, with the stretch that each may move in.

    Items within the whole file, within stretches of one domain, or of one target; or whole stretches of one target.
    """
    single = [(at,) for at in range(len(items))]
    yield "items", single, [0] * len(items)
    for names, what in (
        (("domain", "task"), "items within stretches of one domain"),
        (("domain", "task", "target"), "items within stretches of one target"),
    ):
        keys = [tuple(item.labels.get(name, "") for name in names) for item in items]
        if len(set(keys)) > 1:
            changes = np.cumsum([0, *(one != other for one, other in pairwise(keys))])
            yield what, single, changes.tolist()
    keys = [tuple(item.labels.get(name, "") for name in STAND) for item in items]
    runs = [tuple(run) for _, run in groupby(range(len(items)), keys.__getitem__)]
    if len(runs) < len(items):
        yield "stretches of one target", runs, [0] * len(runs)


def shards_of(
    units: Sequence[Unit], stretches: Sequence[int], lengths: Sequence[int], most: int
) -> list[Sequence[Unit]]:
    """Contiguous shards of two units or more within a stretch, of at most so many tokens; evenly over the file."""
    size = max(LEAST, len(units) // SHARDS)
    shards: list[list[Unit]] = [[]]
    tokens, before = 0, None
    for unit, stretch in zip(units, stretches, strict=True):
        needed = sum(lengths[at] for at in unit)
        if stretch != before or tokens + needed > most or len(shards[-1]) == size:
            shards.append([])
            tokens, before = 0, stretch
        shards[-1].append(unit)
        tokens += needed
    whole = [shard for shard in shards if len(shard) > 1 and sum(lengths[at] for unit in shard for at in unit) <= most]
    chosen = np.unique(np.linspace(0, len(whole) - 1, min(SHARDS, len(whole))).round().astype(int))
    return [whole[at] for at in chosen]


def compared(
    items: Sequence[ItemText],
    shards: Sequence[Sequence[Unit]],
    stretches: Mapping[int, int],
    rng: np.random.Generator,
) -> dict[str, dict[str, float]]:
    """How neighbours compare in the file and in permutations within stretches, with Holm's two-sided p.

    `stretches` has the stretch of each unit by its first item: units move over all shards of a stretch, since a label
    that stands together is the same all over a shard.

    They may be alike in each label, in length, and in words (the Dice coefficient), or rise: labels and texts in the
    alphabet, lengths in letters. Of two items that swap their places, only what rises says that one kind stood first.
    What is the same in every order says nothing.
    """
    units = [unit for shard in shards for unit in shard]
    firsts, lasts = (np.array([unit[end] for unit in units]) for end in (0, -1))
    shard = np.repeat(np.arange(len(shards)), [len(each) for each in shards])
    within = np.array([stretches[unit[0]] for unit in units])
    inside = shard[1:] == shard[:-1]
    shuffled = [np.arange(len(units)), *(np.lexsort((rng.random(len(units)), within)) for _ in range(SHUFFLES))]
    found: dict[str, dict[str, float]] = {}
    p_values = []
    for name, compare in _comparisons(items).items():
        values = np.array([compare(lasts[order[:-1][inside]], firsts[order[1:][inside]]) for order in shuffled])
        own, others = values[0], values[1:]
        tails = (np.sum(others >= own - ROUNDING), np.sum(others <= own + ROUNDING))
        p_values.append(min(1.0, 2 * (1 + int(min(tails))) / (1 + SHUFFLES)))
        found[name] = {"file": float(own), "permuted": float(others.mean()), "p": p_values[-1]}
    return {name: {**one, "holm": p} for (name, one), p in zip(found.items(), holm(p_values), strict=True)}


def _comparisons(items: Sequence[ItemText]) -> dict[str, Compared]:
    """Ways in which neighbours may be alike, or rise."""

    def same(codes: Places) -> Compared:
        return lambda one, other: float(np.mean(codes[one] == codes[other]))

    def rising(values: NDArray[Any]) -> Compared:
        return lambda one, other: float(np.mean(np.sign(values[other] - values[one])))

    found: dict[str, Compared] = {}
    for name in items[0].labels:
        codes = np.unique([item.labels[name] for item in items], return_inverse=True)[1]
        if codes.max():
            found |= {name: same(codes), f"rising {name}": rising(codes)}
    lengths = np.array([len(item.text) for item in items], dtype=float)
    found["length"] = lambda one, other: -float(np.mean(np.abs(lengths[one] - lengths[other])))
    found["rising length"] = rising(lengths)
    found["rising text"] = rising(np.unique([item.text for item in items], return_inverse=True)[1])
    rows = [set(words(item.text)) for item in items]
    columns = {word: at for at, word in enumerate(sorted(set().union(*rows)))}
    places = [(at, columns[word]) for at, row in enumerate(rows) for word in row]
    at, of = np.array(places, dtype=np.int64).reshape(-1, 2).T
    table = sparse.csr_array((np.ones(len(at)), (at, of)), shape=(len(rows), max(1, len(columns))))
    counts = np.maximum(table.sum(axis=1), 0.5)

    def shared(one: Places, other: Places) -> float:
        common = table[one].multiply(table[other]).sum(axis=1)
        return float(np.mean(2 * common / (counts[one] + counts[other])))

    found["words"] = shared
    return found


def _tested(
    backend: Backend, items: Sequence[ItemText], design: Design, rng: np.random.Generator, progress: Progress
) -> Test:
    """One value for each shard, and Student's t over shards."""
    values: list[float] = []
    for shard in progress.each(design.shards):
        orders = [range(len(shard)), *(rng.permutation(len(shard)) for _ in range(PERMUTATIONS))]
        texts = ["\n".join(items[at].text for unit in order for at in shard[unit]) for order in orders]
        found = log_likelihoods(backend, texts)
        values.append(float(found[0] - found[1:].mean()))
    known = np.array([value for value in values if isfinite(value)])
    used = sum(len(unit) for shard in design.shards for unit in shard)
    counts = {"items": len(items), "used": used, "cut": len(values), "shards": len(known), "permutations": PERMUTATIONS}
    facts = {"permuted": design.permuted, "neighbours": design.neighbours}
    mean = float(known.mean()) if len(known) else float("nan")
    error = float(known.std(ddof=1)) / sqrt(len(known)) if len(known) > 1 else 0.0
    if len(known) < FEWEST or not error:
        reason = f"{len(known)} shards with different values, and Student's t needs {FEWEST}"
        return Test(name="order", unit=UNIT, counts=counts, facts=facts, reason=reason)
    reach = students(len(known)) * error
    p = float(special.stdtr(len(known) - 1, -mean / error))
    return Test(
        name="order", unit=UNIT, value=Interval(mean, mean - reach, mean + reach), counts=counts, facts=facts, p=p
    )
