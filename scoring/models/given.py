"""Accepts models that exist in memory: a network with its tokenizer, a pipeline, or a function of texts."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from catsofa.data.digests import json_digest
from catsofa.data.files import BadInput, short
from catsofa.data.percentages import quantity
from catsofa.scoring.models import kind_of, plugged
from catsofa.scoring.models.files import Source, folder_of
from catsofa.scoring.models.forward_state import Fresh, config_of
from catsofa.scoring.models.model import ANSWERS, Ability, Model
from catsofa.scoring.models.structure import is_as_built, refuse_unhashed, structure
from catsofa.scoring.models.weights_digest import stored_buffers, weights_digest
from catsofa.scoring.signature import CHANGED

NETWORK = "a folder, a hub id, (model, tokenizer) of transformers"
EXPECTED = (
    f"{NETWORK}, a pipeline, a function of a text that gives its log-probability, or a class of your own with a name, "
    "a digest and loglikelihood"
)
UNHASHED = "unhashed"
"""The digest of a function without a `digest` attribute."""


@contextmanager
def opened(model: Any) -> Iterator[Any]:
    """A model in a form that executors accept: a name, a `Model`, or a model class of the user.

    Within the context, a network is in evaluation mode, without gradients and with hooks; then it is restored.
    """
    if hasattr(model, "tokenizer") and hasattr(model, "model") and not hasattr(model, "loglikelihood"):
        tokenizer = copy(model.tokenizer)  # a pipeline pads on the left for generation
        tokenizer.padding_side = tokenizer.init_kwargs.get("padding_side", type(tokenizer).padding_side)
        model = model.model, tokenizer
    if isinstance(model, str) and plugged.is_plugged(model):
        model = plugged.made(model)
    if isinstance(model, Path):
        yield str(model)
    elif isinstance(model, tuple):
        with _borrowed(*_pair(model)) as borrowed:
            yield borrowed
    elif isinstance(model, str | Model | type) or hasattr(model, "loglikelihood"):
        yield model
    elif callable(model) and not hasattr(model, "parameters"):
        yield Function(model)
    elif hasattr(model, "digest") and not hasattr(model, "parameters"):
        yield model
    else:
        found = "a network without its tokenizer" if hasattr(model, "parameters") else short(model)
        if isinstance(model, list):
            found = quantity(len(model), "model") + " in a list"
        raise ValueError(f"found {found} as the model; expected {EXPECTED}")


@contextmanager
def network(model: Any) -> Iterator[str | Model]:
    """Like `opened`, but refuses functions and models of the user's own class, whose tokens are unknown."""
    with opened(model) as held:
        if not isinstance(held, str | Model):
            found = getattr(held, "name", type(held).__name__)
            raise ValueError(f"found {found} as the model; expected {NETWORK}, or a pipeline")
        yield held


def refuse_loading(model: Any, loading: Iterable[str]) -> None:
    """Refuse arguments of `models.load` for a model in memory, on which they have no effect."""
    if isinstance(model, Model) and (extra := sorted(loading)):
        raise ValueError(f"{model.name} is loaded already; {', '.join(extra)} cannot change it")


@dataclass(frozen=True, slots=True)
class Function:
    """Wraps a function from a text to its natural log-probability as a model."""

    function: Callable[[str], float]

    @property
    def name(self) -> str:
        """The name of the function."""
        own_name = getattr(self.function, "name", None) or getattr(
            self.function, "__name__", type(self.function).__name__
        )
        return str(own_name)

    @property
    def digest(self) -> str:
        """The attribute `digest` of the function, or `UNHASHED`."""
        return str(getattr(self.function, "digest", UNHASHED))

    def loglikelihood(self, queries: Sequence[tuple[str, str]]) -> list[list[float]]:
        """One number per text: the log-probability of context + text minus that of the context, if any."""
        return [[self._of(context + text) - (self._of(context) if context else 0.0)] for context, text in queries]

    def _of(self, text: str) -> float:
        """The log-probability of a text; raises BadInput if the function gives no number."""
        value: Any = self.function(text)
        try:
            return float(value)
        except (TypeError, ValueError):
            expected = "the natural log-probability of this text, one number"
            raise BadInput(self.name, f"{short(value)} for {short(text)}", expected) from None


def _pair(pair: tuple[Any, ...]) -> tuple[Any, Any]:
    """A network of transformers and its fast tokenizer; anything else raises ValueError."""
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    if len(pair) != 2 or not isinstance(pair[0], PreTrainedModel) or hasattr(pair[0], "peft_config"):
        names = ", ".join(type(part).__name__ for part in pair)
        raise ValueError(
            f"found the model ({names}); expected (model, tokenizer) of transformers: unwrap the model, and merge an "
            "adapter (merge_and_unload)"
        )
    if not isinstance(pair[1], PreTrainedTokenizerBase) or not pair[1].is_fast:
        raise ValueError(f"found a tokenizer {type(pair[1]).__name__}; expected a fast one of transformers")
    return pair[0], pair[1]


