"""Loads a model by folder or hub id, and finds which kinds of queries its trained weights can answer."""

__all__ = ["load"]

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from catsofa.scoring.models.files import Source, find
from catsofa.scoring.models.forward_state import Fresh
from catsofa.scoring.models.model import ANSWERS, DTYPES, Ability, Kind, Model

TABLES = re.compile(r"(^|\.)(attn|attention)\.(masked_)?bias$|inv_freq$|position_ids$|(cos|sin)_cached$")
"""Names of constants in the layers of old checkpoints that no network reads."""


def load(
    name: str,
    *,
    device: str | None = None,
    dtype: str = "float32",
    revision: str | None = None,
    trust_remote_code: bool = False,
    allow_pickle: bool = False,
    device_map: str | Mapping[str, Any] | None = None,
    quantisation: Mapping[str, Any] | None = None,
) -> Model:
    """Load a model from a folder or the hub (`gpt2`, `gpt2@revision`) in evaluation mode; random heads stay unused.

    `quantisation` contains the arguments of transformers' `BitsAndBytesConfig`; GPTQ and AWQ checkpoints declare their
    quantisation themselves. `device_map` is passed to transformers, for a model that does not fit on one device.
    """
    source = find(name, revision)  # before the slow imports, so that a wrong name fails at once

    import torch
    from transformers import AutoConfig

    arguments: dict[str, Any] = {"revision": source.revision, "trust_remote_code": trust_remote_code}
    with quiet(), source.errors("config.json"):
        code = source.code() if trust_remote_code else None
        arguments |= {"code_revision": code.revision} if code else {}
        config = AutoConfig.from_pretrained(source.place, **arguments)
    kind = kind_of(source.name, config, (getattr(config, "architectures", None) or [""])[0])
    tokenizer = _tokenizer(source, arguments)
    how = {
        "dtype": _dtype(dtype),
        "use_safetensors": None if allow_pickle else True,
        "ignore_mismatched_sizes": True,  # transformers reports mismatches, which are refused below
        "device_map": device_map,
        "quantization_config": _bits_and_bytes(quantisation),
    }
    # weights created in inference mode could not be packed or trained
    with quiet(), source.errors("the weights"), torch.inference_mode(False):
        module, report = _loader(kind, config).from_pretrained(
            source.place, output_loading_info=True, **arguments, **{k: v for k, v in how.items() if v is not None}
        )
    missing = _missing(source, kind, module, report)
    device = device or ("cuda" if torch.cuda.is_available() else "cpu")
    if device_map is None and quantisation is None:
        module = _move(module, device)
    loaded = _settled(source, module, tokenizer)
    return Model(
        name=name,
        kind=kind,
        module=module,
        tokenizer=tokenizer,
        device=str(module.device),
        dtype=str(module.dtype).removeprefix("torch."),
        digest=source.digest(runs_code=trust_remote_code),
        answers=_answers(source, kind, module, missing),
        next_label=int(getattr(config, "next_label", 0)),
        options={
            "remote_code": trust_remote_code,
            "code": code and f"{code.place}@{code.revision}",
            "quantisation": dict(quantisation or {}),
        },
        unused=_unused(module, report["unexpected_keys"]),
        loaded=loaded,
    )


def _tokenizer(source: Source, arguments: dict[str, Any]) -> Any:
    """The fast tokenizer; only fast tokenizers give the character offsets of tokens."""
    from transformers import AutoTokenizer

    with quiet(), source.errors("the tokenizer"):
        tokenizer = AutoTokenizer.from_pretrained(source.place, **arguments)
    if not getattr(tokenizer, "is_fast", False):
        raise ValueError(f"{source.name} has no fast tokenizer, and without one there are no character offsets")
    return tokenizer


def _settled(source: Source, module: Any, tokenizer: Any) -> Fresh:
    """Turn off dropout and gradients, and add hooks that undo state changes by batches, so scores are reproducible."""
    module.eval().requires_grad_(False)
    if any(part.training for part in module.modules()):
        raise ValueError(f"{source.name} stays in training mode after eval()")
    return Fresh(module, tokenizer)


def _dtype(name: str) -> Any:
    """The torch dtype of this name, or `auto` for the dtype of the checkpoint."""
    import torch

    name = DTYPES.get(name, name)
    dtype = name if name == "auto" else getattr(torch, name, None)
    if dtype != "auto" and not isinstance(dtype, torch.dtype):
        raise ValueError(f"no dtype {name!r}; use float32 (the exact one), bfloat16, float16 or auto")
    return dtype


