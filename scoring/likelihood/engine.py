"""Asks a model many questions at once: equal ones once, each kind in the way that its model supports."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from catsofa.scoring.likelihood import batches, causal, masked
from catsofa.scoring.likelihood.backend import Backend
from catsofa.scoring.likelihood.queries import (
    Answer,
    Answers,
    Attended,
    Continuation,
    Continuations,
    Fill,
    Follows,
    Infill,
    Padded,
    Question,
    SingleFill,
)
from catsofa.scoring.models.model import Ability

NEEDS: dict[type[Any], Ability] = {
    Continuation: "left-to-right",
    Padded: "left-to-right",
    Fill: "masked",
    SingleFill: "masked",
    Attended: "masked",
    Follows: "next-sentence",
    Infill: "infilling",
}


def ask(backend: Backend, questions: Sequence[Question]) -> Sequence[Answer]:
    """Returns the answer to each question, in order."""
    if isinstance(questions, Continuations):
        backend.model.need(NEEDS[Continuation], "This protocol")
        different, which = questions.distinct()
        of_each = Answers.of(_left_to_right(backend)(backend, different))
        backend.tally.scored += int(different.requested.sum())
        return Answers(of_each.values, of_each.begins[which], of_each.lengths[which])
    places: dict[Question, list[int]] = {}
    for index, question in enumerate(questions):
        places.setdefault(question, []).append(index)
    answers: dict[int, Answer] = {}
    for kind, ability in NEEDS.items():
        distinct: list[Any] = [question for question in places if type(question) is kind]
        if not distinct:
            continue
        backend.model.need(ability, "This protocol")
        for question, answer in zip(distinct, _way(backend, kind)(backend, distinct), strict=True):
            answers.update(dict.fromkeys(places[question], answer))
            backend.tally.scored += len(answer)
    return [answers[index] for index in range(len(questions))]


def _way(backend: Backend, kind: type[Any]) -> Callable[[Backend, list[Any]], Sequence[Answer]]:
    """Returns the function by which this model answers this kind of question."""
    ways: dict[type[Any], Callable[[Backend, list[Any]], Sequence[Answer]]] = {
        Padded: _padded,
        Fill: masked.answer,
        SingleFill: partial(masked.answer, single=True),
        Attended: masked.attended,
        Follows: masked.follows,
        Infill: _infills,
    }
    return _left_to_right(backend) if kind is Continuation else ways[kind]


def _left_to_right(backend: Backend) -> Callable[[Backend, Sequence[Continuation]], Sequence[Answer]]:
    """Returns the function for continuations: XLNet's, prefix trees if the model supports them, else plain batches."""
    if backend.model.kind == "permutation":
        return _permutations
    if backend.packs is None:
        backend.packs = causal.possible(backend)
    return causal.answer if backend.packs else causal.plain


def _permutations(backend: Backend, questions: Sequence[Continuation]) -> list[Answer]:
    """Returns the log-probabilities of each continuation, by XLNet's query stream.

    A permutation mask hides each token and those after it from the query at its place. Without it XLNet reads both
    sides, so that its `labels` loss is not the probability of a text. Every question begins with the start token,
    because attention without any visible token would fall back on all tokens.
    """
    import torch

    device = backend.model.module.device

    def forward(batch: list[int]) -> Any:
        chosen = [questions[number] for number in batch]
        length = len(chosen[0].ids)
        hidden = torch.ones(length, length, device=device).triu()
        inputs = {
            "input_ids": backend.tensor([question.ids for question in chosen]),
            "perm_mask": hidden.expand(len(chosen), -1, -1),
            "target_mapping": torch.eye(length, device=device).expand(len(chosen), -1, -1),
        }
        counts = [length - question.start for question in chosen]
        rows = np.repeat(np.arange(len(chosen)), counts)
        positions = np.concatenate([np.arange(question.start, length) for question in chosen])
        targets = np.concatenate([np.array(question.ids[question.start :]) for question in chosen])
        states = backend.head.states(inputs, rows, positions)
        log_probabilities = backend.head.log_probabilities(states, np.arange(len(targets)), targets)
        return log_probabilities.split(counts)

    # no padding: relative positions are counted from the end
    return backend.run("permutations", [len(question.ids) for question in questions], forward, waste=batches.NONE)


def _infills(backend: Backend, questions: Sequence[Infill]) -> list[Answer]:
    """Returns the log-probabilities of each gap's tokens, as an encoder-decoder writes them."""

    def forward(batch: list[int]) -> Any:
        chosen = [questions[number] for number in batch]
        inputs = backend.padded([question.source for question in chosen])
        # padding of a decoder's row comes after every requested token, which cannot attend to it
        inputs["decoder_input_ids"] = backend.tensor([question.ids[:-1] for question in chosen], backend.reader.pad)
        return backend.head.continuations(inputs, chosen)

    return backend.run("infills", [len(q.source) + len(q.ids) - 1 for q in questions], forward)


def _padded(backend: Backend, questions: Sequence[Padded]) -> list[Answer]:
    """Returns the log-probabilities of each text's tokens; rows of a batch have one length and no other padding."""

    def forward(batch: list[int]) -> Any:
        chosen = [questions[number] for number in batch]
        inputs = backend.padded([question.ids[:-1] for question in chosen])
        visible = [[1] + [0] * (q.start - 1) + [1] * (len(q.ids) - 1 - q.start) for q in chosen]
        inputs["attention_mask"] = backend.tensor(visible)
        return backend.head.continuations(inputs, chosen)

    return backend.run("padded", [len(question.ids) - 1 for question in questions], forward, waste=batches.NONE)
