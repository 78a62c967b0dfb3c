"""Renamed options: the old name works for one release, with a note on stderr."""

from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer
from typer.core import TyperCommand

from catsofa.cli.terminal import note

T = TypeVar("T", Path | None, str)
OldFrequencies = Annotated[Path | None, typer.Option("--frequencies", hidden=True)]
OldCorpus = Annotated[str, typer.Option("--frequencies", hidden=True)]


def renamed(value: T, old: T, name: str) -> T:
    """Returns the value of an option, or the value given under its old name --frequencies."""
    if not old:
        return value
    if value:
        raise ValueError(f"--frequencies is the old name of {name}: give {name} alone")
    note(f"--frequencies is now {name} in this command; the old name will go with the next release")
    return old


class Renaming(TyperCommand):
    """A command that accepts --in for --on."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parses the arguments; replaces the old name before any `--`."""
        if any("--on" in option.opts for option in self.params):
            end = args.index("--") if "--" in args else len(args)
            words = [_on(word) for word in args[:end]]
            if words != args[:end]:
                note("--in is now --on in this command; the old name will go with the next release")
                args = [*words, *args[end:]]
        return super().parse_args(ctx, args)


def _on(word: str) -> str:
    """Returns a word of the command line under its new name."""
    return "--on" + word[4:] if word == "--in" or word.startswith("--in=") else word
