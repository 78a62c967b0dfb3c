"""Tests stopped, finished and foreign trainings: the same weights in the end, or a refusal."""

import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from helpers.next_heads import trained_head

from catsofa.data.files import BadInput
from catsofa.data.formats.sentence_pairs import SentencePairs
from catsofa.scoring import models
from catsofa.scoring.next_sentence.network import Network
from catsofa.scoring.next_sentence.recipe import Recipe
from catsofa.scoring.next_sentence.training import Training, train

Tiny = Callable[[str], Path]


def _weights(folder: Path) -> dict[str, str]:
    """Returns the hash of every weight file."""
    files = [*folder.glob("body/*.safetensors"), *folder.glob("*.safetensors")]
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


@pytest.mark.parametrize("head", ["own", "linear"])
def test_a_training_that_was_stopped_comes_to_the_same_weights(
    learner: Callable[..., Path], pairs: Path, tmp_path: Path, head: str
) -> None:
    """A training stopped twice between saved states, with dropout, has the same weights to the last bit."""
    model = learner("bert", 0.1)
    recipe = Recipe(batch=40, learning_rate=1e-3, epochs=2, head=head)  # type: ignore[arg-type]
    undisturbed = train(models.load(str(model), device="cpu"), SentencePairs(pairs), tmp_path / "a", recipe)
    for steps in (5, 9):
        training = Training(models.load(str(model), device="cpu"), SentencePairs(pairs), tmp_path / "b", recipe, 3)
        began = training.steps()
        numbers = [step.number for step in islice(began, steps)]
        began.close()
        assert numbers[0] == {5: 1, 9: 4}[steps], "it goes on after the last state that was saved"
    resumed = train(models.load(str(model), device="cpu"), SentencePairs(pairs), tmp_path / "b", recipe, save_every=3)
    assert _weights(tmp_path / "a") == _weights(tmp_path / "b")
    assert resumed.about == undisturbed.about


def test_a_finished_head_is_loaded_and_not_trained_again(
    learner: Callable[[str], Path], pairs: Path, tmp_path: Path
) -> None:
    """Running the same command again takes no training step."""
    before = trained_head(learner("bert"), pairs, tmp_path / "out", epochs=1)
    stamp = (tmp_path / "out" / "next_sentence.json").stat().st_mtime_ns
    again = trained_head(learner("bert"), pairs, tmp_path / "out", epochs=1)
    assert (tmp_path / "out" / "next_sentence.json").stat().st_mtime_ns == stamp
    assert again.log_probabilities([("A florin sang.", "It rained.")]) == pytest.approx(
        before.log_probabilities([("A florin sang.", "It rained.")]), abs=1e-5
    )


@pytest.mark.parametrize("done", [True, False])
def test_another_recipe_is_not_mixed_into_a_training(
    learner: Callable[[str], Path], pairs: Path, tmp_path: Path, done: bool
) -> None:
    """A changed learning rate is refused with the difference, in a finished and in an unfinished folder."""
    if done:
        trained_head(learner("bert"), pairs, tmp_path / "out", epochs=1)
    else:
        recipe = Recipe(batch=40, learning_rate=1e-3, epochs=1, seed=1)
        training = Training(
            models.load(str(learner("bert")), device="cpu"), SentencePairs(pairs), tmp_path / "out", recipe, 2
        )
        list(islice(training.steps(), 4))
    with pytest.raises(ValueError, match=r"recipe\.learning_rate: 0\.001 → 0\.002"):
        trained_head(learner("bert"), pairs, tmp_path / "out", epochs=1, learning_rate=2e-3)


def test_two_processes_do_not_train_in_one_folder(learner: Callable[[str], Path], pairs: Path, tmp_path: Path) -> None:
    """The second process is refused, and the first continues."""
    recipe = Recipe(batch=40, learning_rate=1e-3, epochs=1)
    first, second = (
        Training(models.load(str(learner("bert")), device="cpu"), SentencePairs(pairs), tmp_path / "out", recipe)
        for _ in range(2)
    )
    steps = first.steps()
    next(steps)
    with pytest.raises(BadInput, match="is writing"):
        next(second.steps())
    assert next(steps).number == 2


