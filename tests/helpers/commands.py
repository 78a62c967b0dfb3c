"""Helpers of the command-line tests."""

import importlib.util
import os
import random
import re
import resource
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer

from catsofa.cli import app


def run_catsofa(*arguments: str, cwd: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs the installed `catsofa` like a user, in its own process."""
    program = Path(sys.executable).with_name("catsofa")
    return subprocess.run(
        [str(program), *arguments],
        cwd=cwd,
        env=os.environ | {"NO_COLOR": "1", "COLUMNS": "100"} | environment,
        capture_output=True,
        text=True,
        timeout=3600,
        check=False,
    )


def need_ray() -> None:
    """Skips the test if Ray is not installed; Ray must not be imported before its address is configured."""
    if importlib.util.find_spec("ray") is None:
        pytest.skip("Ray is not installed")


@contextmanager
def little_room(room: int) -> Iterator[None]:
    """Limits the size of files to so many bytes: a limit of the system simulates a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def word_vectors(folder: Path, words: Sequence[str], width: int = 64) -> Path:
    """Writes a sentence-transformers model: a random vector for each of a few words, and their mean for a sentence."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

    tokenizer = Tokenizer(models.WordLevel({word: n for n, word in enumerate(["[UNK]", *words])}, "[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    weights = np.random.default_rng(0).normal(size=(len(words) + 1, width)).astype(np.float32)
    SentenceTransformer(modules=[StaticEmbedding(tokenizer, embedding_weights=weights)]).save(str(folder))
    return folder


def bert(folder: Path, **labels: int) -> Path:
    """Writes a tiny BERT for pairs of sentences, with these labels and random weights."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast

    torch.manual_seed(0)
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "he", "is", "kind", "not", "."]
    folder.mkdir()
    (folder / "vocab.txt").write_text("\n".join(words))
    shape = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    names = {number: name for name, number in labels.items()}
    config = BertConfig(vocab_size=len(words), num_labels=max(1, len(labels)), id2label=names or None, **shape)
    BertForSequenceClassification(config).eval().save_pretrained(folder)
    BertTokenizerFast(vocab=str(folder / "vocab.txt")).save_pretrained(folder)
    return folder


def inference(folder: Path, kind: str = "bert", mapped: str = "", **labels: int) -> Path:
    """Writes a tiny model trained that `not` contradicts and equal words entail, with outputs in the order of `labels`.

    `mapped` names the labels in another order than the weights.
    """
    import torch
    from transformers import (
        AutoTokenizer,
        BertConfig,
        BertForSequenceClassification,
        DebertaV2Config,
        DebertaV2ForSequenceClassification,
    )

    torch.manual_seed(0)
    saved = AutoTokenizer.from_pretrained(bert(folder))
    shape = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    shape |= {"hidden_dropout_prob": 0, "attention_probs_dropout_prob": 0, "type_vocab_size": 2}
    base = {"contradiction": 0, "entailment": 1, "neutral": 2, "not_entailment": 0}
    sizes = {"vocab_size": len(saved), "num_labels": 3}
    if kind == "bert":
        model: Any = BertForSequenceClassification(BertConfig(**shape, **sizes))
    else:
        model = DebertaV2ForSequenceClassification(DebertaV2Config(**shape, **sizes, relative_attention=True))
    draw, taught = random.Random(0), []
    for _ in range(120):
        words = draw.choices(["[UNK]", "he", "is", "kind"], k=draw.randint(2, 5))
        negated = [*words[:2], "not", *words[2:]]
        label = draw.choice(["entailment", "contradiction"])
        taught.append((" ".join(words), " ".join(words if label == "entailment" else negated), label))
    inputs = saved([one[0] for one in taught], [one[1] for one in taught], padding=True, return_tensors="pt")
    wanted = torch.tensor([base[one[2]] for one in taught])
    step = torch.optim.Adam(model.parameters(), lr=0.02)
    for _ in range(40):
        step.zero_grad()
        torch.nn.functional.cross_entropy(model(**inputs).logits, wanted).backward()
        step.step()
    rows = [base[name.lower()] for name in labels]
    model.classifier.weight = torch.nn.Parameter(model.classifier.weight[rows])
    model.classifier.bias = torch.nn.Parameter(model.classifier.bias[rows])
    model.config.id2label = dict(enumerate(mapped.split() or labels))
    model.config.label2id = {name: number for number, name in model.config.id2label.items()}
    model.eval().save_pretrained(folder)
    return folder


@cache
def commands() -> dict[str, typer.models.CommandInfo]:
    """Returns every command by its words, without old names."""
    by_words = {}

    def walk(command: object, words: tuple[str, ...]) -> None:
        inner = getattr(command, "commands", None)
        if inner is None:
            by_words[" ".join(words)] = command
        for name, one in (inner or {}).items():
            if not one.hidden:
                walk(one, (*words, name))

    walk(typer.main.get_command(app), ())
    return by_words


def resolved(line: str) -> tuple[str, list[str]]:
    """Returns a line's command and arguments, without output redirection and comments."""
    words = shlex.split(re.split(r" # ?", line)[0])
    words = words[: next((index for index, word in enumerate(words) if word == "|" or word.startswith(">")), None)]
    matches = [name for name in commands() if words[: len(name.split())] == name.split()]
    assert matches, f"no such command: {line}"
    name = max(matches, key=len)
    return name, words[len(name.split()) :]
