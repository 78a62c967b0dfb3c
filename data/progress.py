"""Progress of long work: an object that the working loop updates."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from operator import length_hint
from typing import TypeVar

T = TypeVar("T")


class Progress:
    """The default progress, which shows nothing; a subclass overrides `begin`, `update`, `note` and `end`."""

    def begin(self, total: int | None = None) -> None:
        """Called once before the work, with the number of parts if known."""

    def update(self, parts: int = 1) -> None:
        """Called after each step, with the number of parts done in that step."""

    def note(self, text: str) -> None:
        """Called with a short text to show beside the count."""

    def end(self) -> None:
        """Called once after the work, even after an error."""

    @contextmanager
    def through(self, total: int | None = None) -> Iterator[None]:
        """Call `begin` and `end` around a loop that calls `update`."""
        self.begin(total)
        try:
            yield
        finally:
            self.end()

    def each(self, items: Iterable[T], total: int | None = None) -> Iterator[T]:
        """Yield the items; each counts as done when the next one is requested."""
        with self.through(length_hint(items) if total is None else total):
            for item in items:
                yield item
                self.update()


SILENT = Progress()
