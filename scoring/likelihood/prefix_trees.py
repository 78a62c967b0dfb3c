"""Questions as prefix trees: each distinct prefix is one node, however many texts begin with it.

The nodes of a tree stand in one row in depth-first order, so that the descendants of node j are those from j to
`ends[j]`, and node i may attend to j exactly if j ≤ i < ends[j]. Pure planning: no model here, and no loop over nodes,
since a small model would wait for it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

import numpy as np
from numpy.typing import NDArray

from catsofa.scoring.likelihood.queries import Continuation

Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Tree:
    """One row: its nodes in depth-first order, and the (node, next token) pairs that are asked."""

    ids: Numbers
    depths: Numbers
    ends: Numbers
    nodes: Numbers
    """For each asked pair, the node before the token."""
    tokens: Numbers
    answers: list[tuple[int, Numbers]]
    """For each question by its number, the asked pairs that make its answer."""


@dataclass(frozen=True, slots=True)
class _Sorted:
    """Questions in the order of their ids, so that those that begin alike stand together.

    A question's nodes are its ids but the last. It shares those before `same` with the question before it, and of all
    its ids those before `alike`; both are 0 for the first question of a row.
    """

    numbers: list[int]
    starts: Numbers
    lengths: Numbers
    same: Numbers
    alike: Numbers
    first: Numbers
    """The questions that begin a row."""
    ids: Numbers
    """Of all questions, one after another."""

    @property
    def bases(self) -> Numbers:
        """The number of the first node that each question adds, and the number of all nodes."""
        return _offsets(self.lengths - 1 - self.same)


def trees(questions: Sequence[Continuation], width: int) -> list[Tree]:
    """Rows of at most `width` nodes (or of one question, if that is longer); a question's last token is no node."""
    if not questions:
        return []
    found = _sorted(questions, width)
    return _rows(found, _nodes(found), _pairs(found))


def _sorted(questions: Sequence[Continuation], width: int) -> _Sorted:
    """The questions in order, and where rows begin so that none is too wide."""
    numbers = sorted(range(len(questions)), key=lambda number: questions[number].ids)
    of = [questions[number] for number in numbers]
    lengths = np.array([len(question.ids) for question in of])
    ids = np.fromiter(chain.from_iterable(question.ids for question in of), np.int64, int(lengths.sum()))
    alike = _alike(ids, lengths)
    same = np.minimum(alike, np.minimum(lengths, np.roll(lengths, 1)) - 1)
    first, held = [], width
    for at, (length, shared) in enumerate(zip((lengths - 1).tolist(), same.tolist(), strict=True)):
        held += length - shared
        if held > width or not at:
            first.append(at)
            held = length
    same[first] = alike[first] = 0
    starts = np.array([question.start for question in of])
    return _Sorted(numbers, starts, lengths, same, alike, np.array(first), ids)


def _alike(ids: Numbers, lengths: Numbers) -> Numbers:
    """How many ids each sequence has in common with the beginning of the one before it."""
    most = np.minimum(lengths, np.roll(lengths, 1))
    most[0] = 0
    begins, offsets = _offsets(lengths)[:-1], _offsets(most)
    steps = np.arange(offsets[-1]) - np.repeat(offsets[:-1], most)
    differ = ids[np.repeat(begins, most) + steps] != ids[np.repeat(np.roll(begins, 1), most) + steps]
    found = most.copy()
    # of each sequence, the least step at which it differs; an earlier one is written last
    where = np.flatnonzero(differ)[::-1]
    found[np.repeat(np.arange(len(most)), most)[where]] = steps[where]
    return found


def _nodes(found: _Sorted) -> tuple[Numbers, Numbers, Numbers]:
    """Ids, depths and ends of all nodes, row after row; ends are counted over all rows."""
    added, bases = found.lengths - 1 - found.same, found.bases
    owners = np.repeat(np.arange(len(added)), added)
    depths = np.arange(bases[-1]) - np.repeat(bases[:-1] - found.same, added)
    ids = found.ids[_offsets(found.lengths)[:-1][owners] + depths]
    ends = np.empty_like(depths)
    for depth in range(int(depths.max()) + 1):
        # a node ends where the next question shares less than it with the one before
        turns = np.flatnonzero(found.same <= depth)
        here = np.flatnonzero(depths == depth)
        ends[here] = bases[np.append(turns, len(added))[np.searchsorted(turns, owners[here], side="right")]]
    return ids, depths, ends


def _pairs(found: _Sorted) -> tuple[Numbers, Numbers, Numbers]:
    """For each asked token of each question, in order: its question, the node before it, the pair it belongs to.

    Pairs are numbers of which equal ones are of one node and one token, growing from row to row.
    """
    count, most, bases = len(found.lengths), int(found.lengths.max()), found.bases
    every = np.arange(count)
    owners, nodes, pairs, places = [], [], [], []
    for at in range(int(found.starts.min()), most):
        asked = np.flatnonzero((found.starts <= at) & (at < found.lengths))
        creator = np.maximum.accumulate(np.where(found.same < at, every, 0))[asked]
        teller = np.maximum.accumulate(np.where(found.alike <= at, every, 0))[asked]
        owners.append(asked)
        nodes.append(bases[creator] + at - 1 - found.same[creator])
        pairs.append(teller * most + at)
        places.append(asked * most + at)
    order = np.argsort(np.concatenate(places))
    return np.concatenate(owners)[order], np.concatenate(nodes)[order], np.concatenate(pairs)[order]


def _rows(
    found: _Sorted, nodes: tuple[Numbers, Numbers, Numbers], asked: tuple[Numbers, Numbers, Numbers]
) -> list[Tree]:
    """The rows with what stands in each, counted from its own beginning."""
    ids, depths, ends = nodes
    owners, before, pairs = asked
    distinct, once, which = np.unique(pairs, return_index=True, return_inverse=True)
    most = int(found.lengths.max())
    tokens = found.ids[_offsets(found.lengths)[:-1][distinct // most] + distinct % most]
    questions = np.append(found.first, len(found.lengths))
    bases = found.bases[questions]
    ofs, cuts = np.searchsorted(distinct, questions * most), np.searchsorted(owners, np.arange(len(found.lengths) + 1))
    return [
        Tree(
            ids=ids[base:end],
            depths=depths[base:end],
            ends=ends[base:end] - base,
            nodes=before[once[low:high]] - base,
            tokens=tokens[low:high],
            answers=[(found.numbers[q], which[cuts[q] : cuts[q + 1]] - low) for q in range(one, other)],
        )
        for (one, other), (base, end), (low, high) in zip(
            pairwise(questions),
            pairwise(bases),
            pairwise(ofs),
            strict=True,
        )
    ]


def _offsets(lengths: Numbers) -> Numbers:
    """Where each stretch begins, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(lengths)])
