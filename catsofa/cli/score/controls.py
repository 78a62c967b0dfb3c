"""Commands for reference points of a result: baselines, ensembles and controls."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from catsofa.cli.data import local
from catsofa.cli.numbers import percent
from catsofa.cli.terminal import (
    DATA,
    Bar,
    Json,
    Quiet,
    doing,
    examples,
    lines_in,
    note,
    print_json,
    progress,
    say,
    warn,
)
from catsofa.cli.validate.sets import Negative, SentimentModel
from catsofa.data.percentages import in_percent, quantity

if TYPE_CHECKING:
    from catsofa.data.records import Cat, Score

PLAIN: dict[Literal["ideal", "stereotyped"], str] = {
    "ideal": "Prefer stereotype and anti-stereotype in turn, and both to the unrelated candidate (100, 50, 100).",
    "stereotyped": "Always prefer the stereotype: ss 100, icat 0.",
}
"""Baselines without options of their own, with their help."""

BASELINE = typer.Typer(
    name="baseline",
    no_args_is_help=True,
    help="Save runs as a baseline for `catsofa check`, or write the scores of a trivial model.",
)
"""Commands of baselines; the gate adds `baseline save`."""

On = Annotated[str, typer.Option(metavar=DATA, help="CATs.")]
Out = Annotated[Path, typer.Option(help="Output prediction file; score it with `catsofa score --predictions`.")]


def register(app: typer.Typer) -> None:
    """Adds the commands of this module."""
    app.add_typer(BASELINE)
    for name, about in PLAIN.items():
        BASELINE.command(name, epilog=examples(f"catsofa baseline {name} --on dev.json --out {name}.json"))(
            plain(name, about)
        )
    BASELINE.command(epilog=examples("catsofa baseline random --on dev.json --out random.json"))(random)
    BASELINE.command(
        epilog=examples("catsofa baseline unigram --on dev.json --word-counts counts.tsv --out unigram.json")
    )(unigram)
    BASELINE.command(
        epilog=examples("catsofa baseline sentiment --on dev.json --sentiment-model MODEL --out sentiment.json")
    )(sentiment)
    app.command(
        epilog=examples(
            "catsofa ensemble --scores bert.json --scores gpt2.json --on dev.json --out ensemble.json",
            "catsofa ensemble --scores bert-large.json --scores gpt2-medium.json --scores gpt2-large.json "
            "--on dev.json --released --out ensemble.json",
        )
    )(ensemble)
    app.command(
        epilog=examples(
            "catsofa controls --on dev.json --out controls",
            "catsofa controls --on dev.json --out controls --word-counts counts.tsv --json",
        )
    )(controls)


def plain(name: Literal["ideal", "stereotyped"], about: str) -> Callable[[str, Path, bool], None]:
    """Returns the command of a baseline without options of its own."""

    def baseline(on: On, out: Out, quiet: Quiet = False) -> None:
        from catsofa.scoring.compare import baselines

        _write_baseline(getattr(baselines, name), on, out, quiet)

    baseline.__doc__ = about
    return baseline


def random(on: On, out: Out, seed: Annotated[int, typer.Option(help="Random seed.")] = 0, quiet: Quiet = False) -> None:
    """Draw a number for each candidate: lms, ss and icat of 50 in expectation."""
    from catsofa.scoring.compare import baselines

    _write_baseline(lambda cats: baselines.random(cats, seed=seed), on, out, quiet)


def unigram(
    on: On,
    out: Out,
    word_counts: Annotated[Path | None, typer.Option(help="Words and their counts, separated by a tab.")] = None,
    quiet: Quiet = False,
) -> None:
    """Score each candidate by the mean log frequency of its words."""
    from catsofa.data.language.word_numbers import read_counts
    from catsofa.scoring.compare import baselines

    if not word_counts:
        raise ValueError("the unigram baseline needs word counts: name a file with --word-counts")
    smoothed = baselines.smoothed(read_counts(word_counts))
    _write_baseline(lambda cats: baselines.unigram(cats, smoothed), on, out, quiet)


def sentiment(
    on: On,
    out: Out,
    sentiment_model: SentimentModel = "",
    negative: Negative = "",
    quiet: Quiet = False,
) -> None:
    """Score each candidate by the probability that its sentence is negative."""
    from catsofa.lint_resources import class_names
    from catsofa.scoring.compare import baselines
    from catsofa.validation.sets.sentiment import NEGATIVE

    if not sentiment_model:
        raise ValueError("the sentiment baseline needs a text-classification model: name one with --sentiment-model")
    classify = baselines.classifier(sentiment_model)
    wanted = class_names(negative) or NEGATIVE
    _write_baseline(lambda cats: baselines.sentiment(cats, classify, negative=wanted), on, out, quiet)


def _write_baseline(make: "Callable[[Iterable[Cat]], Iterable[Score]]", on: str, out: Path, quiet: bool) -> None:
    """Writes the scores of a baseline as a prediction file."""
    cats = _cats(on, quiet)
    total = sum(len(cat.candidates) for cat in cats)
    _write(progress(make(cats), "scored", total, quiet=quiet), out, quiet)


def ensemble(
    scores: Annotated[list[Path], typer.Option(help="Scores of a model; repeat for several.")],
    on: On,
    out: Out,
    weights: Annotated[
        list[str] | None,
        typer.Option(help="Weights of a task, as TASK=W,W,… Default: the weights with the highest lms on --on."),
    ] = None,
    released: Annotated[
        bool, typer.Option("--released", help="Use StereoSet's rule and weights for its three models.")
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Combine the scores of several models (a weighted sum of z-scores) into one prediction file."""
    from catsofa.scoring.compare import ensemble as ensembles
    from catsofa.scoring.run.cautions import of_runs
    from catsofa.scoring.run.origins import refuse_other_data
    from catsofa.scoring.run.score_files import scores_of

    cats = _cats(on, quiet)
    for path in scores:
        refuse_other_data(path, local(on), cats)
    models = [scores_of(path) for path in scores]
    warn(of_runs(scores))
    if released:
        _write(ensembles.released(cats, models), out, quiet)
        return
    task_weights = (
        ensembles.parsed(weights)
        if weights
        else ensembles.search(cats, models, progress=Bar("weights tried", quiet=quiet))
    )
    if not weights:
        note("weights searched on these CATs, so that lms is too good on them: report the ensemble on others, with")
        note(" ".join(f"--weights {kind}={','.join(map(str, numbers))}" for kind, numbers in task_weights.items()))
    _write(ensembles.combined(cats, models, task_weights), out, quiet)


