"""Masked models: each distinct row with masks is forwarded once, and only requested positions reach the head."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from catsofa.scoring.likelihood import batches
from catsofa.scoring.likelihood.backend import Backend
from catsofa.scoring.likelihood.queries import Answer, Attended, Fill, Follows, Ids

Row = tuple[Ids, Ids]
"""Ids and segments."""


def answer(backend: Backend, questions: Sequence[Fill], *, single: bool = False) -> list[Answer]:
    """Returns the log-probabilities of each Fill; questions on one row share a forward pass, on one mask a state."""
    by_row: dict[Row, list[int]] = {}
    for number, question in enumerate(questions):
        by_row.setdefault((question.ids, question.types), []).append(number)
    rows, permuted = list(by_row), backend.model.kind == "permutation"
    answers: list[Answer] = [np.empty(0)] * len(questions)

    def forward(batch: list[int]) -> Any:
        sharing = [[questions[number] for number in by_row[rows[row]]] for row in batch]
        inputs = backend.padded([rows[row][0] for row in batch], [rows[row][1] for row in batch])
        if permuted:  # transformers 5 leaves segments out of the input names of an XLNet's tokenizer
            inputs["token_type_ids"] = backend.tensor([rows[row][1] for row in batch])
        places, which, targets = _positions(sharing)
        caught = backend.head.states(inputs, places[:, 0], places[:, 1])
        log_probabilities = backend.head.log_probabilities(caught, np.array(which), np.array(targets), single=single)
        return log_probabilities.split([sum(len(each.targets) for each in row) for row in sharing])

    # no padding for an XLNet: it counts relative positions from the end
    waste = batches.NONE if permuted else batches.WASTE
    for row, values in zip(rows, backend.run("fills", [len(ids) for ids, _ in rows], forward, waste), strict=True):
        cuts = np.cumsum([len(questions[number].targets) for number in by_row[row]])[:-1]
        for number, part in zip(by_row[row], np.split(values, cuts), strict=True):
            answers[number] = part
    return answers


def _positions(sharing: list[list[Fill]]) -> tuple[NDArray[np.int64], list[int], list[int]]:
    """Returns the distinct (row, position) pairs of a batch, and the pair and the token of each target."""
    states: dict[tuple[int, int], int] = {}
    which: list[int] = []
    targets: list[int] = []
    for row, questions in enumerate(sharing):
        for question in questions:
            which += [states.setdefault((row, position), len(states)) for position in question.positions]
            targets += question.targets
    return np.array(list(states), dtype=np.int64), which, targets


def follows(backend: Backend, questions: Sequence[Follows]) -> list[Answer]:
    """Returns the log-probability that a row's second segment follows its first, by the model's next-sentence head."""
    import torch

    module, label = backend.model.module, backend.model.next_label

    def forward(batch: list[int]) -> list[Answer]:
        inputs = backend.padded(
            [questions[number].ids for number in batch], [questions[number].types for number in batch]
        )
        pooled = module.base_model(**inputs).pooler_output
        logits = module.cls.seq_relationship(pooled).float().cpu().double()
        return list(torch.log_softmax(logits, -1)[:, label, None].numpy())

    return backend.run("sentences that follow", [len(question.ids) for question in questions], forward)


def attended(backend: Backend, questions: Sequence[Attended]) -> list[Answer]:
    """Returns AULA's terms: log-probability of an unmasked token × its mean attention (layers, heads, all queries)."""
    fills = [Fill(q.ids, q.positions, tuple(q.ids[position] for position in q.positions), q.types) for q in questions]
    log_probabilities = answer(backend, fills)
    module = backend.model.module
    before = module.config._attn_implementation
    module.set_attn_implementation("eager")  # other kernels never compute the weights

    def forward(batch: list[int]) -> list[Answer]:
        inputs = backend.padded(
            [questions[number].ids for number in batch], [questions[number].types for number in batch]
        )
        weights = module.base_model(**inputs, output_attentions=True).attentions
        received = sum(layer.double().mean((1, 2)) for layer in weights).cpu().numpy() / len(weights)
        return [
            log_probabilities[number] * received[row, list(questions[number].positions)]
            for row, number in enumerate(batch)
        ]

    try:
        # no padding: a padded query would count in the mean
        return backend.run("attention", [len(question.ids) for question in questions], forward, waste=batches.NONE)
    finally:
        module.set_attn_implementation(before)
