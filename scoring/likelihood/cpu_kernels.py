"""Faster exact products on a CPU: weights packed once for oneDNN, and GELU fused into the product before it.

MKL, which a plain product calls, leaves half of an AMD processor idle. The packed weights are a copy of the model's
own. They are used only in inference mode and only while the model's weights are unchanged, so training and changed
weights never use them.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from math import e, log2
from pathlib import Path
from typing import Any

MOST_BYTES = 2 * 1024**3
"""Largest total size of weights that are always copied; larger ones need room."""
ROWS = 128
"""Rows of an ordinary product, for which the packing is laid out."""
CLOSE = 1e-5
CLOSE_HALF = 2e-2
"""`CLOSE` and `CLOSE_HALF`: largest difference of a packed from a plain product, relative to its largest entry."""
GELU = {"NewGELUActivation": "tanh", "GELUTanh": "tanh", "GELUActivation": "none"}
"""transformers' activations that oneDNN supports, with oneDNN's names of the approximation."""
FED = (("c_fc", "act"), ("dense", "intermediate_act_fn"), ("dense_h_to_4h", "act"))
"""A product and the activation after it, as transformers names them."""
LOG2_OF_E = log2(e)
Product = Callable[[Any], Any]
_use_packed: ContextVar[bool] = ContextVar("use_packed", default=True)


@contextmanager
def used(packed: bool) -> Iterator[None]:
    """Selects packed or own weights for models that were sped up, as a context manager."""
    token = _use_packed.set(packed)
    try:
        yield
    finally:
        _use_packed.reset(token)


def speed_up(module: Any, room: float = 0) -> bool:
    """Makes a model on a CPU multiply by packed weights; returns True if its vocabulary should be packed too.

    Returns False if packing is impossible, takes more memory than `MOST_BYTES` and `room`, or gains nothing. In the
    last case GELU is still fused into its product.
    """
    import torch

    linears = [part for part in module.modules() if _weight(part) is not None]
    size = sum(part.weight.numel() * part.weight.element_size() for part in linears)
    elsewhere = any(part.weight.device.type != "cpu" or hasattr(part, "_hf_hook") for part in linears)
    if elsewhere or size > max(MOST_BYTES, room) or not linears or not _works(linears[0]):
        return False
    gains = pays(linears[0].weight.dtype)
    with torch.inference_mode():
        fused = {id(linear) for parent in module.modules() if (linear := _fuse(parent)) is not None}
    for part in linears if gains else ():
        if part is not module.get_output_embeddings() and id(part) not in fused and not hasattr(part, "_plain_forward"):
            _replace(part, packed(_weight(part), part.bias))
    return gains


def pays(dtype: Any) -> bool:
    """Returns True if packed products of this type are faster; on Intel's CPUs, MKL's own in float32 are as fast."""
    import torch

    return bool(dtype != torch.float32 or not _is_intel())


@cache
def _is_intel() -> bool:
    """Returns True if this is a processor of Intel."""
    facts = Path("/proc/cpuinfo")
    return facts.exists() and "GenuineIntel" in facts.read_text(encoding="utf-8")


def exponential(values: Any) -> Any:
    """Raises e to the power of each value, in place; by powers of 2 where torch calls MKL on another processor.

    MKL takes four times as long there. The exponent is rounded once more, which changes a sum by less than 1e-6 of it.
    """
    import torch

    if _is_intel() or not torch.backends.mkl.is_available():
        return values.exp_()
    return values.mul_(LOG2_OF_E).exp2_()


def packed(weight: Any, bias: Any, gelu: str = "") -> Product:
    """Returns x ↦ x·weightᵀ + bias by a packed copy of the weight; `gelu` (`tanh` or `none`) applies to the result."""
    import torch

    with torch.inference_mode():
        copy = torch.ops.mkldnn._reorder_linear_weight(weight.detach().contiguous(), ROWS)
    product, after = torch.ops.mkldnn._linear_pointwise, "gelu" if gelu else "none"
    return lambda values: product(values, copy, bias, after, [], gelu)


def _weight(part: Any) -> Any:
    """Returns a part's weight as (outputs, inputs) if the part is a non-empty linear layer that can be packed.

    An inference tensor does not count its changes, so that a packed copy of it could be stale.
    """
    import torch
    from transformers.pytorch_utils import Conv1D

    if type(part) not in (torch.nn.Linear, Conv1D) or part.weight.dtype not in (torch.float32, torch.bfloat16):
        return None
    if part.weight.is_inference() or not part.weight.numel():
        return None
    return part.weight if type(part) is torch.nn.Linear else part.weight.t()


def _fuse(parent: Any) -> Any:
    """Fuses a linear part with the GELU after it, and returns the linear part; None if no such pair exists."""
    import torch

    pairs = ((getattr(parent, linear, None), getattr(parent, act, None)) for linear, act in FED)
    pair: Any = next((pair for pair in pairs if _weight(pair[0]) is not None), (None, None))
    linear, act = pair
    if (how := GELU.get(type(act).__name__)) is None or hasattr(linear, "_plain_forward"):
        return None
    values = torch.linspace(-3, 3, _weight(linear).shape[1], dtype=linear.weight.dtype)[None]
    before = act(linear(values))
    product = packed(_weight(linear), linear.bias, how)
    if not _close(product(values), before):
        return None
    _replace(linear, product)
    _replace(act, lambda values: values, linear)
    return linear


def _replace(part: Any, product: Product, holder: Any = None) -> None:
    """Makes a part use `product` while the holder's weight is unchanged, and its own forward otherwise."""
    import torch

    holder, plain = holder or part, part.forward
    before = _state(holder.weight)

    def forward(values: Any) -> Any:
        if _use_packed.get() and torch.is_inference_mode_enabled() and _state(holder.weight) == before:
            return product(values)
        return plain(values)

    part._plain_forward, part.forward = plain, forward


def _state(weight: Any) -> tuple[int, int]:
    """Returns values that change when a weight is written or replaced; -1 for an inference tensor, never packed."""
    return weight.data_ptr(), -1 if weight.is_inference() else weight._version


def _works(part: Any) -> bool:
    """Returns True if this build of torch has the packed product, and it equals the plain one."""
    import torch

    try:
        with torch.inference_mode():
            values = torch.linspace(-1, 1, _weight(part).shape[1], dtype=part.weight.dtype)[None]
            return _close(packed(_weight(part), part.bias)(values), part(values))
    except (RuntimeError, AttributeError, NotImplementedError):
        return False


def _close(result: Any, plain: Any) -> bool:
    """Returns True if a product equals the plain one up to rounding."""
    import torch

    close = CLOSE if plain.dtype == torch.float32 else CLOSE_HALF
    return bool((result.float() - plain.float()).abs().max() <= close * plain.float().abs().max())
