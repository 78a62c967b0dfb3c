"""The command that checks the folder of a language."""

from pathlib import Path
from typing import Annotated

import typer

from catsofa.cli.terminal import Json, Quiet, examples, print_json, say, table


def register(build: typer.Typer) -> None:
    """Adds the command of this module to the group `build`."""
    build.command(
        "language-check",
        epilog=examples(
            "catsofa build language-check es",
            "catsofa build language-check my_language --sheet to_read.csv",
        ),
    )(language_check)


def language_check(
    language: Annotated[str, typer.Argument(help="Language: its code, or the folder with its data.")],
    sheet: Annotated[
        Path | None, typer.Option(help="Also write 50 sentences for a native speaker to read and correct (CSV).")
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Check a language: its tables, gold lists and templates, and its forms by hunspell and Apertium where they are.

    Each fault says where it is, what is wrong and what to do; with one, the command ends with code 1. A table shows how
    many written forms the rules would make too; --json names the words.
    """
    from dataclasses import asdict

    from catsofa.builders.languages import check as checks
    from catsofa.builders.languages.checkers import second_opinion
    from catsofa.data.languages import find

    spoken = find(language)
    if spoken.code == "en":
        raise ValueError(
            "English is made by dictionaries and rules in code, which have tests of their own; name another"
        )
    result = checks.check(spoken)
    checkers, opinions = second_opinion(spoken)
    sentence_count = checks.write_sheet(spoken, sheet) if sheet else 0
    if json:
        print_json(asdict(result) | {"asked": [*map(asdict, checkers)], "opinions": [*map(asdict, opinions)]})
    elif not quiet:
        rows = [[gold.function, gold.right, gold.refused, len(gold.wrong)] for gold in result.gold]
        if rows:
            table("gold lists", ["function", "right", "refused", "wrong"], rows)
        if result.without:
            shown = [[one.table, len(one.right), one.refused, len(one.wrong)] for one in result.without]
            table("by rule alone, without the written form", ["table", "right", "refused", "wrong"], shown)
        for fault in result.faults:
            say(f"{fault.where}: {fault.what}; {fault.advice}")
        for one in opinions:
            say(f"{one.word}: {one.ours} here, {one.checker} says {one.theirs}; correct it, or say why in agreed.csv")
        for checker in checkers:
            state = f"not checked: {checker.unavailable}" if checker.unavailable else f"{checker.words:,} forms"
            say(f"{checker.checker}: {state}")
        for lacking in result.missing:
            say(f"missing: {lacking}; commands that need it are refused")
        for text in result.english:
            say(f"in English on the pages of open studies: {text!r}; translate it in interface.toml")
        if sheet:
            say(f"{sentence_count} sentences to read: {sheet}")
        say(f"{len(result.faults) + len(opinions)} faults in {spoken.name} ({spoken.facts['status']})")
    if result.faults or opinions:
        raise typer.Exit(1)
