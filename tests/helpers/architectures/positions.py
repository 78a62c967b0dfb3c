"""Families that read a text by its length, or by that of the longest text in the batch; `SPLIT` divides the records."""

from collections.abc import Mapping
from typing import Any

from helpers.architectures.family import BERT, LLAMA, MIXED, WINDOW, Family, Words

SPLIT = 24
"""Tokens up to which a model reads as in its first training; the records have 4 to 69."""
THETA = {"rope_theta": 1e4}
FACTORS = {"short_factor": [1.0] * 4, "long_factor": [3.0, 4.0, 8.0, 9.0]}
FULL: dict[str, Any] = {"rope_type": "default", **THETA}
LINEAR = {"rope_type": "linear", "factor": 4.0, **THETA}
DYNAMIC = {"rope_type": "dynamic", "factor": 4.0, **THETA}
LONGROPE = {"rope_type": "longrope", "factor": 4.0, "original_max_position_embeddings": SPLIT, **FACTORS, **THETA}
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": SPLIT, **THETA}
LLAMA3 = {**YARN, "rope_type": "llama3", "low_freq_factor": 1.0, "high_freq_factor": 4.0}
PHI = {**BERT, "num_key_value_heads": 2, "original_max_position_embeddings": SPLIT}
SHORT = {**LLAMA, "max_position_embeddings": SPLIT}
LAYERED = {"sliding_attention": FULL, "full_attention": LONGROPE}


BERT_LIKE = {**BERT, "local_attention": WINDOW, "global_attn_every_n_layers": 2, "cls_token_id": 0, "sep_token_id": 2}
TEMPERATURE = {"attn_temperature_tuning": True, "floor_scale": WINDOW, "attn_scale": 0.5}
LLAMA4 = {**LLAMA, "intermediate_size_mlp": 48, "num_local_experts": 2, "interleave_moe_layer_step": 2}


def _causal(
    name: str, stem: str, rope: Mapping[str, Any], options: Mapping[str, Any] = LLAMA, model: str = ""
) -> Family:
    """Returns a model that reads from left to right with these rotary embeddings."""
    sizes = {**options, "rope_parameters": dict(rope)}
    return Family(name, "causal", f"{stem}Config", model or f"{stem}ForCausalLM", sizes, beyond=rope is DYNAMIC)


def _masked(name: str, stem: str, options: Mapping[str, Any], words: Words = "masked byte-level") -> Family:
    """Returns a model that reads in both directions."""
    beyond = options.get("rope_parameters") is DYNAMIC
    return Family(name, "masked", f"{stem}Config", f"{stem}ForMaskedLM", options, words, beyond=beyond)


READ_BY_LENGTH = [
    _causal("llama-linear", "Llama", LINEAR),
    _causal("llama-dynamic", "Llama", DYNAMIC, SHORT),
    _causal("llama-longrope", "Llama", LONGROPE),
    _causal("llama-yarn", "Llama", YARN),
    _causal("llama-llama3", "Llama", LLAMA3),
    _causal("qwen2-dynamic", "Qwen2", DYNAMIC, SHORT),
    _causal("phi3-longrope", "Phi3", LONGROPE, PHI),
    _causal(
        "phimoe-longrope",
        "Phimoe",
        {**LONGROPE, "short_mscale": 1.1, "long_mscale": 1.3},
        {**PHI, "num_local_experts": 4, "num_experts_per_tok": 2},
    ),
    _causal(
        "gemma3-longrope",
        "Gemma3Text",
        LAYERED,
        {**MIXED, "query_pre_attn_scalar": 8},
        "Gemma3ForCausalLM",
    ),
    _causal("gpt-oss-yarn", "GptOss", YARN, {**MIXED, "num_local_experts": 4, "num_experts_per_tok": 2}),
    _causal("ministral3-scaled", "Ministral3", {**YARN, "llama_4_scaling_beta": 0.1}),
    _causal(
        "llama4-temperature",
        "Llama4Text",
        FULL,
        {**LLAMA4, **TEMPERATURE, "layer_types": ["full_attention"] * 2, "no_rope_layers": [1, 0]},
        "Llama4ForCausalLM",
    ),
    _masked("eurobert-dynamic", "EuroBert", {**SHORT, "rope_parameters": DYNAMIC}),
    _masked("eurobert-longrope", "EuroBert", {**LLAMA, "rope_parameters": LONGROPE}),
    _masked("modernbert-longrope", "ModernBert", {**BERT_LIKE, "rope_parameters": LAYERED}),
    _masked(
        "bigbird-sparse",
        "BigBird",
        {**BERT, "attention_type": "block_sparse", "block_size": 2, "num_random_blocks": 1},
        "word-piece",
    ),
]
"""This BigBird reads up to 14 tokens with full attention; its blocks of 2 are sparse above that."""
