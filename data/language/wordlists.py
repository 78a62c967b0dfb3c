"""The word lists we bring with us: data files under `data/lexicons`, each with its source on top."""

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


def _text(name: str) -> str:
    """A bundled file."""
    return files("catsofa.data").joinpath("lexicons", name).read_text(encoding="utf-8")
