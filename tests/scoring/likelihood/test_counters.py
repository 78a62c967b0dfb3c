"""Tests how much a run forwards, by counters, since times depend on the machine (plans: `test_prefix_trees`)."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.records import bakers

from catsofa.scoring import vectors
from catsofa.scoring.items.score import score as score_records
from catsofa.scoring.likelihood import batches
from catsofa.scoring.likelihood.backend import CPU_TOKENS, Backend
from catsofa.scoring.measures.seat import encode_once
from catsofa.scoring.models import load
from catsofa.scoring.protocols import DEFAULT
from catsofa.scoring.vectors.pooled_states import PooledStates

torch = pytest.importorskip("torch")

Tiny = Callable[[str], Path]
NODES, PADDING = 0.45, 0.03
"""Limits: forwarded nodes per scored token, and the share of padding among forwarded tokens."""


def test_what_triples_share_is_forwarded_once(tiny: Tiny) -> None:
    """Contexts with a common prefix and their fillers are forwarded once, with hardly any padding, by the tally of a
    run."""
    backend = Backend(load(str(tiny("gpt2"))))
    score_records(backend, bakers(10), DEFAULT)
    backend.tally = batches.Tally()
    score_records(backend, bakers(60), DEFAULT)
    assert backend.tally.forwarded <= NODES * backend.tally.scored
    assert backend.tally.padding <= PADDING * backend.tally.forwarded


def test_the_three_fillers_of_a_mask_are_one_row(tiny: Tiny) -> None:
    """The fillers of a mask share one row, plus one row for each further distinct prefix of their pieces."""
    backend = Backend(load(str(tiny("bert"))))
    score_records(backend, bakers(1), DEFAULT)
    fills = [candidate.fill for cat in bakers(1) for candidate in cat.candidates]
    pieces = [backend.model.tokenizer.encode(fill, add_special_tokens=False) for fill in fills]
    assert backend.tally.rows == len({tuple(ids[:length]) for ids in pieces for length in range(len(ids))})
    assert backend.tally.scored == sum(map(len, pieces))


def test_every_text_is_encoded_once(tiny: Tiny) -> None:
    """A text is forwarded once however often it is listed, since SEAT's tests share most of their sentences."""
    states = PooledStates(load(str(tiny("bert"))), "cls", -1, True)
    texts = [cat.candidates[0].text for cat in bakers(12)]
    rows = encode_once(texts * 3 + texts[::-1], vectors.TextEncoder({}, states))
    assert list(rows) == texts
    assert (states._backend.tally.rows, states._backend.tally.padding) == (len(texts), 0)


@pytest.mark.parametrize("name", ["gpt2", "bloom", "bert"])
def test_out_of_memory_changes_the_batches_and_no_score(tiny: Tiny, name: str) -> None:
    """A device with room for 160 tokens gives the same scores; the budget is halved until the batches fit."""
    model = load(str(tiny(name)))
    expected = [score.score for score in score_records(Backend(model), bakers(25), DEFAULT)]
    backend = Backend(model)
    assert backend.head is not None
    score_records(backend, bakers(1), DEFAULT)

    def crowded(_: Any, __: Any, kwargs: dict[str, Any]) -> None:
        if kwargs["input_ids"].numel() > 160:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")

    hook = model.module.register_forward_pre_hook(crowded, with_kwargs=True)
    try:
        scores = [score.score for score in score_records(backend, bakers(25), DEFAULT)]
    finally:
        hook.remove()
    np.testing.assert_allclose(np.array(scores, dtype=float), np.array(expected, dtype=float), atol=1e-5)
    assert backend.tally.halvings > 0
    assert backend.budget <= CPU_TOKENS // 2


@pytest.mark.parametrize("pooling", ["cls", "last"])
@pytest.mark.parametrize("name", ["bert", "roberta"])
def test_only_the_state_that_is_kept_goes_through_the_end_of_the_last_layer(
    tiny: Tiny, name: str, pooling: Any
) -> None:
    """Only the states that are pooled, three for three sentences, reach the last feed-forward network."""
    states = PooledStates(load(str(tiny(name))), pooling, -1, True)
    texts = ["the baker sang", "the gardener", "my friend is kind"]
    states(texts)
    sizes: list[int] = []
    last = states._network.encoder.layer[-1]
    last.intermediate.register_forward_pre_hook(lambda _, inputs: sizes.append(inputs[0][..., 0].numel()))
    states(texts)
    assert sum(sizes) == len(texts)


@pytest.mark.parametrize(
    "name", ["bert", "bert-encoder", "roberta", "albert", "xlnet", "gpt2", "llama", "bloom", "t5", "bart"]
)
def test_the_state_that_is_kept_is_the_networks_own(tiny: Tiny, name: str) -> None:
    """Pooled states equal those of the uncut network, whether or not the network can be cut."""
    states = PooledStates(load(str(tiny(name))), "last", -1, True)
    texts = ["the baker sang", "the gardener", "my friend is kind"]
    pooled = states(texts)
    states.__dict__["_gate"] = None
    np.testing.assert_allclose(pooled, states(texts), atol=2e-6)
