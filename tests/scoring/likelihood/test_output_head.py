from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from catsofa.scoring.likelihood import output_head
from catsofa.scoring.likelihood.backend import Backend
from catsofa.scoring.likelihood.engine import ask
from catsofa.scoring.likelihood.queries import Continuation, Fill
from catsofa.scoring.models import load

torch = pytest.importorskip("torch")

Tiny = Callable[[str], Path]


class Toy(torch.nn.Module):
    """Embeddings followed by a vocabulary matrix, then any change of the logits."""

    dtype = torch.float32

    def __init__(self, after: Callable[[Any], Any]) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(3)
        self.embed = torch.nn.Embedding(3000, 8)
        self.head = torch.nn.Linear(8, 3000)
        for weights in (self.embed.weight, self.head.weight, self.head.bias):
            weights.data = torch.randn(weights.shape, generator=generator)
        self.after = after

    def get_output_embeddings(self) -> Any:
        """Returns the vocabulary matrix."""
        return self.head

    def forward(self, input_ids: Any) -> Any:
        """Returns logits in the form of transformers."""
        return SimpleNamespace(logits=self.after(self.head(self.embed(input_ids))))


AFTER: dict[str, tuple[Callable[[Any], Any], bool]] = {
    "nothing": (lambda found: found, True),
    "a scale": (lambda found: found * 0.5, False),
    "a soft cap": (lambda found: 30 * torch.tanh(found / 30), False),
    "a bias": (lambda found: found + torch.arange(3000) / 3000, False),
}


@pytest.mark.parametrize("name", AFTER)
@torch.no_grad()
def test_a_model_that_changes_its_logits_is_noticed_and_asked_for_them(name: str) -> None:
    """The head is cut off only if its product is the model's final logits. The answer is right in both cases."""
    after, cut = AFTER[name]
    toy = Toy(after)
    sample = {"input_ids": torch.tensor([[5, 12, 19, 26, 33, 40], [1, 2, 3, 4, 5, 6]])}
    head = output_head.Head(toy, sample)
    assert head.cut is cut
    rows, positions = np.array([0, 0]), np.array([1, 3])
    states = head.states(sample, rows, positions)
    answers = head.log_probabilities(states, np.array([0, 1, 1]), np.array([7, 7, 2999]))
    every = toy(**sample).logits[0].double().log_softmax(-1)
    np.testing.assert_allclose(answers, [every[1, 7], every[3, 7], every[3, 2999]], atol=1e-6)


@pytest.mark.parametrize("name", ["bert", "roberta"])
def test_only_wanted_positions_go_through_the_end_of_the_last_layer(tiny: Tiny, name: str) -> None:
    """Only masked positions pass the last feed-forward network; the other nineteen of twenty tokens stop before it."""
    backend = Backend(load(str(tiny(name))))
    assert backend.head.cut
    shapes: list[tuple[int, ...]] = []
    last = backend.model.body.encoder.layer[-1]
    last.intermediate.register_forward_pre_hook(lambda _, inputs: shapes.append(tuple(inputs[0].shape)))
    row = tuple(range(10, 30))
    questions = [*[Fill(row, (position,), (50,)) for position in (3, 7)], Fill(row[::-1], (9,), (60,))]
    ask(backend, questions)
    shapes.clear()  # the self-check also forwards a whole row the first time
    ask(backend, questions)
    assert shapes == [(1, 3, 32)]


def test_no_matrix_of_tokens_times_vocabulary_is_ever_made(tiny: Tiny, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every product with the vocabulary matrix has at most the size of a block."""
    monkeypatch.setattr(output_head, "CPU_BLOCK", (16, 64))
    backend = Backend(load(str(tiny("gpt2"))))
    assert backend.head.cut
    sizes: list[int] = []
    blocks = backend.head._vocabulary.blocks
    for index, block in enumerate(blocks):

        def watched(states: Any, block: Any = block) -> Any:
            product = block(states)
            sizes.append(product.numel())
            return product

        blocks[index] = watched
    ask(backend, [Continuation((0, *range(10, 90), last)) for last in range(50)])
    assert max(sizes) <= 16 * 64
