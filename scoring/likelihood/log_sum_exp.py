"""log Σ exp(logit) over a vocabulary, a block of logits at a time, so that no [tokens × vocabulary] matrix ever stands.

From every logit of a state its largest one in the first block is taken, so that exp stays in range and only one block
is searched. Where a logit lies too far above that one, exp overflows, which shows, and the row is summed again.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

from catsofa.scoring.likelihood import cpu_kernels

CPU_BLOCK = (512, 1024)
"""Rows and vocabulary entries of a block of logits: it stays in the cache."""
GPU_BLOCK = (4096, 16384)
AGAIN = 16
"""Rows that are summed again at once: all their logits stand together."""
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
        for low in range(0, len(states), self._rows):
            total[low : low + self._rows] = self._summed(states[low : low + self._rows], wide)
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
