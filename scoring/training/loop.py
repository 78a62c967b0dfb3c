"""Training loop; killed at any time and restarted, it comes to the same result.

The examples of a batch and the dropped units depend only on the seed and the step, so a repeated step is the same. The
state is saved at regular steps; a restart repeats the steps after the last saved state.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from catsofa.data.files.append_log import AppendLog
from catsofa.data.runs.manifests import refuse_difference
from catsofa.scoring.likelihood.batches import out_of_memory
from catsofa.scoring.training.checkpoint import State
from catsofa.scoring.training.recipe import Indices, Order, Recipe, precision_on, rate

WORK = "training"
"""Folder of the state and the log, inside that of the result."""


@dataclass(frozen=True, slots=True)
class Step:
    """A finished step, and the mean loss of its examples."""

    number: int
    loss: float


class Loop(ABC):
    """One training in one folder, which only one process at a time can hold."""

    unit: str
    """Name of the examples, for messages."""

    def __init__(
        self,
        folder: Path,
        recipe: Recipe,
        examples: Indices,
        weights: Mapping[str, Any],
        modules: Sequence[Any],
        identity: Mapping[str, str],
        save_every: int,
    ) -> None:
        """Takes the examples to train on, the weights by name, their networks, and the identity of model and data."""
        self.recipe = recipe
        self.epochs: list[dict[str, float]] = []
        self._work, self._save_every = folder / WORK, save_every
        self._order, self._weights, self._modules = Order(examples, recipe), weights, modules
        self._device = next(iter(weights.values())).device
        self._precision = precision_on(recipe.precision, str(self._device))
        self.settings = {"recipe": asdict(recipe), **identity, "precision": self._precision}

    @abstractmethod
    def answered(self, chosen: Indices) -> tuple[Any, list[int]]:
        """Returns the logits of those of the chosen examples that can be read, and the right class of each."""

    @abstractmethod
    def judged(self) -> dict[str, float]:
        """Returns the accuracy over the held-out examples, and their number."""

    @property
    def total(self) -> int:
        """Number of all steps."""
        return self._order.per_epoch * self.recipe.epochs

    def steps(self) -> Iterator[Step]:
        """Yields each new step as it is taken, after those that an earlier run saved."""
        with AppendLog(self._work / "log.jsonl", "the log of a training") as log:
            state = self._state()
            done = self._resume(state)
            log.append({"event": "began", "after": done})
            for number in range(done, self.total):
                loss = self._step(number, state)
                last = number + 1
                log.append({"event": "step", "number": last, "loss": loss})
                if last % self._order.per_epoch == 0:
                    self.epochs.append({"epoch": last // self._order.per_epoch, **self.judged()})
                    log.append({"event": "epoch", **self.epochs[-1]})
                if last % self._save_every == 0 or last % self._order.per_epoch == 0:
                    state.save(self._work, last, {"settings": self.settings, "epochs": self.epochs})
                yield Step(last, loss)

    def _state(self) -> State:
        """Makes the weights trainable, and returns them with an optimiser."""
        import torch

        weights = self._weights
        for values in weights.values():
            values.requires_grad_(True)
        optimizer = torch.optim.AdamW(
            [
                {"params": [w for w in weights.values() if w.ndim > 1], "weight_decay": self.recipe.weight_decay},
                {"params": [w for w in weights.values() if w.ndim <= 1], "weight_decay": 0.0},
            ],
            lr=self.recipe.learning_rate,
        )
        scaler = torch.amp.GradScaler(self._device.type, enabled=self._precision == "fp16")
        return State(weights, optimizer, scaler)

    def _resume(self, state: State) -> int:
        """Returns the number of finished steps; refuses a state of other data, another model or recipe."""
        about = state.restore(self._work)
        if about is None:
            return 0
        refuse_difference(self._work, "training", about["settings"], self.settings)
        self.epochs = about["epochs"]
        return int(about["step"])

    def _step(self, number: int, state: State) -> float:
        """Takes one step of the optimiser over one batch, and returns its loss."""
        import torch

        chosen = self._order.batch(number)
        for group in state.optimizer.param_groups:
            group["lr"] = rate(self.recipe, number, self.total)
        state.optimizer.zero_grad(set_to_none=True)
        with self._training(), torch.random.fork_rng(devices=[self._device] if self._device.type == "cuda" else []):
            parts = np.array_split(chosen, min(self.recipe.accumulation, len(chosen)))
            losses = [self._of_part(part, len(chosen), [number, index], state) for index, part in enumerate(parts)]
        if not np.isfinite(sum(losses)):
            raise ValueError(f"the loss of step {number + 1} is {sum(losses)}; lower the learning rate, or use fp32")
        state.scaler.unscale_(state.optimizer)
        torch.nn.utils.clip_grad_norm_(state.weights.values(), self.recipe.clip)
        state.scaler.step(state.optimizer)
        state.scaler.update()
        return sum(losses)

    def _of_part(self, chosen: Indices, batch: int, place: list[int], state: State) -> float:
        """Computes gradients of some examples of a batch and returns their loss; explains a lack of memory.

        The examples are not halved automatically: which units drop out depends on the parts, and so would the weights.
        """
        try:
            return self._backward(chosen, batch, place, state)
        except (MemoryError, RuntimeError) as error:
            if not out_of_memory(error):
                raise
        more = f"divide a batch into more parts (--accumulation {2 * self.recipe.accumulation}), in a new folder"
        raise ValueError(
            f"not enough memory to train on {len(chosen)} {self.unit} at once; "
            + (more if len(chosen) > 1 else "use another device, or a smaller --max-length in a new folder")
        )

    def _backward(self, chosen: Indices, batch: int, place: list[int], state: State) -> float:
        """Computes the gradients of some examples of a batch; returns their share of its mean cross-entropy."""
        import torch

        torch.manual_seed(int(np.random.default_rng([self.recipe.seed, *place]).integers(2**63)))
        dtype = {"bf16": torch.bfloat16, "fp16": torch.float16}.get(self._precision)
        with torch.autocast(self._device.type, dtype=dtype, enabled=dtype is not None):
            logits, wanted = self.answered(chosen)
        if not wanted:
            return 0.0
        labels = torch.tensor(wanted, device=self._device)
        loss = torch.nn.functional.cross_entropy(logits, labels, reduction="sum") / batch
        state.scaler.scale(loss).backward()
        return float(loss.detach())

    @contextmanager
    def _training(self) -> Iterator[None]:
        """Enables dropout for one step, as a context manager."""
        for module in self._modules:
            module.train()
        try:
            yield
        finally:
            for module in self._modules:
                module.eval()
