"""Defines the works of the speed benchmarks: sets, models, protocols, and other tools for the same work."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import loops, shapes, texts
from catsofa.data.records import Score
from catsofa.scoring.items.score import score
from catsofa.scoring.likelihood.backend import Backend
from catsofa.scoring.protocols import DEFAULT, Protocol, named

NEAR = 0.05
"""The tolerance, as a share, between the mean work of a sample and that of all units."""


@dataclass(frozen=True, kw_only=True)
class Work:
    """A work: catsofa scores all units, the loop a sample of `loop_units`, another tool a sample of `peer_units`."""

    name: str
    shape: Callable[[str, Path], Path]
    size: str
    units: Sequence[Any]
    """CATs, pairs or probes: the whole set; if `count` is set, only a sample of this size is scored."""
    count: int | None = None
    each: int
    """The number of scores per unit."""
    ours: Callable[[Backend, Sequence[Any]], list[Score]]
    rows: Callable[[Any, Any], loops.Rows]
    """The forwards of the loop for a unit, by a tokenizer; their tokens are the unit of work for all ways."""
    reduce: Callable[[list[float]], float] = loops.mean
    loop_units: int = 0
    peer: str | None = None
    batches: Sequence[int] = (8, 16, 32)
    texts: Callable[[Any], list[str]] = lambda unit: [unit.text]
    peer_units: int = 32

    def tokens(self, tokenizer: Any, units: Sequence[Any]) -> list[int]:
        """Returns the number of tokens that the loop forwards for each unit."""
        return [loops.tokens(self.rows(tokenizer, unit)) for unit in units]


def sample(work: Sequence[int], count: int) -> list[int]:
    """Returns the places of `count` units with the mean work of all units, to 5 %; more units if `count` are too few.

    The units are sorted by work and cut into parts of equal length. Each part gives the unit nearest to its mean.
    """
    order, every = np.argsort(work, kind="stable"), np.array(work, dtype=float)
    for size in range(min(count, len(every)), len(every) + 1):
        parts = np.array_split(order, size)
        chosen = [int(part[np.argmin(np.abs(every[part] - every[part].mean()))]) for part in parts]
        if abs(every[chosen].mean() - every.mean()) <= NEAR * every.mean():
            return sorted(chosen)
    raise ValueError("no units to choose from")


def works(shared: Path, scale: float) -> list[Work]:
    """Returns every work; `scale` shrinks all of them."""

    def many(count: int) -> int:
        return max(2, round(count * scale))

    def filled(cat: Any) -> list[str]:
        return [candidate.text for candidate in cat.candidates]

    crows, every = named("crows-pairs"), DEFAULT.changed(crows="all", pseudo="plain", length="sum")
    triples = Work(
        name="StereoSet, causal, GPT-2 size",
        shape=shapes.gpt2,
        size="base",
        units=texts.cats(shared, many(120)),
        each=3,
        ours=lambda backend, units: score(backend, units, DEFAULT),
        rows=lambda tokenizer, cat: loops.causal(tokenizer, filled(cat)),
        loop_units=many(8),
        peer="lm_eval",
        texts=filled,
        peer_units=many(32),
    )
    grid = replace(
        triples,
        name="SoFa grid, 4 layers, 256 wide",
        size="small",
        units=texts.grid(texts.identities(many(10)), texts.stereotypes(shared, many(200))),
        each=1,
        rows=lambda tokenizer, probe: loops.causal(tokenizer, [probe.text]),
        loop_units=0,
        peer="evaluate",
        batches=(16, 64),
        texts=lambda probe: [probe.text],
        peer_units=many(160),
    )
    masked = replace(
        triples,
        name="StereoSet, masked, BERT-base size",
        shape=shapes.bert,
        units=texts.cats(shared, many(200)),
        rows=loops.fillers,
        peer=None,
    )
    pairs = Work(
        name="CrowS-Pairs on shared tokens, BERT-base size",
        shape=shapes.bert,
        size="base",
        units=texts.pairs(shared),
        count=many(24),
        each=2,
        ours=lambda backend, units: unrounded(backend, units, crows),
        rows=loops.shared_tokens,
        reduce=sum,
        loop_units=many(8),
    )
    return [
        triples,
        grid,
        replace(
            grid,
            name="SoFa grid of 1,000 stereotypes, GPT-2 size",
            size="base",
            units=texts.grid(texts.identities(1), texts.stereotypes(shared, many(1000))),
            peer_units=many(64),
        ),
        replace(
            masked,
            name="StereoSet, masked, 4 layers, 256 wide",
            size="small",
            units=texts.cats(shared, many(800)),
            loop_units=many(24),
        ),
        masked,
        pairs,
        replace(
            pairs,
            name="CrowS-Pairs on all tokens, BERT-base size",
            ours=lambda backend, units: score(backend, units, every),
            rows=loops.every_token,
            loop_units=0,
            peer="minicons",
            batches=(1, 8, 16),
            texts=lambda pair: [pair.more, pair.less],
            peer_units=many(8),
        ),
    ]


def unrounded(backend: Backend, units: Sequence[Any], protocol: Protocol) -> list[Score]:
    """Returns scores without rounding: sums over shared tokens."""
    return score(backend, units, protocol.changed(rounding=None))
