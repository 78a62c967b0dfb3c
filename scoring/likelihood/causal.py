"""Causal models: plain rows, or prefix trees.

A row of trees has a mask that lets each node attend only to its ancestors and itself.
"""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from catsofa.scoring.likelihood import self_check
from catsofa.scoring.likelihood.backend import Backend
from catsofa.scoring.likelihood.batches import FAILURES, OneRowTooLarge
from catsofa.scoring.likelihood.prefix_trees import Tree, different, trees
from catsofa.scoring.likelihood.queries import Answer, Answers, Continuation, Continuations, offsets
from catsofa.scoring.likelihood.self_check import TREES, Attempt, Strains

CPU_WIDTH = 128
"""Most nodes of a row: attention costs their square, but each row forwards a shared beginning again."""
GPU_WIDTH = 512


def plain(backend: Backend, questions: Sequence[Continuation]) -> list[Answer]:
    """Returns the log-probabilities of each continuation, from right-padded rows without their last tokens."""

    def forward(batch: list[int]) -> Any:
        chosen = [questions[number] for number in batch]
        return backend.head.continuations(backend.padded([question.ids[:-1] for question in chosen]), chosen)

    return backend.run("continuations", [len(question.ids) - 1 for question in questions], forward)


def answer(backend: Backend, questions: Sequence[Continuation]) -> Sequence[Answer]:
    """Returns the log-probabilities of each continuation; each distinct prefix is forwarded once per row.

    Plain rows, which are shorter, replace trees if memory cannot hold one tree or if a tree changes a number.
    """

    with suppress(OneRowTooLarge):
        while backend.uses(TREES):
            attempt = _attempt(backend, Continuations.of(questions))
            if attempt is None:
                backend.batching.left_out[TREES] = None
            elif self_check.passes(
                backend, "trees", attempt, lambda number: plain(backend, [questions[number]])[0], TREES
            ):
                return attempt.answers
    return plain(backend, questions)


def _attempt(backend: Backend, questions: Continuations) -> Attempt[Answer] | None:
    """Returns all answers from trees, with the strains to check; None if the model fails on trees of their width."""
    rows = trees(questions, CPU_WIDTH if backend.model.device == "cpu" else GPU_WIDTH)
    deepest, depths = np.empty(len(rows), dtype=np.int64), [int(tree.depths.max()) + 1 for tree in rows]

    def forward(batch: list[int]) -> Any:
        deepest[batch] = max(depths[row] for row in batch)
        grown = [rows[row] for row in batch]
        width = max(len(tree.ids) for tree in grown)
        places = np.concatenate([row * width + tree.nodes for row, tree in enumerate(grown)])
        states, which = different(places, width * len(grown))
        caught = backend.head.states(inputs(backend, grown), states // width, states % width)
        log_probabilities = backend.head.log_probabilities(
            caught, which, np.concatenate([tree.tokens for tree in grown])
        )
        return log_probabilities.split([len(tree.nodes) for tree in grown])

    try:
        results, strains = backend.batched([len(tree.ids) for tree in rows], forward)
    except FAILURES as error:
        if isinstance(error, OneRowTooLarge):
            raise
        return None
    numbers = np.concatenate([tree.questions for tree in rows])
    begins, row_of = np.empty_like(numbers), np.empty_like(numbers)
    begins[numbers] = offsets(questions.requested[numbers])[:-1]
    row_of[numbers] = np.repeat(np.arange(len(rows)), [len(tree.questions) for tree in rows])
    values = [of_row[tree.wanted] for tree, of_row in zip(rows, results, strict=True)]
    answers = Answers(np.concatenate(values), begins, questions.requested)
    widest = strains[:, 0] + self_check.padding(strains)
    beside = {"deepest node": deepest[row_of], "widest row": widest[row_of]}
    together = self_check.together(strains)[row_of]
    forwarded = sum(len(tree.ids) for tree in rows)
    return Attempt(answers, *_strained(questions, rows, strains), questions.lengths - 1, beside, together, forwarded)


def _strained(questions: Continuations, rows: Sequence[Tree], strains: Strains) -> tuple[list[int], Strains]:
    """Returns the longest question and the last question of each row, and how much their rows strain them.

    The measures of a row are its width, the rows together, before and after it, and its padding. Those of a question
    are its length, and the nodes of other questions between its own.
    """
    longest = int(questions.lengths.argmax())
    places, own = [longest], [[int(questions.lengths[longest]), 0]]
    for tree in rows:
        number = int(tree.questions[-1])
        path = np.flatnonzero(tree.ends == len(tree.ids))
        between = (len(tree.ids) - 1 - path).sum() - len(path) * (len(path) - 1) // 2
        places.append(number)
        own.append([int(questions.lengths[number]), int(between)])
    of_rows = np.column_stack([strains[:, [0, 2, 3, 4]], self_check.padding(strains)])
    return places, np.hstack([np.pad(of_rows, ((1, 0), (0, 0))), own])


def inputs(backend: Backend, grown: Sequence[Tree]) -> dict[str, Any]:
    """Returns ids, positions and the mask of ancestors, computed on the device from the ends of the nodes."""
    import torch

    ids = backend.tensor([tree.ids for tree in grown])
    place = torch.arange(ids.shape[1], dtype=torch.int32, device=ids.device)
    # a padding node ends at 0; it attends to itself, because attention to hidden nodes only gives NaN
    ends = backend.tensor([tree.ends for tree in grown]).int().maximum(place + 1)
    # 1 for a node that is visible, else 0: in integers, because torch takes several times as long for truth values
    visible = (ends[:, None, :] - place[:, None]).clamp_(0, 1).mul_(place[None, :] <= place[:, None])
    dtype = backend.model.module.dtype
    mask = visible.to(dtype).sub_(1).mul_(torch.finfo(dtype).max)
    return {
        "input_ids": ids,
        "position_ids": backend.tensor([tree.depths for tree in grown]),
        "attention_mask": mask[:, None],
        "use_cache": False,
    }


def possible(backend: Backend) -> bool:
    """Returns True if a model follows a tree's mask and positions, tested on small trees.

    The content of one branch must not change another branch by a bit, and a branch must give the same numbers as alone.
    """
    some = backend.sample(9)
    one = [Continuation((*some[:3], *some[5:8])), Continuation((*some[:3], some[4], some[8], some[0]))]
    other = [one[0], Continuation((*some[:3], some[1], some[2], some[0]))]
    scratch = Backend(backend.model)
    scratch.heads = backend.heads
    with scratch.alone():
        alone = plain(scratch, one)
    packed, changed = (_attempt(scratch, Continuations.of(pair)) for pair in (one, other))
    if packed is None or changed is None:
        return False
    same = all(self_check.agree(scratch, *pair) for pair in zip(packed.answers, alone, strict=True))
    return same and bool(np.array_equal(packed.answers[0], changed.answers[0]))
