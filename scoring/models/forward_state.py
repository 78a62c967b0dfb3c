"""Undoes the state changes of each forward pass, so that a network reads every batch as if it were the first.

Dynamic rotary embeddings keep the frequencies of the longest row so far, and BigBird changes its attention permanently
at the first short row. Numbers, names, buffers and submodules are restored, only in inference mode.
"""

import json
from typing import Any

from catsofa.data.digests import hex_digest, json_digest
from catsofa.scoring.models.weights_digest import weights_digest
from catsofa.scoring.signature import CHANGED

PLAIN = (int, float, str, type(None))
"""Types of the attributes that are restored after a forward pass."""
COLLECTS = "transformers.utils.output_capturing"
"""The module whose hooks collect attentions and hidden states, from the first forward that requests them."""
LARGEST = 2**16
"""Buffers with at most this many entries are copied; no network is known to write to larger ones."""


class Fresh:
    """Hooks that undo the changes of a forward pass to a network; they stay as long as the network exists."""

    def __init__(self, module: Any, tokenizer: Any) -> None:
        self._module, self._weights = module, list(module.parameters())
        self._read = _settings_of(tokenizer)
        self.digest = weights_digest(module)
        """The digest of the loaded weights, or of the weights as the network itself rewrote them."""
        self._parts = [_Part(part) for part in module.modules()]
        self._depth = self._version = 0
        for part in module.modules():
            if hasattr(part, "base_model_prefix"):  # parts that may be called alone: the model, its body, its encoder
                part.register_forward_pre_hook(self._enter)
                part.register_forward_hook(self._leave, always_call=True)
        self._small = _small(module)
        self._config, self._hooks, self._made = config_of(module), _hooks(module), self._built()

    def changed(self, module: Any, tokenizer: Any) -> str:
        """The digest of a network that changed after loading, or whose tokenizer did; empty if both are unchanged.

        Hooks that other code registered are refused, since a digest does not cover their effect.
        """
        if added := [name for name, count in _hooks(module).items() if count > self._hooks.get(name, 0)]:
            raise ValueError(
                f"found forward hooks that were registered after the model was loaded ({added[0] or 'the model'} "
                "first); expected none: remove them, or score a model class of your own with a name and a digest"
            )
        now, config, built, read = weights_digest(module), config_of(module), self._built(), _settings_of(tokenizer)
        if (config, built, read) != (self._config, self._made, self._read):
            changes = [*([built] if built != self._made else []), *([read] if read != self._read else [])]
            return CHANGED + hex_digest(now + config + "".join(changes))
        return "" if now == self.digest else CHANGED + now

    def _built(self) -> str:
        """The digest of the classes of all parts, and of the small buffers outside checkpoints (`inv_freq`)."""
        parts = dict(self._module.named_modules())
        held = {f"{part}.{name}": parts[part]._buffers.get(name) for part, name in self._small if part in parts}
        buffers = {name: buffer for name, buffer in held.items() if buffer is not None and not buffer.is_meta}
        classes = [[name, type(part).__qualname__] for name, part in parts.items()]
        return json_digest([classes, {name: f"{tensor.dtype} {tensor.tolist()}" for name, tensor in buffers.items()}])

    def _enter(self, *_: Any) -> None:
        """Record the state of the network before the outermost forward."""
        self._depth += 1
        if self._depth == 1:
            self._version = sum(map(_version, self._weights))
            for part in self._parts:
                part.look()

    def _leave(self, *_: Any) -> None:
        """Undo the changes after the outermost forward.

        After a forward that rewrites weights, nothing is undone: a network marks that it rewrote its weights, and
        without this mark it would rewrite them again.
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
    """The digest of a network's configuration and end-of-text tokens, without `use_cache`, which changes no score."""
    content = json.loads(module.config.to_json_string(use_diff=False))
    ends = getattr(getattr(module, "generation_config", None), "eos_token_id", None)
    return json_digest([{name: value for name, value in content.items() if name != "use_cache"}, ends])


def _small(module: Any) -> list[tuple[str, str]]:
    """The submodule and name of each small buffer that checkpoints do not contain."""
    return [
        (name, buffer)
        for name, part in module.named_modules()
        for buffer, tensor in part._buffers.items()
        if tensor is not None and buffer in part._non_persistent_buffers_set and tensor.numel() <= LARGEST
    ]


def _settings_of(tokenizer: Any) -> str:
    """The digest of the parts of a tokenizer that a user may replace, without its vocabulary, which takes long."""
    backend = tokenizer.backend_tokenizer
    parts = [str(getattr(backend, name)) for name in ("normalizer", "pre_tokenizer", "post_processor")]
    added = {str(number): str(token) for number, token in backend.get_added_tokens_decoder().items()}
    special = {name: str(token) for name, token in tokenizer.special_tokens_map.items()}
    return json_digest([parts, added, special, tokenizer.padding_side, backend.get_vocab_size()])


def _hooks(module: Any) -> dict[str, int]:
    """Submodule name to its number of forward hooks, without transformers' own, which only collect states."""
    return {
        name: sum(
            getattr(hook, "__module__", "") != COLLECTS
            for hook in (*part._forward_hooks.values(), *part._forward_pre_hooks.values())
        )
        for name, part in module.named_modules()
    }


class _Part:
    """The state of one submodule before a forward pass."""

    def __init__(self, part: Any) -> None:
        self._part = part
        self._plain = {name: value for name, value in vars(part).items() if isinstance(value, PLAIN)}
        self._parts = dict(part._modules)
        self._buffers: dict[str, tuple[Any, int, Any]] = {}
        self.look()

    def look(self) -> None:
        """Record the current state, including deliberate changes between forward passes."""
        values, parts = vars(self._part), self._part._modules
        for name, before in self._plain.items():
            if (value := values.get(name)) is not before:
                self._plain[name] = value
        if parts != self._parts:
            self._parts = dict(parts)
        for name, buffer in self._part._buffers.items():
            previous = self._buffers.get(name)
            if previous is None or previous[0] is not buffer or previous[1] != _version(buffer):
                self._buffers[name] = (buffer, _version(buffer), _copy(buffer))

    def undo(self) -> None:
        """Restore the attributes, submodules and buffers that a forward pass replaced or wrote."""
        vars(self._part).update(self._plain)
        self._part._modules.update(self._parts)
        for name, (buffer, version, copy) in self._buffers.items():
            if copy is not None and _version(buffer) != version:
                buffer.copy_(copy)
                self._buffers[name] = (buffer, _version(buffer), copy)
            self._part._buffers[name] = buffer


def _version(tensor: Any) -> int:
    """The version counter of a tensor; -1 for None or a tensor without a counter."""
    return -1 if tensor is None or tensor.is_inference() else int(tensor._version)


def _copy(buffer: Any) -> Any:
    """A copy of a small buffer with a version counter, otherwise None."""
    if buffer is None or buffer.is_inference() or buffer.is_meta or buffer.numel() > LARGEST:
        return None
    return buffer.clone()
