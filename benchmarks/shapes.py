"""Creates models of real shapes and vocabularies with random weights, since speed does not depend on values."""

import os
from pathlib import Path
from typing import Any

import torch  # noqa: TID253  # a benchmark of torch has nothing else to do
import transformers  # noqa: TID253

SHARED = Path(os.environ.get("CATSOFA_SHARED", Path(__file__).parent.parent.parent / "shared"))
SIZES = {"tiny": (1, 64, 2), "small": (4, 256, 4), "base": (12, 768, 12)}
"""Layers, width, heads."""


def gpt2(size: str, folder: Path) -> Path:
    """Saves a GPT-2 of this size with its own tokenizer, and returns its folder."""
    layers, width, heads = SIZES[size]
    torch.manual_seed(0)
    tokenizer = transformers.AutoTokenizer.from_pretrained(SHARED / "models/tokenizers/gpt2")
    module = transformers.GPT2LMHeadModel(transformers.GPT2Config(n_layer=layers, n_embd=width, n_head=heads))
    return saved(module, tokenizer, folder)


def bert(size: str, folder: Path) -> Path:
    """Saves a BERT of this size with its own tokenizer, and returns its folder."""
    layers, width, heads = SIZES[size]
    torch.manual_seed(0)
    tokenizer = transformers.AutoTokenizer.from_pretrained(SHARED / "models/tokenizers/bert-base-uncased")
    config = transformers.BertConfig(
        num_hidden_layers=layers, hidden_size=width, num_attention_heads=heads, intermediate_size=4 * width
    )
    return saved(transformers.BertForMaskedLM(config), tokenizer, folder)


def saved(module: Any, tokenizer: Any, folder: Path) -> Path:
    """Saves a model and its tokenizer, and returns the folder."""
    transformers.utils.logging.disable_progress_bar()
    module.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def flops(module: Any, tokens: int, states: int) -> float:
    """Returns the minimum floating-point operations for `tokens` tokens, of which `states` reach the vocabulary."""
    config = module.config
    head = 2 * config.hidden_size * config.vocab_size
    if config.model_type == "bert":
        return body_flops(config, tokens, states) + (head + 2 * config.hidden_size**2) * states
    return body_flops(config, tokens, tokens) + head * states


def body_flops(config: Any, tokens: int, states: int) -> float:
    """Returns the minimum floating-point operations before the vocabulary, two per weight of a matrix product.

    The last layer needs its keys and values for all tokens, and the rest only for the queried states. Attention itself,
    a few per cent at these lengths, is left out.
    """
    width, layers = config.hidden_size, config.num_hidden_layers
    return 24 * width**2 * (layers - 1) * tokens + width**2 * (4 * tokens + 20 * states)
