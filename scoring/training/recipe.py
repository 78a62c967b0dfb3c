"""Numbers of a training recipe, and the order of its batches."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Precision = Literal["auto", "fp32", "bf16", "fp16"]
Indices = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """Numbers for the training of body and head together, by AdamW on the cross-entropy."""

    epochs: int
    learning_rate: float
    batch: int
    warm_up: int = 500
    """Warm-up steps, but at most a tenth of all steps."""
    max_length: int = 256
    weight_decay: float = 0.01
    clip: float = 1.0
    accumulation: int = 1
    """Parts of a batch that are forwarded one by one to save memory; only dropout depends on it."""
    precision: Precision = "auto"
    """Precision of the forward pass; auto: bf16 on a GPU that supports it, else fp32. The weights are fp32."""
    seed: int = 0

    def __post_init__(self) -> None:
        """Raises ValueError for numbers that cannot be trained with."""
        if min(self.epochs, self.batch, self.accumulation, self.max_length) < 1 or self.warm_up < 0:
            raise ValueError("epochs, batch, accumulation and max_length are at least 1, and warm_up at least 0")
        if not self.learning_rate > 0:
            raise ValueError(f"a learning rate is above 0; found {self.learning_rate}")


def rate(recipe: Recipe, step: int, total: int) -> float:
    """Returns the learning rate of a step, counted from 0: a linear warm-up, then a linear decay to 0."""
    warm_up = min(recipe.warm_up, total // 10)
    if step < warm_up:
        return recipe.learning_rate * (step + 1) / warm_up
    return recipe.learning_rate * (total - step) / (total - warm_up)


class Order:
    """Examples of each batch: every epoch goes through all of them in its own order."""

    def __init__(self, examples: Indices, recipe: Recipe) -> None:
        self._examples, self._recipe = examples, recipe
        self._epoch, self._order = -1, examples

    @property
    def per_epoch(self) -> int:
        """Batches in an epoch; the last may have fewer examples."""
        return -(-len(self._examples) // self._recipe.batch)

    def batch(self, number: int) -> Indices:
        """Returns the examples of a step, counted from 0."""
        epoch, place = divmod(number, self.per_epoch)
        if self._epoch != epoch:
            self._epoch = epoch
            self._order = np.random.default_rng([self._recipe.seed, epoch]).permutation(self._examples)
        return self._order[place * self._recipe.batch : (place + 1) * self._recipe.batch]


def precision_on(requested: Precision, device: str) -> str:
    """Returns the precision of the forward pass on a device."""
    import torch

    on_gpu = torch.device(device).type == "cuda"
    if requested == "auto":
        return "bf16" if on_gpu and torch.cuda.is_bf16_supported() else "fp32"
    if requested == "fp16" and not on_gpu:
        raise ValueError("fp16 is for GPUs; on a CPU use fp32 or bf16")
    return requested