@contextmanager
def _borrowed(module: Any, tokenizer: Any) -> Iterator[Model]:
    """A network with its tokenizer as a loaded model; on exit every submodule is restored."""
    hooks = ("_forward_hooks", "_forward_pre_hooks", "_forward_hooks_always_called", "_forward_hooks_with_kwargs")
    before = [(part, dict(vars(part)), {name: copy(vars(part)[name]) for name in hooks}) for part in module.modules()]
    gradients = [(weight, weight.requires_grad) for weight in module.parameters()]
    named = type(module).__name__
    kind = kind_of(named, module.config, named)
    has_head = module.get_output_embeddings() is not None
    answers: set[Ability] = set(ANSWERS[kind]) if has_head else {"vectors"}
    if hasattr(getattr(module, "cls", None), "seq_relationship"):
        answers.add("next-sentence")
    quantised = getattr(module.config, "quantization_config", None) or {}
    try:
        for part in module.modules():
            if "_original_forward" in vars(part):  # Accelerate computes in half precision for training
                vars(part).pop("forward", None)
        refuse_unhashed(module)
        module.eval().requires_grad_(False)
        yield Model(
            name=module.name_or_path or named,
            kind=kind,
            module=module,
            tokenizer=tokenizer,
            device=str(module.device),
            dtype=str(module.dtype).removeprefix("torch."),
            digest=_digest(module, tokenizer),
            answers=frozenset(answers),
            next_label=int(getattr(module.config, "next_label", 0)),
            options={"quantisation": quantised if isinstance(quantised, dict) else quantised.to_dict()},
            loaded=Fresh(module, tokenizer),
        )
    finally:
        for part, attributes, registered in before:
            vars(part).clear()
            vars(part).update(attributes)
            for name, entries in registered.items():
                vars(part)[name].clear()
                vars(part)[name].update(entries)
        for weight, needed in gradients:
            weight.requires_grad_(needed)


def _digest(module: Any, tokenizer: Any) -> str:
    """The digest of the files if network and tokenizer equal them, otherwise a digest of both in memory."""
    with suppress(OSError, ValueError, KeyError, ImportError):
        if (folder := folder_of(module)) and _is_of(module, tokenizer, folder):
            revision = getattr(module.config, "_commit_hash", None)
            return Source(module.name_or_path, str(folder), revision).digest()
    return CHANGED + json_digest([weights_digest(module), config_of(module), structure(module), _read_by(tokenizer)])


def _is_of(module: Any, tokenizer: Any, folder: Path) -> bool:
    """Returns True if a network and a tokenizer equal the files of a folder.

    All weights must equal the folder's safetensors; configuration, submodules and tokenizer must be the same too.
    """
    from safetensors import safe_open
    from transformers import AutoConfig, AutoTokenizer

    if _described(AutoConfig.from_pretrained(folder)) != _described(module.config):
        return False
    if _read_by(AutoTokenizer.from_pretrained(folder)) != _read_by(tokenizer):
        return False
    held = dict(module.named_parameters(remove_duplicate=False)) | dict(stored_buffers(module))
    unchecked, prefix = {id(weight) for weight in module.parameters()}, f"{module.base_model_prefix}."
    for file in sorted(folder.glob("*.safetensors")):
        with safe_open(file, "pt") as stored:
            for name in stored.keys():  # noqa: SIM118  not a mapping
                ways = (name, prefix + name, name.removeprefix(prefix))
                own = next((held[way] for way in ways if way in held), None)
                if own is not None and not stored.get_tensor(name).to(own.dtype).equal(own.detach().cpu()):
                    return False
                unchecked.discard(id(own))
    return not unchecked and is_as_built(module)


def _described(config: Any) -> dict[str, Any]:
    """A configuration without the fields that change no score: its path, its version, and the type of the weights."""
    left_out = ("_name_or_path", "architectures", "dtype", "torch_dtype", "transformers_version", "use_cache")
    return {name: value for name, value in config.to_dict().items() if name not in left_out}


def _read_by(tokenizer: Any) -> list[Any]:
    """The parts of a tokenizer that determine how it reads a text."""
    content = json.loads(tokenizer.backend_tokenizer.to_str())
    content = {name: value for name, value in content.items() if name not in ("padding", "truncation")}
    special = {name: token for name, token in tokenizer.special_tokens_map.items() if name != "pad_token"}
    return [content, special, tokenizer.padding_side, getattr(tokenizer, "chat_template", None)]
