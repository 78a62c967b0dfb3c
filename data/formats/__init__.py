"""All file formats by name: record types, detection, reading, writing, and what each format cannot represent."""

__all__ = ["MODULES", "Format", "convert"]

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from catsofa.data.files import BadInput, existing_file, open_to_read, short
from catsofa.data.files.csv_files import columns_of, header_in
from catsofa.data.files.encodings import in_utf8, utf_16_in
from catsofa.data.files.faults import leaving_out
from catsofa.data.formats.plain import unfit
from catsofa.data.progress import SILENT, Progress
from catsofa.data.records import LABELS, Cat, Pair, Probe, kind_name
from catsofa.data.set_names import TakenName

if TYPE_CHECKING:
    from catsofa.data.formats.pairs.columns import PairColumns
    from catsofa.data.plugins import Plugins

HEAD = 64 * 1024
"""Bytes at the start of a file that are enough to detect its format."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """One file format of one kind of record."""

    name: str
    holds: tuple[type[Any], ...]
    about: str
    matches: Callable[[Path, bytes], bool]
    """Returns whether a path with this head (empty for a folder) is in this format."""
    read: Callable[[Path], Iterator[Any]]
    write: Callable[[Iterable[Any], Path], int]
    """Writes atomically, returns the number of records."""
    loses: Callable[[Any], Iterable[str]]
    """The parts of this record that the format cannot represent, in words for users ("source", "votes")."""
    suffix: str | None
    """The suffix that selects this format for a file to write; None if the format is read-only."""
    columns: tuple[str, ...] = ()
    """The columns in the header of a CSV file in this format."""
    says_language: bool = False
    """True if files in this format state the language of each record."""


MODULES = {
    "stereoset": ".stereoset",
    "predictions": ".predictions",
    "crows-pairs": ".pairs.crows_pairs",
    "winoqueer": ".pairs.winoqueer",
    "indibias": ".pairs.indibias",
    "redditbias": ".pairs.redditbias",
    "bhed": ".pairs.bhed",
    "winobias": ".pairs.winobias",
    "seat": ".seat",
    "sofa": ".sofa",
    "bbq": ".bbq",
    "kobbq": ".kobbq",
    "sbic": ".sbic",
    "biasasker": ".biasasker",
    "seegull": ".seegull",
    "identities": ".identity_lexicon",
    "holisticbias": ".holisticbias",
    "annotations": ".annotations",
    "table": ".plain.table",
    "release": ".release",
    "jsonl": ".jsonl",
}
"""Maps a format name to the module that defines FORMAT; detection follows this order. Add your own by full name."""
PLAIN: dict[type[Any], tuple[str, ...]] = {
    Cat: ("context", "target", "bias_type", *LABELS),
    Pair: ("more", "less", "bias_type"),
    Probe: ("category", "identity", "stereotype"),
}
"""The columns that a user's own table needs, for each record type."""
LAST = "jsonl"
"""The format that accepts any JSON lines; formats of other packages are tried before this one."""


@cache
def plugins() -> "Plugins":
    """The formats of other packages; loaded when no built-in format has the name or matches the file."""
    from catsofa.data.formats import plugged

    return plugged.load(MODULES)


def names() -> list[str]:
    """The names of all formats, in the order of detection."""
    first = [name for name in MODULES if name != LAST]
    return [*first, *plugins().parts, LAST]


FOREIGN = {
    b"PK\x03\x04": ("a zip archive or a spreadsheet", "the file in it, unpacked, or the sheet saved as CSV in UTF-8"),
    b"\xff\xfe": ("UTF-16 text", "text in UTF-8; convert it with 'catsofa convert --encoding utf-16'"),
    b"\xfe\xff": ("UTF-16 text", "text in UTF-8; convert it with 'catsofa convert --encoding utf-16'"),
}
"""The first bytes of files that users mistake for data, with a description and the remedy."""


class UnknownFormat(BadInput):
    """An error about a file or table in no known format."""


