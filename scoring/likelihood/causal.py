"""Causal models: in plain rows, or on prefix trees.

A row of trees has a mask that lets each node attend to its ancestors alone.
"""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from catsofa.scoring.likelihood import self_check
from catsofa.scoring.likelihood.backend import Backend
from catsofa.scoring.likelihood.batches import FAILURES, OneRowTooLarge
from catsofa.scoring.likelihood.prefix_trees import Tree, trees
from catsofa.scoring.likelihood.queries import Answer, Continuation
from catsofa.scoring.likelihood.self_check import TREES, Attempt, Strains

CPU_WIDTH = 128
"""Nodes of a row: attention costs their square, a row's shared beginning is forwarded again in the next."""
GPU_WIDTH = 512


def plain(backend: Backend, questions: Sequence[Continuation]) -> list[Answer]:
    """The log-probabilities of each continuation, in rows padded on the right, the last token never forwarded."""

    def forward(batch: list[int]) -> Any:
        asked = [questions[at] for at in batch]
        return backend.head.continuations(backend.padded([question.ids[:-1] for question in asked]), asked)

    return backend.run("continuations", [len(question.ids) - 1 for question in questions], forward)


def answer(backend: Backend, questions: Sequence[Continuation]) -> list[Answer]:
    """The log-probabilities of each continuation, each distinct prefix forwarded once a row.

    Plain rows, which are shorter, take over where memory does not hold one tree or a tree changes a number.
    """

    with suppress(OneRowTooLarge):
        while backend.uses(TREES):
            made = _attempt(backend, questions)
            if made is None:
                backend.batching.left_out[TREES] = None
            elif self_check.passes(backend, "trees", made, lambda at: plain(backend, [questions[at]])[0], TREES):
                return made.answers
    return plain(backend, questions)


def _attempt(backend: Backend, questions: Sequence[Continuation]) -> Attempt[Answer] | None:
    """All answers from trees, with the last question of each; None if the model fails on trees of their width."""
    answers: list[Answer] = [np.empty(0)] * len(questions)
    rows = trees(questions, CPU_WIDTH if backend.model.device == "cpu" else GPU_WIDTH)
    deepest, depths = np.empty(len(rows), dtype=np.int64), [int(tree.depths.max()) + 1 for tree in rows]

    def forward(batch: list[int]) -> Any:
        deepest[batch] = max(depths[row] for row in batch)
        grown = [rows[row] for row in batch]
        width = max(len(tree.ids) for tree in grown)
        places = np.concatenate([row * width + tree.nodes for row, tree in enumerate(grown)])
        states, which = np.unique(places, return_inverse=True)
        caught = backend.head.states(inputs(backend, grown), states // width, states % width)
        found = backend.head.log_probabilities(caught, which, np.concatenate([tree.tokens for tree in grown]))
        return found.split([len(tree.nodes) for tree in grown])

    try:
        found, strains = backend.batched([len(tree.ids) for tree in rows], forward)
    except FAILURES as error:
        if isinstance(error, OneRowTooLarge):
            raise
        return None
    row_of = np.empty(len(questions), dtype=np.int64)
    for row, (tree, values) in enumerate(zip(rows, found, strict=True)):
        for number, wanted in tree.answers:
            answers[number] = values[wanted]
            row_of[number] = row
    widest = strains[:, 0] + self_check.padding(strains)
    lengths = np.array([len(question.ids) - 1 for question in questions])
    beside = {"deepest node": deepest[row_of], "widest row": widest[row_of]}
    together = self_check.together(strains)[row_of]
    forwarded = sum(len(tree.ids) for tree in rows)
    return Attempt(answers, *_strained(questions, rows, strains), lengths, beside, together, forwarded)


def _strained(questions: Sequence[Continuation], rows: Sequence[Tree], strains: Strains) -> tuple[list[int], Strains]:
    """The last question of each row and the longest one of all, with how far their rows strain them.

    By the width of its row, rows together, before and after it, its padding, the length of the question, and the nodes
    of others between its own.
    """
    longest = max(range(len(questions)), key=lambda number: len(questions[number].ids))
    places, own = [longest], [[len(questions[longest].ids), 0]]
    for tree in rows:
        number = tree.answers[-1][0]
        path = np.flatnonzero(tree.ends == len(tree.ids))
        between = (len(tree.ids) - 1 - path).sum() - len(path) * (len(path) - 1) // 2
        places.append(number)
        own.append([len(questions[number].ids), int(between)])
    of_rows = np.column_stack([strains[:, [0, 2, 3, 4]], self_check.padding(strains)])
    return places, np.hstack([np.pad(of_rows, ((1, 0), (0, 0))), own])


def inputs(backend: Backend, grown: Sequence[Tree]) -> dict[str, Any]:
    """Ids, positions and the mask of ancestors, which is made on the device from where each node's descendants end."""
    import torch

    ids = backend.tensor([tree.ids for tree in grown])
    ends = backend.tensor([tree.ends for tree in grown])
    place = torch.arange(ids.shape[1], device=ids.device)
    # a node that fills a row up ends at 0; it attends to itself, since a row of nothing but hidden nodes is no number
    seen = ((place[None, :] <= place[:, None]) & (place[:, None] < ends[:, None, :])) | torch.eye(
        len(place), dtype=torch.bool, device=ids.device
    )
    dtype = backend.model.module.dtype
    mask = torch.zeros(seen.shape, dtype=dtype, device=ids.device).masked_fill_(~seen, torch.finfo(dtype).min)
    return {
        "input_ids": ids,
        "position_ids": backend.tensor([tree.depths for tree in grown]),
        "attention_mask": mask[:, None],
        "use_cache": False,
    }


def possible(backend: Backend) -> bool:
    """Whether a model follows a tree's mask and positions at all, found out by asking it.

    What stands on one branch must not change another by a bit; and a branch must give what it gives alone.
    """
    some = backend.sample(9)
    one = [Continuation((*some[:3], *some[5:8])), Continuation((*some[:3], some[4], some[8], some[0]))]
    other = [one[0], Continuation((*some[:3], some[1], some[2], some[0]))]
    scratch = Backend(backend.model)
    scratch.heads = backend.heads
    with scratch.alone():
        alone = plain(scratch, one)
    packed, changed = _attempt(scratch, one), _attempt(scratch, other)
    if packed is None or changed is None:
        return False
    same = all(self_check.agree(scratch, *pair) for pair in zip(packed.answers, alone, strict=True))
    return same and bool(np.array_equal(packed.answers[0], changed.answers[0]))
