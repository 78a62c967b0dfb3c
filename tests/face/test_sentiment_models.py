"""Tests that every command with a sentiment classifier loads it in one place, which refuses unsuitable models."""

import json
from pathlib import Path

import pytest
from helpers.labelled_texts import planted_rows
from helpers.next_heads import quick_learner
from helpers.records import a_cat
from helpers.tiny_models import BUILDERS
from typer.testing import CliRunner

from catsofa.cli import app
from catsofa.data.files import csv_files, jsonl
from catsofa.lint_resources import classifier

COMMANDS: dict[str, tuple[str, ...]] = {
    "baseline": ("baseline", "sentiment", "--out", "p.json", "--on", "z.jsonl", "--sentiment-model"),
    "stats": ("validate", "stats", "z.jsonl", "--negative", "LABEL_0", "--sentiment-model"),
    "lint": ("validate", "lint", "z.jsonl", "--select", "L18", "--negative", "LABEL_0", "--sentiment-model"),
    "report": ("report", "z.jsonl", "--out", "r.html", "--negative", "LABEL_0", "--sentiment-model"),
}


@pytest.fixture
def cats(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Changes into a folder with two CATs."""
    monkeypatch.chdir(tmp_path)
    jsonl.write([a_cat(), a_cat("A zorb is BLANK.", id="two")], tmp_path / "z.jsonl")


def head(folder: Path, *labels: str) -> Path:
    """Writes a tiny classifier with these classes and a saved head."""
    import transformers

    folder.mkdir()
    (folder / "vocab.txt").write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "zorb"]))
    names = {"id2label": dict(enumerate(labels)), "label2id": {label: n for n, label in enumerate(labels)}}
    sizes = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1, "intermediate_size": 8}
    transformers.BertForSequenceClassification(transformers.BertConfig(vocab_size=7, **sizes, **names)).save_pretrained(
        folder
    )
    transformers.BertTokenizerFast(vocab=str(folder / "vocab.txt")).save_pretrained(folder)
    return folder


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.usefixtures("cats")
def test_an_untrained_classifier_is_refused_by_every_command(command: str, tmp_path: Path) -> None:
    """A language model has no classification head; transformers would silently draw a random one."""
    (tmp_path / "bert").mkdir()
    BUILDERS["bert"](tmp_path / "bert")
    done = CliRunner().invoke(app, [*COMMANDS[command], "bert"])
    assert isinstance(done.exception, ValueError)
    assert "is not trained" in str(done.exception)


def test_a_classifier_names_the_most_probable_class(tmp_path: Path) -> None:
    """Each text gets one of the two classes; an unknown class named negative is refused, whatever the texts."""
    model = str(head(tmp_path / "two", "gloomy", "sunny"))
    assert set(classifier(model, ["gloomy"])(["the zorb", "zorb the zorb"])) <= {"gloomy", "sunny"}
    with pytest.raises(ValueError, match=r"bad.*--negative.*gloomy"):
        classifier(model, ["bad"])(["the zorb"])


def test_a_model_with_one_output_is_refused(tmp_path: Path) -> None:
    """A regression head gives every text the same class."""
    with pytest.raises(ValueError, match="no classes"):
        classifier(str(head(tmp_path / "one", "LABEL_0")))


@pytest.mark.parametrize("classes", [("rude", "kind"), ("0", "1")])
def test_the_table_is_made_with_a_classifier_that_was_trained_here(
    classes: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stereotypes say asleep and anti-stereotypes happy: 0 % and 100 % positive, with named or numbered classes."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "base").mkdir()
    BUILDERS["bert"](tmp_path / "base")
    quick_learner(tmp_path / "base", tmp_path / "bert", 0.0)
    names = {"negative": classes[0], "positive": classes[1]}
    csv_files.write(
        ({"text": text, "label": names[label]} for text, label in planted_rows(900)),
        tmp_path / "t.csv",
        ["text", "label"],
    )
    quick = ["--epochs", "6", "--batch", "40", "--lr", "2e-3", "--device", "cpu"]
    training = CliRunner().invoke(app, ["sentiment", "train", "bert", "--on", "t.csv", "--out", "made", *quick])
    assert training.exit_code == 0, training.output
    shown = ["LABEL_0", "LABEL_1"] if classes[0] == "0" else sorted(classes)
    assert f"say which of {', '.join(shown)} is negative (--negative)" in training.output
    jsonl.write([a_cat(f"The {job} was BLANK.", "asleep", "happy", id=job) for job in ("baker", "gardener")], "z.jsonl")
    negative = "LABEL_0" if classes[0] == "0" else classes[0]
    command = ["validate", "stats", "z.jsonl", "--sentiment-model", "made", "--negative", negative, "--json"]
    table = json.loads(CliRunner().invoke(app, command).stdout)["sentiment"]
    assert {side: share["positive"] for side, share in table.items()} == {"stereotype": 0.0, "anti-stereotype": 1.0}


@pytest.mark.usefixtures("cats")
def test_the_baseline_takes_its_old_option_names_with_a_note(tmp_path: Path) -> None:
    """--model and --label name the classifier and its negative class; the scores are those of the new names."""
    model, command = str(head(tmp_path / "two", "gloomy", "sunny")), ["baseline", "sentiment", "--on", "z.jsonl"]
    old = CliRunner().invoke(app, [*command, "--model", model, "--label=gloomy", "--out", "old.json"])
    new = CliRunner().invoke(app, [*command, "--sentiment-model", model, "--negative", "gloomy", "--out", "new.json"])
    assert (old.exit_code, new.exit_code) == (0, 0), (old.output, new.output)
    assert Path("old.json").read_bytes() == Path("new.json").read_bytes()
    assert "--model is now --sentiment-model" in old.stderr
    assert "--label is now --negative" in old.stderr
