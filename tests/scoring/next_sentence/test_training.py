"""Tests the recipe of next-sentence heads, and that a head learns."""

import json
import subprocess
import sys
from collections.abc import Callable
from math import log
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.next_heads import trained_head, write_pairs

from catsofa.scoring import next_sentence
from catsofa.scoring.next_sentence import training
from catsofa.scoring.next_sentence.direction import STORIES
from catsofa.scoring.next_sentence.recipe import Recipe
from catsofa.scoring.training.recipe import Order, rate

Tiny = Callable[[str], Path]


def test_the_defaults_are_the_papers_recipe() -> None:
    """Nadeem et al. 2020, A.4: learning rate 1e-5, 10 epochs, batches of 80 pairs, 256 tokens, warm-up to step 500."""
    recipe = Recipe()
    assert (recipe.learning_rate, recipe.epochs, recipe.batch, recipe.max_length) == (1e-5, 10, 80, 256)
    assert rate(recipe, 499, 1_000_000) == pytest.approx(1e-5)
    assert rate(recipe, 249, 1_000_000) == pytest.approx(0.5e-5)


def test_the_learning_rate_goes_up_and_then_down_to_nothing() -> None:
    """With 100 steps and a warm-up of 10, the rate is a tenth at the first step and full at the tenth. It is half
    midway through the decay."""
    recipe = Recipe(learning_rate=1.0, warm_up=10)
    rates = [rate(recipe, step, 100) for step in range(100)]
    assert rates[0] == pytest.approx(0.1)
    assert rates[9] == rates[10] == 1
    assert rates[55] == 0.5
    assert rates[99] == pytest.approx(1 / 90)
    assert rate(recipe, 0, 5) == 1, "the warm-up is at most a tenth of all steps"


def test_every_epoch_goes_through_all_pairs_in_its_own_order() -> None:
    """103 pairs in batches of 10 give eleven batches, the last of three, with each pair once."""
    order = Order(np.arange(103), Recipe(batch=10, seed=4))
    assert order.per_epoch == 11
    first, second = (np.concatenate([order.batch(epoch * 11 + k) for k in range(11)]) for epoch in (0, 1))
    assert sorted(first) == sorted(second) == list(range(103))
    assert list(first) != list(second)
    assert list(order.batch(3)) == list(first[30:40]), "an earlier batch is the same when it is asked for again"


@pytest.mark.parametrize("bad", [{"epochs": 0}, {"batch": 0}, {"learning_rate": 0}, {"warm_up": -1}])
def test_a_recipe_that_cannot_be_followed_is_refused(bad: Any) -> None:
    """Zero epochs, empty batches, a learning rate of 0 and a negative warm-up are refused."""
    with pytest.raises(ValueError, match=r"at least 1|above 0"):
        Recipe(**bad)


@pytest.mark.parametrize(("name", "head", "speed"), [("bert", "own", 1e-3), ("llama", "linear", 2e-3)])
def test_a_head_learns_which_sentence_follows(
    learner: Callable[[str], Path], tmp_path: Path, name: str, head: str, speed: float
) -> None:
    """If sentences about the same person follow each other, the accuracy on held-out pairs is far above chance. The
    head is loaded offline."""
    pairs = write_pairs(tmp_path / "p.jsonl", 1600, 200)
    trained = trained_head(learner(name), pairs, tmp_path / "out", epochs=5, learning_rate=speed)
    assert trained.network.name == head
    assert trained.network.next_label == (0 if head == "own" else 1)
    assert trained.about["epochs"][-1]["accuracy"] > 0.8
    loaded = next_sentence.load(tmp_path / "out", device="cpu")
    questions = [("My baker is kind.", "The baker sang."), ("My baker is kind.", "The gardener sang.")]
    same, other = loaded.log_probabilities(questions)
    assert same > log(0.5) > other
    assert trained.log_probabilities(questions) == pytest.approx([same, other], abs=1e-5)
    assert not (tmp_path / "out" / "training").exists()


