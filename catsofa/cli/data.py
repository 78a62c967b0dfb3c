"""Commands on data: convert between formats, list and fetch released sets."""

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from catsofa.cli.terminal import DATA, Bar, Json, Quiet, examples, lines_in, note, print_json, say, table
from catsofa.data.visible import visible

if TYPE_CHECKING:
    from catsofa.data.sources.fetch import Fetched, Progress
    from catsofa.data.sources.released import Source

SHORT = {"verified": "yes", "no published checksum": "unchecked", "wrong checksum": "wrong checksum"}
"""Label that `data list` shows for each state of the checksums of a local set."""

SHOWN = 5
"""Number of faulty lines that `convert` shows."""

Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of a set, as [bold]catsofa data list[/bold] shows it.")]


def register(app: typer.Typer) -> None:
    """Adds the commands of this module."""
    app.command(
        epilog=examples(
            "catsofa convert dev.json dev.jsonl",
            "catsofa convert stereoset:dev dev.jsonl",
            "catsofa convert my_pairs.jsonl my_pairs.csv --to crows-pairs",
            "catsofa convert table.csv pairs.jsonl --more biased --less fair --type topic --language fr",
            "catsofa convert export.csv pairs.jsonl --encoding cp1252 --strict",
        )
    )(convert)
    sets = typer.Typer(
        name="data",
        no_args_is_help=True,
        help="List, show, fetch and find released sets, kept in CATSOFA_DATA or in the cache.",
    )
    sets.command("list", epilog=examples("catsofa data list", "catsofa data list --json"))(list_sources)
    sets.command(epilog=examples("catsofa data show stereoset:dev"))(show)
    sets.command(
        epilog=examples(
            "catsofa data fetch stereoset:dev crows-pairs",
            "catsofa data fetch sofa --from Downloads/SoFa.csv",
            "CATSOFA_DATA=/scratch/data catsofa data fetch seat",
        )
    )(fetch)
    sets.command(epilog=examples("catsofa data path seat", "ls $(catsofa data path seat)"))(path)
    app.add_typer(sets)


def local(data: str) -> Path:
    """Returns the path of the data of a command: a file, a folder, or a released set by name, fetched if missing."""
    from catsofa.data import sources

    with _bars() as progress:
        return sources.resolve(data, progress)


