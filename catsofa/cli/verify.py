"""The command that checks stores against their checksums."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from catsofa.cli.terminal import Json, Quiet, doing, examples, print_json, say

if TYPE_CHECKING:
    from catsofa.data.verify.verdicts import Verdict


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        epilog=examples(
            "catsofa verify runs/gpt2",
            "catsofa verify runs release --json",
            "catsofa verify runs/gpt2/report.json",
        )
    )(verify)


def verify(
    paths: Annotated[list[Path], typer.Argument(help="Stores to check, or folders that hold some.")],
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Check runs, reports, releases, probe shards and fetched sets against the checksums written with them.

    Exit code 0: everything is all right. 1: something is wrong, and each file is named. 2: nothing could be checked.
    """
    from catsofa.verify import verify as verdicts

    doing("checking")
    found = []
    for verdict in verdicts(paths):
        found.append(verdict)
        if not json:
            show(verdict, quiet)
    if json:
        print_json([verdict.to_dict() for verdict in found])
    if not all(verdict.right for verdict in found):
        raise typer.Exit(1)


def show(verdict: "Verdict", quiet: bool) -> None:
    """Print a verdict for people."""
    if verdict.right and verdict.checked:
        found = "no fault in what could be checked" if verdict.unchecked else "all right"
        say(f"{verdict.path}: {verdict.kind}, {found}: {', '.join(verdict.checked)}", quiet=quiet)
    for fault in verdict.faults:
        say(f"{fault.path}: {verdict.kind}, wrong: {fault.wrong}")
    for part in verdict.unchecked:
        say(f"{verdict.path}: {verdict.kind}, not checked: {part}", quiet=quiet)
