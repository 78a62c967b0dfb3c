"""Tiny random configurations of every architecture that is scored: two layers, windows of 8, states of 32."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Kind = Literal["causal", "masked", "sequence-to-sequence", "permutation"]
Words = Literal["byte-level", "word-piece", "masked byte-level", "sentinels", "xlnet"]
"""The tiny tokenizer that a family reads with."""
SIZES: dict[Words, int] = {
    "byte-level": 360,
    "word-piece": 220,
    "masked byte-level": 360,
    "sentinels": 260,
    "xlnet": 260,
}
LONGEST = 160
WINDOW = 8


@dataclass(frozen=True, slots=True)
class Family:
    """One architecture: the names of its classes in transformers, and a tiny configuration."""

    name: str
    kind: Kind
    config: str
    model: str
    options: Mapping[str, Any] = field(default_factory=dict)
    words: Words = "byte-level"
    beyond: bool = False
    """True if the family is also tested with texts above its limit, where dynamic positions begin; a run
    refuses those.
    """

    def configuration(self) -> Any:
        """Returns the configuration; raises an error for a class that this transformers version lacks."""
        import transformers

        options: dict[str, Any] = {"vocab_size": SIZES[self.words], **_specials(self.words), **self.options}
        return getattr(transformers, self.config)(**options)

    def build(self) -> Any:
        """Returns the model with weights far from uniform, in float32 and evaluation mode."""
        import torch
        import transformers

        torch.manual_seed(7)
        module = getattr(transformers, self.model)(self.configuration()).eval()
        for name, weights in module.named_parameters():
            if weights.ndim > 1:
                # the row of the pad token too: a model must not depend on a zero pad row
                torch.nn.init.normal_(weights, std=0.35 if "embed" in name or "wte" in name else 0.2)
        module.tie_weights()
        return module


def _specials(words: Words) -> dict[str, int]:
    """Returns the ids of the special tokens of a tiny tokenizer."""
    if words == "sentinels":
        return {"pad_token_id": 0, "eos_token_id": 1, "decoder_start_token_id": 0}
    if words == "word-piece":
        return {"pad_token_id": 0}
    if words == "xlnet":
        return {"bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 5}
    return {"bos_token_id": 0, "pad_token_id": 1, "eos_token_id": 0 if words == "byte-level" else 2}


LAYERS = {"num_hidden_layers": 2, "num_attention_heads": 4, "max_position_embeddings": LONGEST}
BERT = {"hidden_size": 32, "intermediate_size": 48, **LAYERS}
LLAMA = {**BERT, "num_key_value_heads": 2, "head_dim": 8}
SLIDING = {**LLAMA, "sliding_window": WINDOW}
MIXED = {**SLIDING, "layer_types": ["sliding_attention", "full_attention"]}
EXPERTS = {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 24}
MAMBA = {"hidden_size": 32, "num_hidden_layers": 2, "state_size": 8}
MAMBA2 = {**MAMBA, "num_heads": 8, "head_dim": 8, "n_groups": 2, "chunk_size": 8}
GPT2 = {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": LONGEST}
HYBRID = {
    **LLAMA,
    "mamba_d_state": 8,
    "mamba_n_heads": 8,
    "mamba_d_head": 8,
    "mamba_n_groups": 2,
    "mamba_chunk_size": 8,
}
