"""Tiny models whose numbers change with batching: unmasked padding, and a window counted by row positions."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from helpers import tiny_models, tiny_tokenizers

SIZE = {"vocab_size": 220, "max_position_embeddings": 512, "num_hidden_layers": 2, "intermediate_size": 48}
WINDOW = 256
"""GPT-Neo's own window, in every released checkpoint."""


def gpt_neo(folder: Path, window: int = WINDOW) -> Path:
    """Writes a causal model whose second layer looks back through a window."""
    import transformers as t

    end = "<|endoftext|>"
    folder.mkdir()
    tiny_tokenizers.byte_level(folder, [end], bos_token=end, eos_token=end, unk_token=end)
    config = t.GPTNeoConfig(
        vocab_size=360,
        hidden_size=32,
        num_layers=2,
        num_heads=4,
        intermediate_size=48,
        attention_types=[[["global", "local"], 1]],
        max_position_embeddings=1024,
        window_size=window,
        bos_token_id=0,
        eos_token_id=0,
    )
    tiny_models._save(t.GPTNeoForCausalLM(config), folder)
    return folder


def llama(folder: Path, rope: dict[str, Any], positions: int) -> Path:
    """Writes a causal model whose rotary embedding depends on the longest position of the batch."""
    import transformers as t

    folder.mkdir()
    tiny_tokenizers.byte_level(folder, ["<|endoftext|>"], bos_token="<|endoftext|>", eos_token="<|endoftext|>")
    size = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4}
    config = t.LlamaConfig(vocab_size=360, max_position_embeddings=positions, rope_parameters=rope, **size)
    tiny_models._save(t.LlamaForCausalLM(config), folder)
    return folder


def bigbird(folder: Path) -> Path:
    """Writes a masked model that reads up to 14 tokens with full attention, and then keeps full
    attention permanently.
    """
    import transformers as t

    folder.mkdir()
    tiny_tokenizers.save_word_piece(folder)
    size = {"hidden_size": 32, "num_attention_heads": 4, "block_size": 2, "num_random_blocks": 1}
    tiny_models._save(t.BigBirdForMaskedLM(t.BigBirdConfig(**SIZE, **size, attention_type="block_sparse")), folder)
    return folder


def _fnet() -> Any:
    """Returns a model with Fourier transforms over the whole row, including padding."""
    import transformers as t

    return t.FNetForMaskedLM(t.FNetConfig(**SIZE, hidden_size=32, tpu_short_seq_length=512))


def _nystromformer() -> Any:
    """Returns a model with attention by landmarks, which are means over stretches of the row."""
    import transformers as t

    size = {"hidden_size": 32, "num_attention_heads": 4, "num_landmarks": 2, "segment_means_seq_len": 2}
    return t.NystromformerForMaskedLM(t.NystromformerConfig(**SIZE, **size))


def _mobilebert() -> Any:
    """Returns a model that joins each embedding with those of its neighbours, including padding."""
    import transformers as t

    size = {"hidden_size": 32, "embedding_size": 32, "intra_bottleneck_size": 32, "num_attention_heads": 4}
    return t.MobileBertForMaskedLM(t.MobileBertConfig(**SIZE, **size))


def _funnel() -> Any:
    """Returns a model that pools pairs of tokens to one, also a token with padding."""
    import transformers as t

    size = {"d_model": 32, "n_head": 4, "d_head": 8, "d_inner": 48, "max_position_embeddings": 512}
    return t.FunnelForMaskedLM(t.FunnelConfig(vocab_size=220, block_sizes=[1, 1], num_decoder_layers=1, **size))


def _convbert() -> Any:
    """Returns a model whose convolutions read the padding beside the last tokens."""
    import transformers as t

    size = {"hidden_size": 32, "embedding_size": 32, "num_attention_heads": 4, "conv_kernel_size": 5}
    return t.ConvBertForMaskedLM(t.ConvBertConfig(**SIZE, **size))


MIXES_PADDING: dict[str, Callable[[], Any]] = {
    "fnet": _fnet,
    "nystromformer": _nystromformer,
    "mobilebert": _mobilebert,
    "funnel": _funnel,
    "convbert": _convbert,
}
"""Masked models whose numbers change with padding."""


def mixing(name: str, folder: Path) -> Path:
    """Writes a masked model whose numbers change with padding."""
    folder.mkdir()
    tiny_tokenizers.save_word_piece(folder)
    tiny_models._save(MIXES_PADDING[name](), folder)
    return folder
