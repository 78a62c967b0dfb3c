"""Tests the training of sentiment classifiers: the recipe, the learning, and stopped trainings."""

import hashlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from helpers.labelled_texts import write_texts

from catsofa.scoring import models
from catsofa.scoring.compare.baselines import classifier
from catsofa.scoring.sentiment import texts
from catsofa.scoring.sentiment.training import Recipe, Training, train

QUICK: dict[str, Any] = {"epochs": 3, "batch": 40, "learning_rate": 2e-3}


def _hashes(folder: Path) -> dict[str, str]:
    """Returns the hash of every file of a finished classifier."""
    files = [file for file in folder.rglob("*") if file.is_file()]
    return {str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


def test_the_defaults_are_the_papers_recipe() -> None:
    """Nadeem et al. 2020: 7 epochs, 256 tokens, batches of 32 texts, Adam (no weight decay) at 1e-4."""
    recipe = Recipe()
    assert (recipe.epochs, recipe.max_length, recipe.batch, recipe.learning_rate) == (7, 256, 32, 1e-4)
    assert recipe.weight_decay == 0


@pytest.mark.parametrize("name", ["bert", pytest.param("roberta", marks=pytest.mark.slow)])
def test_a_classifier_learns_a_planted_sentiment(learner: Callable[[str], Path], tmp_path: Path, name: str) -> None:
    """If one word decides the class, over 90 % of the held-out texts are right, and transformers loads the folder."""
    dataset = texts.read(write_texts(tmp_path / "t.jsonl", 900))
    base = models.load(str(learner(name)), device="cpu")
    about = train(base, dataset, tmp_path / "out", Recipe(**QUICK | {"epochs": 6}))
    assert about["epochs"][-1]["accuracy"] > 0.9
    assert about["epochs"][-1]["texts"] == int(dataset.held_out.sum())
    assert about["commonest_class"] < 0.7
    assert (about["settings"]["model"], about["settings"]["texts"]) == (base.digest, dataset.digest())
    good, bad = classifier(str(tmp_path / "out"))(["The baker was kind.", "The gardener was asleep."])
    assert good["positive"] > 0.5 > bad["positive"]
    assert not (tmp_path / "out" / "training").exists()


def test_a_training_that_was_stopped_comes_to_the_same_classifier(learner: Callable[..., Path], tmp_path: Path) -> None:
    """A training stopped twice between saved states, with dropout and a new head, has the same files to the last
    bit."""
    dataset, recipe = texts.read(write_texts(tmp_path / "t.jsonl", 300)), Recipe(**QUICK | {"epochs": 2})

    def training() -> Training:
        return Training(models.load(str(learner("bert", 0.1)), device="cpu"), dataset, tmp_path / "b", recipe, 3)

    for steps, first in ((5, 1), (6, 4)):
        began = training().steps()
        assert next(islice(began, steps - 1, None)).number == first + steps - 1
        began.close()
    for out in ("a", "b"):
        train(models.load(str(learner("bert", 0.1)), device="cpu"), dataset, tmp_path / out, recipe, save_every=3)
    assert _hashes(tmp_path / "a") == _hashes(tmp_path / "b") != {}


def test_other_texts_or_another_recipe_are_not_mixed_into_a_classifier(
    learner: Callable[[str], Path], tmp_path: Path
) -> None:
    """A finished folder accepts the same training without a step, and refuses another one with the difference."""
    dataset, recipe = texts.read(write_texts(tmp_path / "t.jsonl", 200)), Recipe(**QUICK | {"epochs": 1})
    model = models.load(str(learner("bert")), device="cpu")
    about = train(model, dataset, tmp_path / "out", recipe)
    before = _hashes(tmp_path / "out")
    assert train(model, dataset, tmp_path / "out", recipe) == about
    assert _hashes(tmp_path / "out") == before
    with pytest.raises(ValueError, match=r"classifier.*recipe\.seed: 0 → 1"):
        train(model, dataset, tmp_path / "out", Recipe(**QUICK | {"epochs": 1, "seed": 1}))
    other = texts.read(write_texts(tmp_path / "o.jsonl", 200, seed=1))
    with pytest.raises(ValueError, match=r"classifier.*texts: "):
        train(model, other, tmp_path / "out", recipe)


def test_a_causal_model_is_refused(learner: Callable[[str], Path], tmp_path: Path) -> None:
    """The error names the model, its kind, and the kinds of models that fit."""
    dataset = texts.read(write_texts(tmp_path / "t.jsonl", 100))
    with pytest.raises(ValueError, match=r"causal.*masked.*encoder"):
        train(models.load(str(learner("gpt2")), device="cpu"), dataset, tmp_path / "out")


@pytest.mark.slow
def test_killed_at_any_instant_it_ends_as_if_undisturbed(learner: Callable[..., Path], tmp_path: Path) -> None:
    """After SIGKILL of the real command at its first steps and later, and one complete run, the files have the same
    bytes."""
    write_texts(tmp_path / "t.jsonl", 400)
    program = str(Path(sys.executable).with_name("catsofa"))
    options = ["--epochs", "3", "--batch", "20", "--lr", "1e-3", "--save-every", "4", "--device", "cpu"]

    def run(out: str) -> "subprocess.Popen[bytes]":
        command = [program, "sentiment", "train", str(learner("bert", 0.1)), "--on", "t.jsonl", "--out", out, *options]
        environment = os.environ | {"OMP_NUM_THREADS": "1"}
        return subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    assert run("undisturbed").wait(300) == 0
    log, kills = tmp_path / "killed" / "training" / "log.jsonl", 0
    for wait in (0.0, 0.2, 0.4):
        process = run("killed")
        size = log.stat().st_size if log.exists() else 0
        while process.poll() is None and not (log.exists() and log.stat().st_size > size):
            time.sleep(0.02)
        time.sleep(wait)
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
            kills += 1
        process.wait()
    assert kills
    assert run("killed").wait(300) == 0
    assert _hashes(tmp_path / "undisturbed") == _hashes(tmp_path / "killed")
