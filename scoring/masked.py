"""Masked models: rows with masks, every distinct row forwarded once, only asked positions reach the head."""

from collections.abc import Sequence

import numpy as np

from catsofa.scoring import batches
from catsofa.scoring.backend import Backend
from catsofa.scoring.questions import Answer, Attended, Fill, Follows, Ids

Row = tuple[Ids, Ids]
"""Ids and segments."""


def answer(backend: Backend, questions: Sequence[Fill], *, single: bool = False) -> list[Answer]:
    """The log-probabilities of each Fill; questions about one row share its forward, about one mask its state."""
    asked: dict[Row, list[int]] = {}
    for at, question in enumerate(questions):
        asked.setdefault((question.ids, question.types), []).append(at)
    rows = list(asked)
    answers: list[Answer] = [np.empty(0)] * len(questions)

    def forward(batch: list[int]) -> None:
        sharing = [[questions[at] for at in asked[rows[row]]] for row in batch]
        inputs = backend.padded([rows[row][0] for row in batch], [rows[row][1] for row in batch])
        found = iter(_fills(backend, inputs, sharing, single))
        for row in batch:
            for at in asked[rows[row]]:
                answers[at] = next(found)

    backend.run([len(ids) for ids, _ in rows], forward)
    return answers


def _fills(backend: Backend, inputs: dict[str, object], sharing: list[list[Fill]], single: bool) -> list[Answer]:
    """The answers to the questions about each row of one batch, in order."""
    states: dict[tuple[int, int], int] = {}
    which: list[int] = []
    targets: list[int] = []
    counts: list[int] = []
    for row, questions in enumerate(sharing):
        for question in questions:
            which += [states.setdefault((row, position), len(states)) for position in question.positions]
            targets += question.targets
            counts.append(len(question.targets))
    at = np.array(list(states), dtype=np.int64)
    caught = backend.head.states(inputs, at[:, 0], at[:, 1])
    found = backend.head.log_probabilities(caught, np.array(which), np.array(targets), single=single)
    return np.split(found, np.cumsum(counts)[:-1])


def follows(backend: Backend, questions: Sequence[Follows]) -> list[Answer]:
    """The log-probability that a row's second segment follows its first, by the model's next-sentence head."""
    import torch

    answers: list[Answer] = [np.empty(0)] * len(questions)
    module, label = backend.model.module, backend.model.next_label

    def forward(batch: list[int]) -> None:
        inputs = backend.padded([questions[at].ids for at in batch], [questions[at].types for at in batch])
        pooled = module.base_model(**inputs).pooler_output
        logits = module.cls.seq_relationship(pooled).float().cpu().double()
        found = torch.log_softmax(logits, -1)[:, label].numpy()
        for at, value in zip(batch, found, strict=True):
            answers[at] = np.array([value])

    backend.run([len(question.ids) for question in questions], forward)
    return answers


def attended(backend: Backend, questions: Sequence[Attended]) -> list[Answer]:
    """AULA's terms: log-probability of a seen token × mean attention it receives (layers, heads, all queries)."""
    fills = [Fill(q.ids, q.positions, tuple(q.ids[at] for at in q.positions), q.types) for q in questions]
    answers = answer(backend, fills)
    module = backend.model.module
    before = module.config._attn_implementation
    module.set_attn_implementation("eager")  # the other kernels never form the weights

    def forward(batch: list[int]) -> None:
        inputs = backend.padded([questions[at].ids for at in batch], [questions[at].types for at in batch])
        weights = module.base_model(**inputs, output_attentions=True).attentions
        received = sum(layer.double().mean((1, 2)) for layer in weights).cpu().numpy() / len(weights)
        for row, at in enumerate(batch):
            answers[at] = answers[at] * received[row, list(questions[at].positions)]

    try:
        # no padding: a padded query would count in the mean
        backend.run([len(question.ids) for question in questions], forward, waste=batches.NONE)
    finally:
        module.set_attn_implementation(before)
    return answers
