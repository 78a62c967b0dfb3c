"""The bundled word lists: data files under `data/lexicons`, each with its source at the top."""

import codecs
import csv
import tomllib
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def wordlist(name: str) -> dict[str, Any]:
    """The tables of one TOML word list."""
    return tomllib.loads(_text(name))


@cache
def table(name: str) -> tuple[dict[str, str], ...]:
    """The rows of one CSV word list, whose first lines are comments."""
    rows = [line for line in _text(name).splitlines() if not line.startswith("#")]
    return tuple(csv.DictReader(rows))


@cache
def slurs() -> tuple[str, ...]:
    """Slurs for groups of people; the file encodes them in rot13, so that nobody reads them by accident."""
    return tuple(codecs.decode(line, "rot13") for line in _text("slurs.txt").splitlines() if line[:1] not in ("", "#"))


def _text(name: str) -> str:
    """The text of a bundled file."""
    return files("catsofa.data").joinpath("lexicons", name).read_text(encoding="utf-8")
