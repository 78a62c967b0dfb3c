"""Faster exact products on a CPU: weights packed once for oneDNN, and GELU in one pass.

MKL, which a plain product calls, leaves half of an AMD processor idle. The packed weights are a copy beside the
model's own, used under inference mode alone and only while the weights are those that were packed, so that training
and changed weights never meet them.
"""

from collections.abc import Callable
from typing import Any

MOST_BYTES = 2 * 1024**3
"""Weights above this are not copied."""
ROWS = 128
"""Rows of an ordinary product, which the packing is laid out for."""
CLOSE = 1e-5
CLOSE_HALF = 2e-2
"""How far a packed product may lie from a plain one, relative to its largest entry."""


def speed_up(module: Any) -> bool:
    """Have a model on a CPU multiply by packed weights; False where that cannot be, or would take too much memory."""
    import torch

    linears = [part for part in module.modules() if _weight(part) is not None]
    size = sum(part.weight.numel() * part.weight.element_size() for part in linears)
    elsewhere = any(part.weight.device.type != "cpu" or hasattr(part, "_hf_hook") for part in linears)
    if elsewhere or size > MOST_BYTES or not linears or not _works(linears[0]):
        return False
    matrix = module.get_output_embeddings()
    for part in linears:
        if part is not matrix and not hasattr(part, "_plain_forward"):
            part._plain_forward = part.forward
            part.forward = _packed_forward(part)
    for part in module.modules():
        if type(part).__name__ == "NewGELUActivation":
            part.forward = lambda values: torch.nn.functional.gelu(values, approximate="tanh")
    return True


def packed(weight: Any, bias: Any) -> Callable[[Any], Any]:
    """x ↦ x·weightᵀ + bias by a packed copy of the weight."""
    import torch

    copy = torch.ops.mkldnn._reorder_linear_weight(weight.detach().contiguous(), ROWS)
    product = torch.ops.mkldnn._linear_pointwise
    return lambda values: product(values, copy, bias, "none", [], "")


def _weight(part: Any) -> Any:
    """A part's weight as (outputs, inputs), if it is nothing but a product and a sum."""
    import torch
    from transformers.pytorch_utils import Conv1D

    if type(part) is torch.nn.Linear and part.weight.dtype in (torch.float32, torch.bfloat16):
        return part.weight
    return part.weight.t() if type(part) is Conv1D and part.weight.dtype in (torch.float32, torch.bfloat16) else None


def _packed_forward(part: Any) -> Callable[[Any], Any]:
    """A part's forward by its packed weight where that holds, and by its own otherwise."""
    import torch

    before, plain = _state(part.weight), part._plain_forward
    with torch.inference_mode():
        product = packed(_weight(part), part.bias)

    def forward(values: Any) -> Any:
        if torch.is_inference_mode_enabled() and _state(part.weight) == before:
            return product(values)
        return plain(values)

    return forward


def _state(weight: Any) -> tuple[int, int]:
    """What changes when a weight is written to or replaced."""
    return weight.data_ptr(), weight._version


def _works(part: Any) -> bool:
    """Whether this build of torch has the packed product, and it gives what the plain one gives."""
    import torch

    try:
        with torch.inference_mode():
            values = torch.linspace(-1, 1, _weight(part).shape[1], dtype=part.weight.dtype)[None]
            one, other = part(values).float(), packed(_weight(part), part.bias)(values).float()
    except (RuntimeError, AttributeError, NotImplementedError):
        return False
    close = CLOSE if part.weight.dtype == torch.float32 else CLOSE_HALF
    return bool((one - other).abs().max() <= close * one.abs().max())
