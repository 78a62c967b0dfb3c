"""Causal models in plain batches: padded on the right, the last token never forwarded."""

from collections.abc import Sequence

import numpy as np

from catsofa.scoring.likelihood.backend import Backend
from catsofa.scoring.likelihood.queries import Answer, Continuation, Infill


def answer(backend: Backend, questions: Sequence[Continuation]) -> list[Answer]:
    """The log-probabilities of each continuation."""

    def forward(batch: list[int]) -> list[Answer]:
        asked = [questions[at] for at in batch]
        return continuations(backend, backend.padded([question.ids[:-1] for question in asked]), asked)

    return backend.run("continuations", [len(question.ids) - 1 for question in questions], forward)


def continuations(backend: Backend, inputs: dict[str, object], asked: Sequence[Continuation | Infill]) -> list[Answer]:
    """One forward over `inputs`: the tokens from `start` on, each read off the position before it."""
    counts = [len(question.ids) - question.start for question in asked]
    rows = np.repeat(np.arange(len(asked)), counts)
    positions = np.concatenate([np.arange(q.start - 1, len(q.ids) - 1) for q in asked])
    targets = np.concatenate([np.array(q.ids[q.start :]) for q in asked])
    states = backend.head.states(inputs, rows, positions)
    found = backend.head.log_probabilities(states, np.arange(len(targets)), targets)
    return np.split(found, np.cumsum(counts)[:-1])
