"""One loaded model at work: its reader, its head, its batches, and the tally of what it did."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any
from typing import Protocol as Interface

import numpy as np
from numpy.typing import NDArray

from catsofa.data.records import Cat, Score
from catsofa.scoring.likelihood import batches, cpu_kernels, gpu, self_check
from catsofa.scoring.likelihood.batches import FAILURES, Tally
from catsofa.scoring.likelihood.output_head import Head
from catsofa.scoring.likelihood.queries import Ids
from catsofa.scoring.likelihood.self_check import (
    EXIT,
    HEAD,
    MODEL,
    PADDING,
    PRODUCTS,
    TOGETHER,
    Attempt,
    Batching,
    Strains,
)
from catsofa.scoring.models.model import Model
from catsofa.scoring.models.reader import Reader

Forward = Callable[[list[int]], Sequence[Any]]
"""The answers of a batch of rows, as tensors or as arrays."""
CPU_TOKENS = 2048
GPU_TOKENS = 32768


class CatScorer(Interface):
    """What scores the sentences after the contexts of CATs."""

    @property
    def batching(self) -> Batching:
        """What its self-check found."""

    def score_cats(self, cats: Iterable[Cat]) -> list[Score]:
        """A score for each candidate of the intersentence ones."""


class Backend:
    """A model with what is needed to ask it questions in batches of at most `batch_tokens` tokens."""

    def __init__(self, model: Model, batch_tokens: int | None = None, next_sentence: CatScorer | None = None) -> None:
        self.model = model
        self.next_sentence = next_sentence
        """A trained head that stands in for the model's own, or for one that it lacks."""
        self.head_is_trained = False
        """Whether the model's own next-sentence head told known pairs apart better than chance."""
        self.reader = Reader(model)
        self.tally = Tally()
        self.packs: bool | None = None
        """Whether the model can be asked in prefix trees; None until that was tried."""
        self.batching = Batching()
        """What the self-check found."""
        self.fast = cpu_kernels.speed_up(model.module)
        self.budget = batch_tokens or (CPU_TOKENS if model.device == "cpu" else GPU_TOKENS)
        self.heads: dict[tuple[bool, bool], Head] = {}
        """The vocabulary head by whether the model is cut, and whether packed products are used."""
        self._alone: frozenset[str] | None = None
        """Where rows are forwarded one at a time, the parts of the engine that are left out."""
        self.meanwhile: Callable[[], object] | None = None
        """Work for the processor while a GPU answers. It is done once, before the next answers are waited for."""

    @property
    def self_checks(self) -> dict[str, Batching]:
        """What the self-checks found, of the model and of a trained head."""
        head = {} if self.next_sentence is None else {HEAD: self.next_sentence.batching}
        return {MODEL: self.batching, **head}

    def uses(self, part: str) -> bool:
        """Whether a part of the engine is in use."""
        return part not in self.batching.left_out and part not in (self._alone or ())

    @property
    def device(self) -> str:
        """Where the model is."""
        return self.model.device

    @property
    def dtype(self) -> str:
        """The name of the model's floating type."""
        return self.model.dtype

    @property
    def head(self) -> Head:
        """The vocabulary head, cut from the model where that changes nothing."""
        import torch

        cut, fast = self.uses(EXIT), self.fast and self.uses(PRODUCTS)
        if (cut, fast) not in self.heads:
            with torch.inference_mode(), gpu.exact_and_planless(self.device):
                inputs = self.padded([self.sample(6), self.sample(6)[::-1]])
                if self.model.kind == "sequence-to-sequence":
                    inputs["decoder_input_ids"] = inputs["input_ids"]
                early = self.model.kind == "masked"
                self.heads[cut, fast] = Head(self.model.module, inputs, fast=fast, early=early, cut=cut)
        return self.heads[cut, fast]

    def sample(self, length: int) -> Ids:
        """Ordinary ids to watch a model with."""
        vocabulary = self.model.module.config.get_text_config().vocab_size
        return tuple((7 * at + 5) % vocabulary for at in range(length))

    def run(
        self,
        path: str,
        lengths: Sequence[int],
        forward: Forward,
        waste: float = batches.WASTE,
        *,
        vectors: bool = False,
    ) -> list[NDArray[Any]]:
        """The answers of rows of these lengths, forwarded in batches; the self-check knows them by the path's name."""

        if self._alone is not None or not lengths:
            return gpu.fetched([forward([row])[0] for row in range(len(lengths))])
        own = np.array(lengths)
        while True:
            try:
                answers, strains = self.batched(lengths, forward, waste)
            except FAILURES as error:
                answers, strains = self._without_a_part(error, lengths, forward, waste)
            beside = {"longest row": own + self_check.padding(strains)}
            together = self_check.together(strains)
            made = Attempt(answers, range(len(lengths)), strains, own, beside, together, sum(lengths))
            step = PADDING if waste and self.uses(PADDING) else TOGETHER
            if self_check.passes(self, path, made, lambda row: gpu.fetched(forward([row]))[0], step, vectors=vectors):
                return answers

    def _without_a_part(
        self, error: Exception, lengths: Sequence[int], forward: Forward, waste: float
    ) -> tuple[list[NDArray[Any]], Strains]:
        """What `batched` returns without the part of the engine with which the model fails; the error if none does."""
        if isinstance(error, batches.OneRowTooLarge) or batches.out_of_memory(error):
            raise error
        for part in filter(self.uses, (EXIT, PRODUCTS, PADDING, TOGETHER)):
            self.batching.left_out[part] = None
            with suppress(*FAILURES):
                return self.batched(lengths, forward, waste)
            del self.batching.left_out[part]
        raise error

    def batched(
        self, lengths: Sequence[int], forward: Forward, waste: float = batches.WASTE
    ) -> tuple[list[NDArray[Any]], Strains]:
        """Forward rows in batches, without gradients, and count them: the answers, and how each row was strained."""
        answers: dict[int, Any] = {}
        beside: dict[int, tuple[int, int, int]] = {}

        with self._forwarding():
            alone = not self.uses(TOGETHER)
            waste = batches.NONE if alone or not self.uses(PADDING) else waste
            left = batches.Batches(lengths, 1 if alone else self.budget, waste)
            for batch in left:
                try:
                    answers.update(zip(batch, forward(batch), strict=True))
                except (MemoryError, RuntimeError) as error:
                    left.halve(error)
                    continue
                longest, tokens = max(lengths[row] for row in batch), sum(lengths[row] for row in batch)
                beside.update((row, (longest - lengths[row], len(batch), before)) for before, row in enumerate(batch))
                self.tally.batches += 1
                self.tally.rows += len(batch)
                self.tally.forwarded += tokens
                self.tally.padding += longest * len(batch) - tokens
        if not alone:
            self.tally.halvings += left.budget != self.budget
            self.budget = left.budget
        if self.meanwhile is not None:
            work, self.meanwhile = self.meanwhile, None
            work()
        strains = self_check.row_strains(lengths, [beside[row] for row in range(len(lengths))])
        return gpu.fetched([answers[row] for row in range(len(lengths))]), strains

    @contextmanager
    def _forwarding(self) -> Iterator[None]:
        """While this lasts, the model is forwarded by the engine's settings, without gradients."""
        import torch

        packed = cpu_kernels.used(self.uses(PRODUCTS))
        with torch.inference_mode(), packed, gpu.exact_and_planless(self.device):
            yield

    @contextmanager
    def alone(self, *without: str) -> Iterator[None]:
        """While this lasts, rows are forwarded one at a time, without these parts of the engine."""
        self.tally.checked += 1
        before, self._alone = self._alone, frozenset(without)
        try:
            with self._forwarding():
                yield
        finally:
            self._alone = before

    def tensor(self, rows: Sequence[Sequence[int] | NDArray[np.int64]], fill: int = 0) -> Any:
        """Rows filled up on the right to the longest, on the model's device."""
        longest = max(map(len, rows))
        full = np.full((len(rows), longest), fill, dtype=np.int64)
        for row, values in zip(full, rows, strict=True):
            row[: len(values)] = values
        return gpu.moved(full, self.model.module.device)

    def padded(self, rows: Sequence[Ids], types: Sequence[Ids] | None = None) -> dict[str, Any]:
        """A model's inputs for rows of ids, padded on the right; rows of one length need no attention mask."""
        inputs = {"input_ids": self.tensor(rows, self.reader.pad)}
        if len({len(row) for row in rows}) > 1:
            inputs["attention_mask"] = self.tensor([[1] * len(row) for row in rows])
        if types is not None and self.reader.segmented:
            inputs["token_type_ids"] = self.tensor([of or (0,) * len(row) for row, of in zip(rows, types, strict=True)])
        return inputs
