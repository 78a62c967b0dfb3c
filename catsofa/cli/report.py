"""Commands that report."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from catsofa.cli.terminal import Quiet, examples, say


def register(app: typer.Typer) -> None:
    """Add this room's commands."""
    app.command(
        epilog=examples(
            "catsofa report runs --out report.html",
            "catsofa report runs/gpt2 runs/bert --out report.html --figures figures",
            "catsofa report runs --out tables.tex --format latex",
        )
    )(report)


def report(
    runs: Annotated[
        list[Path], typer.Argument(metavar="RUN…", help="Folders of `catsofa score --out`, or above them.")
    ],
    out: Annotated[Path, typer.Option(help="The file to write.")],
    form: Annotated[
        Literal["html", "markdown", "csv", "json", "latex"], typer.Option("--format", help="Of the file.")
    ] = "html",
    figures: Annotated[Path | None, typer.Option(help="A folder for the figures as PDF, PNG and SVG.")] = None,
    quiet: Quiet = False,
) -> None:
    """Show finished runs: tables with intervals and signatures, figures, and what each measure cannot show."""
    from catsofa.report import document
    from catsofa.report_formats import write

    found = document(runs)
    write(found, out, form, figures)
    say(f"{out}: {sum(len(section.tables) for section in found.sections)} tables", quiet=quiet)
