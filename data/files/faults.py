"""Faulty lines that readers leave out where somebody asked for it, each noted with what is wrong."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

from catsofa.data.files import BadInput

T = TypeVar("T")
R = TypeVar("R")

_noted: ContextVar[list[BadInput] | None] = ContextVar("noted", default=None)


@contextmanager
def leaving_out() -> Iterator[list[BadInput]]:
    """Readers leave out faulty lines; the list fills with what is wrong with them."""
    faults: list[BadInput] = []
    token = _noted.set(faults)
    try:
        yield faults
    finally:
        _noted.reset(token)


def are_left_out() -> bool:
    """Whether faulty lines are left out at the moment."""
    return _noted.get() is not None


def refuse(fault: BadInput) -> None:
    """Raise what is wrong with a line, or note it where faulty lines are left out."""
    faults = _noted.get()
    if faults is None:
        raise fault
    faults.append(fault)


def each(make: Callable[[int, T], R], numbered: Iterable[tuple[int, T]]) -> Iterator[R]:
    """What `make` makes of each line and its number; a line that it refuses is left out where that is asked for."""
    for line, value in numbered:
        try:
            made = make(line, value)
        except BadInput as fault:
            refuse(fault)
        else:
            yield made
