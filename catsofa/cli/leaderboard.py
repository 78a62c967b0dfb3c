"""The command that keeps a leaderboard."""

from pathlib import Path
from typing import Annotated

import typer

from catsofa.cli.data import local
from catsofa.cli.terminal import DATA, Json, Quiet, examples, note, print_json, progress, say, table


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        epilog=examples(
            "catsofa leaderboard board --on withheld/test.json",
            "catsofa leaderboard board --on withheld/test.json --protocol stereoset-code --json",
        )
    )(leaderboard)


def leaderboard(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder with submissions/NAME.json for each model.")],
    on: Annotated[str, typer.Option(metavar=DATA, help="The withheld split, which must not lie in DIR.")],
    protocol: Annotated[
        str, typer.Option(help="How ties and averages are made: `catsofa protocols list`.")
    ] = "catsofa",
    seed: Annotated[int | None, typer.Option(help="Of the resamples; the protocol's own if not given.")] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Score submitted StereoSet predictions against a withheld split: a history that only grows, and a static page."""
    from catsofa.share.leaderboard import PAGE, update

    found = update(
        folder,
        local(on),
        protocol=protocol,
        seed=seed,
        watch=lambda files: progress(files, "submissions", quiet=quiet or json),
    )
    if json:
        print_json(found)
        return
    for entry in found:
        if entry["refused"]:
            note(f"refused: {entry['name']} ({entry['at'][:10]}): {entry['refused']}", quiet=quiet)
    counted = [entry for entry in found if not entry["refused"]]
    rows = [
        [e["name"], e["at"][:10], *(f"{e['results']['both'][m]:.1f}" for m in ("lms", "ss", "icat"))] for e in counted
    ]
    if not quiet:
        table(f"{len(counted):,} of {len(found):,} submissions count", ["name", "submitted", "lms", "ss", "icat"], rows)
    say(str(folder / PAGE), quiet=quiet)