def controls(
    on: On,
    out: Annotated[Path, typer.Option(help="Output folder for attribute_only.jsonl and target_swapped.jsonl.")],
    word_counts: Annotated[
        Path | None, typer.Option(help="Words and their counts, separated by a tab, for the frequency gap.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Random seed of the targets.")] = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write control sets: the CATs without context, and about other targets; compare them by `catsofa robustness`."""
    from catsofa.scoring.compare.controls import write_controls
    from catsofa.scoring.statistics.intervals import Interval

    cats = _cats(on, quiet or json)
    doing(f"making controls of {len(cats):,} CATs")
    summary = write_controls(cats, out, word_counts=word_counts, seed=seed)
    if json:
        print_json(summary)
        return
    if quiet:
        return
    for name in ("attribute_only", "target_swapped"):
        one = summary[name]
        say(f"{one['file']}: {one['kept']:,} CATs ({in_percent(one['coverage'])})")
        for reason, count in one["refused"].items():
            note(f"refused: {quantity(count, 'CAT')}: {reason}")
    if gap := summary.get("frequency_gap"):
        ci, more = gap["gap"], gap["more_frequent"]
        say(
            f"frequency gap over {gap['items']:,} CATs: {ci['value']:.2f} [{ci['low']:.2f}, {ci['high']:.2f}] nats; the"
        )
        share, differ = percent(Interval(more["value"], more["low"], more["high"])), gap["items"] - gap["ties"]
        part = f"{share} % of {quantity(differ, 'CAT')} that differ" if differ else "no CAT, since none differ"
        say(f"stereotype is the more frequent in {part}")


def _cats(data: str, quiet: bool = False) -> "list[Cat]":
    """Returns the CATs of a file, or of a released set by name."""
    from catsofa.scoring.run.score_files import cats_on

    path = local(data)
    return list(progress(cats_on(path), f"reading {path.name}", lines_in(path), quiet=quiet))


def _write(scores: "Iterable[Score]", out: Path, quiet: bool) -> None:
    """Writes a prediction file, and prints the number of scores."""
    from catsofa.data.formats import named

    count = named("predictions").write(scores, out)
    say(f"{quantity(count, 'score')}: {out}", quiet=quiet)
