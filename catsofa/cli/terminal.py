"""Shared functions of the commands: print, fail, draw tables and show progress."""

import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, TypeVar, get_args

import typer

from catsofa.cli.spinner import PATIENCE
from catsofa.data.progress import Progress
from catsofa.data.visible import one_line, visible, visible_json

if TYPE_CHECKING:
    from rich.progress import Progress as _Columns
    from rich.progress import ProgressColumn
    from rich.text import Text

T = TypeVar("T")

DATA = "DATA"
"""Metavar of a parameter that takes a file, a folder, or a released set by name."""
SECRET = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD|PASSWD)$", re.IGNORECASE)
"""Names of environment variables that hold secrets."""
SHORTEST = 8
"""Minimum length of a secret; a shorter value may be an ordinary word."""
NUMBER = re.compile(r"[-−–+]?\d|–?$|unscored$|undefined$")
"""Beginning of a cell that is never wrapped."""
LIMITED = re.compile(r"\S+ [-−]?[\d.]+–[-−]?[\d.]+|\S+ \[[^\]]*\]")
"""A number with its limits."""
SHORT = 8
"""Minimum width of a text column, in characters."""
NAME = 24
"""Longest name, in characters, that is never cut in a first column."""
NEW_FOLDER = "NEW-FOLDER"
"""Metavar of a parameter that names a new folder."""

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print only errors.")]


def examples(*commands: str) -> str:
    """Returns the epilog of a command's help with examples of calls."""
    return "[bold]Examples[/bold]\n\n" + "\n\n".join(f"$ {command}" for command in commands)


def choices(literal: Any) -> str:
    """Returns the choices of a Literal for a metavar, with spaces, so that a narrow help breaks between choices."""
    return " | ".join(get_args(literal))


def fail(sentence: str, code: int = 2) -> NoReturn:
    """Prints an error as one sentence on stderr, and exits."""
    PATIENCE.end()
    typer.echo(visible(without_secrets(f"catsofa: {' '.join(sentence.split())}")), err=True)
    sys.exit(code)


def refuse_closed_output() -> None:
    """Exits with an error if stdout is closed (`>&-`), since the next open file would get its number.

    A closed stderr becomes the null device.
    """
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - open as long as the process
    if sys.stdout is None:
        fail("stdout is closed; give it a reader or a file, or /dev/null where the output is not wanted")


def without_secrets(text: str) -> str:
    """Replaces every key or password of the environment in a text, since an error message may contain them."""
    secrets = [value for name, value in os.environ.items() if SECRET.search(name) and len(value) >= SHORTEST]
    for value in sorted(secrets, key=len, reverse=True):
        text = text.replace(value, "***")
    return text


def say(text: str, *, quiet: bool = False) -> None:
    """Prints a line on stdout."""
    PATIENCE.end()
    if not quiet:
        typer.echo(visible(text))


def note(text: str, *, quiet: bool = False) -> None:
    """Prints a remark on stderr."""
    PATIENCE.end()
    if not quiet:
        typer.echo(visible(text), err=True)


def warn(sentences: Iterable[str]) -> None:
    """Prints warnings on stdout, beside the numbers."""
    for sentence in sentences:
        say(f"warning: {one_line(sentence)}")


def confirm(question: str) -> bool:
    """Asks the user a yes-or-no question."""
    PATIENCE.end()
    return typer.confirm(visible(question))


def print_json(value: Any) -> None:
    """Prints a value as JSON; NaN becomes null, since JSON has no NaN.

    Control characters become JSON escapes, since a terminal would obey them; programs read the same characters.
    """
    from catsofa.data.files.json_files import finite

    show_json(json.dumps(finite(value), ensure_ascii=False, indent=2) + "\n")