def convert(
    source: Annotated[str, typer.Argument(metavar=DATA, help="Input file or folder, or a released set by name.")],
    target: Annotated[Path, typer.Argument(help="Output file or folder.")],
    source_format: Annotated[
        str | None, typer.Option("--from", help="Format of DATA. Default: recognised from its content.")
    ] = None,
    target_format: Annotated[
        str | None, typer.Option("--to", help="Format of the output. Default: from the ending of its name.")
    ] = None,
    more: Annotated[str, typer.Option(help="CSV column of the more stereotypical sentences of pairs.")] = "",
    less: Annotated[str, typer.Option(help="CSV column of the less stereotypical sentences.")] = "",
    bias_type: Annotated[str, typer.Option("--type", help="CSV column of the domain of each pair.")] = "",
    direction: Annotated[str, typer.Option(help="CSV column of the direction: stereo or antistereo.")] = "",
    language: Annotated[
        str,
        typer.Option(
            help="Language of the records (ISO 639). If a file names languages, only its records in this one are read."
        ),
    ] = "",
    encoding: Annotated[
        str, typer.Option(help="Encoding of a file that is not UTF-8: cp1252, mac_roman, utf-16, …")
    ] = "",
    strict: Annotated[bool, typer.Option("--strict", help="Refuse a file with a faulty line.")] = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Convert a file to another format; list what that format cannot hold, and which lines are faulty."""
    from catsofa.data import formats
    from catsofa.data.files import csv_files
    from catsofa.data.formats.pairs.columns import PairColumns

    if any((more, less, bias_type, direction)) and not (more and less):
        raise ValueError("pairs need both sentences; name their columns with --more and --less")
    path = local(source)
    done = formats.convert(
        path,
        target,
        source_format=source_format,
        target_format=target_format,
        columns=PairColumns(more=more, less=less, bias_type=bias_type, direction=direction) if more else None,
        language=language,
        encoding=encoding,
        strict=strict,
        progress=Bar("records", lines_in(path), quiet=quiet or json),
    )
    if target.suffix == ".csv" and (running := csv_files.formulas(target)):
        note(
            f"{running:,} cells begin as formulas do; a spreadsheet would run them, so open the file as text",
            quiet=quiet,
        )
    if json:
        print_json(
            {
                "from": done.source,
                "to": done.target,
                "records": done.records,
                "lost": dict(done.lost),
                "left_out": [
                    {"line": fault.line, "found": fault.found, "expected": fault.expected} for fault in done.left_out
                ],
                "other_languages": done.other_languages,
                "utf8_lines": done.utf8_lines,
                "file": str(target),
            }
        )
        return
    say(f"{done.records:,} records from {done.source} to {done.target}: {target}", quiet=quiet)
    for feature, count in done.lost.most_common():
        say(f"  {done.target} cannot hold {feature} ({count:,} records)", quiet=quiet)
    if done.other_languages:
        say(f"  {done.other_languages:,} records in other languages are left out", quiet=quiet)
    if done.utf8_lines:
        note(
            f"lines of {path.name} in UTF-8 and not in {encoding}, which stay as they are: {done.utf8_lines:,}",
            quiet=quiet,
        )
    if done.left_out:
        note(f"faulty lines of {path.name}, left out (--strict refuses them): {len(done.left_out):,}", quiet=quiet)
        for fault in done.left_out[:SHOWN]:
            note(f"  line {fault.line}: {fault.complaint}", quiet=quiet)
        if (further := len(done.left_out) - SHOWN) > 0:
            note(f"  and {further:,} more: --json lists them all", quiet=quiet)


def list_sources(json: Json = False) -> None:
    """List the released sets: content, size, and whether a copy with the right checksum is on this machine."""
    from catsofa.data.sources import released

    if json:
        print_json([_facts(source) for source in released.table().values()])
        return
    # below 80 columns, the licence would cut the words of the other columns
    licence = shutil.get_terminal_size().columns >= 80
    rows = [
        (
            *(source.name, source.holds, _size(_bytes(source))),
            *((source.licence,) if licence else ()),
            SHORT.get(_facts(source)["checksum"], ""),
        )
        for source in released.table().values()
    ]
    table("Released sets", ("name", "holds", "download", *(("licence",) if licence else ()), "here"), rows)
    if not licence:
        say("catsofa data show NAME has the licence")


def show(name: Name, json: Json = False) -> None:
    """Show the licence, citation, files and checksums of a released set."""
    from catsofa.data.sources import released

    facts = _facts(released.named(name))
    if json:
        print_json(facts)
        return
    for key, value in facts.items():
        if key not in ("files", "wrong") and (key, value) != ("checksum", None):
            say(f"{key:9} {'not on this machine' if value is None else value}")
    for file in facts["wrong"]:
        say(f"  {file['file']} has SHA-256 {file['sha256']}, not {file['expected']}: it cannot be used by name")
    say("files")
    for file in facts["files"]:
        say(f"  {file['name']}  {_size(file['bytes'])}")
        say(f"    SHA-256 {file['sha256'] or 'not published'}")


def fetch(
    names: Annotated[
        list[str], typer.Argument(metavar="NAME", help="Names of sets, as [bold]catsofa data list[/bold] shows them.")
    ],
    origin: Annotated[
        Path | None, typer.Option("--from", help="Copy from this file or folder instead of downloading.")
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Download released sets and check their checksums; complete files are kept, interrupted downloads resume."""
    from catsofa.data.sources.fetch import fetch as bring
    from catsofa.data.sources.released import named

    if origin and len(names) > 1:
        raise ValueError("--from is the file or folder of one set; name one")
    for name in names:
        named(name)
    with _bars(quiet) as progress:
        fetched = [bring(name, origin, progress) for name in names]
    if json:
        print_json([_brought(one) for one in fetched])
        return
    for one in fetched:
        say(f"{one.name}: {one.path}", quiet=quiet)
        for file in one.files:
            if not file.published:
                say(f"  {file.path.name} has SHA-256 {file.sha256} (none is published; kept to compare)", quiet=quiet)


def path(name: Name) -> None:
    """Print the path of a released set on this machine; if it is missing, say which file to put where."""
    from catsofa.data import sources

    say(str(sources.path(name)))


def _facts(source: "Source") -> dict[str, Any]:
    """Returns the facts about a source, for text and JSON output."""
    from catsofa.data.sources import released
    from catsofa.data.sources.checks import check_source, state_of

    root = released.root_of(source)
    checks = check_source(source, root) if root else []
    return {
        "name": source.name,
        "holds": source.holds,
        "format": source.format,
        "licence": source.licence,
        "cite": source.citation,
        "paper": source.paper,
        "origin": source.origin,
        "here": str(source.below(root)) if root else None,
        "checksum": state_of(checks) if checks else None,
        "wrong": [
            {"file": str(check.path), "sha256": check.found, "expected": check.expected}
            for check in checks
            if check.state == "wrong checksum"
        ],
        "files": [
            {"name": file.name, "url": file.url, "bytes": file.size, "sha256": file.sha256 or None}
            for file in source.downloads
        ],
    }


def _brought(fetched: "Fetched") -> dict[str, Any]:
    """Returns the fetched files for JSON output."""
    files = [
        {"file": str(file.path), "sha256": file.sha256, "how": file.how, "published": file.published}
        for file in fetched.files
    ]
    return {"name": fetched.name, "path": str(fetched.path), "files": files}


def _bytes(source: "Source") -> int | None:
    """Returns the size of all downloads of a source; None if a size is unknown."""
    sizes = [file.size for file in source.downloads]
    return None if None in sizes else sum(size or 0 for size in sizes)


def _size(size: int | None) -> str:
    """Formats a size for people: 12.5 MB."""
    if size is None:
        return "?"
    return f"{size / 1e6:,.1f} MB" if size >= 1e6 else f"{size / 1e3:,.1f} kB"


@contextmanager
def _bars(quiet: bool = False) -> Iterator["Progress | None"]:
    """Shows a progress bar for each download on stderr, if stderr is a terminal."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=15),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        tasks: dict[str, Any] = {}

        def report(name: str, done: int, total: int | None) -> None:
            if name not in tasks:
                tasks[name] = bars.add_task(visible(name))
            bars.update(tasks[name], completed=done, total=total, visible=done != total)

        yield report
