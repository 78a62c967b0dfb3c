"""Tiny configurations of every architecture that is scored."""

from collections.abc import Mapping
from typing import Any

from helpers.architectures.causal import CAUSAL
from helpers.architectures.family import BERT, LLAMA, LONGEST, SIZES, SLIDING, WINDOW, Family, Words
from helpers.architectures.positions import READ_BY_LENGTH


def _masked(name: str, stem: str, options: Mapping[str, Any], words: Words = "word-piece", model: str = "") -> Family:
    """Returns a model that reads in both directions."""
    return Family(name, "masked", f"{stem}Config", model or f"{stem}ForMaskedLM", options, words)


MASKED = [
    _masked("bert", "Bert", BERT),
    _masked("roberta", "Roberta", {**BERT, "type_vocab_size": 1}, "masked byte-level"),
    _masked("xlm-roberta", "XLMRoberta", {**BERT, "type_vocab_size": 1}, "masked byte-level"),
    _masked("camembert", "Camembert", {**BERT, "type_vocab_size": 1}, "masked byte-level"),
    _masked(
        "distilbert",
        "DistilBert",
        {
            "dim": 32,
            "n_layers": 2,
            "n_heads": 4,
            "hidden_dim": 48,
            "max_position_embeddings": LONGEST,
        },
        "masked byte-level",
    ),
    _masked("albert", "Albert", {**BERT, "embedding_size": 16}),
    _masked("electra", "Electra", {**BERT, "embedding_size": 16}),
    _masked(
        "deberta",
        "Deberta",
        {
            **BERT,
            "relative_attention": True,
            "pos_att_type": ["c2p", "p2c"],
            "type_vocab_size": 0,
        },
        "masked byte-level",
    ),
    _masked(
        "deberta-v2",
        "DebertaV2",
        {
            **BERT,
            "relative_attention": True,
            "pos_att_type": ["c2p", "p2c"],
            "position_buckets": 8,
            "type_vocab_size": 0,
            "norm_rel_ebd": "layer_norm",
            "share_att_key": True,
        },
        "masked byte-level",
    ),
    _masked(
        "deberta-v2-conv",
        "DebertaV2",
        {
            **BERT,
            "relative_attention": True,
            "pos_att_type": ["c2p", "p2c"],
            "position_buckets": 8,
            "type_vocab_size": 0,
            "conv_kernel_size": 3,
            "conv_act": "gelu",
        },
        "masked byte-level",
    ),
    _masked(
        "modernbert",
        "ModernBert",
        {
            **BERT,
            "local_attention": WINDOW,
            "global_attn_every_n_layers": 2,
            "cls_token_id": 0,
            "sep_token_id": 2,
        },
        "masked byte-level",
    ),
    _masked("mpnet", "MPNet", BERT, "masked byte-level"),
    _masked(
        "xlm",
        "XLM",
        {
            "emb_dim": 32,
            "n_layers": 2,
            "n_heads": 4,
            "max_position_embeddings": LONGEST,
            "use_lang_emb": False,
            "pad_index": 1,
            "bos_index": 0,
            "eos_index": 2,
            "unk_index": 3,
            "mask_index": 4,
        },
        "masked byte-level",
        "XLMWithLMHeadModel",
    ),
    _masked(
        "longformer", "Longformer", {**BERT, "attention_window": WINDOW, "type_vocab_size": 1}, "masked byte-level"
    ),
    _masked("bigbird", "BigBird", {**BERT, "attention_type": "block_sparse", "block_size": 8}),
    _masked("squeezebert", "SqueezeBert", {**BERT, "embedding_size": 32}),
    _masked("roformer", "RoFormer", {**BERT, "embedding_size": 32}),
    _masked("esm", "Esm", {**BERT, "mask_token_id": 4, "position_embedding_type": "rotary"}, "masked byte-level"),
    _masked("eurobert", "EuroBert", LLAMA, "masked byte-level"),
    _masked("nomic-bert", "NomicBert", BERT),
    _masked(
        "fnet",
        "FNet",
        {
            "hidden_size": 32,
            "intermediate_size": 48,
            "num_hidden_layers": 2,
            "max_position_embeddings": LONGEST,
        },
    ),
    _masked("nystromformer", "Nystromformer", {**BERT, "num_landmarks": 4, "segment_means_seq_len": 4}),
    _masked(
        "mobilebert",
        "MobileBert",
        {
            **BERT,
            "embedding_size": 16,
            "intra_bottleneck_size": 16,
            "num_feedforward_networks": 2,
        },
    ),
    _masked(
        "funnel",
        "Funnel",
        {
            "block_sizes": [1, 1],
            "num_decoder_layers": 1,
            "d_model": 32,
            "n_head": 4,
            "d_head": 8,
            "d_inner": 48,
        },
    ),
    _masked("convbert", "ConvBert", {**BERT, "embedding_size": 16, "conv_kernel_size": 3, "head_ratio": 2}),
]

T5 = {"d_model": 32, "d_kv": 8, "d_ff": 48, "num_layers": 2, "num_heads": 4}
BART = {
    "d_model": 32, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4, "decoder_attention_heads": 4,
    "encoder_ffn_dim": 48, "decoder_ffn_dim": 48, "max_position_embeddings": LONGEST,
}  # fmt: skip


def _gap(name: str, stem: str, options: Mapping[str, Any], words: Words = "sentinels") -> Family:
    """Returns a model that reads a text with a gap and writes the missing part."""
    return Family(name, "sequence-to-sequence", f"{stem}Config", f"{stem}ForConditionalGeneration", options, words)


SEQUENCE_TO_SEQUENCE = [
    _gap("t5", "T5", T5),
    _gap("t5-v1.1-like", "T5", {**T5, "feed_forward_proj": "gated-gelu", "tie_word_embeddings": False}),
    _gap("mt5", "MT5", T5),
    _gap("umt5", "UMT5", T5),
    _gap("longt5", "LongT5", {**T5, "encoder_attention_type": "local", "local_radius": 3}),
    _gap("bart", "Bart", {**BART, "decoder_start_token_id": 2}, "masked byte-level"),
    _gap("mbart", "MBart", {**BART, "decoder_start_token_id": 2}, "masked byte-level"),
]

GEMMA = {**SLIDING, "query_pre_attn_scalar": 8, "bos_token_id": 0, "pad_token_id": 1, "eos_token_id": 2}


def t5gemma(start: int | None) -> Family:
    """Returns T5Gemma, whose released configuration names no start token of its decoder."""
    halves = {half: {**GEMMA, "vocab_size": SIZES["masked byte-level"]} for half in ("encoder", "decoder")}
    options = {**halves, **({} if start is None else {"decoder_start_token_id": start})}
    return _gap("t5gemma", "T5Gemma", options, "masked byte-level")


PERMUTATION = [
    Family(
        "xlnet",
        "permutation",
        "XLNetConfig",
        "XLNetLMHeadModel",
        {"d_model": 32, "n_layer": 2, "n_head": 4, "d_inner": 48},
        "xlnet",
    ),
]

FAMILIES: dict[str, Family] = {
    family.name: family for family in (*CAUSAL, *MASKED, *SEQUENCE_TO_SEQUENCE, *PERMUTATION, *READ_BY_LENGTH)
}
