"""Commands for crowds elsewhere: pages of tasks out, their results home."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from catsofa.cli.options import StudyFolder
from catsofa.cli.terminal import Bar, Json, Quiet, doing, examples, note, print_json, say
from catsofa.data.percentages import quantity

Platform = Literal["mturk", "prolific"]


def register(room: typer.Typer) -> None:
    """Add the commands about crowds elsewhere."""
    room.command(
        epilog=examples(
            "catsofa annotate export-html study --for mturk --out hits",
            "catsofa annotate export-html study --for prolific --out pages --submit-to https://example.org/answers",
        )
    )(export_html)
    room.command(epilog=examples("catsofa annotate import-results study Batch_123_results.csv"))(import_results)


def export_html(
    study: StudyFolder,
    platform: Annotated[Platform, typer.Option("--for", help="Whose crowd it is.")],
    out: Annotated[Path, typer.Option(help="Folder for the pages.")],
    per_page: Annotated[int, typer.Option(help="Items on a page; the gold items come on top.", min=1)] = 10,
    submit_to: Annotated[str, typer.Option(help="Where Prolific's pages send their answers.")] = "",
    quiet: Quiet = False,
) -> None:
    """Write self-contained HTML tasks, blind and in random order; nothing of Label Studio is needed."""
    from catsofa.annotation.crowd import pages
    from catsofa.annotation.study import open_study

    opened = open_study(study)
    bar = Bar("pages", quiet=quiet)
    made = pages.export(opened, out, platform, per_page=per_page, submit_to=submit_to, progress=bar)
    people = "1 person" if opened.settings.overlap == 1 else f"{opened.settings.overlap} people"
    written, tasks = quantity(made.pages, "page"), quantity(made.tasks, "task")
    say(f"{written} with {tasks} in {out}; give each page to {people}", quiet=quiet)
    if platform == "mturk":
        say("task.html is the design of the project, input.csv the batch", quiet=quiet)
    else:
        say("pages.csv says which completion code belongs to which page", quiet=quiet)


def import_results(
    study: StudyFolder,
    results: Annotated[
        Path, typer.Argument(help="The batch CSV of Mechanical Turk, or the answers Prolific's pages sent.")
    ],
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Append a crowd's answers to raw.jsonl and write annotations.jsonl; a row imported before is passed over."""
    from dataclasses import asdict

    from catsofa.annotation.crowd import pages
    from catsofa.annotation.study import open_study

    opened = open_study(study)
    doing("reading the answers")
    pulled, refused = pages.import_results(opened, results)
    if json:
        print_json(asdict(pulled) | {"rejected": refused})
        return
    say(f"{pulled.new:,} new answers; {pulled.records:,} records in {study}", quiet=quiet)
    if refused:
        note(f"{refused:,} rows were rejected or returned on the platform and are left out", quiet=quiet)