def test_a_state_cut_short_is_not_taken_for_a_whole_one(
    learner: Callable[[str], Path], pairs: Path, tmp_path: Path
) -> None:
    """A partly written folder, left by a kill, is deleted; a damaged state is refused by name."""
    recipe = Recipe(batch=40, learning_rate=1e-3, epochs=1)

    def training() -> Training:
        return Training(
            models.load(str(learner("bert")), device="cpu"), SentencePairs(pairs), tmp_path / "out", recipe, 2
        )

    began = training().steps()
    list(islice(began, 5))
    began.close()
    work = tmp_path / "out" / "training"
    (work / ".step-00000006.abc.partial" / "new").mkdir(parents=True)
    (work / ".step-00000006.abc.partial" / "new" / "state.json").write_text('{"step": 6')
    again = training().steps()
    assert next(again).number == 5
    again.close()
    assert sorted(path.name for path in work.iterdir()) == ["log.jsonl", "step-00000004"]
    weights = work / "step-00000004" / "weights.safetensors"
    weights.write_bytes(weights.read_bytes()[:-100])
    with pytest.raises(BadInput, match=r"step-00000004: .*damaged"):
        next(training().steps())


def _answer_by(monkeypatch: pytest.MonkeyPatch, forward: Callable[[Any, list[Any]], Any]) -> None:
    """Makes networks answer a batch with `forward`, which gets the original function and the rows."""
    own = Network.logits
    monkeypatch.setattr(Network, "logits", lambda self, rows: forward(partial(own, self), rows))


def test_too_little_memory_for_a_batch_names_the_parts_that_may_fit(
    learner: Callable[[str], Path], pairs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A device with room for ten pairs refuses forty at once with advice, and accepts them in four parts."""
    import torch

    def small(own: Any, rows: list[Any]) -> Any:
        if len(rows) > 10:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")
        return own(rows)

    _answer_by(monkeypatch, small)
    model = models.load(str(learner("llama")), device="cpu")

    def first(parts: int) -> int:
        recipe = Recipe(batch=40, epochs=1, accumulation=parts)
        return next(Training(model, SentencePairs(pairs), tmp_path / str(parts), recipe, 3).steps()).number

    with pytest.raises(ValueError, match=r"40 pairs.*--accumulation 2\b"):
        first(1)
    assert first(4) == 1


def test_a_loss_that_is_no_number_stops_a_training(
    learner: Callable[[str], Path], pairs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A loss that is not a number stops the training. Saved states are kept, and the error names the settings to
    change."""
    model = models.load(str(learner("llama")), device="cpu")
    training = Training(model, SentencePairs(pairs), tmp_path / "out", Recipe(batch=40, epochs=1), 3)
    steps = training.steps()
    for _ in range(4):
        next(steps)
    with monkeypatch.context() as broken:
        _answer_by(broken, lambda own, rows: own(rows) * float("nan"))
        with pytest.raises(ValueError, match=r"loss.*step 5.*nan"):
            next(steps)
    again = Training(model, SentencePairs(pairs), tmp_path / "out", Recipe(batch=40, epochs=1), 3)
    assert next(again.steps()).number == 4


def _run(folder: Path, model: Path, pairs: Path, out: str) -> "subprocess.Popen[bytes]":
    command = [str(Path(sys.executable).with_name("catsofa")), "nsp", "train", str(model), "--pairs", str(pairs)]
    options = ["--out", out, "--epochs", "3", "--batch", "20", "--lr", "1e-3", "--save-every", "4", "--device", "cpu"]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    return subprocess.Popen(
        [*command, *options], cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


@pytest.mark.slow
def test_killed_at_any_instant_it_ends_as_if_undisturbed(
    learner: Callable[..., Path], pairs: Path, tmp_path: Path
) -> None:
    """After SIGKILL at random moments of the real command, and one complete run, the weights have the same bytes."""
    model = learner("bert", 0.1)
    assert _run(tmp_path, model, pairs, "undisturbed").wait(300) == 0
    rng = random.Random(5)
    kills = 0
    for _ in range(6):
        process = _run(tmp_path, model, pairs, "killed")
        log_file = tmp_path / "killed" / "training" / "log.jsonl"
        before = log_file.stat().st_size if log_file.exists() else 0
        while process.poll() is None and not (log_file.exists() and log_file.stat().st_size > before):
            time.sleep(0.02)
        time.sleep(rng.random() * (0.6 if kills >= 2 else 0.1))  # a fast machine trains for a second
        if process.poll() is not None:
            break
        process.send_signal(signal.SIGKILL)
        process.wait()
        kills += 1
    assert kills >= 2
    process = _run(tmp_path, model, pairs, "killed")
    assert process.wait(300) == 0, process.stderr.read() if process.stderr else ""
    assert _weights(tmp_path / "undisturbed") == _weights(tmp_path / "killed")
    notes = [json.loads((tmp_path / out / "next_sentence.json").read_text()) for out in ("undisturbed", "killed")]
    assert notes[0] == notes[1]
