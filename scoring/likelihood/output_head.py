"""Log-probabilities without a [tokens × vocabulary] matrix: only wanted rows reach the head, which runs in blocks.

A model is cut at its gate, from which on only wanted positions go on, and before its vocabulary matrix. One whose own
logits are not that matrix's product (a scale, a soft cap) is noticed and asked for its logits instead.

log Σ exp(logit) is summed block by block. From every logit of a state its largest one in the first block is
taken, so that exp stays in range and only one block is searched. Where a logit lies too far above that one, exp
overflows, which shows, and the row is summed again.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from catsofa.scoring.likelihood import cpu_kernels, early_exit, gpu
from catsofa.scoring.likelihood.queries import Continuation, Infill

CPU_BLOCK = (512, 1024)
"""Rows and vocabulary entries of a block of logits: it stays in the cache."""
GPU_BLOCK = (4096, 16384)
AGAIN = 16
"""Rows that are summed again at once: all their logits stand together."""
TIE = 1e-9
"""The least gap of a token that is as likely as the likeliest, and comes after it in the vocabulary."""
Product = Callable[[Any], Any]


class Vocabulary:
    """A vocabulary matrix in blocks, whose logits are summed or listed; `fast` multiplies by packed copies."""

    def __init__(self, matrix: Any, *, fast: bool = False) -> None:
        self._rows, width = CPU_BLOCK if matrix.weight.device.type == "cpu" else GPU_BLOCK
        self.blocks = _blocks(matrix, width, cpu_kernels.packed if fast else _plain)

    def logits(self, states: Any) -> Any:
        """All logits of each state."""
        import torch

        return torch.cat([block(states) for block in self.blocks], -1)

    def log_sum_exp(self, states: Any) -> Any:
        """log Σ exp(logit) of each state, in the widest type of its device."""
        import torch

        total = torch.empty(len(states), dtype=exact(states.device), device=states.device)
        # one place for all blocks in half precision: fresh memory for each took longer than the sums
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
        """The sum for a few states; not finite where the first block's largest logit is no measure of the others."""
        import torch

        first = _widened(self.blocks[0](states), wide)
        top = first.amax(-1, keepdim=True)
        sums = [first.sub_(top).exp_().sum(-1)]
        sums += [_widened(block(states), wide).sub_(top).exp_().sum(-1) for block in self.blocks[1:]]
        widest = exact(states.device)
        return top[:, 0].to(widest) + torch.stack(sums).to(widest).sum(0).log()

    def _summed_apart(self, states: Any, wide: Any) -> Any:
        """The sum for a few states, each block beside its own largest logit: a GPU's queue goes on, nothing is odd."""
        import torch

        tops, sums, widest = [], [], exact(states.device)
        for block in self.blocks:
            logits = _widened(block(states), wide)
            # a block of nothing but -inf adds 0
            top = logits.amax(-1, keepdim=True).clamp_(min=torch.finfo(logits.dtype).min)
            sums.append(logits.sub_(top).exp_().sum(-1).to(widest))
            tops.append(top[:, 0].to(widest))
        of_blocks = torch.stack(tops)
        best = of_blocks.amax(0)
        return best + (torch.stack(sums) * (of_blocks - best).exp()).sum(0).log()


def exact(device: Any) -> Any:
    """The widest floating type of a device."""
    import torch

    return torch.float32 if device.type == "mps" else torch.float64


def _blocks(matrix: Any, width: int, product: Callable[[Any, Any], Product]) -> list[Product]:
    """States to their logits over a stretch of the vocabulary, for each stretch."""
    weight, bias = matrix.weight, getattr(matrix, "bias", None)
    stretches = [slice(low, low + width) for low in range(0, len(weight), width)]
    return [product(weight[stretch], None if bias is None else bias[stretch]) for stretch in stretches]


def _plain(weight: Any, bias: Any) -> Product:
    """x ↦ x·weightᵀ + bias, as torch has it."""
    import torch

    return partial(torch.nn.functional.linear, weight=weight, bias=bias)


def _widened(logits: Any, wide: Any) -> Any:
    """Logits in float32 or wider; those of half precision are copied into `wide`."""
    import torch

    return wide.resize_(logits.shape).copy_(logits) if logits.element_size() < torch.float32.itemsize else logits


Indices = NDArray[np.int64]


class Head:
    """The vocabulary head of one model, asked for chosen positions and tokens only."""

    def __init__(
        self, module: Any, sample: Mapping[str, Any], *, fast: bool = False, early: bool = False, cut: bool = True
    ) -> None:
        """`fast` multiplies by packed copies of the matrix; `early` looks for the gate before the head too.

        Without `cut` the whole network runs, and only in half precision, which rounds logits, are they made here.
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
        """Whether the model can be cut before its vocabulary matrix."""
        return self._gate is not None

    def states(self, inputs: Mapping[str, Any], rows: Indices, positions: Indices) -> Any:
        """One vector for each (row, position): the state before the vocabulary matrix, or else all its logits."""
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
        """The log-probability of `tokens[i]` at state `which[i]`, on their device; sums over the vocabulary in float64.

        `single` takes the softmax in the model's own precision, which only released numbers need.
        """
        chosen, wanted = (gpu.moved(indices, states.device) for indices in (which, tokens))
        if single:
            logits = states if self._gate is None else self._vocabulary.logits(states)
            found = logits.softmax(-1)[chosen, wanted].to(exact(states.device)).log()
        elif self._gate is None:
            found = states[chosen, wanted].to(exact(states.device)) - _log_sum_exp(states)[chosen]
        else:
            total = self._vocabulary.log_sum_exp(states)
            found = _products(states, self._matrix, chosen, wanted) - total[chosen]
        return found.cpu().double() if found.device.type == "mps" else found

    def gaps(self, states: Any, which: Indices, tokens: Indices) -> Any:
        """How far the logit of `tokens[i]` lies below the largest at state `which[i]`; 0 only where that is its own."""
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
        self, inputs: Mapping[str, Any], asked: Sequence[Continuation | Infill], *, gaps: bool = False
    ) -> Any:
        """One forward over `inputs`: the tokens from `start` on, each read off the position before it.

        Their log-probabilities, or the gaps below the likeliest tokens.
        """
        counts = [len(question.ids) - question.start for question in asked]
        rows = np.repeat(np.arange(len(asked)), counts)
        positions = np.concatenate([np.arange(q.start - 1, len(q.ids) - 1) for q in asked])
        targets = np.concatenate([np.array(q.ids[q.start :]) for q in asked])
        states = self.states(inputs, rows, positions)
        found = (self.gaps if gaps else self.log_probabilities)(states, np.arange(len(targets)), targets)
        return found.split(counts)


def _log_sum_exp(logits: Any) -> Any:
    """log Σ exp of each row in the widest type, a few rows at a time."""
    import torch

    widest = exact(logits.device)
    return torch.cat([logits[low : low + AGAIN].to(widest).logsumexp(-1) for low in range(0, len(logits), AGAIN)])


def _products(states: Any, matrix: Any, chosen: Any, wanted: Any) -> Any:
    """The one logit that is wanted of each state, as a product of two vectors in the widest type."""
    import torch

    widest = exact(states.device)
    bias = getattr(matrix, "bias", None)
    parts = []
    for low in range(0, len(chosen), 4096):
        left, right = chosen[low : low + 4096], wanted[low : low + 4096]
        product = (states[left].to(widest) * matrix.weight[right].to(widest)).sum(-1)
        parts.append(product if bias is None else product + bias[right].to(widest))
    return torch.cat(parts)
