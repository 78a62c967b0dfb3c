"""Tests of the callback for the Trainer of transformers, in real trainings of a tiny network."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from helpers.tiny_models import BUILDERS

from catsofa.data.records import Pair
from catsofa.integrations.trainer import StereotypeCallback
from catsofa.scoring.evaluate import evaluate
from catsofa.scoring.results import Report

PAIRS = [
    Pair(id=str(number), more=more, less=less, bias_type="invented", direction="stereo")
    for number, (more, less) in enumerate(
        [("Zorbs are tidy.", "Blickets are tidy."), ("Zorbs hum.", "Blickets hum."), ("Zorbs sing.", "Zorbs work.")]
    )
]
TEXTS = ["Zorbs are tidy.", "Zorbs hum all day.", "Blickets sing.", "The zorb next door works."] * 2


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns the folder of a tiny GPT-2 with random weights."""
    folder = tmp_path_factory.mktemp("tiny") / "gpt2"
    BUILDERS["gpt2"](folder)
    return folder


@pytest.fixture
def trainer(tiny: Path, tmp_path: Path) -> Callable[..., Any]:
    """Returns a function that makes a Trainer of four steps, with an evaluation after every second step."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, Trainer, TrainingArguments

    def made(*callbacks: Any, **more: Any) -> Any:
        tokenizer = AutoTokenizer.from_pretrained(tiny)
        rows = [{"input_ids": ids, "labels": ids} for ids in (tokenizer(text)["input_ids"] for text in TEXTS)]
        arguments = TrainingArguments(
            output_dir=str(tmp_path / "out"), per_device_train_batch_size=1, per_device_eval_batch_size=1, max_steps=4,
            eval_strategy="steps", eval_steps=2, save_strategy="steps", save_steps=2, report_to=[], use_cpu=True,
            learning_rate=1e-2, seed=3, disable_tqdm=True, load_best_model_at_end=bool(more), **more,
        )  # fmt: skip
        torch.manual_seed(0)
        model = AutoModelForCausalLM.from_pretrained(tiny)
        return Trainer(
            model=model, args=arguments, train_dataset=rows, eval_dataset=rows[:2], processing_class=tokenizer,
            data_collator=lambda batch: {name: torch.tensor([row[name] for row in batch]) for name in batch[0]},
            callbacks=list(callbacks),
        )  # fmt: skip

    return made


def test_each_evaluation_has_the_numbers_of_the_network_at_that_step(trainer: Callable[..., Any]) -> None:
    """The last numbers are those of the trained network; the log gets each report once, with its step."""
    logged: list[tuple[int | None, Report]] = []
    callback = StereotypeCallback(PAIRS, log=[lambda report, *, step=None: logged.append((step, report))])
    done = trainer(callback)
    done.train()
    assert [step for step, _ in logged] == [2, 4]
    after = evaluate((done.model, done.processing_class), PAIRS)
    assert logged[-1][1].results == after.results
    assert callback.reports[4].signature == after.signature
    rows = [row for row in done.state.log_history if "eval_catsofa_crows_pairs_score" in row]
    assert [row["step"] for row in rows] == [2, 4]
    assert rows[-1]["eval_catsofa_crows_pairs_score"] == after.results.overall.score.value
    assert "eval_catsofa_crows_pairs_score" in done.evaluate()


def test_training_ends_with_the_same_weights_as_without_the_callback(trainer: Callable[..., Any]) -> None:
    """The network stays in training mode, and no random number is drawn."""
    trained = []
    for callbacks in ([], [StereotypeCallback(PAIRS)]):
        done = trainer(*callbacks)  # the Trainer sets the seed when it is made
        done.train()
        trained.append([weight.detach().clone() for weight in done.model.parameters()])
    assert all(one.equal(other) for one, other in zip(*trained, strict=True))


def test_a_number_of_the_callback_can_choose_the_best_checkpoint(trainer: Callable[..., Any]) -> None:
    """`metric_for_best_model` names the number like any metric of an evaluation."""
    done = trainer(
        StereotypeCallback(PAIRS), metric_for_best_model="catsofa_crows_pairs_score", greater_is_better=False
    )
    done.train()
    scores = [
        row["eval_catsofa_crows_pairs_score"]
        for row in done.state.log_history
        if "eval_catsofa_crows_pairs_score" in row
    ]
    assert done.state.best_metric == min(scores)


def test_what_could_not_be_measured_is_refused_before_the_training(trainer: Callable[..., Any]) -> None:
    """Missing data and a Trainer without a tokenizer are refused."""
    with pytest.raises(ValueError, match="no such file"):
        StereotypeCallback("nowhere.jsonl")
    done = trainer(StereotypeCallback(PAIRS))
    done.callback_handler.processing_class = None
    with pytest.raises(ValueError, match="no tokenizer"):
        done.train()
