"""The command line: one command per stage, each a thin layer over one library call.

Only this package prints or exits.
"""

import inspect
import os
import re
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from catsofa.cli import (
    annotate,
    build,
    data,
    demo,
    filter,
    gate,
    planning,
    release,
    report,
    run,
    score,
    share,
    validate,
    verify,
)
from catsofa.cli.build import candidates, paraphrases
from catsofa.cli.renamed import Renaming
from catsofa.cli.score import nsp, sentiment, served
from catsofa.cli.spinner import patience
from catsofa.cli.terminal import KEPT, fail, note, refuse_closed_output
from catsofa.data import extras

INTERRUPTED, TERMINATED, CLOSED = 130, 143, 141
"""Exit codes after Ctrl-C, after a request to terminate (`kill`, a scheduler, a reboot), and after `| head`."""

GO_ON = {
    "annotate",
    "build candidates",
    "build jury",
    "build paraphrases",
    "build probes",
    "data fetch",
    "demo",
    "filter similarity",
    "leaderboard",
    "multiverse",
    "nsp train",
    "push-to-hub",
    "run",
    "score",
    "sentiment train",
    "served",
}
"""First words of the commands that resume after a stop; the others write their output only when it is complete."""

app = typer.Typer(
    name="catsofa",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help=(
        "Build stereotype benchmarks for language models, have people validate them, "
        "and measure models on them.\n\n"
        "Start with [bold]catsofa demo[/bold]: the whole journey, offline, with a known answer."
    ),
)

for room in (
    demo,
    data,
    build,
    paraphrases,
    candidates,
    filter,
    validate,
    annotate,
    release,
    score,
    planning,
    served,
    nsp,
    sentiment,
    gate,
    report,
    share,
    run,
    verify,
):
    room.register(app)


def _finish(commands: typer.Typer) -> None:
    """Joins the lines of each help paragraph, so that only the terminal wraps them; makes old option names work."""
    for command in commands.registered_commands:
        command.cls = Renaming
        text = inspect.getdoc(command.callback) or ""
        command.help = "\n\n".join(" ".join(part.split()) for part in text.split("\n\n"))
    for group in commands.registered_groups:
        if group.typer_instance:
            _finish(group.typer_instance)


_finish(app)


