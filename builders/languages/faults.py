"""A fault of a language's folder."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault of a language: its place, its description, and advice."""

    where: str
    what: str
    advice: str