@pytest.mark.slow
@pytest.mark.parametrize(("name", "epochs"), [("gpt2", 8), ("roberta", 10), ("xlnet", 4)])
def test_heads_of_other_architectures_learn_too(
    learner: Callable[[str], Path], tmp_path: Path, name: str, epochs: int
) -> None:
    """A linear head over the mean states of GPT-2, RoBERTa and XLNet learns."""
    pairs = write_pairs(tmp_path / "p.jsonl", 1600, 200)
    trained = trained_head(learner(name), pairs, tmp_path / "out", epochs=epochs, learning_rate=1.5e-3)
    assert trained.about["epochs"][-1]["accuracy"] > 0.7


def test_a_batch_in_parts_is_the_same_batch(learner: Callable[[str], Path], pairs: Path, tmp_path: Path) -> None:
    """Without dropout, four parts of ten pairs give the gradients of one batch of forty, up to rounding."""
    one, four = (
        trained_head(learner("llama"), pairs, tmp_path / str(parts), epochs=1, accumulation=parts, learning_rate=1e-4)
        for parts in (1, 4)
    )
    stories = list(STORIES[:10])
    assert four.log_probabilities(stories) == pytest.approx(one.log_probabilities(stories), abs=2e-3)


def test_half_precision_trains(learner: Callable[[str], Path], pairs: Path, tmp_path: Path) -> None:
    """bf16 is used in the forward pass with fp32 weights; fp16 is refused without a GPU."""
    trained = trained_head(learner("llama"), pairs, tmp_path / "out", epochs=1, head="mlp", precision="bf16")
    assert trained.about["settings"]["precision"] == "bf16"
    assert next(iter(trained.network.parameters().values())).dtype.is_floating_point
    assert str(next(iter(trained.network.parameters().values())).dtype) == "torch.float32"
    with pytest.raises(ValueError, match=r"fp16.*GPUs"):
        trained_head(learner("llama"), pairs, tmp_path / "other", precision="fp16")


def test_the_command_line_trains_checks_and_scores(learner: Callable[[str], Path], pairs: Path, tmp_path: Path) -> None:
    """The commands train, check and score a head; the log-probabilities are written as a prediction file."""
    from typer.testing import CliRunner

    from catsofa.cli import app

    out = tmp_path / "head"
    runner = CliRunner()
    options = ["--out", str(out), "--epochs", "8", "--batch", "40", "--lr", "3e-3", "--device", "cpu"]
    result = runner.invoke(app, ["nsp", "train", str(learner("llama")), "--pairs", str(pairs), *options])
    assert result.exit_code == 0, result.output
    assert "of 100 held-out pairs" in result.output
    assert "class 1 means that the second sentence follows" in result.output
    checked = runner.invoke(app, ["nsp", "check", str(out), "--pairs", str(pairs), "--json"])
    assert set(json.loads(checked.stdout)) == {
        "accuracy",
        "low",
        "high",
        "pairs",
        "next_label",
        "separation",
        "verdict",
    }
    cat = {
        "kind": "intersentence",
        "bias_type": "profession",
        "target": "baker",
        "context": "My baker is kind.",
        "candidates": [
            {"text": "The baker sang.", "label": "stereotype"},
            {"text": "The baker was asleep.", "label": "anti-stereotype"},
            {"text": "The gardener sang.", "label": "unrelated"},
        ],
    }
    (tmp_path / "cats.jsonl").write_text(json.dumps(cat) + "\n")
    scored = runner.invoke(
        app, ["nsp", "score", str(out), "--on", str(tmp_path / "cats.jsonl"), "--out", str(tmp_path / "p.json")]
    )
    assert scored.exit_code == 0, scored.output
    assert len(json.loads((tmp_path / "p.json").read_text())["intersentence"]) == 3


def test_next_training_is_exported_lazily() -> None:
    """Importing the training does not import torch, so that `catsofa --help` stays quick."""
    code = "import sys, catsofa.scoring.next_sentence.training; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
    assert training.WORK == "training"