def named(name: str) -> Format:
    """The format with this name."""
    if name not in MODULES and name not in plugins().parts:
        missing = f"no format {name!r}; the formats are {', '.join(names())}"
        raise ValueError(plugins().broken.get(name, missing))
    original: Format = import_module(MODULES[name], __name__).FORMAT if name in MODULES else plugins().parts[name]

    def records(path: Path) -> Iterator[Any]:
        try:
            yield from original.read(path)
        except TakenName as error:
            raise BadInput(path, str(error), "sets with names of their own") from None

    return replace(original, read=records)


def format_of(path: Path | str) -> Format:
    """The format of a file or folder, detected from its content."""
    path = Path(path)
    head = b""
    expected = "data in a format we know"
    if not os.path.isdir(path):  # unlike Path.is_dir, no exception for a path that is too long
        with open_to_read(existing_file(path, expected), expected) as file:
            head = file.read(HEAD).removeprefix(b"\xef\xbb\xbf")
    for start, (problem, wanted) in FOREIGN.items():
        if head.startswith(start):
            raise BadInput(path, problem, wanted)
    if encoding := utf_16_in(head):
        wanted = f"text in UTF-8; convert it with 'catsofa convert --encoding {encoding}'"
        raise BadInput(path, "UTF-16 text without a byte order mark", wanted)
    for name in chain((one for one in MODULES if one != LAST), _after()):
        candidate = named(name)
        if candidate.matches(path, head):
            return candidate
    # with half the columns of a format, the reader of that format says which one is missing
    head_columns = columns_of(head)
    tables = [candidate for candidate in map(named, names()) if candidate.columns]
    share = {table.name: len(head_columns & set(table.columns)) / len(table.columns) for table in tables}
    nearest = max(tables, key=lambda table: share[table.name])
    if share[nearest.name] >= 0.5:
        next(nearest.read(path))
    raise UnknownFormat(path, *_unknown(head))


def _after() -> Iterator[str]:
    """The formats that are tried after all built-in ones."""
    yield from plugins().parts
    yield LAST


def _unknown(head: bytes) -> tuple[str, str]:
    """Found and expected for a file or folder in no known format; names the columns that a table needs."""
    if not head:
        return "a folder in no known format", f"one of the formats {', '.join(names())}{plugins().hint()}"
    if header := header_in(head):
        return unlike_tables(header)
    columns = unfit.columns_of_each({kind_name(kind): needed for kind, needed in PLAIN.items()})
    problem = f"a file in no known format that starts with {short(head[:80].decode('utf-8', 'replace'))}"
    expected = f"a format of docs/reference/formats.md, or a table with the columns of {columns}"
    return problem, f"{expected}{plugins().hint()}"


def unlike_tables(names: Sequence[str]) -> tuple[str, str]:
    """Found and expected for a table whose columns are of no known format."""
    found, expected = unfit.of_columns(names, {kind_name(kind): needed for kind, needed in PLAIN.items()})
    return found, f"{expected}{plugins().hint()}"


def read(path: Path | str, format_name: str | None = None) -> Iterator[Any]:
    """The records of a file or folder in any format; the format is detected unless `format_name` names it."""
    chosen = named(format_name) if format_name else format_of(path)
    return chosen.read(Path(path))


def read_as(path: Path | str, record_type: type[Any]) -> Iterator[Any]:
    """The records of a file in any format that holds this record type; raises a BadInput for another type."""
    chosen = format_of(path)
    if record_type not in chosen.holds:
        raise BadInput(path, f"{_kinds(chosen)} ({chosen.about})", kind_name(record_type))
    for record in chosen.read(Path(path)):
        if not isinstance(record, record_type):
            raise BadInput(path, f"{kind_name(type(record))}", kind_name(record_type))
        yield record


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversion:
    """The result of a conversion: both formats, the number of records, and what the target could not represent."""

    source: str
    target: str
    records: int
    lost: Counter[str]
    left_out: tuple[BadInput, ...] = ()
    """The error of each skipped line."""
    other_languages: int = 0
    """Records skipped because they are in another language than requested."""
    utf8_lines: int = 0
    """Lines that were already UTF-8 in a file in another encoding."""


