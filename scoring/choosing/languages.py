"""Phrases of other languages by which replies choose or decline, from `data/prompts/languages.toml`."""

from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from catsofa.data.files import toml_files


@cache
def _languages() -> dict[str, Any]:
    """The table of each language."""
    return toml_files.read(Path(str(files("catsofa.data").joinpath("prompts", "languages.toml"))), "phrases")


def any_of(kind: str) -> str:
    """The phrases of one kind in all languages as one alternative, the longest first."""
    found = {phrase for language in _languages().values() for phrase in language[kind]}
    return "|".join(sorted(found, key=lambda phrase: (-len(phrase), phrase)))
