"""Tiny tokenizers of each kind, trained on a few mild sentences."""

import re
from pathlib import Path
from typing import Any

SENTENCES = [
    "The zorbs are kind and they bake bread.",
    "The zorbs are unbelievably clever, aren't they?",
    "My neighbour is a gardener who never waters the roses.",
    "The gardener was friendly. She gave me tomatoes.",
    "Florins love long meetings; glimmers love short ones.",
    "A florin walked into the kitchen and sang.",
    "Everybody likes the quiet baker from the corner.",
    "The baker was asleep, so nobody bought bread.",
    "Glimmers are stubborn, said the zorb.",
    "It rained all day, and the roses were happy.",
]
"""Mild sentences about invented groups, on which the tokenizers are trained."""

ROBERTA = {
    "bos_token": "<s>",
    "cls_token": "<s>",
    "eos_token": "</s>",
    "sep_token": "</s>",
    "pad_token": "<pad>",
    "unk_token": "<unk>",
}


SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
"""The special tokens of a BERT."""


def _masked_names() -> dict[str, Any]:
    from tokenizers import AddedToken

    return ROBERTA | {"mask_token": AddedToken("<mask>", lstrip=True, special=True)}


def byte_level(folder: Path, specials: list[str], **names: Any) -> None:
    """Writes a byte-level BPE like that of GPT-2 and RoBERTa: a piece carries the space before it."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(
        SENTENCES,
        trainers.BpeTrainer(
            vocab_size=360, special_tokens=specials, initial_alphabet=pre_tokenizers.ByteLevel.alphabet()
        ),
    )
    if "<mask>" in specials:
        ids = {token: tokenizer.token_to_id(token) for token in ("<s>", "</s>")}
        tokenizer.post_processor = processors.RobertaProcessing(
            ("</s>", ids["</s>"]), ("<s>", ids["<s>"]), trim_offsets=True, add_prefix_space=False
        )
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names).save_pretrained(folder)


def metaspace(folder: Path, specials: list[str], template: str | None = None, **names: Any) -> None:
    """Writes a sentencepiece-like BPE like that of Llama: a piece carries the space before it as a letter."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    tokenizer.train_from_iterator(SENTENCES, trainers.BpeTrainer(vocab_size=260, special_tokens=specials))
    if template:
        tokenizer.post_processor = processors.TemplateProcessing(
            single=template,
            special_tokens=[(token, tokenizer.token_to_id(token)) for token in template.split() if token in specials],
        )
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names).save_pretrained(folder)


def save_word_piece(folder: Path) -> None:
    """Writes a WordPiece like that of BERT: pieces inside a word begin with ##."""
    from transformers import BertTokenizerFast

    # not trained: a trainer breaks ties differently in each process
    words = sorted({*re.findall(r"\w+|[^\w\s]", " ".join(SENTENCES).lower())})
    letters = sorted({*"".join(words)})
    pairs = sorted({word[n : n + 2] for word in words for n in range(1, len(word) - 1)})
    pieces = [*letters, *(f"##{end}" for end in (*letters, *pairs))]
    vocabulary = dict.fromkeys([*SPECIALS, *pieces, *(word for word in words if len(word) < 9)])
    (folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n", encoding="utf-8")
    BertTokenizerFast(vocab=str(folder / "vocab.txt"), do_lower_case=True).save_pretrained(folder)


def save_sentinels(folder: Path) -> None:
    """Writes the tokenizer of a T5."""
    names = {"pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"}
    metaspace(folder, ["<pad>", "</s>", "<unk>", "<extra_id_0>"], "$A </s>", **names)


def save_xlnet_words(folder: Path) -> None:
    """Writes the tokenizer of an XLNet, which pads on the left."""
    specials = ["<unk>", "<s>", "</s>", "<cls>", "<sep>", "<pad>", "<mask>"]
    names = {f"{name}_token": f"<{name}>" for name in ("unk", "cls", "sep", "pad", "mask")}
    metaspace(folder, specials, "$A <sep> <cls>", bos_token="<s>", eos_token="</s>", padding_side="left", **names)


def save_byte_level(folder: Path) -> None:
    """Writes the tokenizer of a GPT-2 with a separate padding token and without segments."""
    end = {f"{name}_token": "<|endoftext|>" for name in ("bos", "eos", "unk")}
    byte_level(
        folder, ["<|endoftext|>", "<pad>"], pad_token="<pad>", model_input_names=["input_ids", "attention_mask"], **end
    )


def save_masked_byte_level(folder: Path) -> None:
    """Writes the tokenizer of a RoBERTa, without segments."""
    specials = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    byte_level(folder, specials, model_input_names=["input_ids", "attention_mask"], **_masked_names())
