"""XLNet from left to right: a permutation mask hides each token and those after it from the query at its place.

Without that mask XLNet reads both sides, so that its `labels` loss is no probability of a text. The first token has
nothing before it but the start token, which every question begins with: with nothing to see, attention would fall
back on everything.
"""

from collections.abc import Sequence

import numpy as np

from catsofa.scoring.likelihood import batches
from catsofa.scoring.likelihood.backend import Backend
from catsofa.scoring.likelihood.queries import Answer, Continuation


def answer(backend: Backend, questions: Sequence[Continuation]) -> list[Answer]:
    """The log-probabilities of each continuation, by the query stream."""
    import torch

    device = backend.model.module.device

    def forward(batch: list[int]) -> list[Answer]:
        asked = [questions[at] for at in batch]
        length = len(asked[0].ids)
        hidden = torch.ones(length, length, device=device).triu()
        inputs = {
            "input_ids": backend.tensor([question.ids for question in asked]),
            "perm_mask": hidden.expand(len(asked), -1, -1),
            "target_mapping": torch.eye(length, device=device).expand(len(asked), -1, -1),
        }
        counts = [length - question.start for question in asked]
        rows = np.repeat(np.arange(len(asked)), counts)
        positions = np.concatenate([np.arange(question.start, length) for question in asked])
        targets = np.concatenate([np.array(question.ids[question.start :]) for question in asked])
        states = backend.head.states(inputs, rows, positions)
        found = backend.head.log_probabilities(states, np.arange(len(targets)), targets)
        return np.split(found, np.cumsum(counts)[:-1])

    # relative positions are counted from the end, so rows are not padded
    return backend.run("permutations", [len(question.ids) for question in questions], forward, waste=batches.NONE)