def _version(requested: bool) -> None:
    """Prints the version and exits."""
    if requested:
        from catsofa import __version__

        typer.echo(f"catsofa {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Carry the options that stand before a command."""


def main() -> None:
    """Runs a command; reports an error as one sentence on stderr with exit code 2."""
    refuse_closed_output()
    with _end_quietly_if_closed():
        try:
            _handle_signals()
            with patience(quiet=bool({"--quiet", "-q", "--json"} & {*sys.argv})):
                app()
        except (ValueError, ImportError, KeyboardInterrupt, SystemExit) as error:
            _end_if_stopped(error)
            sentence = extras.explain(error) if isinstance(error, ImportError) else _sentence_of(error)
            if sentence is None or not isinstance(error, ValueError | ImportError):
                raise
            fail(sentence)
        except BrokenPipeError:
            raise
        except OSError as error:
            fail(f"{error.filename or 'the machine'}: {error.strerror or error}")
        except (MemoryError, RuntimeError) as error:
            from catsofa.scoring.likelihood.batches import out_of_memory

            if not out_of_memory(error):
                raise
            do = "use another device, a smaller model or a smaller dtype"
            fail(f"not enough memory; {do}; {_what_stays(sys.argv[1:])}")


@contextmanager
def _end_quietly_if_closed() -> Iterator[None]:
    """Exits with 141 if the reader of a pipe closed it (`| head`), which is no error."""
    try:
        yield
    except (BrokenPipeError, SystemExit) as error:
        # typer and rich turn a closed pipe into exit code 1, which is a result of some commands
        if not isinstance(error.__context__ if isinstance(error, SystemExit) else error, BrokenPipeError):
            raise
        for stream in (1, 2):  # without this, Python complains at exit
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
        sys.exit(CLOSED)


def _show_warning(
    show: Callable[..., None], message: Warning | str, category: type[Warning], *where: Any, **more: Any
) -> None:
    """Prints a warning of catsofa as a line on stderr, and any other warning as Python does."""
    if category.__module__.startswith("catsofa."):
        note(f"catsofa: {message}")
    else:
        show(message, category, *where, **more)


def _sentence_of(error: BaseException) -> str:
    """Returns the message of an error. A UnicodeEncodeError names no file, so it gets a message of its own."""
    if isinstance(error, UnicodeEncodeError):
        return f"{error.object!r} holds bytes that are no UTF-8; rename that file or folder, or mend that text"
    return str(error)


def _end_if_stopped(error: BaseException) -> None:
    """Exits with a sentence if the user or the system stopped the command.

    typer turns Ctrl-C into a silent exit. A library that is being imported may turn Ctrl-C into an error of its own.
    """
    code = _stopped_by(error)
    if code == INTERRUPTED:
        fail(f"stopped by you; {_what_stays(sys.argv[1:])}", INTERRUPTED)
    if code == TERMINATED:
        fail(f"asked to end; {_what_stays(sys.argv[1:])}", TERMINATED)


def _stopped_by(error: BaseException | None) -> object:
    """Returns the exit code of a stop or a SystemExit in the chain of causes of an error; None without one."""
    while error is not None:
        if isinstance(error, KeyboardInterrupt):
            return INTERRUPTED
        if isinstance(error, SystemExit):
            return error.code
        error = error.__cause__ or error.__context__
    return None


def _what_stays(words: list[str]) -> str:
    """Returns a sentence about what a stopped command kept, and what the user can do."""
    if words[:1] == ["choose"] and (replies := _replies_in(words)):
        return f"{replies} kept, run the same command again to go on"
    if not {" ".join(words[:1]), " ".join(words[:2])} & GO_ON:
        return "nothing half-written stays, run the same command again"
    if words[0] in ("score", "served") and not any(word.startswith("--out") for word in words):
        return "no score is kept without --out FOLDER, which a second call goes on with"
    if KEPT[0]:
        return "what was finished is kept, run the same command again to go on"
    if words[0] in ("score", "served"):
        return "nothing was finished yet, run the same command again"
    return "run the same command again to go on"


def _replies_in(words: list[str]) -> str:
    """Returns how many replies the output folder of a call of `choose` holds, as text; empty if it holds none."""
    out = next((word.partition("=")[2] or after for word, after in pairwise([*words, ""]) if word[:5] == "--out"), "")
    log = Path(out) / "received.jsonl"
    if not out or not log.is_file():
        return ""
    with log.open("rb") as lines:
        count = sum(re.match(rb'{"key": "[0-9a-f]{32,}"', line) is not None for line in lines)
    return f"{count:,} {'reply is' if count == 1 else 'replies are'}"


def _handle_signals() -> None:
    """Makes Ctrl-C and `kill` raise exceptions from now on, so that half-written files are removed.

    Replaces the signal handlers of the entry point. Also sets the hooks for warnings and for ignored exceptions.
    """
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, _end)
    warnings.showwarning = partial(_show_warning, warnings.showwarning)
    sys.unraisablehook = partial(_stop_again, sys.unraisablehook)


def _stop_again(show: Callable[["sys.UnraisableHookArgs"], None], ignored: "sys.UnraisableHookArgs") -> None:
    """Raises a stop again after a moment if Python ignored its exception (in a `__del__`)."""
    code = _stopped_by(ignored.exc_value)
    if code in (INTERRUPTED, TERMINATED):
        again = signal.SIGINT if code == INTERRUPTED else signal.SIGTERM
        threading.Timer(0.01, signal.pthread_kill, [threading.main_thread().ident, again]).start()
    else:
        show(ignored)


def _end(*_: object) -> NoReturn:
    """Exits as after Ctrl-C: removes half-written files and releases locks."""
    sys.exit(TERMINATED)
