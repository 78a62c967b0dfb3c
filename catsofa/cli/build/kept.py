"""What the builders' commands share: where they write, and their report of what was kept and refused."""

from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from catsofa.cli.terminal import print_json, say, table

if TYPE_CHECKING:
    from catsofa.builders.probes.perplexity_filter import Histogram

Out = Annotated[Path, typer.Option(help="The file to write (JSONL).")]
RefusedFile = Annotated[Path | None, typer.Option(help="File for what was refused, with the reason.")]


def report(counts: Counter[str], out: Path, json: bool, quiet: bool, drawn: "list[Histogram] | None" = None) -> None:
    """Say how many were kept, and how many refused for each reason; exit with 1 if nothing was kept."""
    kept = counts["kept"]
    reasons = {reason: count for reason, count in counts.most_common() if reason != "kept"}
    if json:
        print_json(
            {"kept": kept, "refused": reasons, "file": str(out)}
            | ({"histograms": [*map(asdict, drawn)]} if drawn else {})
        )
    elif not quiet:
        say(f"{kept:,} kept, {sum(reasons.values()):,} refused: {out}")
        if reasons:
            total = kept + sum(reasons.values())
            rows = [[reason, f"{n:,}", 100 * n / total] for reason, n in reasons.items()]
            table("Refused", ["reason", "", "%"], rows)
    if not kept:
        raise typer.Exit(1)
