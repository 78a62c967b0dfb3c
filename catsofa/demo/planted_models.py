"""Small models trained from scratch on the text of a planted world: causal, masked, and static word vectors."""

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from catsofa.data.progress import SILENT, Progress
from catsofa.demo.planted import SIDES, TRAITS, UNRELATED, World, words_of
from catsofa.scoring.models.files import disk_errors

ROUNDS, BATCH, DIMENSIONS = 20, 64, 16
"""Rounds of text to train on; documents per training step; dimensions of the static vectors."""
GROUPS = [form for groups in SIDES for group in groups for form in (group, f"{group}s")]
TELLING = [*GROUPS, *(trait for pair in TRAITS for trait in pair), *UNRELATED]
"""Words for groups, traits and unrelated adjectives. Each text pairs one of them with another."""


def tokenizer(folder: Path, *, masked: bool) -> Any:
    """Saves a word-level tokenizer of the world's words to `folder`, with the special tokens for its kind of model."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"] if masked else ["<pad>", "<unk>", "<s>"]
    world = World(strength=0.5)
    words = sorted({word for document in world.documents(40) for sentence in document for word in words_of(sentence)})
    vocabulary = {word: index for index, word in enumerate([*special, *words])}
    core = Tokenizer(models.WordLevel(vocabulary, unk_token=special[1]))
    core.normalizer = normalizers.Lowercase()
    core.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    ids = vocabulary
    if masked:
        core.post_processor = processors.TemplateProcessing(
            single="[CLS] $A [SEP]",
            pair="[CLS] $A [SEP] $B:1 [SEP]:1",
            special_tokens=[("[CLS]", ids["[CLS]"]), ("[SEP]", ids["[SEP]"])],
        )
        names = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
        fast = PreTrainedTokenizerFast(tokenizer_object=core, mask_token="[MASK]", **names)
    else:
        core.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", ids["<s>"])])
        fast = PreTrainedTokenizerFast(tokenizer_object=core, pad_token="<pad>", unk_token="<unk>", bos_token="<s>")
    fast.save_pretrained(folder)
    return fast


def train_causal(world: World, folder: Path, *, steps: int, progress: Progress = SILENT) -> Path:
    """Trains a two-layer GPT-2 from scratch on the world's text; deterministic for a given seed."""
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel

    torch.manual_seed(world.seed)
    words = tokenizer(folder, masked=False)
    config = GPT2Config(
        vocab_size=len(words), n_positions=64, n_embd=64, n_layer=2, n_head=4,
        bos_token_id=words.bos_token_id, eos_token_id=words.bos_token_id, pad_token_id=words.pad_token_id,
        resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
    )  # fmt: skip
    model = GPT2LMHeadModel(config)

    def loss(texts: Sequence[tuple[str, ...]]) -> Any:
        inputs = words([" ".join(t) for t in texts], return_tensors="pt", padding=True)
        labels = inputs["input_ids"].masked_fill(inputs["attention_mask"] == 0, -100)
        return model(**inputs, labels=labels).loss

    _train(model, loss, list(world.documents(ROUNDS)), world.seed, steps, progress)
    with disk_errors():
        model.save_pretrained(folder)
    return folder


def train_masked(world: World, folder: Path, *, steps: int, progress: Progress = SILENT) -> Path:
    """Trains a two-layer BERT from scratch on the text and on names alone; scene and sequel are its two segments."""
    import torch
    from transformers import BertConfig, BertForMaskedLM

    torch.manual_seed(world.seed)
    words = tokenizer(folder, masked=True)
    config = BertConfig(
        vocab_size=len(words), hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=256,
        max_position_embeddings=64, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0, initializer_range=0.05,
        pad_token_id=words.pad_token_id,
    )  # fmt: skip
    model = BertForMaskedLM(config)
    telling = torch.zeros(len(words), dtype=torch.bool)
    telling[[words.convert_tokens_to_ids(word) for word in TELLING]] = True

    def loss(texts: Sequence[tuple[str, ...]]) -> Any:
        alone = [text[0] for text in texts if len(text) == 1]
        pairs = [text for text in texts if len(text) == 2]
        singles = words(alone, return_tensors="pt", padding=True)
        doubles = words([one for one, _ in pairs], [two for _, two in pairs], return_tensors="pt", padding=True)
        return _masked_loss(model, words, singles, telling) + _masked_loss(model, words, doubles, telling)

    # SoFa divides by the perplexity of a name alone, which is arbitrary in a masked model that never read one
    documents = [*world.documents(ROUNDS), *world.names(ROUNDS)]
    _train(model, loss, documents, world.seed, steps, progress)
    with disk_errors():
        model.save_pretrained(folder)
    return folder


def _masked_loss(model: Any, words: Any, inputs: Any, telling: Any) -> Any:
    """Returns the cross-entropy of masked words: one word for a group or trait per text, and some others.

    The mask hides one of the two and leaves the other visible. A random mask would hide both, or neither, half of the
    time.
    """
    import torch

    ids = inputs["input_ids"]
    plain = (ids != words.pad_token_id) & (ids != words.cls_token_id) & (ids != words.sep_token_id)
    draw = torch.rand(ids.shape)
    one = (draw * telling[ids]).argmax(1, keepdim=True)
    chosen = (plain & ~telling[ids] & (draw < 0.15)) | (telling[ids] & (torch.arange(ids.shape[1]) == one))
    logits = model(**{**inputs, "input_ids": ids.masked_fill(chosen, words.mask_token_id)}).logits
    return torch.nn.functional.cross_entropy(logits[chosen], ids[chosen])


def _train(
    model: Any, loss: Any, documents: Sequence[tuple[str, ...]], seed: int, steps: int, progress: Progress
) -> None:
    """Trains with AdamW, warm-up and linear decay on random documents."""
    import torch
    from transformers.utils import logging

    logging.disable_progress_bar()
    logging.set_verbosity_error()

    rng = random.Random(seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min((step + 1) / (0.1 * steps), 1 - step / steps)
    )
    model.train()
    for _ in progress.each(range(steps)):
        optimizer.zero_grad()
        loss(rng.sample(documents, BATCH)).backward()
        optimizer.step()
        schedule.step()
    model.eval()


def train_vectors(world: World, path: Path) -> Path:
    """Writes static word vectors in word2vec's text format: the leading directions of word co-occurrence in documents.

    SEAT needs these vectors for a reliable result here. Masked or causal training makes vectors similar for words that
    can replace each other, not for words that occur together. The position of `zorb` near the planted `tidy` is then
    left to chance: the SEAT effect had either sign from seed to seed, in every layer and pooling. Vectors of
    co-occurrence must show the planted association.
    """
    import numpy as np

    texts = [words_of(" ".join(document)) for document in world.documents(ROUNDS)]
    words = sorted({word for text in texts for word in text})
    index = {word: row for row, word in enumerate(words)}
    together = np.zeros((len(words), len(words)))
    for text in texts:
        for first in text:
            for second in text:
                together[index[first], index[second]] += 1
    expected = np.outer(together.sum(1), together.sum(0)) / together.sum()
    association = np.maximum(np.log(np.maximum(together, 1e-9) / expected), 0)
    directions, values, _ = np.linalg.svd(association)
    vectors = directions[:, :DIMENSIONS] * np.sqrt(values[:DIMENSIONS])
    lines = [f"{len(words)} {DIMENSIONS}"] + [
        f"{word} {' '.join(f'{x:.6f}' for x in vectors[index[word]])}" for word in words
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path