def kind_of(name: str, config: Any, declared: str) -> Kind:
    """The kind of language model, from the configuration and the declared class; `name` is only for errors."""
    from transformers.models.auto import modeling_auto as auto

    model_type = config.model_type
    causal = auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES
    masked = auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES
    if model_type == "xlnet":
        return "permutation"
    if getattr(config, "is_encoder_decoder", False):
        if model_type in auto.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES:
            return "sequence-to-sequence"
        raise ValueError(f"{name} is an encoder-decoder of type {model_type!r}, which reads no text alone")
    decoder = getattr(config, "is_decoder", False) or declared in causal.values()
    if model_type in masked and not (model_type in causal and decoder and declared not in masked.values()):
        return "masked"
    if model_type in causal or declared.endswith(("ForCausalLM", "LMHeadModel")):
        return "causal"
    return "encoder"


def _loader(kind: Kind, config: Any) -> Any:
    """The transformers auto class for this kind; one with both heads if the architecture predicts next sentences."""
    import transformers
    from transformers.models.auto import modeling_auto as auto

    if kind == "masked" and config.model_type in auto.MODEL_FOR_NEXT_SENTENCE_PREDICTION_MAPPING_NAMES:
        return transformers.AutoModelForPreTraining
    return {
        "causal": transformers.AutoModelForCausalLM,
        "masked": transformers.AutoModelForMaskedLM,
        "permutation": transformers.AutoModelForCausalLM,
        "sequence-to-sequence": transformers.AutoModelForSeq2SeqLM,
        "encoder": transformers.AutoModel,
    }[kind]


def _missing(source: Source, kind: Kind, module: Any, report: Mapping[str, Any]) -> set[str]:
    """The head weights missing from the checkpoint (transformers fills them at random); the body must be complete."""
    if report["mismatched_keys"]:
        raise ValueError(f"the weights of {source.name} have other shapes than its config.json says")
    missing = set(report["missing_keys"])
    prefix = "" if kind == "encoder" else f"{module.base_model_prefix}."
    if body := sorted(key for key in missing if key.startswith(prefix) and "pooler" not in key):
        raise ValueError(f"{source.name} is incomplete: {len(body)} weights are missing, {body[0]} first")
    return missing


def _unused(module: Any, unexpected: Iterable[str]) -> str:
    """A sentence about checkpoint weights of numbered layers that the network does not use; heads do not count."""
    from torch.nn import ModuleList

    prefix = f"{module.base_model_prefix}."
    lists = tuple(f"{name}." for name, part in module.named_modules() if isinstance(part, ModuleList))
    names = {name: (name, prefix + name, name.removeprefix(prefix)) for name in unexpected if not TABLES.search(name)}
    inside = sorted(name for name, ways in names.items() if any(_is_in_layer(way, lists) for way in ways))
    if not inside:
        return ""
    return (
        f"weights of layers in the model's files that it does not use: {len(inside):,} ({inside[0]} first); its "
        "numbers may be wrong: does config.json belong to these weights?"
    )


def _is_in_layer(weight: str, lists: Iterable[str]) -> bool:
    """Returns True if a weight belongs to a numbered layer in one of these module lists."""
    return any(weight[len(name) :].partition(".")[0].isdigit() for name in lists if weight.startswith(name))


def _answers(source: Source, kind: Kind, module: Any, missing: set[str]) -> frozenset[Ability]:
    """The kinds of queries that the model can answer; a head with missing weights is random and answers none."""
    answers = set(ANSWERS[kind])
    next_sentence = {key for key in missing if "seq_relationship" in key or "pooler" in key}
    if missing - next_sentence:
        answers = {"vectors"}
    if hasattr(getattr(module, "cls", None), "seq_relationship") and not next_sentence:
        answers.add("next-sentence")
    return frozenset(answers)


def _move(module: Any, device: str) -> Any:
    """Move the network to a device; a failure raises an error with the reason."""
    import torch

    try:
        with torch.inference_mode(False):
            return module.to(device)
    except (RuntimeError, AssertionError) as error:
        first = str(error).splitlines()[0]
        raise ValueError(f"the model cannot be put on device {device!r} ({first}); cpu is always there") from None


def _bits_and_bytes(quantisation: Mapping[str, Any] | None) -> Any:
    """The transformers configuration for quantised loading; None without quantisation."""
    if quantisation is None:
        return None
    from transformers import BitsAndBytesConfig

    return BitsAndBytesConfig(**quantisation)


@contextmanager
def quiet() -> Iterator[None]:
    """Turn off progress bars and reports of transformers; catsofa reports missing weights itself."""
    from transformers.utils import logging

    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()
