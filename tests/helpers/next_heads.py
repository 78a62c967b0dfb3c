"""Pairs of sentences, some of which follow each other, and a next-sentence head trained on them."""

import json
import random
import shutil
from pathlib import Path
from typing import Any

from catsofa.data.formats.sentence_pairs import SentencePairs
from catsofa.scoring import models
from catsofa.scoring.next_sentence import NextSentence
from catsofa.scoring.next_sentence.recipe import Recipe
from catsofa.scoring.next_sentence.training import train

BEGINNINGS = ("The {} walked into the kitchen.", "My {} is kind.", "Everybody likes the {}.", "A {} gave me tomatoes.")
ENDINGS = ("The {} sang.", "Then the {} waters the roses.", "The {} was asleep.", "So the {} was happy.")
PEOPLE = ("baker", "gardener")


def write_pairs(path: Path, count: int, held_out: int, seed: int = 0) -> Path:
    """Writes pairs about one person that follow, and pairs about two people that do not: half and half."""
    rng = random.Random(seed)
    lines = []
    for k in range(count):
        one, other = rng.sample(PEOPLE, 2)
        follows = rng.random() < 0.5
        pair = {
            "first": rng.choice(BEGINNINGS).format(one),
            "second": rng.choice(ENDINGS).format(one if follows else other),
            "follows": follows,
            "split": "held-out" if k < held_out else "train",
            "document": f"d{k}",
        }
        lines.append(json.dumps(pair))
    path.write_text("\n".join(lines) + "\n")
    return path


def trained_head(model: Path, pairs: Path, out: Path, **recipe: Any) -> NextSentence:
    """Returns a head trained by a short recipe."""
    defaults: dict[str, Any] = {"batch": 40, "learning_rate": 1e-3, "epochs": 2, "seed": 1}
    return train(models.load(str(model), device="cpu"), SentencePairs(pairs), out, Recipe(**(defaults | recipe)))


def quick_learner(tiny: Path, made: Path, dropout: float) -> Path:
    """Writes a quickly learning copy of a tiny model, with small random weights, to this folder."""
    import torch

    shutil.copytree(tiny, made)
    module = models.load(str(made), device="cpu").module
    for option in vars(module.config):
        if option.endswith(("dropout_prob", "_pdrop", "dropout")):
            setattr(module.config, option, dropout)
    module.config.initializer_range = 0.2
    torch.manual_seed(0)
    type(module)(module.config).save_pretrained(made)
    return made
