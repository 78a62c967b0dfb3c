"""The structure of a network in memory besides its weights: submodules with their classes, values and functions."""

from copy import deepcopy
from typing import Any

from catsofa.scoring.models.forward_state import COLLECTS

IGNORED = ("training", "p", "gradient_checkpointing")
"""Attributes that change no output of a network in evaluation mode."""
CACHED = "cached"
"""The ending of attributes in which a submodule stores facts about the rows that it read."""


def structure(module: Any) -> list[Any]:
    """Each submodule: its name, the first name of the same object, its class, and its plain attributes."""
    first: dict[int, str] = {}
    return [
        [name, first.setdefault(id(part), name), _called(type(part)), _plain(part)]
        for name, part in module.named_modules(remove_duplicate=False)
    ]


def is_as_built(module: Any) -> bool:
    """Returns True if a network has the submodules that its class builds from its configuration.

    The class must come from transformers or from the code in the model's folder.
    """
    import torch

    if not type(module).__module__.startswith(("transformers.", "transformers_modules.")):
        return False
    with torch.device("meta"):
        built = type(module)(deepcopy(module.config))
    return structure(built) == structure(module)


def refuse_unhashed(module: Any) -> None:
    """Refuse a network with parts that the digest does not cover: hooks, a replaced forward, or packed weights."""
    for name, part in module.named_modules():
        hooks = [*part._forward_hooks.values(), *part._forward_pre_hooks.values()]
        if any(getattr(hook, "__module__", "") != COLLECTS for hook in hooks):
            fault = "forward hooks"
        elif "forward" in vars(part) and "_hf_hook" not in vars(part):
            fault = "a forward that replaces that of its class"
        elif type(part).__module__.startswith("torch.ao."):
            fault = "weights packed by torch.ao"
        else:
            continue
        raise ValueError(
            f"found {fault} on {name or 'the model'}, which cannot be hashed; expected none: undo that, or "
            "score a model class of your own with a name and a digest"
        )


def _plain(part: Any) -> dict[str, Any]:
    """The numbers, strings and functions among the attributes of a submodule, by name."""
    return {
        name: _called(value) if callable(value) else repr(value)
        for name, value in sorted(vars(part).items())
        if (value is None or isinstance(value, bool | int | float | str) or _is_function(value))
        and name not in IGNORED
        and not name.startswith("_")
        and not name.endswith(CACHED)
    }


def _is_function(value: Any) -> bool:
    """Returns True if a value is a function or class with a qualified name."""
    return callable(value) and hasattr(value, "__qualname__")


def _called(value: Any) -> str:
    """The module and the qualified name of a function or class."""
    return f"{value.__module__}.{value.__qualname__}"
