"""A sign of life on the terminal while a command works without a word."""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

SILENCE = 2.0
"""Seconds of silence after which a person wants to know that something is at work."""


class Patience:
    """Shows on stderr what is being done while nothing is said, and for how long; a word from the command ends it."""

    def __init__(self) -> None:
        self.quiet = True
        self._what = "working"
        self._timer: threading.Timer | None = None
        self._shown: Any = None
        self._lock = threading.Lock()

    def begin(self, what: str = "working") -> None:
        """Count from now on, where a person is watching."""
        self.end()
        self._what = what
        if not self.quiet and sys.stderr.isatty():
            self._timer = threading.Timer(SILENCE, self._show)
            self._timer.daemon = True
            self._timer.start()

    def end(self) -> None:
        """Count no longer, and leave no trace."""
        with self._lock:
            timer, shown, self._timer, self._shown = self._timer, self._shown, None, None
        if timer:
            timer.cancel()
        if shown:
            shown.stop()

    def _show(self) -> None:
        """Draw a line with what is done and the time that has passed."""
        from rich.console import Console
        from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        columns = SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn()
        bar = Progress(*columns, console=Console(stderr=True), transient=True)
        with self._lock:
            if self._timer is None:
                return
            self._shown = bar
            bar.add_task(self._what)
            bar.tasks[0].start_time = bar.get_time() - SILENCE
            bar.start()


PATIENCE = Patience()


@contextmanager
def patience(*, quiet: bool) -> Iterator[None]:
    """Show a sign of life within this block, unless it is to be quiet."""
    PATIENCE.quiet = quiet
    PATIENCE.begin()
    try:
        yield
    finally:
        PATIENCE.end()
        PATIENCE.quiet = True
