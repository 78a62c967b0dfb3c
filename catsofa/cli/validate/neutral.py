"""The command that shows how people label sentences that were written as neutral."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from catsofa.cli.terminal import Json, Quiet, examples, note, print_json, say, table
from catsofa.cli.validate.inputs import GoldPass, Need, Of, about, collected
from catsofa.cli.validate.sets import say_set_aside, signed
from catsofa.data.percentages import in_percent, quantity, written

if TYPE_CHECKING:
    from catsofa.validation.decide.neutral import Share, Written

Source = Annotated[Path, typer.Option("--on", help="Annotations of a study of the kind validate-neutral.")]


def register(room: typer.Typer) -> None:
    """Adds the command of this module."""
    room.command(
        epilog=examples(
            "catsofa validate neutral --on study/annotations.jsonl",
            "catsofa validate neutral --on study/annotations.jsonl --need 4 --json",
        )
    )(neutral)


def neutral(
    source: Source,
    need: Need = 3,
    of: Of = 5,
    gold_pass: GoldPass = 0.75,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Show how often a sentence written as neutral is labelled neutral, stereotype, anti-stereotype or unrelated.

    The other three sentences of each CAT are shown beside it: the same people label them at the same time.
    Exit code 1: no sentence written as neutral has all its judgements.
    """
    from catsofa.validation.decide.neutral import written_as
    from catsofa.validation.judgements import Rule

    with about(source):
        annotations = collected(source, quiet or json).annotations
        rows, votes = written_as(annotations, Rule(need=need, of=of, gold_pass=gold_pass))
    result = {"written": [asdict(row) for row in rows], "set_aside": dict(votes.set_aside)}
    report = signed(result, {source: annotations}, need=need, of=of)
    if json:
        print_json(report)
    elif not quiet:
        _say_written(rows, of)
        say_set_aside(report)
        say(report["signature"]["line"])
    if not rows[0].items:
        note(f"no sentence written as neutral has all {of} judgements that count", quiet=quiet)
        raise typer.Exit(1)


def _say_written(rows: "list[Written]", wanted: int) -> None:
    """Prints the shares: items by their label, then judgements by label."""

    def cell(share: "Share") -> str:
        if share.share != share.share:
            return "–"
        value, *limits = written(*(100 * number for number in (share.share, share.low, share.high)))
        return f"{value} {'–'.join(limits) or '–'}"

    for title, part in (("Items by the label of votes", "decided"), ("Judgements by label", "judgements")):
        shares = [getattr(row, part) for row in rows]
        cells = [[row.written, row.items, *map(cell, each.values())] for row, each in zip(rows, shares, strict=True)]
        table(f"{title}: percent, 95 % interval over targets", ["written as", "items", *shares[0]], cells)
    first = rows[0]
    won, several = first.decided["neutral"], first.decided["two or more"]
    if first.items:
        say(
            f"neutral wins {won.count:,} of {quantity(first.items, 'neutral sentence')} "
            f"({in_percent(won.share)}) about {quantity(first.targets, 'target')}; two judges or more say "
            f"stereotype or anti-stereotype of {several.count:,} ({in_percent(several.share)})"
        )
    if short := sum(row.short for row in rows):
        say(f"{quantity(short, 'sentence')} with fewer than {wanted} judgements, in no share")
