"""Faster exact products on a CPU: weights packed once for oneDNN, and GELU within the product that feeds it.

MKL, which a plain product calls, leaves half of an AMD processor idle. The packed weights are a copy beside the
model's own, used under inference mode alone and only while the weights are those that were packed, so that training
and changed weights never meet them.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import Any

MOST_BYTES = 2 * 1024**3
"""Weights above this are not copied."""
ROWS = 128
"""Rows of an ordinary product, which the packing is laid out for."""
CLOSE = 1e-5
CLOSE_HALF = 2e-2
"""How far a packed product may lie from a plain one, relative to its largest entry."""
GELU = {"NewGELUActivation": "tanh", "GELUTanh": "tanh", "GELUActivation": "none"}
"""transformers' activations that oneDNN knows, by its name for the approximation."""
FED = (("c_fc", "act"), ("dense", "intermediate_act_fn"), ("dense_h_to_4h", "act"))
"""A product and the activation that it feeds, as transformers names them."""
Product = Callable[[Any], Any]
_use_packed: ContextVar[bool] = ContextVar("use_packed", default=True)


@contextmanager
def used(packed: bool) -> Iterator[None]:
    """While this lasts, models that were sped up use their packed weights, or their own."""
    token = _use_packed.set(packed)
    try:
        yield
    finally:
        _use_packed.reset(token)


def speed_up(module: Any) -> bool:
    """Have a model on a CPU multiply by packed weights; whether its vocabulary should be multiplied so too.

    False where that cannot be, would take too much memory, or gains nothing; GELU is then still made in the product.
    """
    import torch

    linears = [part for part in module.modules() if _weight(part) is not None]
    size = sum(part.weight.numel() * part.weight.element_size() for part in linears)
    elsewhere = any(part.weight.device.type != "cpu" or hasattr(part, "_hf_hook") for part in linears)
    if elsewhere or size > MOST_BYTES or not linears or not _works(linears[0]):
        return False
    gains = pays(linears[0].weight.dtype)
    with torch.inference_mode():
        fused = {id(linear) for parent in module.modules() if (linear := _fuse(parent)) is not None}
    for part in linears if gains else ():
        if part is not module.get_output_embeddings() and id(part) not in fused and not hasattr(part, "_plain_forward"):
            _replace(part, packed(_weight(part), part.bias))
    return gains


@cache
def pays(dtype: Any) -> bool:
    """Whether packed products of this type are faster than plain ones: MKL's own in float32 are as fast on Intel's."""
    import torch

    facts = Path("/proc/cpuinfo")
    return bool(dtype != torch.float32 or not facts.exists() or "GenuineIntel" not in facts.read_text(encoding="utf-8"))


def packed(weight: Any, bias: Any, gelu: str = "") -> Product:
    """x ↦ x·weightᵀ + bias by a packed copy of the weight; `gelu` (`tanh` or `none`) goes over the result."""
    import torch

    with torch.inference_mode():
        copy = torch.ops.mkldnn._reorder_linear_weight(weight.detach().contiguous(), ROWS)
    product, after = torch.ops.mkldnn._linear_pointwise, "gelu" if gelu else "none"
    return lambda values: product(values, copy, bias, after, [], gelu)


def _weight(part: Any) -> Any:
    """A part's weight as (outputs, inputs) if it can be packed: a product and a sum, and not empty.

    An inference tensor does not count its changes, so that a packed copy of it could not be trusted.
    """
    import torch
    from transformers.pytorch_utils import Conv1D

    if type(part) not in (torch.nn.Linear, Conv1D) or part.weight.dtype not in (torch.float32, torch.bfloat16):
        return None
    if part.weight.is_inference() or not part.weight.numel():
        return None
    return part.weight if type(part) is torch.nn.Linear else part.weight.t()


def _fuse(parent: Any) -> Any:
    """The linear part whose product now makes the GELU after it too; None where there is no such pair."""
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
    """Have a part forward by `product` while the holder's weight is what it is now, and by its own way otherwise."""
    import torch

    holder, plain = holder or part, part.forward
    before = _state(holder.weight)

    def forward(values: Any) -> Any:
        if _use_packed.get() and torch.is_inference_mode_enabled() and _state(holder.weight) == before:
            return product(values)
        return plain(values)

    part._plain_forward, part.forward = plain, forward


def _state(weight: Any) -> tuple[int, int]:
    """What changes when a weight is written to or replaced; an inference tensor, which was never packed, has -1."""
    return weight.data_ptr(), -1 if weight.is_inference() else weight._version


def _works(part: Any) -> bool:
    """Whether this build of torch has the packed product, and it gives what the plain one gives."""
    import torch

    try:
        with torch.inference_mode():
            values = torch.linspace(-1, 1, _weight(part).shape[1], dtype=part.weight.dtype)[None]
            return _close(packed(_weight(part), part.bias)(values), part(values))
    except (RuntimeError, AttributeError, NotImplementedError):
        return False


def _close(found: Any, plain: Any) -> bool:
    """Whether a product is the plain one but for rounding."""
    import torch

    close = CLOSE if plain.dtype == torch.float32 else CLOSE_HALF
    return bool((found.float() - plain.float()).abs().max() <= close * plain.float().abs().max())
