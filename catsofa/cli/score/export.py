"""The command that writes the scores of a run as a file."""

from pathlib import Path
from typing import Annotated

import typer

from catsofa.cli.terminal import Quiet, examples, note, show_json
from catsofa.data.percentages import quantity


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        epilog=examples(
            "catsofa export runs/gpt2 --format stereoset > predictions.json",
            "catsofa export runs/gpt2 --format jsonl --out scores.jsonl",
        )
    )(export)


def export(
    run: Annotated[Path, typer.Argument(help="The folder that `catsofa score --out` filled.")],
    as_format: Annotated[str, typer.Option("--format", help="stereoset or jsonl.")] = "stereoset",
    out: Annotated[Path | None, typer.Option(help="The file to write; the terminal if none is named.")] = None,
    logarithms: Annotated[bool, typer.Option("--log", help="Logarithms, not their exponentials.")] = False,
    quiet: Quiet = False,
) -> None:
    """Write every score of a run: a prediction file as StereoSet's evaluation reads it, or one record a line."""
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
