"""Questions as prefix trees: each distinct prefix is one node, even if many texts begin with it.

The nodes of a tree form one row in depth-first order. The descendants of node j are those from j to `ends[j]`, and node
i may attend to j exactly if j ≤ i < ends[j]. This module only plans: it has no model, and no loop over nodes, because a
small model would wait for it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from catsofa.scoring.likelihood.queries import Continuation, Continuations, Numbers, offsets


@dataclass(frozen=True, slots=True)
class Tree:
    """One row: its nodes in depth-first order, and the requested (node, next token) pairs."""

    ids: Numbers
    depths: Numbers
    ends: Numbers
    nodes: Numbers
    """For each requested pair, the node before the token."""
    tokens: Numbers
    questions: Numbers
    """The indices of the questions that the row answers, in order."""
    wanted: Numbers
    """The requested pairs of each question, one question after another."""


@dataclass(frozen=True, slots=True)
class _Sorted:
    """Questions sorted by their ids, so that questions with a common beginning are adjacent.

    The nodes of a question are its ids except the last. It shares the nodes before `same`, and the ids before `alike`,
    with the question before it. Both are 0 for the first question of a row.
    """

    numbers: Numbers
    starts: Numbers
    lengths: Numbers
    same: Numbers
    alike: Numbers
    first: Numbers
    """Questions that begin a row."""
    ids: Numbers
    """Ids of all questions, one after another."""

    @property
    def bases(self) -> Numbers:
        """Index of the first node that each question adds, and the number of all nodes."""
        return offsets(self.lengths - 1 - self.same)


def trees(questions: Sequence[Continuation], width: int) -> list[Tree]:
    """Returns rows of at most `width` nodes (or of one longer question); a question's last token is not a node."""
    if not questions:
        return []
    ordered = _sorted(Continuations.of(questions), width)
    return _rows(ordered, _nodes(ordered), _pairs(ordered))


def _sorted(questions: Continuations, width: int) -> _Sorted:
    """Sorts the questions, and chooses where rows begin so that none is too wide."""
    numbers = np.array(questions.sorted())
    ordered = questions.only(numbers)
    ids, lengths = ordered.ids, ordered.lengths
    alike = _alike(ids, lengths)
    same = np.minimum(alike, np.minimum(lengths, np.roll(lengths, 1)) - 1)
    first, held = [], width
    for index, (length, shared) in enumerate(zip((lengths - 1).tolist(), same.tolist(), strict=True)):
        held += length - shared
        if held > width or not index:
            first.append(index)
            held = length
    same[first] = alike[first] = 0
    return _Sorted(numbers, ordered.starts, lengths, same, alike, np.array(first), ids)


def _alike(ids: Numbers, lengths: Numbers) -> Numbers:
    """Returns how many ids each sequence shares with the beginning of the one before it."""
    most = np.minimum(lengths, np.roll(lengths, 1))
    most[0] = 0
    begins, firsts = offsets(lengths)[:-1], offsets(most)
    steps = np.arange(firsts[-1]) - np.repeat(firsts[:-1], most)
    differ = ids[np.repeat(begins, most) + steps] != ids[np.repeat(np.roll(begins, 1), most) + steps]
    common = most.copy()
    # the first step at which each sequence differs: in reverse order, so that the earliest is assigned last
    where = np.flatnonzero(differ)[::-1]
    common[np.repeat(np.arange(len(most)), most)[where]] = steps[where]
    return common


def _nodes(ordered: _Sorted) -> tuple[Numbers, Numbers, Numbers]:
    """Returns ids, depths and ends of all nodes, row after row; ends are counted over all rows."""
    added, bases = ordered.lengths - 1 - ordered.same, ordered.bases
    owners = np.repeat(np.arange(len(added)), added)
    depths = np.arange(bases[-1]) - np.repeat(bases[:-1] - ordered.same, added)
    ids = ordered.ids[offsets(ordered.lengths)[:-1][owners] + depths]
    ends = np.empty_like(depths)
    for depth in range(int(depths.max()) + 1):
        # a node ends at the next question whose shared beginning is too short to include it
        turns = np.flatnonzero(ordered.same <= depth)
        level = np.flatnonzero(depths == depth)
        ends[level] = bases[np.append(turns, len(added))[np.searchsorted(turns, owners[level], side="right")]]
    return ids, depths, ends


def _pairs(ordered: _Sorted) -> tuple[Numbers, Numbers]:
    """Returns for each requested token of each question, in order: the node before it, and its pair.

    A pair is named by the place in `ids` where its token comes first after this node. Equal pairs have the same node
    and token, and pairs increase from row to row.
    """
    bases, begins = ordered.bases, offsets(ordered.lengths)
    requested = offsets(ordered.lengths - ordered.starts)
    every = np.arange(len(ordered.lengths))
    nodes, pairs = np.empty((2, requested[-1]), dtype=np.int64)
    for position in range(int(ordered.starts.min()), int(ordered.lengths.max())):
        active = np.flatnonzero((ordered.starts <= position) & (position < ordered.lengths))
        creator = np.maximum.accumulate(np.where(ordered.same < position, every, 0))[active]
        teller = np.maximum.accumulate(np.where(ordered.alike <= position, every, 0))[active]
        place = requested[active] + position - ordered.starts[active]
        nodes[place] = bases[creator] + position - 1 - ordered.same[creator]
        pairs[place] = begins[teller] + position
    return nodes, pairs


def _rows(ordered: _Sorted, nodes: tuple[Numbers, Numbers, Numbers], requested: tuple[Numbers, Numbers]) -> list[Tree]:
    """Returns the rows with their nodes and pairs, each counted from its own beginning."""
    ids, depths, ends = nodes
    before, pairs = requested
    distinct, which = different(pairs, len(ordered.ids))
    parents = np.empty_like(distinct)
    parents[which] = before
    tokens = ordered.ids[distinct]
    questions = np.append(ordered.first, len(ordered.lengths))
    bases = ordered.bases[questions]
    ofs = np.searchsorted(distinct, offsets(ordered.lengths)[questions])
    cuts = offsets(ordered.lengths - ordered.starts)[questions]
    return [
        Tree(
            ids=ids[base:end],
            depths=depths[base:end],
            ends=ends[base:end] - base,
            nodes=parents[low:high] - base,
            tokens=tokens[low:high],
            questions=ordered.numbers[one:other],
            wanted=which[begin:stop] - low,
        )
        for (one, other), (base, end), (low, high), (begin, stop) in zip(
            *map(pairwise, (questions, bases, ofs, cuts)), strict=True
        )
    ]


def different(numbers: Numbers, end: int) -> tuple[Numbers, Numbers]:
    """Returns the different numbers below `end` in order, and the place of each number among them, without sorting."""
    there = np.zeros(end, dtype=bool)
    there[numbers] = True
    return np.flatnonzero(there), (np.cumsum(there) - 1)[numbers]
