"""The command that checks stores against their checksums."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from catsofa.cli.terminal import Json, Quiet, doing, examples, note, print_json, say

if TYPE_CHECKING:
    from catsofa.data.verify.verdicts import Verdict


def register(app: typer.Typer) -> None:
    """Adds the command of this module."""
    app.command(
        epilog=examples(
            "catsofa verify runs/gpt2",
            "catsofa verify runs release --json",
            "catsofa verify runs/gpt2/report.json",
        )
    )(verify)


def verify(
    paths: Annotated[list[Path], typer.Argument(help="Stores to check, or folders that hold stores.")],
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Verify stores against their checksums: whether a file changed since catsofa wrote it.

    These are: runs with their scores and report.json, that report.json alone, releases, probe shards, fetched sets,
    stored replies and journals. What `catsofa report` writes (HTML, Markdown, CSV, LaTeX, JSON) has no checksum.

    Every path is checked. Exit code 0: no fault. 1: something is wrong, and each file is named.
    2: nothing is wrong, but a path could not be checked.
    """
    from catsofa.data.verify.verdicts import Verdict
    from catsofa.verify import verify as outcomes

    doing("checking")
    verdicts, refused = [], []
    for outcome in outcomes(paths):
        if not isinstance(outcome, Verdict):
            refused.append(outcome)
            continue
        verdicts.append(outcome)
        if not json:
            show(outcome, quiet)
    if json and (verdicts or not refused):
        print_json([verdict.to_dict() for verdict in verdicts])
    wrong = not all(verdict.right for verdict in verdicts)
    for error in refused if wrong else refused[:-1]:
        note(f"catsofa: {error}")
    if wrong:
        raise typer.Exit(1)
    if refused:
        raise refused[-1]


def show(verdict: "Verdict", quiet: bool) -> None:
    """Prints a verdict."""
    if verdict.right and verdict.checked:
        state = "no fault in what could be checked" if verdict.unchecked else "no fault"
        say(f"{verdict.path}: {verdict.kind}, {state}: {', '.join(verdict.checked)}", quiet=quiet)
    for fault in verdict.faults:
        say(f"{fault.path}: {verdict.kind}, wrong: {fault.wrong}")
    for part in verdict.unchecked:
        say(f"{verdict.path}: {verdict.kind}, not checked: {part}", quiet=quiet)
