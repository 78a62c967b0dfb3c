"""Log-probabilities without a [tokens × vocabulary] matrix: only requested rows reach the head, which runs in blocks.

A model is cut at its gate, after which only requested positions continue, and before its vocabulary matrix. Some models
change the product of that matrix (a scale, a soft cap); they are detected, and their own logits are used instead.

log Σ exp(logit) is summed block by block. Each logit of a state is reduced by the state's largest logit in the first
block, so that exp stays in range. Only this block is searched for a maximum. If a logit lies too far above that one,
exp overflows; the result is then not finite, and the row is summed again.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from catsofa.scoring.likelihood import cpu_kernels, early_exit, gpu
from catsofa.scoring.likelihood.queries import Continuation, Infill

CPU_BLOCK = (512, 1024)
"""Rows and vocabulary entries of a block of logits, which fits into the cache."""
GPU_BLOCK = (4096, 16384)
AGAIN = 16
"""Rows that are summed again at once, with all their logits in memory."""
TIE = 1e-9
"""Smallest gap of a token that ties with the most likely one, and comes after it in the vocabulary."""
Product = Callable[[Any], Any]


class Vocabulary:
    """A vocabulary matrix in blocks, whose logits are summed or listed; `fast` multiplies by packed copies."""

    def __init__(self, matrix: Any, *, fast: bool = False) -> None:
        self._rows, width = CPU_BLOCK if matrix.weight.device.type == "cpu" else GPU_BLOCK
        self.blocks = _blocks(matrix, width, cpu_kernels.packed if fast else _plain)

    def logits(self, states: Any) -> Any:
        """Returns all logits of each state."""
        import torch

        return torch.cat([block(states) for block in self.blocks], -1)

    def log_sum_exp(self, states: Any) -> Any:
        """Returns log Σ exp(logit) of each state, in the widest type of its device."""
        import torch

        total = torch.empty(len(states), dtype=exact(states.device), device=states.device)
        # one buffer for all blocks in half precision: allocating each took longer than the sums
        wide = torch.empty(0, device=states.device)
        summed = self._summed_apart if states.is_cuda else self._summed
        for low in range(0, len(states), self._rows):
            total[low : low + self._rows] = summed(states[low : low + self._rows], wide)
        if states.is_cuda:
            return total
        odd = (~total.isfinite()).nonzero()[:, 0]
        for low in range(0, len(odd), AGAIN):
            rows = odd[low : low + AGAIN]
            total[rows] = self.logits(states[rows]).to(total.dtype).logsumexp(-1)
        return total

    def _summed(self, states: Any, wide: Any) -> Any:
        """Returns the sum for a few states; not finite if a logit is too far above the first block's largest."""
        import torch

        first = _widened(self.blocks[0](states), wide)
        top = first.amax(-1, keepdim=True)
        sums = [cpu_kernels.exponential(first.sub_(top)).sum(-1)]
        others = (_widened(block(states), wide).sub_(top) for block in self.blocks[1:])
        sums += [cpu_kernels.exponential(values).sum(-1) for values in others]
        widest = exact(states.device)
        return top[:, 0].to(widest) + torch.stack(sums).to(widest).sum(0).log()

    def _summed_apart(self, states: Any, wide: Any) -> Any:
        """Returns the sum for a few states, each block relative to its own largest logit.

        No row needs a second pass, so that a GPU's queue continues without waiting.
        """
        import torch

        tops, sums, widest = [], [], exact(states.device)
        for block in self.blocks:
            logits = _widened(block(states), wide)
            # a block of -inf only adds 0
            top = logits.amax(-1, keepdim=True).clamp_(min=torch.finfo(logits.dtype).min)
            sums.append(logits.sub_(top).exp_().sum(-1).to(widest))
            tops.append(top[:, 0].to(widest))
        of_blocks = torch.stack(tops)
        best = of_blocks.amax(0)
        return best + (torch.stack(sums) * (of_blocks - best).exp()).sum(0).log()


def exact(device: Any) -> Any:
    """Returns the widest floating type of a device."""
    import torch

    return torch.float32 if device.type == "mps" else torch.float64


def _blocks(matrix: Any, width: int, product: Callable[[Any, Any], Product]) -> list[Product]:
    """Returns, for each block of the vocabulary, a function from states to their logits."""
    weight, bias = matrix.weight, getattr(matrix, "bias", None)
    stretches = [slice(low, low + width) for low in range(0, len(weight), width)]
    return [product(weight[stretch], None if bias is None else bias[stretch]) for stretch in stretches]


def _plain(weight: Any, bias: Any) -> Product:
    """Returns x ↦ x·weightᵀ + bias, by torch's own product."""
    import torch

    return partial(torch.nn.functional.linear, weight=weight, bias=bias)


def _widened(logits: Any, wide: Any) -> Any:
    """Returns logits in float32 or wider; those of half precision are copied into the buffer `wide`."""
    import torch

    return wide.resize_(logits.shape).copy_(logits) if logits.element_size() < torch.float32.itemsize else logits


Indices = NDArray[np.int64]


