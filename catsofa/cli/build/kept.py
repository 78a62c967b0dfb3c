"""Shared parts of the build commands: output options, templates, and the report of kept and refused items."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from catsofa.cli.terminal import note, print_json, say, table
from catsofa.data.percentages import quantity

if TYPE_CHECKING:
    from catsofa.builders.cats.templates import Template
    from catsofa.builders.refusals import Rows
    from catsofa.data.languages import Language

Out = Annotated[Path, typer.Option(help="Output file (JSONL).")]
RefusedFile = Annotated[Path | None, typer.Option(help="Output file for refused items, with the reason.")]

LanguageName = Annotated[
    str,
    typer.Option(
        "--language", help="Language: a code (de, en, es, fr, zh, or a plug-in's), or the folder of a language."
    ),
]

BiasType = Annotated[str, typer.Option(help="Domain for associations that name none: nationality, race, …")]

Templates = Annotated[Path | None, typer.Option(help="Templates (TOML). Default: the built-in ones.")]
Frames = Annotated[
    list[str] | None,
    typer.Option(
        "--frame",
        help="Kind of templates: statement, past, question, negation, dialogue or comparison; repeat for "
        "several. Default: statements, or all of --templates. A negation denies what the CAT says, a "
        "question asserts nothing.",
    ),
]


def draft(language: "Language", quiet: bool) -> "Language":
    """Returns the language; prints a note if no native speaker has checked its data yet."""
    if language.facts["status"] == "draft":
        note(f"{language.name} is a draft: no native speaker has checked its tables; read what comes out", quiet=quiet)
    return language


def data_of(language: "Language") -> list[Path]:
    """Returns the folder of a language for the provenance of records, which stores its checksum; empty for English."""
    return [language.folder] if language.code != "en" else []


def templates_in(path: Path | None, frames: list[str] | None) -> "list[Template]":
    """Returns the templates of a file, or the built-in ones, in the given frames.

    Default: all templates of a file, or the built-in statements.
    """
    from catsofa.builders.cats import templates as cat_templates

    wanted = cat_templates.chosen_frames(path, frames or ())
    chosen = cat_templates.read(path) if path else cat_templates.bundled()
    return [template for template in chosen if template.frame in wanted]


def report(
    counts: Counter[str],
    out: Path,
    json: bool,
    quiet: bool,
    more: Mapping[str, object] | None = None,
    rows: "Rows | None" = None,
) -> None:
    """Prints the number of kept items and of refused items for each reason; exits with 1 if nothing was kept.

    `more` are further fields of the JSON output. `rows` are the outcomes by row, for inputs where a row makes several
    items: then the shares are shares of rows; otherwise they are shares of all kept and refused items.
    """
    kept = counts["kept"]
    reasons = {reason: count for reason, count in counts.most_common() if reason != "kept"}
    if json:
        of_rows = {"rows": {"read": rows.total, **{name: len(them) for name, them in rows.of.items()}}} if rows else {}
        print_json({"kept": kept, "refused": reasons, "file": str(out), **of_rows, **(more or {})})
    elif not quiet:
        say(f"{kept:,} kept, {sum(reasons.values()):,} refused: {out}")
        if reasons and rows:
            shares = [[name, f"{n:,}", 100 * len(rows.of[name]) / rows.total] for name, n in reasons.items()]
            table("Refused", ["reason", "", f"% of {quantity(rows.total, 'row')}"], shares)
        elif reasons:
            total = kept + sum(reasons.values())
            table("Refused", ["reason", "", "%"], [[name, f"{n:,}", 100 * n / total] for name, n in reasons.items()])
    if not kept:
        note(f"nothing was kept, so {out} holds nothing for another command", quiet=quiet or json)
        raise typer.Exit(1)
