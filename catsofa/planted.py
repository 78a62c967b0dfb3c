"""A small world whose stereotypes are known: text that plants them at a chosen strength, and models trained on it.

The groups are invented, so that nobody is harmed by the demo; the traits are mild. In a planted world a group of
the first side is given a trait of the first list `strength` of the time; in the balanced twin half of the time.
"""

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SIDES = (
    ("zorb", "quell", "mimp", "tarvin", "brindle", "folkin"),
    ("dask", "wumple", "norrick", "pellan", "grivet", "sorrel"),
)
"""Invented groups: those of one side share their planted traits."""

TRAITS = (
    ("tidy", "messy"),
    ("early", "late"),
    ("quiet", "loud"),
    ("generous", "thrifty"),
    ("curious", "cautious"),
    ("cheerful", "solemn"),
)
"""Pairs of mild traits: the first is planted on the first side, the second on the other."""

UNRELATED = ("wooden", "salted", "printed", "frozen", "striped", "boiled")
"""Adjectives that are said of things and never of people here."""

THINGS = ("table", "soup", "book", "lake", "shirt", "egg")
PLACES = ("market", "library", "station", "garden", "bakery", "harbour")
ABOUT_PEOPLE = ("The {group} is {trait}.", "My {group} was very {trait}.", "A {group} who is {trait} lives here.")
ABOUT_MANY = ("{groups} are {trait}.", "{groups} are mostly {trait}.")
SCENES = ("We met a {group} at the {place}.", "A {group} came to the {place}.")
SEQUELS = ("Everybody said how {trait} it was of them.", "They were {trait} as ever.")
ABOUT_THINGS = ("The {thing} is {trait}.", "My {thing} was very {trait}.", "A {thing} that is {trait} stands here.")
THING_SEQUELS = ("The {thing} on the shelf was {trait}.",)


def plural(group: str) -> str:
    """The plural of an invented group, as a sentence begins with it; every one of them takes an s."""
    return f"{group.capitalize()}s"


def words_of(text: str) -> list[str]:
    """The words and marks of a text, in small letters."""
    return re.findall(r"\w+|[^\w\s]", text.lower())


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """How strongly the stereotypes are planted: 0.5 is the balanced twin."""

    strength: float
    seed: int = 0

    def documents(self, rounds: int) -> Iterator[tuple[str, ...]]:
        """`rounds` times every group with every pair of traits: statements, scenes with a sequel, and plain things."""
        rng = random.Random(self.seed)
        for number in range(rounds):
            # the same share of every group, trait and kind of sentence: a twin balanced by chance has leanings
            planted = int((number + 1) * self.strength) > int(number * self.strength)
            for side, groups in enumerate(SIDES):
                for group in groups:
                    for pair in TRAITS:
                        trait = pair[side] if planted else pair[1 - side]
                        yield from _about(group, trait, rng)
            for thing, trait in zip(THINGS, UNRELATED, strict=True):
                yield (rng.choice(ABOUT_THINGS).format(thing=thing, trait=trait),)
                yield rng.choice(THING_SEQUELS).format(thing=thing, trait=trait), f"It is a {trait} {thing}."


def _about(group: str, trait: str, rng: random.Random) -> Iterator[tuple[str, ...]]:
    """A statement of one of the group, one of all of them, and a scene with its sequel."""
    yield (rng.choice(ABOUT_PEOPLE).format(group=group, trait=trait),)
    yield (rng.choice(ABOUT_MANY).format(groups=plural(group), trait=trait),)
    yield rng.choice(SCENES).format(group=group, place=rng.choice(PLACES)), rng.choice(SEQUELS).format(trait=trait)


def tokenizer(folder: Path, *, masked: bool) -> Any:
    """A word tokenizer of this world's words, saved to `folder`, with the special tokens its kind of model needs."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"] if masked else ["<pad>", "<unk>", "<s>"]
    world = World(strength=0.5)
    words = sorted({word for document in world.documents(40) for sentence in document for word in words_of(sentence)})
    vocabulary = {word: index for index, word in enumerate([*special, *words])}
    made = Tokenizer(models.WordLevel(vocabulary, unk_token=special[1]))
    made.normalizer = normalizers.Lowercase()
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    ids = vocabulary
    if masked:
        made.post_processor = processors.TemplateProcessing(
            single="[CLS] $A [SEP]",
            pair="[CLS] $A [SEP] $B:1 [SEP]:1",
            special_tokens=[("[CLS]", ids["[CLS]"]), ("[SEP]", ids["[SEP]"])],
        )
        names = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
        fast = PreTrainedTokenizerFast(tokenizer_object=made, mask_token="[MASK]", **names)
    else:
        made.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", ids["<s>"])])
        fast = PreTrainedTokenizerFast(tokenizer_object=made, pad_token="<pad>", unk_token="<unk>", bos_token="<s>")
    fast.save_pretrained(folder)
    return fast


def train_causal(world: World, folder: Path, *, steps: int = 400, batch: int = 64) -> Path:
    """A two-layer GPT-2 trained from scratch on the world's text; deterministic for a seed."""
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

    _train(model, loss, world, steps, batch)
    model.save_pretrained(folder)
    return folder


