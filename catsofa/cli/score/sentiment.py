"""The command that trains a sentiment classifier for the tables of sentiment."""

from pathlib import Path
from typing import Annotated

import typer

from catsofa.cli.options import Accumulation, Device, LearningRate, Precision, SaveEvery, TrainedIn
from catsofa.cli.terminal import Bar, Quiet, examples, note, say
from catsofa.data.percentages import in_percent, quantity


def register(app: typer.Typer) -> None:
    """Adds the command of this module."""
    sentiment = typer.Typer(
        name="sentiment", no_args_is_help=True, help="Train a sentiment classifier, for tables of sentiment."
    )
    sentiment.command(
        epilog=examples(
            "catsofa sentiment train bert-base-uncased --on imdb --out bert-imdb",
            "catsofa sentiment train roberta-base --on reviews.csv --out roberta-reviews --epochs 2 --lr 2e-5",
            "catsofa validate stats cats.jsonl --sentiment-model bert-imdb",
        )
    )(train)
    app.add_typer(sentiment)


def train(
    model: Annotated[str, typer.Argument(help="Masked model or encoder: a folder or a hub id.")],
    on: Annotated[
        Path,
        typer.Option(
            help="Texts with the columns text and label (CSV, TSV, JSON lines, Parquet). A file, a tenth held out, or "
            "a folder with files train… and test…."
        ),
    ],
    out: TrainedIn,
    epochs: Annotated[int, typer.Option(min=1, help="Passes over the reviews.")] = 7,
    learning_rate: LearningRate = 1e-4,
    batch: Annotated[int, typer.Option(min=1, help="Texts per step.")] = 32,
    accumulation: Accumulation = 1,
    max_length: Annotated[int, typer.Option(min=8, help="Most tokens in a text; a longer one is cut.")] = 256,
    precision: Precision = "auto",
    save_every: SaveEvery = 500,
    seed: Annotated[int, typer.Option(min=0, help="Random seed.")] = 0,
    device: Device = None,
    quiet: Quiet = False,
) -> None:
    """Fine-tune a sentiment classifier with StereoSet's recipe. A stopped training resumes to the same result.

    The folder is a text-classification model of transformers: --sentiment-model of other commands takes it.
    """
    from catsofa.scoring import models
    from catsofa.scoring.sentiment import texts, training
    from catsofa.validation.sets.sentiment import KNOWN

    recipe = training.Recipe(
        epochs=epochs,
        learning_rate=learning_rate,
        batch=batch,
        accumulation=accumulation,
        max_length=max_length,
        precision=precision,
        seed=seed,
    )
    labelled_texts, bar = texts.read(on), Bar("trained", quiet=quiet)
    about = training.train(
        models.load(model, device=device), labelled_texts, out, recipe, save_every=save_every, progress=bar
    )
    for epoch in about["epochs"]:
        say(
            f"epoch {epoch['epoch']}: {in_percent(epoch['accuracy'])} of {epoch['texts']:,} held-out texts", quiet=quiet
        )
    say(f"{out}: a classifier for --sentiment-model; its classes are {', '.join(about['classes'])}", quiet=quiet)
    if about["epochs"][-1]["accuracy"] <= about["commonest_class"]:
        note(
            f"the classifier is no better than the commonest class alone ({in_percent(about['commonest_class'])}); "
            "train it longer, or with another learning rate, in a new folder"
        )
    if copies := about["held_out_texts_trained_on"]:
        note(f"{quantity(copies, 'held-out text')} also in the training set", quiet=quiet)
    if unknown := [name for name in about["classes"] if name.lower() not in KNOWN]:
        note(f"say which of {', '.join(unknown)} is negative (--negative), where you use the classifier", quiet=quiet)
