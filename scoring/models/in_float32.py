"""The float32 twin of a model in half precision, made of the weights in memory if these are the stored ones."""

from contextlib import suppress
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

from catsofa.scoring.models import load, quiet
from catsofa.scoring.models.files import disk_errors, folder_of
from catsofa.scoring.models.forward_state import Fresh
from catsofa.scoring.models.model import Model

STORED = {"bfloat16": "BF16", "float16": "F16"}
"""The names of half precisions in safetensors files."""


def in_float32(model: Model) -> Model:
    """The same model in float32.

    The files are read again only if they hold more than the weights in memory, as those of a model in float32 do.
    """
    if _is_stored_as(model.dtype, model.module):
        module = _widened(model)
        return replace(model, module=module, dtype="float32", loaded=Fresh(module, model.tokenizer))
    return load(model.name, device=model.device, trust_remote_code=bool(model.options.get("remote_code")))


def _is_stored_as(dtype: str, module: Any) -> bool:
    """Returns True if all weights in the files of a network have the dtype that they have in memory."""
    from safetensors import safe_open

    found = set[str]()
    with suppress(OSError, ValueError), disk_errors():
        for file in sorted((folder_of(module) or Path("missing")).glob("*.safetensors")):
            with safe_open(file, "pt") as stored:
                found |= {str(stored.get_slice(name).get_dtype()) for name in stored.keys()}  # noqa: SIM118  no mapping
    in_memory = {str(weight.dtype).removeprefix("torch.") for weight in module.parameters()}
    return {name for name in found if "F" in name} == {STORED.get(dtype)} and in_memory == {dtype}


def _widened(model: Model) -> Any:
    """A network of the same weights in float32; transformers computes its tables again, in full precision."""
    import torch

    with quiet(), torch.inference_mode(False):
        kind = type(model.module)
        config = deepcopy(model.module.config)
        module = kind.from_pretrained(None, config=config, state_dict=model.module.state_dict(), dtype=torch.float32)
        return module.to(model.device).eval().requires_grad_(False)
