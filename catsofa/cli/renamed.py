"""Options that have a new name: the old one works for one release, with a note on stderr."""

from pathlib import Path
from typing import Annotated, TypeVar

import typer

from catsofa.cli.terminal import note

T = TypeVar("T", Path | None, str)
OldFrequencies = Annotated[Path | None, typer.Option("--frequencies", hidden=True)]
OldCorpus = Annotated[str, typer.Option("--frequencies", hidden=True)]


def renamed(value: T, old: T, name: str) -> T:
    """The value of an option, or the one given under its old name --frequencies."""
    if not old:
        return value
    if value:
        raise ValueError(f"--frequencies is the old name of {name}: give {name} alone")
    note(f"--frequencies is now {name} in this command; the old name will go with the next release")
    return old
