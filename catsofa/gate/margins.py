"""Margins on the command line: for a measure, or for a measure and a set."""

__all__ = ["margins_in", "refuse_margin"]

from collections.abc import Iterable
from math import inf


def margins_in(texts: Iterable[str]) -> dict[str, float]:
    """Parses margins of the command line: `ss=1`, or `ss/gender=2` for one set."""
    margins: dict[str, float] = {}
    for text in texts:
        name, _, value = text.rpartition("=")
        if name in margins:
            raise ValueError(f"found two margins of {name!r}; expected one --margin for each measure or set")
        try:
            margins[name] = float(value)
        except ValueError:
            raise ValueError(f"found the margin {text!r}; expected a measure and a number, such as ss=1") from None
        if not name:
            raise ValueError(f"found the margin {text!r}; expected a measure and a number, such as ss=1")
        refuse_margin(text, margins[name])
    return margins


def refuse_margin(text: str, number: float) -> None:
    """Raises a ValueError for a margin that is negative, infinite or not a number."""
    if not 0 <= number < inf:
        raise ValueError(f"found the margin {text!r}; expected a number from 0, such as ss=1")
