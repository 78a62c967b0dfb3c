"""The command that writes the scores of a run as a file."""

from pathlib import Path
from typing import Annotated

import typer

from catsofa.cli.terminal import Quiet, examples, note, show_json
from catsofa.data.percentages import quantity


def register(app: typer.Typer) -> None:
    """Adds the command of this module."""
    app.command(
        epilog=examples(
            "catsofa export runs/gpt2 --format stereoset > predictions.json",
            "catsofa export runs/gpt2 --format jsonl --out scores.jsonl",
        )
    )(export)


def export(
    run: Annotated[Path, typer.Argument(help="Folder that `catsofa score --out` wrote.")],
    as_format: Annotated[str, typer.Option("--format", help="Format: stereoset or jsonl.")] = "stereoset",
    out: Annotated[Path | None, typer.Option(help="Output file. Default: print.")] = None,
    logarithms: Annotated[
        bool, typer.Option("--log", help="Write log-probabilities instead of probabilities.")
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Export the scores of a run: a prediction file for StereoSet's evaluation, or one record per line."""
    from tempfile import TemporaryDirectory

    from catsofa.scoring.run.cautions import of_runs
    from catsofa.scoring.run.export import export as write

    with TemporaryDirectory() as folder:
        target = out or Path(folder) / f"scores.{as_format}"
        count = write(run, target, as_format=as_format, logarithms=logarithms)
        if out is None:
            show_json(target.read_text(encoding="utf-8"))
    for sentence in of_runs([run]):
        note(f"warning: {sentence}")
    note(quantity(count, "score"), quiet=quiet or out is None)
