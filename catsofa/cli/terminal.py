"""What the commands share: how they print, fail, draw tables and show progress."""

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
"""Names of environment variables that hold what nobody else may see."""
SHORTEST = 8
"""Characters of a secret; less is a word that may stand anywhere."""
NUMBER = re.compile(r"[-−–+]?\d|–?$|unscored$|undefined$")
"""How a cell begins that is not broken over lines."""
LIMITED = re.compile(r"\S+ [-−]?[\d.]+–[-−]?[\d.]+|\S+ \[[^\]]*\]")
"""A number with its limits."""
SHORT = 8
"""Letters to which a column of texts may shrink."""
NAME = 24
"""Letters of the longest name in a first column that is never cut."""
NEW_FOLDER = "NEW-FOLDER"
"""Metavar of a parameter that names a folder to make."""

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print only errors.")]


def examples(*commands: str) -> str:
    """The epilog of a command's help: how people call it."""
    return "[bold]Examples[/bold]\n\n" + "\n\n".join(f"$ {command}" for command in commands)


def choices(of: Any) -> str:
    """The choices of a Literal for a metavar, with spaces: a narrow help breaks between them, never inside one."""
    return " | ".join(get_args(of))


def fail(sentence: str, code: int = 2) -> NoReturn:
    """Say what is wrong on stderr, in one sentence, and leave."""
    PATIENCE.end()
    typer.echo(visible(without_secrets(f"catsofa: {' '.join(sentence.split())}")), err=True)
    sys.exit(code)


def refuse_closed_output() -> None:
    """Refuse a closed stdout (`>&-`), on whose number the next file would be opened; a closed stderr says nothing."""
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - open as long as the process
    if sys.stdout is None:
        fail("stdout is closed; give it a reader or a file, or /dev/null where the output is not wanted")


def without_secrets(text: str) -> str:
    """The text without any key or password of the environment, whoever put it into what went wrong."""
    secrets = [value for name, value in os.environ.items() if SECRET.search(name) and len(value) >= SHORTEST]
    for value in sorted(secrets, key=len, reverse=True):
        text = text.replace(value, "***")
    return text


def say(text: str, *, quiet: bool = False) -> None:
    """Print a line for people."""
    PATIENCE.end()
    if not quiet:
        typer.echo(visible(text))


def note(text: str, *, quiet: bool = False) -> None:
    """Print a line for people beside the result, on stderr."""
    PATIENCE.end()
    if not quiet:
        typer.echo(visible(text), err=True)


def warn(sentences: Iterable[str]) -> None:
    """Print what belongs beside the numbers, on stdout as the numbers are."""
    for sentence in sentences:
        say(f"warning: {one_line(sentence)}")


def confirm(question: str) -> bool:
    """Ask a person for a yes."""
    PATIENCE.end()
    return typer.confirm(visible(question))


def print_json(value: Any) -> None:
    """Print a value as JSON; NaN has no place in JSON and becomes null.

    A terminal shows JSON too, so what it would obey is an escape of JSON, which reads as the same character.
    """
    from catsofa.data.files.json_files import finite

    show_json(json.dumps(finite(value), ensure_ascii=False, indent=2) + "\n")


def show_json(text: str) -> None:
    """Print JSON that is written already."""
    PATIENCE.end()
    typer.echo(visible_json(text), nl=False)


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table that fits the terminal (COLUMNS, or 80, where there is none); texts give way to numbers."""
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
        # a name that people type again is not cut either
        name = not place and _widest(texts) <= NAME and not any(" " in text for text in texts)
        whole = name or all(map(NUMBER.match, texts))
        drawn.add_column(Text(visible(column)), overflow="fold", no_wrap=whole)
        least += max(_widest(texts), _widest([column])) if whole else min(SHORT, _widest([*texts, column]))
    for row in cells:
        drawn.add_row(*row)
    console.print(Text(visible(title), style="bold"), overflow="fold")
    console.width = max(console.width, least)  # rather too wide than with a number that is cut
    console.print(drawn)


def fits(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> bool:
    """Whether a table fits the terminal, if need be with limits below their numbers."""
    from rich.console import Console
    from rich.text import Text

    cells = [[_with_limits_below(Text(visible(_written(cell)))) for cell in row] for row in rows]
    heads = [_heading(name, [row[place].plain for row in cells]) for place, name in enumerate(columns)]
    return _width(heads, cells) <= Console(width=_columns_given()).width


def _columns_given() -> int | None:
    """COLUMNS, or 80; None where a terminal says its width itself."""
    given = os.environ.get("COLUMNS", "")
    return None if sys.stdout.isatty() else int(given) if given.isdecimal() and int(given) else 80


def _written(cell: object) -> str:
    """A cell of a table; a float has two decimals, or is undefined."""
    if isinstance(cell, float):
        return f"{cell:.2f}" if cell == cell else "undefined"
    return str(cell)


def _width(columns: Sequence[str], rows: "Sequence[Sequence[Text]]") -> int:
    """The letters of a table's widest line, each column two apart."""
    widest = [_widest([name, *(row[at].plain for row in rows)]) for at, name in enumerate(columns)]
    return sum(widest) + 2 * (len(columns) - 1)


