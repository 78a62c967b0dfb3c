"""A loaded model with its reader, its head, its batches, and the tally of its work."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any
from typing import Protocol as Interface

import numpy as np
from numpy.typing import NDArray

from catsofa.data.records import Cat, Score
from catsofa.scoring.likelihood import batches, cpu_kernels, gpu, memory, self_check
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
"""Answers of a batch of rows, as tensors or as arrays."""
CPU_TOKENS = 2048
GPU_TOKENS = 32768


class CatScorer(Interface):
    """Interface of scorers for the sentences after the contexts of CATs."""

    @property
    def batching(self) -> Batching:
        """Findings of the self-check."""

    def score_cats(self, cats: Iterable[Cat]) -> list[Score]:
        """Returns a score for each candidate of the intersentence CATs."""


class Backend:
    """A model with the means to ask it questions in batches of at most `batch_tokens` tokens."""

    def __init__(self, model: Model, batch_tokens: int | None = None, next_sentence: CatScorer | None = None) -> None:
        self.model = model
        self.next_sentence = next_sentence
        """A trained head, used instead of the model's own head or of a missing one."""
        self.head_is_trained = False
        """True if the model's own next-sentence head told known pairs apart better than chance."""
        self.reader = Reader(model)
        self.tally = Tally()
        self.packs: bool | None = None
        """True if the model can be asked in prefix trees; None until tested."""
        self.batching = Batching()
        """Findings of the self-check."""
        self.fast = cpu_kernels.speed_up(model.module, memory.half_of_free("cpu"))
        self.budget = batch_tokens or (CPU_TOKENS if model.device == "cpu" else GPU_TOKENS)
        self.heads: dict[tuple[bool, bool], Head] = {}
        """Vocabulary heads, by whether the model is cut and whether packed products are used."""
        self._alone: frozenset[str] | None = None
        """Parts of the engine left out while rows are forwarded one at a time; None otherwise."""
        self.meanwhile: Callable[[], object] | None = None
        """Work for the CPU while a GPU answers; done once, before the next answers are awaited."""

    @property
    def self_checks(self) -> dict[str, Batching]:
        """Self-check findings of the model, and of a trained head."""
        head = {} if self.next_sentence is None else {HEAD: self.next_sentence.batching}
        return {MODEL: self.batching, **head}

    def uses(self, part: str) -> bool:
        """Returns True if a part of the engine is in use."""
        return part not in self.batching.left_out and part not in (self._alone or ())

    @property
    def device(self) -> str:
        """Device of the model."""
        return self.model.device

    @property
    def dtype(self) -> str:
        """Name of the model's floating type."""
        return self.model.dtype

    @property
    def head(self) -> Head:
        """The vocabulary head, cut from the model if that changes no number."""
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
        """Returns ordinary ids to probe a model with."""
        vocabulary = self.model.module.config.get_text_config().vocab_size
        return tuple((7 * index + 5) % vocabulary for index in range(length))

    def run(
        self,
        path: str,
        lengths: Sequence[int],
        forward: Forward,
        waste: float = batches.WASTE,
        *,
        vectors: bool = False,
    ) -> list[NDArray[Any]]:
        """Returns the answers of rows of these lengths, forwarded in batches and verified by the self-check.

        `path` names the way of asking in the findings of the self-check. While `alone` is active, each row is forwarded
        by itself and without a check.
        """

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
            attempt = Attempt(answers, range(len(lengths)), strains, own, beside, together, sum(lengths))
            step = PADDING if waste and self.uses(PADDING) else TOGETHER
            if self_check.passes(
                self, path, attempt, lambda row: gpu.fetched(forward([row]))[0], step, vectors=vectors
            ):
                return answers

    def _without_a_part(
        self, error: Exception, lengths: Sequence[int], forward: Forward, waste: float
    ) -> tuple[list[NDArray[Any]], Strains]:
        """Retries `batched` without each part of the engine in turn; raises the error if no retry succeeds."""
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
        """Forwards rows in batches without gradients and counts them; returns answers and the strains of rows."""
        answers: dict[int, Any] = {}
        beside: dict[int, tuple[int, int, int]] = {}

        with self._forwarding():
            alone = not self.uses(TOGETHER)
            waste = batches.NONE if alone or not self.uses(PADDING) else waste
            queue = batches.Batches(lengths, 1 if alone else self.budget, waste)
            for batch in queue:
                try:
                    answers.update(zip(batch, forward(batch), strict=True))
                except (MemoryError, RuntimeError) as error:
                    queue.halve(error)
                    continue
                longest, tokens = max(lengths[row] for row in batch), sum(lengths[row] for row in batch)
                beside.update((row, (longest - lengths[row], len(batch), before)) for before, row in enumerate(batch))
                self.tally.batches += 1
                self.tally.rows += len(batch)
                self.tally.forwarded += tokens
                self.tally.padding += longest * len(batch) - tokens
        if not alone:
            self.tally.halvings += queue.budget != self.budget
            self.budget = queue.budget
        if self.meanwhile is not None:
            work, self.meanwhile = self.meanwhile, None
            work()
        strains = self_check.row_strains(lengths, [beside[row] for row in range(len(lengths))])
        return gpu.fetched([answers[row] for row in range(len(lengths))]), strains

    @contextmanager
    def _forwarding(self) -> Iterator[None]:
        """Applies the engine's settings and disables gradients, as a context manager."""
        import torch

        packed = cpu_kernels.used(self.uses(PRODUCTS))
        with torch.inference_mode(), packed, gpu.exact_and_planless(self.device):
            yield

    @contextmanager
    def alone(self, *without: str) -> Iterator[None]:
        """Forwards rows one at a time and without these parts of the engine, as a context manager."""
        self.tally.checked += 1
        before, self._alone = self._alone, frozenset(without)
        try:
            with self._forwarding():
                yield
        finally:
            self._alone = before

    def tensor(self, rows: Sequence[Sequence[int] | NDArray[np.int64]], fill: int = 0) -> Any:
        """Returns rows padded on the right to the longest one, on the model's device."""
        longest = max(map(len, rows))
        full = np.full((len(rows), longest), fill, dtype=np.int64)
        for row, values in zip(full, rows, strict=True):
            row[: len(values)] = values
        return gpu.moved(full, self.model.module.device)

    def padded(self, rows: Sequence[Ids], types: Sequence[Ids] | None = None) -> dict[str, Any]:
        """Returns model inputs for rows of ids, padded on the right; rows of one length have no attention mask."""
        inputs = {"input_ids": self.tensor(rows, self.reader.pad)}
        if len({len(row) for row in rows}) > 1:
            inputs["attention_mask"] = self.tensor([[1] * len(row) for row in rows])
        if types is not None and self.reader.segmented:
            inputs["token_type_ids"] = self.tensor(
                [segments or (0,) * len(row) for row, segments in zip(rows, types, strict=True)]
            )
        return inputs
