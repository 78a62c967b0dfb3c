"""Tiny models with random weights, one of each scored architecture and tokenizer."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from helpers.tiny_tokenizers import (
    byte_level,
    metaspace,
    save_masked_byte_level,
    save_sentinels,
    save_word_piece,
    save_xlnet_words,
)

LONG = 96


def _save(model: Any, folder: Path) -> None:
    """Saves the model with weights far from uniform, so that a wrong position or a wrong token shows."""
    import torch

    torch.manual_seed(7)
    for name, weights in model.named_parameters():
        if weights.ndim > 1:
            torch.nn.init.normal_(weights, std=0.35 if "embed" in name or "wte" in name else 0.2)
        elif name.endswith("bias"):
            torch.nn.init.normal_(weights, std=0.1)
    model.tie_weights()
    model.save_pretrained(folder)


def _gpt2(folder: Path) -> None:
    import transformers as t

    end = "<|endoftext|>"
    byte_level(folder, [end], bos_token=end, eos_token=end, unk_token=end)
    size = {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": LONG}
    _save(t.GPT2LMHeadModel(t.GPT2Config(vocab_size=360, bos_token_id=0, eos_token_id=0, **size)), folder)


def _llama(folder: Path) -> None:
    import transformers as t

    metaspace(folder, ["<unk>", "<s>", "</s>"], "<s> $A", bos_token="<s>", eos_token="</s>", unk_token="<unk>")
    config = t.LlamaConfig(
        vocab_size=260,
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=LONG,
    )
    _save(t.LlamaForCausalLM(config), folder)


def _qwen2(folder: Path) -> None:
    """Writes a Llama with biases in its attention and a byte-level tokenizer without a start token."""
    import transformers as t

    end = "<|endoftext|>"
    byte_level(folder, [end], eos_token=end, pad_token=end)
    config = t.Qwen2Config(
        vocab_size=360,
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=LONG,
        tie_word_embeddings=True,
    )
    _save(t.Qwen2ForCausalLM(config), folder)


def _bloom(folder: Path) -> None:
    import transformers as t

    byte_level(
        folder,
        ["<unk>", "<s>", "</s>", "<pad>"],
        bos_token="<s>",
        eos_token="</s>",
        pad_token="<pad>",
        padding_side="left",
    )
    _save(t.BloomForCausalLM(t.BloomConfig(vocab_size=360, hidden_size=32, n_layer=2, n_head=4)), folder)


def _gemma2(folder: Path) -> None:
    """Writes a causal model that caps its logits and looks back through a window in every other layer."""
    import transformers as t

    metaspace(folder, ["<unk>", "<s>", "</s>"], "<s> $A", bos_token="<s>", eos_token="</s>", unk_token="<unk>")
    config = t.Gemma2Config(
        vocab_size=260,
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=8,
        max_position_embeddings=LONG,
        sliding_window=16,
        final_logit_softcapping=3.0,
        query_pre_attn_scalar=8,
    )
    _save(t.Gemma2ForCausalLM(config), folder)


def _mamba(folder: Path) -> None:
    """Writes a causal model without attention, so that no part of it can be masked."""
    import transformers as t

    byte_level(folder, ["<|endoftext|>"], eos_token="<|endoftext|>")
    config = t.MambaConfig(vocab_size=360, hidden_size=16, state_size=4, num_hidden_layers=2)
    _save(t.MambaForCausalLM(config), folder)


def _rwkv(folder: Path) -> None:
    """Writes a causal model that halves the weights of its second layer at its first forward."""
    import transformers as t

    byte_level(folder, ["<|endoftext|>"], eos_token="<|endoftext|>")
    config = t.RwkvConfig(vocab_size=360, hidden_size=16, num_hidden_layers=2, context_length=160, rescale_every=1)
    _save(t.RwkvForCausalLM(config), folder)


def _t5(folder: Path) -> None:
    """Writes an encoder-decoder that marks gaps with sentinels and has no mask token."""
    import transformers as t

    save_sentinels(folder)
    config = t.T5Config(
        vocab_size=260, d_model=32, d_kv=8, d_ff=48, num_layers=2, num_heads=4, decoder_start_token_id=0
    )
    _save(t.T5ForConditionalGeneration(config), folder)


def _bert_config(**more: Any) -> Any:
    import transformers as t

    return t.BertConfig(
        vocab_size=220,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=48,
        max_position_embeddings=LONG,
        **more,
    )


def _bert(folder: Path) -> None:
    """Writes a BERT whose next-sentence head separates the known pairs, because an untrained one is refused."""
    import transformers as t

    save_word_piece(folder)
    _save(t.BertForPreTraining(_bert_config()), folder)
    _fit_next_sentence_head(folder)


def _fit_next_sentence_head(folder: Path) -> None:
    """Fits the head by least squares: each known following sentence should score 1 more than the other one."""
    import torch
    import transformers as t

    from catsofa.scoring.next_sentence.direction import SHIFT, STORIES

    tokenizer = t.AutoTokenizer.from_pretrained(folder)
    model = t.BertForPreTraining.from_pretrained(folder).eval()
    firsts, seconds = map(list, zip(*STORIES, strict=True))
    pairs = firsts + firsts, seconds + seconds[SHIFT:] + seconds[:SHIFT]
    with torch.no_grad():
        pooled = model.bert(**tokenizer(*pairs, return_tensors="pt", padding=True)).pooler_output
        differences = pooled[: len(STORIES)] - pooled[len(STORIES) :]
        direction = torch.linalg.lstsq(differences, torch.ones(len(STORIES), 1)).solution.T
        direction /= (pooled @ direction.T).std()
        middle = (pooled @ direction.T).mean()
        model.cls.seq_relationship.weight[:] = torch.cat([direction, -direction])
        model.cls.seq_relationship.bias[:] = torch.stack([-middle, middle])
    model.save_pretrained(folder)


def _bert_with_a_random_head(folder: Path) -> None:
    import transformers as t

    save_word_piece(folder)
    _save(t.BertForPreTraining(_bert_config()), folder)


def _bert_without_next_sentence(folder: Path) -> None:
    import transformers as t

    save_word_piece(folder)
    _save(t.BertForMaskedLM(_bert_config()), folder)


def _bert_encoder(folder: Path) -> None:
    import transformers as t

    save_word_piece(folder)
    _save(t.BertModel(_bert_config()), folder)


def _albert(folder: Path) -> None:
    """Writes one layer that is called repeatedly, so the output of its first call is not the last state."""
    import transformers as t

    save_word_piece(folder)
    config = t.AlbertConfig(
        vocab_size=220,
        embedding_size=16,
        hidden_size=32,
        num_hidden_layers=3,
        num_attention_heads=4,
        intermediate_size=48,
        max_position_embeddings=LONG,
    )
    _save(t.AlbertForMaskedLM(config), folder)


def _roberta(folder: Path) -> None:
    import transformers as t

    save_masked_byte_level(folder)
    config = t.RobertaConfig(
        vocab_size=360,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=48,
        max_position_embeddings=LONG + 2,
        type_vocab_size=1,
        bos_token_id=0,
        pad_token_id=1,
        eos_token_id=2,
    )
    _save(t.RobertaForMaskedLM(config), folder)


def _bart(folder: Path) -> None:
    import transformers as t

    save_masked_byte_level(folder)
    config = t.BartConfig(
        vocab_size=360,
        d_model=32,
        encoder_layers=2,
        decoder_layers=2,
        encoder_attention_heads=4,
        decoder_attention_heads=4,
        encoder_ffn_dim=48,
        decoder_ffn_dim=48,
        max_position_embeddings=LONG,
    )
    _save(t.BartForConditionalGeneration(config), folder)


def _xlnet(folder: Path) -> None:
    import transformers as t

    save_xlnet_words(folder)
    _save(t.XLNetLMHeadModel(t.XLNetConfig(vocab_size=260, d_model=32, n_layer=2, n_head=4, d_inner=48)), folder)


BUILDERS: dict[str, Callable[[Path], None]] = {
    "gpt2": _gpt2,
    "llama": _llama,
    "qwen2": _qwen2,
    "bloom": _bloom,
    "gemma2": _gemma2,
    "mamba": _mamba,
    "rwkv": _rwkv,
    "t5": _t5,
    "bert": _bert,
    "bert-with-a-random-head": _bert_with_a_random_head,
    "bert-without-next-sentence": _bert_without_next_sentence,
    "bert-encoder": _bert_encoder,
    "roberta": _roberta,
    "albert": _albert,
    "bart": _bart,
    "xlnet": _xlnet,
}
