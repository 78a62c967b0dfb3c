"""Have a network read each batch as if it were its first: what a forward changed in its parts is undone after it.

Dynamic rotary embeddings keep the frequencies of the longest row so far, and BigBird changes its attention for good at
the first short row. Numbers, names, buffers and parts are put back, in inference mode alone.
"""

import json
from typing import Any

from catsofa.data.digests import hex_digest, json_digest
from catsofa.scoring.models.weights_digest import weights_digest
from catsofa.scoring.signature import CHANGED

PLAIN = (int, float, str, type(None))
"""What a part may note about the rows that it read."""
COLLECTS = "transformers.utils.output_capturing"
"""The module whose hooks hand out attentions and hidden states, from the first forward that asks for them."""
LARGEST = 2**16
"""Entries of a buffer of which a copy is kept; no larger one is known to be written to."""


class Fresh:
    """Hooks that undo what a forward changed in a network; they stay as long as the network."""

    def __init__(self, module: Any) -> None:
        self._module, self._weights = module, list(module.parameters())
        self.digest = weights_digest(module)
        """The digest of the weights as they were loaded, or as the network itself rewrote them."""
        self._parts = [_Part(part) for part in module.modules()]
        self._depth = self._version = 0
        for part in module.modules():
            if hasattr(part, "base_model_prefix"):  # what may be asked by itself: the model, its body, its encoder
                part.register_forward_pre_hook(self._enter)
                part.register_forward_hook(self._leave, always_call=True)
        self._small = _small(module)
        self._config, self._hooks, self._made = config_of(module), _hooks(module), self._built()

    def changed(self, module: Any) -> str:
        """The digest of a network whose weights or configuration are not those that were loaded; empty if they are.

        Hooks that others registered are refused: what they do has no digest.
        """
        if added := [name for name, count in _hooks(module).items() if count > self._hooks.get(name, 0)]:
            raise ValueError(
                f"found forward hooks that were registered after the model was loaded ({added[0] or 'the model'} "
                "first); expected none: remove them, or score a model class of your own with a name and a digest"
            )
        now, config, made = weights_digest(module), config_of(module), self._built()
        if (config, made) != (self._config, self._made):
            return CHANGED + hex_digest(now + config + (made if made != self._made else ""))
        return "" if now == self.digest else CHANGED + now

    def _built(self) -> str:
        """The content of the classes of all parts, and of the small buffers that no checkpoint holds (`inv_freq`)."""
        parts = dict(self._module.named_modules())
        held = {f"{part}.{name}": parts[part]._buffers.get(name) for part, name in self._small if part in parts}
        buffers = {name: buffer for name, buffer in held.items() if buffer is not None and not buffer.is_meta}
        classes = [[name, type(part).__qualname__] for name, part in parts.items()]
        return json_digest([classes, {name: f"{of.dtype} {of.tolist()}" for name, of in buffers.items()}])

    def _enter(self, *_: Any) -> None:
        """Look at the network before the outermost forward."""
        self._depth += 1
        if self._depth == 1:
            self._version = sum(map(_version, self._weights))
            for part in self._parts:
                part.look()

    def _leave(self, *_: Any) -> None:
        """Undo the changes after the outermost forward.

        A network that rewrites its weights notes that it did; to undo the note alone would have it do so again.
        """
        import torch

        self._depth -= 1
        unchanged = self._version == sum(map(_version, self._weights))
        if not self._depth and not unchanged:
            self.digest = weights_digest(self._module)
        if not self._depth and unchanged and torch.is_inference_mode_enabled():
            for part in self._parts:
                part.undo()


def config_of(module: Any) -> str:
    """The content of a network's configuration and the tokens that end a text; a cache changes no number."""
    content = json.loads(module.config.to_json_string(use_diff=False))
    ends = getattr(getattr(module, "generation_config", None), "eos_token_id", None)
    return json_digest([{name: value for name, value in content.items() if name != "use_cache"}, ends])


def _small(module: Any) -> list[tuple[str, str]]:
    """The part and the name of each small buffer that no checkpoint holds, as the network was loaded."""
    return [
        (name, buffer)
        for name, part in module.named_modules()
        for buffer, tensor in part._buffers.items()
        if tensor is not None and buffer in part._non_persistent_buffers_set and tensor.numel() <= LARGEST
    ]


def _hooks(module: Any) -> dict[str, int]:
    """The number of forward hooks of each part by its name; transformers' own, which only collect states, are none."""
    return {
        name: sum(
            getattr(hook, "__module__", "") != COLLECTS
            for hook in (*part._forward_hooks.values(), *part._forward_pre_hooks.values())
        )
        for name, part in module.named_modules()
    }


class _Part:
    """One part of a network, as it was before a forward."""

    def __init__(self, part: Any) -> None:
        self._part = part
        self._plain = {name: value for name, value in vars(part).items() if isinstance(value, PLAIN)}
        self._parts = dict(part._modules)
        self._buffers: dict[str, tuple[Any, int, Any]] = {}
        self.look()

    def look(self) -> None:
        """Take over what was changed on purpose, between forwards."""
        values, parts = vars(self._part), self._part._modules
        for name, before in self._plain.items():
            if (value := values.get(name)) is not before:
                self._plain[name] = value
        if parts != self._parts:
            self._parts = dict(parts)
        for name, buffer in self._part._buffers.items():
            known = self._buffers.get(name)
            if known is None or known[0] is not buffer or known[1] != _version(buffer):
                self._buffers[name] = (buffer, _version(buffer), _copy(buffer))

    def undo(self) -> None:
        """Put back what a forward replaced or wrote."""
        vars(self._part).update(self._plain)
        self._part._modules.update(self._parts)
        for name, (buffer, version, copy) in self._buffers.items():
            if copy is not None and _version(buffer) != version:
                buffer.copy_(copy)
                self._buffers[name] = (buffer, _version(buffer), copy)
            self._part._buffers[name] = buffer


def _version(tensor: Any) -> int:
    """The number of changes to a tensor; -1 where it counts none."""
    return -1 if tensor is None or tensor.is_inference() else int(tensor._version)


def _copy(buffer: Any) -> Any:
    """A copy of a buffer that is small and counts its changes, or None."""
    if buffer is None or buffer.is_inference() or buffer.is_meta or buffer.numel() > LARGEST:
        return None
    return buffer.clone()
