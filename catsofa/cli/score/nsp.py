"""Commands for next-sentence heads: train a head, check it, score the continuations of contexts."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from catsofa.cli.data import local
from catsofa.cli.options import Accumulation, Device, LearningRate, Precision, SaveEvery, TrainedIn
from catsofa.cli.terminal import DATA, Bar, Json, Quiet, doing, examples, print_json, progress, say
from catsofa.data.percentages import in_percent

if TYPE_CHECKING:
    from catsofa.scoring.next_sentence import NextSentence

Head = Literal["own", "linear", "mlp"]
Checkpoint = Annotated[Path, typer.Argument(help="Folder that `catsofa nsp train` wrote.")]
Pairs = Annotated[Path | None, typer.Option(help="Pairs, as `catsofa build pairs` writes them: a folder or a file.")]
STRETCH = 100
"""CATs scored between two updates of the progress bar."""


def register(app: typer.Typer) -> None:
    """Adds the commands of this module."""
    nsp = typer.Typer(
        name="nsp", no_args_is_help=True, help="Train and use next-sentence heads, for intersentence CATs."
    )
    nsp.command(
        epilog=examples(
            "catsofa nsp train gpt2 --pairs pairs --out gpt2-nsp",
            "catsofa nsp train roberta-large --pairs pairs --out heads/roberta --batch 80 --accumulation 10",
            "catsofa nsp train bert-base-cased --pairs pairs.jsonl --out tuned --epochs 1 --precision bf16",
        )
    )(train)
    nsp.command(epilog=examples("catsofa nsp check gpt2-nsp", "catsofa nsp check gpt2-nsp --pairs other-pairs --json"))(
        check
    )
    nsp.command(
        epilog=examples(
            "catsofa nsp score gpt2-nsp --on stereoset:dev --out gpt2-intersentence.json",
            "catsofa score --predictions gpt2-intersentence.json --on stereoset:dev",
        )
    )(score)
    app.add_typer(nsp)


def train(
    model: Annotated[str, typer.Argument(help="Model: a folder or a hub id.")],
    pairs: Annotated[Path, typer.Option(help="Pairs, as `catsofa build pairs` writes them: a folder or a file.")],
    out: TrainedIn,
    epochs: Annotated[int, typer.Option(min=1, help="Passes over the pairs.")] = 10,
    learning_rate: LearningRate = 1e-5,
    batch: Annotated[int, typer.Option(min=1, help="Pairs per step.")] = 80,
    accumulation: Accumulation = 1,
    warm_up: Annotated[int, typer.Option(min=0, help="Warm-up steps; at most a tenth of all steps are used.")] = 500,
    max_length: Annotated[int, typer.Option(min=8, help="Most tokens in a pair; the longer sentence is cut.")] = 256,
    head: Annotated[Head | None, typer.Option(help="Kind of head. Default: the model's own, or linear.")] = None,
    precision: Precision = "auto",
    save_every: SaveEvery = 500,
    seed: Annotated[int, typer.Option(min=0, help="Random seed.")] = 0,
    device: Device = None,
    quiet: Quiet = False,
) -> None:
    """Train a next-sentence head with StereoSet's recipe. A stopped training resumes to the same result."""
    from catsofa.data.formats.sentence_pairs import SentencePairs
    from catsofa.scoring import models
    from catsofa.scoring.next_sentence.recipe import Recipe
    from catsofa.scoring.next_sentence.training import train as train_head

    recipe = Recipe(
        epochs=epochs,
        learning_rate=learning_rate,
        batch=batch,
        accumulation=accumulation,
        warm_up=warm_up,
        max_length=max_length,
        head=head,
        precision=precision,
        seed=seed,
    )

    sentence_pairs = SentencePairs(pairs)
    bar = Bar("trained", quiet=quiet)
    done = train_head(
        models.load(model, device=device), sentence_pairs, out, recipe, save_every=save_every, progress=bar
    )
    for epoch in done.about["epochs"]:
        say(
            f"epoch {epoch['epoch']}: {in_percent(epoch['accuracy'])} of {epoch['pairs']:,} held-out pairs", quiet=quiet
        )
    say(f"{out}: class {done.network.next_label} means that the second sentence follows", quiet=quiet)


def check(checkpoint: Checkpoint, pairs: Pairs = None, device: Device = None, json: Json = False) -> None:
    """Measure a head on the pairs that it was saved with, or on held-out pairs: does it know which sentence follows?"""
    from catsofa.data.formats.sentence_pairs import SentencePairs
    from catsofa.scoring import next_sentence
    from catsofa.scoring.next_sentence.direction import accuracy, separation, verdict
    from catsofa.scoring.statistics.intervals import wilson

    head = next_sentence.load(checkpoint, device=device)
    known_pairs = next_sentence.held_out(SentencePairs(pairs)) if pairs else head.known
    doing(f"asking {len(known_pairs):,} pairs")
    scores, follows = head.asked(known_pairs), [answer for *_, answer in known_pairs]
    share, separated = accuracy(scores, follows), separation(scores, follows)
    low, high = wilson(100 * share, len(known_pairs))
    judged = verdict(separated, sum(follows), len(known_pairs) - sum(follows))
    if json:
        result = {"accuracy": share, "low": low / 100, "high": high / 100, "pairs": len(known_pairs)}
        print_json(result | {"next_label": head.network.next_label, "separation": separated, "verdict": judged})
        return
    say(f"{in_percent(share)} of {len(known_pairs):,} pairs right ({low:.1f} to {high:.1f} %, chance is 50)")
    say(f"those that follow score above the others in {in_percent(separated)} of cases: {judged}")


def score(
    checkpoint: Checkpoint,
    on: Annotated[str, typer.Option(metavar=DATA, help="CATs; only intersentence ones are scored.")],
    out: Annotated[Path, typer.Option(help="Output prediction file.")],
    device: Device = None,
    quiet: Quiet = False,
) -> None:
    """Write the log-probability that each candidate follows its context, as a prediction file."""
    from catsofa.data import formats
    from catsofa.data.records import Cat
    from catsofa.scoring import next_sentence

    head: NextSentence = next_sentence.load(checkpoint, device=device)
    cats = [cat for cat in formats.read_as(local(on), Cat) if cat.kind == next_sentence.TASK]
    stretches = [cats[start : start + STRETCH] for start in range(0, len(cats), STRETCH)]
    watched = progress(stretches, f"scored, {STRETCH} CATs at once", quiet=quiet)
    scores = [score for some in watched for score in head.score_cats(some)]
    if not scores:
        raise ValueError(f"{on} holds no intersentence CATs, and a next-sentence head scores no others")
    count = formats.named("predictions").write(scores, out)
    unscored = sum(entry.score is None for entry in scores)
    say(f"{count:,} scores: {out}" + (f"; {unscored:,} could not be read" if unscored else ""), quiet=quiet)
