"""Causal models on prefix trees: a row holds a tree, and a mask lets each node attend to its ancestors alone."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from catsofa.scoring import causal
from catsofa.scoring.backend import Backend
from catsofa.scoring.batches import OneRowTooLarge
from catsofa.scoring.questions import Answer, Continuation
from catsofa.scoring.trie import Tree, trees

CPU_WIDTH = 128
"""Nodes of a row: attention costs their square, a row's shared beginning is forwarded again in the next."""
GPU_WIDTH = 512
WINDOWS = ("sliding_window", "attention_chunk_size")
"""How far a model looks back: a mask of ours would let it look further."""
CLOSE = {"float32": 1e-4, "float64": 1e-8}
CLOSE_HALF = 0.1
"""Nats between a row of its own and a tree, for a model to be one that follows the mask and the positions."""


def answer(backend: Backend, questions: Sequence[Continuation]) -> list[Answer]:
    """The log-probabilities of each continuation, each distinct prefix forwarded once a row.

    Where memory does not hold one tree, its texts are asked in plain rows, which are shorter.
    """
    answers: list[Answer] = [np.empty(0)] * len(questions)
    rows = trees(questions, CPU_WIDTH if backend.model.device == "cpu" else GPU_WIDTH)

    def forward(batch: list[int]) -> None:
        grown = [rows[at] for at in batch]
        for tree, found in zip(grown, _pairs(backend, grown), strict=True):
            for number, wanted in tree.answers:
                answers[number] = found[wanted]

    try:
        backend.run([len(tree.ids) for tree in rows], forward)
    except OneRowTooLarge:
        return causal.answer(backend, questions)
    return answers


def _pairs(backend: Backend, grown: Sequence[Tree]) -> list[Answer]:
    """One forward: the log-probability of each asked pair of each tree."""
    width = max(len(tree.ids) for tree in grown)
    places = np.concatenate([row * width + tree.nodes for row, tree in enumerate(grown)])
    states, which = np.unique(places, return_inverse=True)
    caught = backend.head.states(inputs(backend, grown), states // width, states % width)
    found = backend.head.log_probabilities(caught, which, np.concatenate([tree.tokens for tree in grown]))
    return np.split(found, np.cumsum([len(tree.nodes) for tree in grown])[:-1])


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
    """Whether a model follows a tree's mask and positions, found out by asking it.

    What stands on one branch must not change another by a bit; and a branch must give what it gives alone.
    """
    some = backend.sample(9)
    one = [Continuation((*some[:3], *some[5:8])), Continuation((*some[:3], some[4], some[8], some[0]))]
    other = [one[0], Continuation((*some[:3], some[1], some[2], some[0]))]
    scratch = Backend(backend.model)
    scratch.head = backend.head
    try:
        alone = causal.answer(scratch, one)
        packed, changed = answer(scratch, one), answer(scratch, other)
    except (RuntimeError, ValueError, TypeError, IndexError, AttributeError):
        return False
    close = CLOSE.get(backend.model.dtype, CLOSE_HALF)
    same = all(np.allclose(a, b, atol=close, rtol=0) for a, b in zip(alone, packed, strict=True))
    return same and bool(np.array_equal(packed[0], changed[0]))


def fits(backend: Backend, questions: Sequence[Continuation]) -> bool:
    """Whether every question is shorter than the model's window, beyond which a tree's mask would let it look."""
    config = backend.model.module.config.get_text_config()
    windows = [window for name in WINDOWS if (window := getattr(config, name, None))]
    return not windows or max(len(question.ids) for question in questions) <= min(windows)