class Head:
    """The vocabulary head of one model, evaluated at chosen positions and tokens only."""

    def __init__(
        self, module: Any, sample: Mapping[str, Any], *, fast: bool = False, early: bool = False, cut: bool = True
    ) -> None:
        """Searches for the gate of the model.

        `fast` multiplies by packed copies of the matrix; `early` also searches for the gate before the head. Without
        `cut` the whole network runs. Then this class computes the logits only for a model in half precision, which
        rounds its own logits.
        """
        import torch

        self._module = module
        self._matrix = module.get_output_embeddings()
        whole = self._matrix is not None and self._matrix.weight.device.type != "meta"
        whole = whole and (cut or module.dtype.itemsize < torch.float32.itemsize)
        self._gate = early_exit.find(module, self._matrix, sample, early=early, late=not cut) if whole else None
        if self._gate is not None:
            self._vocabulary = Vocabulary(self._matrix, fast=fast)

    @property
    def cut(self) -> bool:
        """True if the model can be cut before its vocabulary matrix."""
        return self._gate is not None

    def states(self, inputs: Mapping[str, Any], rows: Indices, positions: Indices) -> Any:
        """Returns one vector for each (row, position): the state before the vocabulary matrix, or else all logits."""
        if self._gate is None:
            logits = early_exit.logits_of(self._module, inputs)
            return logits[gpu.moved(rows, logits.device), gpu.moved(positions, logits.device)]
        device = self._matrix.weight.device
        with early_exit.tapped(
            self._gate, self._matrix, (gpu.moved(rows, device), gpu.moved(positions, device))
        ) as caught:
            self._module(**inputs)
        return caught[0][0].to(device)

    def log_probabilities(self, states: Any, which: Indices, tokens: Indices, *, single: bool = False) -> Any:
        """Returns the log-probability of `tokens[i]` at state `which[i]`.

        Sums over the vocabulary use the widest type of the device. The result stays on the device; from MPS, which has
        no float64, it is moved to the CPU. `single` takes the softmax in the model's own precision, which only released
        numbers need.
        """
        chosen, wanted = (gpu.moved(indices, states.device) for indices in (which, tokens))
        if single:
            logits = states if self._gate is None else self._vocabulary.logits(states)
            result = logits.softmax(-1)[chosen, wanted].to(exact(states.device)).log()
        elif self._gate is None:
            result = states[chosen, wanted].to(exact(states.device)) - _log_sum_exp(states)[chosen]
        else:
            total = self._vocabulary.log_sum_exp(states)
            result = _products(states, self._matrix, chosen, wanted) - total[chosen]
        return result.cpu().double() if result.device.type == "mps" else result

    def gaps(self, states: Any, which: Indices, tokens: Indices) -> Any:
        """Returns how far the logit of `tokens[i]` lies below the largest one at state `which[i]`.

        The gap is 0 only if the token is the most likely one.
        """
        import torch

        parts = []
        for low in range(0, len(which), AGAIN):
            some = states[torch.as_tensor(which[low : low + AGAIN], device=states.device)]
            wanted = torch.as_tensor(tokens[low : low + AGAIN], device=states.device)
            logits = some if self._gate is None else self._vocabulary.logits(some)
            top, likeliest = logits.max(-1)
            gap = logits.gather(-1, wanted[:, None])[:, 0].double() - top.double()
            parts.append(torch.where(likeliest == wanted, 0.0, gap.clamp(max=-TIE)))
        return torch.cat(parts)

    def continuations(
        self, inputs: Mapping[str, Any], questions: Sequence[Continuation | Infill], *, gaps: bool = False
    ) -> Any:
        """Runs one forward pass over `inputs`, and reads each token from `start` on at the position before it.

        Returns the log-probabilities of each question's tokens, or with `gaps` their gaps below the most likely tokens.
        """
        counts = [len(question.ids) - question.start for question in questions]
        rows = np.repeat(np.arange(len(questions)), counts)
        positions = np.concatenate([np.arange(q.start - 1, len(q.ids) - 1) for q in questions])
        targets = np.concatenate([np.array(q.ids[q.start :]) for q in questions])
        states = self.states(inputs, rows, positions)
        values = (self.gaps if gaps else self.log_probabilities)(states, np.arange(len(targets)), targets)
        return values.split(counts)


def _log_sum_exp(logits: Any) -> Any:
    """Returns log Σ exp of each row in the widest type, a few rows at a time."""
    import torch

    widest = exact(logits.device)
    return torch.cat([logits[low : low + AGAIN].to(widest).logsumexp(-1) for low in range(0, len(logits), AGAIN)])


def _products(states: Any, matrix: Any, chosen: Any, wanted: Any) -> Any:
    """Returns one requested logit of each chosen state, as a product of two vectors in the widest type."""
    import torch

    widest = exact(states.device)
    bias = getattr(matrix, "bias", None)
    parts = []
    for low in range(0, len(chosen), 4096):
        rows, right = chosen[low : low + 4096], wanted[low : low + 4096]
        product = (states[rows].to(widest) * matrix.weight[right].to(widest)).sum(-1)
        parts.append(product if bias is None else product + bias[right].to(widest))
    return torch.cat(parts)