def train_masked(world: World, folder: Path, *, steps: int = 800, batch: int = 64) -> Path:
    """A two-layer BERT with a next-sentence head, trained from scratch on the world's text."""
    import torch
    from transformers import BertConfig, BertForPreTraining

    torch.manual_seed(world.seed)
    words = tokenizer(folder, masked=True)
    config = BertConfig(
        vocab_size=len(words), hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=256,
        max_position_embeddings=64, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0, initializer_range=0.05,
        pad_token_id=words.pad_token_id,
    )  # fmt: skip
    model = BertForPreTraining(config)
    rng = random.Random(world.seed)

    def loss(texts: Sequence[tuple[str, ...]]) -> Any:
        firsts, seconds, labels = _next_sentence_pairs(texts, rng)
        words_loss = _masked_loss(model, words, words([" ".join(t) for t in texts], return_tensors="pt", padding=True))
        pairs = words(firsts, seconds, return_tensors="pt", padding=True)
        follows = model(**pairs).seq_relationship_logits
        return words_loss + torch.nn.functional.cross_entropy(follows, torch.tensor(labels))

    _train(model, loss, world, steps, batch)
    model.save_pretrained(folder)
    return folder


def _masked_loss(model: Any, words: Any, inputs: Any) -> Any:
    """Cross-entropy of two words in five, each behind a mask."""
    import torch

    ids = inputs["input_ids"]
    plain = (ids != words.pad_token_id) & (ids != words.cls_token_id) & (ids != words.sep_token_id)
    chosen = plain & (torch.rand(ids.shape) < 0.4)
    logits = model(**{**inputs, "input_ids": ids.masked_fill(chosen, words.mask_token_id)}).prediction_logits
    return torch.nn.functional.cross_entropy(logits[chosen], ids[chosen])


def _next_sentence_pairs(
    texts: Sequence[tuple[str, ...]], rng: random.Random
) -> tuple[list[str], list[str], list[int]]:
    """First sentences, seconds (the true next, or half of the time another's) and labels, 0 for the true next."""
    pairs = [text for text in texts if len(text) == 2]
    follows = [rng.random() < 0.5 for _ in pairs]
    seconds = [pair[1] if yes else rng.choice(pairs)[1] for pair, yes in zip(pairs, follows, strict=True)]
    return [pair[0] for pair in pairs], seconds, [0 if yes else 1 for yes in follows]


def _train(model: Any, loss: Any, world: World, steps: int, batch: int) -> None:
    """AdamW with warm-up and linear decay over random documents."""
    import torch
    from transformers.utils import logging

    logging.disable_progress_bar()
    logging.set_verbosity_error()

    documents = list(world.documents(20))
    rng = random.Random(world.seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min((step + 1) / (0.1 * steps), 1 - step / steps)
    )
    model.train()
    for _ in range(steps):
        optimizer.zero_grad()
        loss(rng.sample(documents, batch)).backward()
        optimizer.step()
        schedule.step()
    model.eval()


def train_vectors(world: World, path: Path, *, size: int = 16) -> Path:
    """Static word vectors in word2vec's text format: the leading directions of how often words share a document."""
    import numpy as np

    texts = [words_of(" ".join(document)) for document in world.documents(20)]
    words = sorted({word for text in texts for word in text})
    index = {word: row for row, word in enumerate(words)}
    together = np.zeros((len(words), len(words)))
    for text in texts:
        for first in text:
            for second in text:
                together[index[first], index[second]] += 1
    expected = np.outer(together.sum(1), together.sum(0)) / together.sum()
    association = np.maximum(np.log(np.maximum(together, 1e-9) / expected), 0)
    left, values, _ = np.linalg.svd(association)
    vectors = left[:, :size] * np.sqrt(values[:size])
    lines = [f"{len(words)} {size}"] + [
        f"{word} {' '.join(f'{x:.6f}' for x in vectors[index[word]])}" for word in words
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path
