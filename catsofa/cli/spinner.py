"""A spinner on the terminal while a command prints nothing."""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

SILENCE = 2.0
"""Seconds without output after which the spinner starts."""


class Patience:
    """A spinner on stderr that shows the current work and its duration while the command prints nothing.

    Any output of the command ends the spinner.
    """

    def __init__(self) -> None:
        self.quiet = True
        self._what = "working"
        self._timer: threading.Timer | None = None
        self._shown: Any = None
        self._lock = threading.Lock()

    def begin(self, label: str = "working") -> None:
        """Restarts the timer, unless `quiet` or stderr is not a terminal."""
        self.end()
        self._what = label
        if not self.quiet and sys.stderr.isatty():
            self._timer = threading.Timer(SILENCE, self._show)
            self._timer.daemon = True
            self._timer.start()

    def end(self) -> None:
        """Stops the timer and removes the spinner."""
        with self._lock:
            timer, shown, self._timer, self._shown = self._timer, self._shown, None, None
        if timer:
            timer.cancel()
        if shown:
            shown.stop()

    def _show(self) -> None:
        """Draws a line with the current work and the elapsed time."""
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
    """Shows a spinner within this block, unless `quiet`."""
    PATIENCE.quiet = quiet
    PATIENCE.begin()
    try:
        yield
    finally:
        PATIENCE.end()
        PATIENCE.quiet = True
