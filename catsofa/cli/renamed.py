"""Renamed options: the old name works for one release, with a note on stderr. Options without a value are refused."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from typer.core import TyperCommand

from catsofa.cli.terminal import note

OLD = {
    "--on": "--in",
    "--corpus": "--frequencies",
    "--zipf": "--frequencies",
    "--word-counts": "--frequencies",
}
"""New name of an option to its old name, in every command that has the new one."""
OLD_IN = {"sentiment": {"--sentiment-model": "--model", "--negative": "--label"}}
"""The same for one command, by its name; another command may have an option with the old name."""


class Renaming(TyperCommand):
    """A command that accepts the old names of its options."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parses the arguments; replaces the old names before any `--`."""
        names = {name for option in self.params for name in option.opts}
        table = {**OLD, **OLD_IN.get(self.name or "", {})}
        new_names = {old: new for new, old in table.items() if new in names and old not in names}
        end = args.index("--") if "--" in args else len(args)
        words = [_renamed(word, new_names) for word in args[:end]]
        for old in dict.fromkeys(_name(word) for word in args[:end] if _name(word) in new_names):
            new = new_names[old]
            if new in map(_name, args[:end]):
                raise ValueError(f"{old} is the old name of {new}: give {new} alone")
            note(f"{old} is now {new} in this command; the old name will go with the next release")
        self._refuse_missing_values(words, ctx.help_option_names)
        return super().parse_args(ctx, [*words, *args[end:]])

    def _refuse_missing_values(self, words: Sequence[str], help_names: Sequence[str]) -> None:
        """Raises ValueError if an option stands where the value of another option is expected."""
        options: list[Any] = [one for one in self.params if one.param_type_name == "option"]
        names = {*help_names, *(name for option in options for name in (*option.opts, *option.secondary_opts))}
        valued = {name for option in options if not (option.is_flag or option.count) for name in option.opts}
        for option, following in pairwise(words):
            if option in valued and _name(following) in names:
                raise ValueError(
                    f"{option} has no value: found the option {_name(following)} after it; give {option} its value, or "
                    "leave it out"
                )


def _name(word: str) -> str:
    """Returns a word of the command line without its value (`--on=FILE`)."""
    return word.partition("=")[0]


def _renamed(word: str, new_names: dict[str, str]) -> str:
    """Returns a word of the command line under its new name."""
    old = _name(word)
    return new_names[old] + word[len(old) :] if old in new_names else word