def _widest(texts: Iterable[str]) -> int:
    """The letters of the longest line of these texts."""
    return max((len(line) for text in texts for line in text.splitlines()), default=0)


def _with_limits_below(cell: "Text") -> "Text":
    """A number whose limits are on the line below; any other cell as it is."""
    from rich.text import Text

    return Text(cell.plain.replace(" ", "\n", 1)) if LIMITED.fullmatch(cell.plain) else cell


def _heading(name: str, cells: Sequence[str]) -> str:
    """The name of a column on lines that are no longer than its cells, where its words allow it."""
    words = name.replace("\n", " ").replace("_", "_ ").split()
    lines: list[str] = []
    for word in words:
        joined = f"{lines[-1]}{'' if lines[-1].endswith('_') else ' '}{word}" if lines else word
        if lines and len(joined) <= _widest(cells):
            lines[-1] = joined
        else:
            lines.append(word)
    return "\n".join(lines)


def doing(what: str) -> None:
    """Say what one long piece of work is, should it last: its sign of life names it."""
    PATIENCE.begin(visible(what))


KEPT = [False]
"""Whether the command has finished, and kept, some of its items."""


class Bar(Progress):
    """A bar with rate and time left, on stderr where a person is watching; a total is counted only then.

    `then` names what follows the work.
    """

    def __init__(
        self, label: str, total: int | Callable[[], int] | None = None, *, quiet: bool = False, then: str = ""
    ) -> None:
        self._label, self._total, self._then = label, total, then
        self.shown = not quiet and sys.stderr.isatty()
        self._bar: _Columns | None = None
        self._task: Any = None

    def begin(self, total: int | None = None) -> None:
        """Draw the bar."""
        if self.shown:
            from rich.console import Console
            from rich.progress import Progress as _Bar

            known = self._total() if callable(self._total) else self._total
            PATIENCE.end()
            self._bar = _Bar(*_columns(), console=Console(stderr=True), transient=True)
            self._task = self._bar.add_task(visible(self._label), total=known or total or None)
            self._bar.start()

    def update(self, parts: int = 1) -> None:
        """Move the bar on."""
        KEPT[0] = KEPT[0] or parts > 0
        if self._bar:
            self._bar.advance(self._task, parts)

    def note(self, text: str) -> None:
        """Show a few words beside the label."""
        if self._bar:
            self._bar.update(self._task, description=visible(f"{self._label}, {text}" if text else self._label))

    def end(self) -> None:
        """Leave no trace."""
        if self._bar:
            self._bar.stop()
            self._bar = None
            PATIENCE.begin()  # what is made of it may take its time too
        if self._then:
            doing(self._then)


def progress(
    items: Iterable[T], label: str, total: int | Callable[[], int] | None = None, *, quiet: bool = False
) -> Iterator[T]:
    """The items behind a bar; without a total, the length that the items report counts."""
    return Bar(label, total, quiet=quiet).each(items)


@contextmanager
def counting(label: str, total: int | None = None, *, quiet: bool = False) -> Iterator[Callable[[int], None]]:
    """Takes how much is done so far, and shows it as `progress` does: for work that reports and gives no items."""
    bar, before = Bar(label, quiet=quiet), [0]

    def advance(done: int) -> None:
        bar.update(done - before[0])
        before[0] = done

    with bar.through(total):
        yield advance


def reading(path: Path | str, *, quiet: bool = False) -> Iterator[Any]:
    """The records of a file in any format, with how far it is read."""
    from catsofa.data import formats

    return progress(formats.read(path), f"reading {Path(path).name}", lines_in(path), quiet=quiet)


def _columns() -> "Iterator[ProgressColumn]":
    """What is done, how much of it, how fast, how long, and how long still."""
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
        """Items a second."""

        def render(self, task: Task) -> Text:
            """The rate, once there is one."""
            speed = task.finished_speed or task.speed
            return Text(f"{speed:,.0f}/s" if speed and speed >= 10 else f"{speed:.1f}/s" if speed else "")

    yield TextColumn("{task.description}", markup=False)
    yield BarColumn(bar_width=15)
    yield MofNCompleteColumn()
    yield Rate()
    yield TimeElapsedColumn()
    yield TimeRemainingColumn(elapsed_when_finished=True)


def lines_in(path: Path | str) -> Callable[[], int]:
    """Counts the lines of a file: about how many records it holds; 0, for unknown, of JSON and gzip."""

    def count() -> int:
        file = Path(path)
        if not file.is_file() or file.suffix in (".json", ".gz"):
            return 0
        with file.open("rb") as bytes_of:
            return sum(block.count(b"\n") for block in iter(lambda: bytes_of.read(1 << 20), b""))

    return count
