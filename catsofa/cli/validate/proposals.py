"""The command that shows which proposed associations people confirm."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from catsofa.cli.terminal import Json, Quiet, examples, note, print_json, reading, say, table
from catsofa.cli.validate.sets import say_set_aside, signed

On = Annotated[Path, typer.Argument(help="Associations, as `build candidates` or `build jury` wrote them.")]
Source = Annotated[Path, typer.Option("--on", help="Annotations of a study of the kind judge-associations.")]
Need = Annotated[int, typer.Option(help="Answers `yes` that confirm an association.")]
Of = Annotated[int, typer.Option(help="Judgements to count per association: the first ones.")]
Out = Annotated[Path | None, typer.Option(help="Write the confirmed associations with their votes (JSONL).")]
Refused = Annotated[Path | None, typer.Option(help="Write the other associations, with the reason (JSONL).")]


def register(room: typer.Typer) -> None:
    """Adds the command of this module."""
    room.command(
        epilog=examples(
            "catsofa validate associations judged/associations.jsonl --on study/annotations.jsonl",
            "catsofa validate associations proposed.jsonl --on study/annotations.jsonl --out confirmed.jsonl",
        )
    )(associations)


def associations(
    on: On,
    source: Source,
    need: Need = 2,
    of: Of = 3,
    out: Out = None,
    refused: Refused = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Show which proposed associations people confirm: their share per model, prompt and answer of a jury.

    Answers that do not count are shown with the reason. Exit code 1: no association has all the judgements of --of.
    """
    from catsofa.data import formats
    from catsofa.data.files import jsonl
    from catsofa.data.records import Association
    from catsofa.validation.annotation_files import collect
    from catsofa.validation.decide.proposals import yields
    from catsofa.validation.judgements import Rule

    proposed = list(formats.read_as(on, Association))
    people = collect(reading(source, quiet=quiet or json)).annotations
    rows, review = yields(proposed, people, Rule(need=need, of=of))
    for path, records in ((out, review.kept), (refused, review.refused)):
        if path:
            jsonl.write(records, path)
    result = {"origins": [asdict(row) for row in rows], "set_aside": dict(review.votes.set_aside)}
    report = signed(result, {on: proposed, source: people}, need=need, of=of)
    if json:
        print_json(report)
    elif not quiet:
        columns = ["said by", "proposed", "judged", "confirmed", "share", "low", "high"]
        table("Confirmed by people; 95 % interval over groups", columns, [list(asdict(row).values()) for row in rows])
        say_set_aside(report)
        say(report["signature"]["line"])
    if not any(row.judged for row in rows):
        note(f"no association has all {of} judgements that count", quiet=quiet)
        raise typer.Exit(1)
