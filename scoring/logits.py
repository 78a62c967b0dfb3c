"""Log-probabilities without a [tokens × vocabulary] matrix: only wanted rows reach the head, which runs in blocks.

A model is cut at its gate, from which on only wanted positions go on, and before its vocabulary matrix. One whose own
logits are not that matrix's product (a scale, a soft cap) is noticed and asked for its logits instead.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from catsofa.scoring import gates, kernels
from catsofa.scoring.questions import Answer

Indices = NDArray[np.int64]
Product = Callable[[Any], Any]

CPU_BLOCK = (512, 1024)
"""Rows and vocabulary entries of a block of logits: it stays in the cache."""
GPU_BLOCK = (4096, 16384)


class Head:
    """The vocabulary head of one model, asked for chosen positions and tokens only."""

    def __init__(self, module: Any, sample: Mapping[str, Any], *, fast: bool = False, early: bool = False) -> None:
        """`fast` multiplies by packed copies of the matrix; `early` looks for the gate before the head too."""
        self._module = module
        self._matrix = module.get_output_embeddings()
        whole = self._matrix is not None and self._matrix.weight.device.type != "meta"
        self._gate = gates.find(module, self._matrix, sample, early=early) if whole else None
        if self._gate is not None:
            self._blocks = _blocks(self._matrix, fast)

    @property
    def cut(self) -> bool:
        """Whether the model can be cut before its vocabulary matrix."""
        return self._gate is not None

    def states(self, inputs: Mapping[str, Any], rows: Indices, positions: Indices) -> Any:
        """One vector for each (row, position): the state before the vocabulary matrix, or else all its logits."""
        import torch

        at = torch.as_tensor(rows), torch.as_tensor(positions)
        if self._gate is None:
            return gates.logits_of(self._module, inputs)[at]
        with gates.tapped(self._gate, self._matrix, at) as caught:
            self._module(**inputs)
        return caught[0][0]

    def log_probabilities(self, states: Any, which: Indices, tokens: Indices, *, single: bool = False) -> Answer:
        """The log-probability of `tokens[i]` at state `which[i]`; sums over the vocabulary in float64.

        `single` takes the softmax in the model's own precision, which only released numbers need.
        """
        import torch

        chosen = torch.as_tensor(which, device=states.device)
        wanted = torch.as_tensor(tokens, device=states.device)
        if single:
            logits = states if self._gate is None else torch.cat([block(states) for block in self._blocks], -1)
            found = logits.softmax(-1)[chosen, wanted].to(_exact(states.device)).log()
        elif self._gate is None:
            exact = states.to(_exact(states.device))
            found = exact[chosen, wanted] - torch.logsumexp(exact, -1)[chosen]
        else:
            total = _log_sum_exp(states, self._blocks)
            found = _products(states, self._matrix, chosen, wanted) - total[chosen]
        answer: Answer = found.cpu().numpy().astype(np.float64)
        return answer


def _exact(device: Any) -> Any:
    """The widest floating type of a device."""
    import torch

    return torch.float32 if device.type == "mps" else torch.float64


def _blocks(matrix: Any, fast: bool) -> list[Product]:
    """States to their logits over a stretch of the vocabulary, for each stretch."""
    import torch

    weight, bias = matrix.weight, getattr(matrix, "bias", None)
    width = (CPU_BLOCK if weight.device.type == "cpu" else GPU_BLOCK)[1]
    stretches = [slice(low, low + width) for low in range(0, len(weight), width)]
    parts = [(weight[stretch], None if bias is None else bias[stretch]) for stretch in stretches]
    if fast:
        return [kernels.packed(*part) for part in parts]
    return [partial(torch.nn.functional.linear, weight=weights, bias=biases) for weights, biases in parts]


def _log_sum_exp(states: Any, blocks: Sequence[Product]) -> Any:
    """log Σ exp(logit) over the vocabulary for each state, a block of logits at a time."""
    import torch

    exact = _exact(states.device)
    rows = (CPU_BLOCK if states.device.type == "cpu" else GPU_BLOCK)[0]
    result = torch.empty(len(states), dtype=exact, device=states.device)
    # one place for all blocks in half precision: fresh memory for each took longer than the sums
    wide = torch.empty(0, device=states.device)
    for low in range(0, len(states), rows):
        part = states[low : low + rows]
        top = torch.full((len(part),), -torch.inf, device=part.device)
        total = torch.zeros(len(part), dtype=exact, device=part.device)
        for block in blocks:
            logits = block(part)
            if logits.dtype != wide.dtype:
                logits = wide.resize_(logits.shape).copy_(logits)
            highest = torch.maximum(top, logits.amax(-1))
            total = total * torch.exp((top - highest).to(exact))
            total += logits.sub_(highest[:, None]).exp_().sum(-1).to(exact)
            top = highest
        result[low : low + rows] = top.to(exact) + total.log()
    return result


def _products(states: Any, matrix: Any, chosen: Any, wanted: Any) -> Any:
    """The one logit that is wanted of each state, as a product of two vectors in the widest type."""
    import torch

    exact = _exact(states.device)
    bias = getattr(matrix, "bias", None)
    parts = []
    for low in range(0, len(chosen), 4096):
        left, right = chosen[low : low + 4096], wanted[low : low + 4096]
        product = (states[left].to(exact) * matrix.weight[right].to(exact)).sum(-1)
        parts.append(product if bias is None else product + bias[right].to(exact))
    return torch.cat(parts)