def show_json(text: str) -> None:
    """Prints finished JSON text."""
    PATIENCE.end()
    typer.echo(visible_json(text), nl=False)


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Prints a table that fits the terminal, or COLUMNS (default: 80) without one; only text columns shrink."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    PATIENCE.end()
    console = Console(width=_columns_given(), highlight=False)
    cells = [[Text(visible(_written(cell))) for cell in row] for row in rows]
    if _width(columns, cells) > console.width:
        columns = [_heading(name, [row[place].plain for row in cells]) for place, name in enumerate(columns)]
    if _width(columns, cells) > console.width:
        cells = [[_with_limits_below(cell) for cell in row] for row in cells]
        columns = [_heading(name, [row[place].plain for row in cells]) for place, name in enumerate(columns)]
    gap = 2 if _width(columns, cells) <= console.width else 1
    drawn = Table(box=None, pad_edge=False, padding=(0, gap, 0, 0))
    least = gap * (len(columns) - 1)
    for place, column in enumerate(columns):
        texts = [row[place].plain for row in cells]
        # a name that people may type is never cut either
        name = not place and _widest(texts) <= NAME and not any(" " in text for text in texts)
        whole = name or all(map(NUMBER.match, texts))
        head = _widest([column])  # a word of a heading is never broken
        drawn.add_column(Text(visible(column)), overflow="fold", no_wrap=whole, min_width=head)
        least += max(_widest(texts), head) if whole else max(head, min(SHORT, _widest(texts)))
    for row in cells:
        drawn.add_row(*row)
    console.print(Text(visible(title), style="bold"), overflow="fold")
    console.width = max(console.width, least)  # a wide table is better than a cut number
    console.print(drawn)


