"""One loaded model at work: its reader, its head, its batches, and the tally of what it did."""

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any
from typing import Protocol as Interface

import numpy as np
from numpy.typing import NDArray

from catsofa.data.records import Cat, Score
from catsofa.scoring import batches, kernels
from catsofa.scoring.batches import Tally
from catsofa.scoring.logits import Head
from catsofa.scoring.models import Model
from catsofa.scoring.questions import Ids
from catsofa.scoring.tokens import Reader

CPU_TOKENS = 2048
GPU_TOKENS = 32768


class CatScorer(Interface):
    """What scores the sentences after the contexts of CATs."""

    def score_cats(self, cats: Iterable[Cat]) -> list[Score]:
        """A score for each candidate of the intersentence ones."""


class Backend:
    """A model with what is needed to ask it questions in batches of at most `batch_tokens` tokens."""

    def __init__(self, model: Model, batch_tokens: int | None = None, next_sentence: CatScorer | None = None) -> None:
        self.model = model
        self.next_sentence = next_sentence
        """A trained head that stands in for the model's own, or for one that it lacks."""
        self.head_is_right_way_round = False
        """Whether the model's own next-sentence head was asked pairs whose answer is known."""
        self.reader = Reader(model)
        self.tally = Tally()
        self.packs: bool | None = None
        """Whether the model can be asked in prefix trees; None until that was tried."""
        self.fast = kernels.speed_up(model.module)
        self.budget = batch_tokens or (CPU_TOKENS if model.device == "cpu" else GPU_TOKENS)

    @cached_property
    def head(self) -> Head:
        """The vocabulary head, cut from the model where that changes nothing."""
        import torch

        with torch.inference_mode():
            inputs = self.padded([self.sample(6), self.sample(6)[::-1]])
            if self.model.kind == "sequence-to-sequence":
                inputs["decoder_input_ids"] = inputs["input_ids"]
            return Head(self.model.module, inputs, fast=self.fast, early=self.model.kind == "masked")

    def sample(self, length: int) -> Ids:
        """Ordinary ids to watch a model with."""
        vocabulary = self.model.module.config.get_text_config().vocab_size
        return tuple((7 * at + 5) % vocabulary for at in range(length))

    def run(self, lengths: Sequence[int], forward: Callable[[list[int]], None], waste: float = batches.WASTE) -> None:
        """Forward rows of these lengths in batches, without gradients, and count them."""
        import torch

        def counted(batch: list[int]) -> None:
            forward(batch)
            longest, tokens = max(lengths[row] for row in batch), sum(lengths[row] for row in batch)
            self.tally.batches += 1
            self.tally.rows += len(batch)
            self.tally.forwarded += tokens
            self.tally.padding += longest * len(batch) - tokens

        with torch.inference_mode():
            before, self.budget = self.budget, batches.run(lengths, self.budget, counted, waste)
        self.tally.halvings += before != self.budget

    def tensor(self, rows: Sequence[Sequence[int] | NDArray[np.int64]], fill: int = 0, dtype: Any = None) -> Any:
        """Rows filled up on the right to the longest, on the model's device."""
        import torch

        longest = max(map(len, rows))
        full = np.full((len(rows), longest), fill, dtype=np.int64)
        for row, values in zip(full, rows, strict=True):
            row[: len(values)] = values
        filled = torch.from_numpy(full)
        if self.model.device.startswith("cuda"):
            filled = filled.pin_memory()  # or the copy waits for what the GPU is doing
        return filled.to(device=self.model.module.device, dtype=dtype, non_blocking=True)

    def padded(self, rows: Sequence[Ids], types: Sequence[Ids] | None = None) -> dict[str, Any]:
        """A model's inputs for rows of ids, padded on the right; rows of one length need no attention mask."""
        inputs = {"input_ids": self.tensor(rows, self.reader.pad)}
        if len({len(row) for row in rows}) > 1:
            inputs["attention_mask"] = self.tensor([[1] * len(row) for row in rows])
        if types is not None and self.reader.segmented:
            inputs["token_type_ids"] = self.tensor([of or (0,) * len(row) for row, of in zip(rows, types, strict=True)])
        return inputs
