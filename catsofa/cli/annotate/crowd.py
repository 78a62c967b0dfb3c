"""Commands for crowds: export pages of tasks, import their results, list the pay."""

from pathlib import Path
from typing import Annotated

import typer

from catsofa.cli.options import StudyFolder
from catsofa.cli.terminal import Bar, Json, Quiet, doing, examples, note, print_json, say
from catsofa.data.percentages import quantity


def register(room: typer.Typer) -> None:
    """Adds the commands about crowds."""
    room.command(epilog=examples("catsofa annotate pay study --out payments"))(pay)
    room.command(epilog=examples("catsofa annotate export-html study --out hits"))(export_html)
    room.command(epilog=examples("catsofa annotate import-results study Batch_123_results.csv"))(import_results)


def pay(
    study: StudyFolder,
    out: Annotated[Path, typer.Option(help="Output folder for the lists.")],
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write lists of what to pay whom in a study that `annotate open` serves: to approve, to pay a bonus, to return.

    Who ended with the completion code is owed the whole reward, by the approval of their submission. Others are owed
    what they did, as a bonus: bonuses.csv has the form that Prolific takes. return.csv has a message for each person
    who failed the checks. People of Mechanical Turk are in mturk_review.csv and mturk_bonuses.csv, in its own columns.
    Nothing is sent; amounts have no fee.
    """
    from catsofa.annotation.crowd import databases, money
    from catsofa.annotation.study import open_study

    if not databases.has_store(study):
        raise ValueError(f"nobody came to {study} yet: catsofa annotate open serves it")
    opened = open_study(study)
    dues = money.payable(opened)
    lines = money.write(dues, out)
    sums = {way: sum(due.due for due in dues if due.paid_by == way) / 100 for way in ("approval", "bonus")}
    if json:
        print_json({"files": lines, "currency": opened.settings.currency, **sums})
        return
    named = ", ".join(f"{name} ({quantity(count, 'line')})" for name, count in lines.items())
    say(f"{out}: {named}", quiet=quiet)
    money_of = {way: f"{opened.settings.currency} {amount:,.2f}" for way, amount in sums.items()}
    say(f"by approval {money_of['approval']}, by bonus {money_of['bonus']}, without fees", quiet=quiet)


def erase(study: Path, day: str) -> str:
    """Returns a sentence: the day by which the consent page promised to erase identities, and the command for it."""
    then = f"catsofa annotate close {study} --erase-identities, after everybody was paid"
    return f"people were promised that it is erased by {day} who they are: {then}"


def export_html(
    study: StudyFolder,
    out: Annotated[Path, typer.Option(help="Output folder for the pages.")],
    per_page: Annotated[int, typer.Option(help="Items per page, without the gold items.", min=1)] = 10,
    quiet: Quiet = False,
) -> None:
    """Write self-contained HTML tasks for Mechanical Turk, blind and in random order; no server is needed."""
    from catsofa.annotation.crowd import pages
    from catsofa.annotation.study import open_study

    opened = open_study(study)
    export = pages.export(opened, out, per_page=per_page, progress=Bar("pages", quiet=quiet))
    people = quantity(opened.settings.overlap, "person")
    page_count, tasks = quantity(export.pages, "page"), quantity(export.tasks, "task")
    say(f"{page_count} with {tasks} in {out}; give each page to {people}", quiet=quiet)
    say("on Mechanical Turk, use task.html as the design of the project and upload input.csv as the batch", quiet=quiet)


def import_results(
    study: StudyFolder,
    results: Annotated[Path, typer.Argument(help="Batch CSV of Mechanical Turk.")],
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Append a crowd's answers to raw.jsonl and write annotations.jsonl; rows imported before are skipped.

    Exit code 1: the study has no valid answer.
    """
    from dataclasses import asdict

    from catsofa.annotation.crowd import pages
    from catsofa.annotation.results.answers import annotations
    from catsofa.annotation.study import open_study

    opened = open_study(study)
    doing("reading the answers")
    pulled, refused = pages.import_results(opened, results)
    writes = opened.kind.asks is None
    invalid = pulled.refused if writes else sum("invalid" in each.extra for each in annotations(opened))
    answered = pulled.records + invalid if writes else pulled.records
    if json:
        print_json(asdict(pulled) | {"rejected": refused, "invalid": invalid})
    else:
        say(f"{quantity(pulled.new, 'new answer')}; {quantity(pulled.records, 'record')} in {study}", quiet=quiet)
        if refused:
            note(f"{quantity(refused, 'row')} of rejected or returned work left out", quiet=quiet)
        if invalid:
            where = study / ("refused.jsonl" if writes else "annotations.jsonl")
            note(
                f"{invalid:,} of {quantity(answered, 'record')} invalid and not counted; {where} says why", quiet=quiet
            )
    if invalid == answered:
        raise typer.Exit(1)