def fits(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> bool:
    """True if a table fits the terminal, if necessary with limits below their numbers."""
    from rich.console import Console
    from rich.text import Text

    cells = [[_with_limits_below(Text(visible(_written(cell)))) for cell in row] for row in rows]
    heads = [_heading(name, [row[place].plain for row in cells]) for place, name in enumerate(columns)]
    return _width(heads, cells) <= Console(width=_columns_given()).width


def _columns_given() -> int | None:
    """Returns COLUMNS, or 80; None if stdout is a terminal, which has a width of its own."""
    columns = os.environ.get("COLUMNS", "")
    return None if sys.stdout.isatty() else int(columns) if columns.isdecimal() and int(columns) else 80


def _written(cell: object) -> str:
    """Formats a cell of a table; a float has two decimals, and NaN is "undefined"."""
    if isinstance(cell, float):
        return f"{cell:.2f}" if cell == cell else "undefined"
    return str(cell)


def _width(columns: Sequence[str], rows: "Sequence[Sequence[Text]]") -> int:
    """Returns the characters of a table's widest line, with two spaces between columns."""
    widest = [_widest([name, *(row[index].plain for row in rows)]) for index, name in enumerate(columns)]
    return sum(widest) + 2 * (len(columns) - 1)


def _widest(texts: Iterable[str]) -> int:
    """Returns the characters of the longest line of these texts."""
    return max((len(line) for text in texts for line in text.splitlines()), default=0)


def _with_limits_below(cell: "Text") -> "Text":
    """Puts the limits of a number on the line below; returns other cells unchanged."""
    from rich.text import Text

    return Text(cell.plain.replace(" ", "\n", 1)) if LIMITED.fullmatch(cell.plain) else cell


def _heading(name: str, cells: Sequence[str]) -> str:
    """Wraps the heading of a column to the width of its cells, if its words allow it."""
    words = name.replace("\n", " ").replace("_", "_ ").split()
    lines: list[str] = []
    for word in words:
        joined = f"{lines[-1]}{'' if lines[-1].endswith('_') else ' '}{word}" if lines else word
        if lines and len(joined) <= _widest(cells):
            lines[-1] = joined
        else:
            lines.append(word)
    return "\n".join(lines)


def doing(label: str) -> None:
    """Restarts the spinner with a description of the current work; the spinner appears only if the work takes long."""
    PATIENCE.begin(visible(label))


KEPT = [False]
"""True once a progress bar has advanced: the command has finished some of its items."""


class Bar(Progress):
    """A progress bar with rate and remaining time on stderr, if stderr is a terminal.

    A callable total is called only if the bar is shown. `then` describes the work that follows.
    """

    def __init__(
        self, label: str, total: int | Callable[[], int] | None = None, *, quiet: bool = False, then: str = ""
    ) -> None:
        self._label, self._total, self._then = label, total, then
        self.shown = not quiet and sys.stderr.isatty()
        self._bar: _Columns | None = None
        self._task: Any = None

    def begin(self, total: int | None = None) -> None:
        """Draws the bar."""
        if self.shown:
            from rich.console import Console
            from rich.progress import Progress as _Bar

            own_total = self._total() if callable(self._total) else self._total
            PATIENCE.end()
            self._bar = _Bar(*_columns(), console=Console(stderr=True), transient=True)
            self._task = self._bar.add_task(visible(self._label), total=own_total or total or None)
            self._bar.start()

    def update(self, parts: int = 1) -> None:
        """Advances the bar."""
        KEPT[0] = KEPT[0] or parts > 0
        if self._bar:
            self._bar.advance(self._task, parts)

    def note(self, text: str) -> None:
        """Shows a short text beside the label."""
        if self._bar:
            self._bar.update(self._task, description=visible(f"{self._label}, {text}" if text else self._label))

    def end(self) -> None:
        """Removes the bar."""
        if self._bar:
            self._bar.stop()
            self._bar = None
            PATIENCE.begin()  # the next step may take long too
        if self._then:
            doing(self._then)


def progress(
    items: Iterable[T], label: str, total: int | Callable[[], int] | None = None, *, quiet: bool = False
) -> Iterator[T]:
    """Yields the items and shows a progress bar; the default total is the length that the items report."""
    return Bar(label, total, quiet=quiet).each(items)


@contextmanager
def counting(label: str, total: int | None = None, *, quiet: bool = False) -> Iterator[Callable[[int], None]]:
    """Yields a function that takes the amount done so far and updates a bar: for work that reports progress itself."""
    bar, before = Bar(label, quiet=quiet), [0]

    def advance(done: int) -> None:
        bar.update(done - before[0])
        before[0] = done

    with bar.through(total):
        yield advance


def reading(path: Path | str, *, quiet: bool = False) -> Iterator[Any]:
    """Yields the records of a file in any format, and shows the progress."""
    from catsofa.data import formats

    return progress(formats.read(path), f"reading {Path(path).name}", lines_in(path), quiet=quiet)


def _columns() -> "Iterator[ProgressColumn]":
    """Yields the columns of a bar: label, bar, count, rate, elapsed and remaining time."""
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        ProgressColumn,
        Task,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.text import Text

    class Rate(ProgressColumn):
        """Items per second."""

        def render(self, task: Task) -> Text:
            """Formats the rate; empty until a rate is known."""
            speed = task.finished_speed or task.speed
            return Text(f"{speed:,.0f}/s" if speed and speed >= 10 else f"{speed:.1f}/s" if speed else "")

    yield TextColumn("{task.description}", markup=False)
    yield BarColumn(bar_width=15)
    yield MofNCompleteColumn()
    yield Rate()
    yield TimeElapsedColumn()
    yield TimeRemainingColumn(elapsed_when_finished=True)


WITHOUT_LINES = {".json", ".gz", ".bz2", ".xz", ".zst", ".zip", ".parquet", ".arrow", ".h5"}
"""Endings of files whose line breaks do not tell the number of records."""


def lines_in(path: Path | str) -> Callable[[], int]:
    """Returns a function that counts the lines of a file, an estimate of its records.

    The count is 0 (unknown) for JSON, for compressed and binary files, and for a path that is not a file.
    """

    def count() -> int:
        file = Path(path)
        if not file.is_file() or file.suffix in WITHOUT_LINES:
            return 0
        with file.open("rb") as bytes_of:
            return sum(block.count(b"\n") for block in iter(lambda: bytes_of.read(1 << 20), b""))

    return count
