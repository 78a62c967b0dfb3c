"""What a network in memory is built of besides its weights: parts, their classes, numbers and functions."""

from copy import deepcopy
from typing import Any

from catsofa.scoring.models.forward_state import COLLECTS

IGNORED = ("training", "p", "gradient_checkpointing")
"""Attributes that change no number of a network in evaluation mode."""
CACHED = "cached"
"""How attributes end in which a part notes the rows that it read."""


def structure(module: Any) -> list[Any]:
    """Each part by name: its class, its plain attributes and functions, and which parts are one and the same."""
    first: dict[int, str] = {}
    return [
        [name, first.setdefault(id(part), name), _called(type(part)), _plain(part)]
        for name, part in module.named_modules(remove_duplicate=False)
    ]


def is_as_built(module: Any) -> bool:
    """Whether a network has the parts that its class, one of transformers or of its folder, builds by its config."""
    import torch

    if not type(module).__module__.startswith(("transformers.", "transformers_modules.")):
        return False
    with torch.device("meta"):
        built = type(module)(deepcopy(module.config))
    return structure(built) == structure(module)


def refuse_unhashed(module: Any) -> None:
    """Refuse a network whose numbers depend on what has no hash here: hooks, a forward put in place, packed weights."""
    for name, part in module.named_modules():
        hooks = [*part._forward_hooks.values(), *part._forward_pre_hooks.values()]
        if any(getattr(hook, "__module__", "") != COLLECTS for hook in hooks):
            found = "forward hooks"
        elif "forward" in vars(part) and "_hf_hook" not in vars(part):
            found = "a forward that replaces that of its class"
        elif type(part).__module__.startswith("torch.ao."):
            found = "weights packed by torch.ao"
        else:
            continue
        raise ValueError(
            f"found {found} on {name or 'the model'}, which nobody can hash; expected none: undo that, or "
            "score a model class of your own with a name and a digest"
        )


def _plain(part: Any) -> dict[str, Any]:
    """The numbers, texts and functions that a part holds, by name."""
    return {
        name: _called(value) if callable(value) else repr(value)
        for name, value in sorted(vars(part).items())
        if (value is None or isinstance(value, bool | int | float | str) or _is_function(value))
        and name not in IGNORED
        and not name.startswith("_")
        and not name.endswith(CACHED)
    }


def _is_function(value: Any) -> bool:
    """Whether a value is a function or a class, by whose name it is known."""
    return callable(value) and hasattr(value, "__qualname__")


def _called(value: Any) -> str:
    """A function or a class by its module and name."""
    return f"{value.__module__}.{value.__qualname__}"
