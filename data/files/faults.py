"""Lets readers skip faulty lines on request, and collects the error of each skipped line."""

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
    """Within this context, readers skip faulty lines and append their errors to the list."""
    faults: list[BadInput] = []
    token = _noted.set(faults)
    try:
        yield faults
    finally:
        _noted.reset(token)


def are_left_out() -> bool:
    """Returns whether readers currently skip faulty lines."""
    return _noted.get() is not None


def refuse(fault: BadInput) -> None:
    """Raise the error of a faulty line, or collect the error if faulty lines are skipped."""
    faults = _noted.get()
    if faults is None:
        raise fault
    faults.append(fault)


def each(make: Callable[[int, T], R], numbered: Iterable[tuple[int, T]]) -> Iterator[R]:
    """The result of `make` for each line and its number; a line that `make` refuses goes to `refuse`."""
    for line, value in numbered:
        try:
            result = make(line, value)
        except BadInput as fault:
            refuse(fault)
        else:
            yield result
