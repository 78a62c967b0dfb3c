"""Margins as people give them: by measure, or by measure and set."""

__all__ = ["margins_in", "refuse_margin"]

from collections.abc import Iterable
from math import inf


def margins_in(given: Iterable[str]) -> dict[str, float]:
    """Margins as the command line takes them: `ss=1`, or `ss/gender=2` for one set."""
    found: dict[str, float] = {}
    for text in given:
        name, _, value = text.rpartition("=")
        if name in found:
            raise ValueError(f"found two margins of {name!r}; expected one --margin for each measure or set")
        try:
            found[name] = float(value)
        except ValueError:
            raise ValueError(f"found the margin {text!r}; expected a measure and a number, such as ss=1") from None
        if not name:
            raise ValueError(f"found the margin {text!r}; expected a measure and a number, such as ss=1")
        refuse_margin(text, found[name])
    return found


def refuse_margin(text: str, number: float) -> None:
    """Refuse a margin that is below 0, infinite or no number."""
    if not 0 <= number < inf:
        raise ValueError(f"found the margin {text!r}; expected a number from 0, such as ss=1")