def convert(
    source: Path | str,
    target: Path | str,
    *,
    source_format: str | None = None,
    target_format: str | None = None,
    columns: "PairColumns | None" = None,
    language: str = "",
    encoding: str = "",
    strict: bool = False,
    progress: Progress = SILENT,
) -> Conversion:
    """Write the records of `source` to `target`, and count what the target's format cannot represent.

    `columns` names the columns of a CSV that hold pairs. If the file states no language, records get `language`;
    otherwise records in another language are skipped. Text in another `encoding` is converted to UTF-8. Faulty
    lines are skipped and collected, unless `strict` refuses a file with one.
    """
    if os.path.realpath(source) == os.path.realpath(target):
        raise ValueError(f"{target} is the file to read; name another one to write")
    if Path(target).suffix == ".gz":
        raise ValueError(f"{target} would be packed, which catsofa reads and does not write; name it without .gz")
    with ExitStack() as stack:
        faults = [] if strict else stack.enter_context(leaving_out())
        place, utf8_lines = stack.enter_context(in_utf8(Path(source), encoding)) if encoding else (Path(source), 0)
        incoming = columns.as_format() if columns else named(source_format) if source_format else format_of(place)
        done = _converted(place, Path(target), incoming, target_format, language, faults, progress)
    left_out = tuple(BadInput(source, fault.found, fault.expected, fault.line) for fault in faults)
    return replace(done, left_out=left_out, utf8_lines=utf8_lines)


def _converted(
    source: Path,
    target: Path,
    incoming: Format,
    target_format: str | None,
    language: str,
    faults: list[BadInput],
    progress: Progress,
) -> Conversion:
    """Convert a UTF-8 file; `faults` holds the errors of skipped lines."""
    lost: Counter[str] = Counter()
    others = 0

    def in_language() -> Iterator[Any]:
        nonlocal others
        for record in incoming.read(source):
            spoken = getattr(record, "language", "")
            if not language or spoken == language:
                yield record
            elif incoming.says_language:
                others += 1
            elif not spoken:
                raise ValueError(f"{kind_name(type(record))} have no language; leave --language out")
            else:
                has_content_id = (
                    replace(record, id="").id == record.id
                )  # the id comes from the content, which includes the language
                yield replace(record, language=language, **({"id": ""} if has_content_id else {}))

    records = in_language()
    if (first := next(records, None)) is None:  # every reader refuses a file without records
        if faults:
            raise faults[0]
        raise BadInput(
            source, f"no record in the language {language!r}", "one in it; leave --language out, or see which"
        )
    outgoing = named(target_format) if target_format else _format_to_write(target, type(first))
    if not isinstance(first, outgoing.holds):
        raise ValueError(f"{outgoing.name} holds {_kinds(outgoing)}; {source} holds {kind_name(type(first))}")

    def counted() -> Iterator[Any]:
        for record in progress.each(chain([first], records)):
            if not isinstance(record, outgoing.holds):
                raise BadInput(source, kind_name(type(record)), f"{_kinds(outgoing)}, which {outgoing.name} holds")
            lost.update(set(outgoing.loses(record)))
            yield record

    count = outgoing.write(counted(), target)
    return Conversion(
        source=incoming.name,
        target=outgoing.name,
        records=count,
        lost=lost,
        other_languages=others,
    )


def _kinds(chosen: Format) -> str:
    """The kinds of record that a format holds, in words for users."""
    return " or ".join(kind_name(held) for held in chosen.holds)


def _format_to_write(target: Path, record_type: type[Any]) -> Format:
    """The only format that holds these records and has the target's suffix; else a ValueError."""
    able = [one for one in map(named, names()) if record_type in one.holds and one.suffix is not None]
    fits = [candidate for candidate in able if candidate.suffix == target.suffix.lower()]
    if len(fits) == 1:
        return fits[0]
    choices = ", ".join(candidate.name for candidate in able)
    raise ValueError(f"cannot tell the format of {target} from its ending; name one of {choices} with --to")
