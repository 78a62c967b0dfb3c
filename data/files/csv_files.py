"""Reads and writes CSV row by row, with the line number of each row; a faulty row is a BadInput."""

import ast
import csv
import io
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from catsofa.data.files import MAX_LINE, BadInput, atomic_write, decode, existing_file, raw_lines, short
from catsofa.data.files.faults import refuse

SEPARATORS = {",": "commas", "\t": "tabs"}
_OTHERS = {";": "semicolons", "|": "bars", ":": "colons"}
MAX_CELL = 131_072
"""Maximum characters in one cell: the limit of the csv module, which an unclosed quote soon exceeds."""

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""First characters of a cell that a spreadsheet runs as a formula."""

Row = dict[str, str]


def rows(path: Path | str, needed: Sequence[str], expected: str, max_line: int = MAX_LINE) -> Iterator[tuple[int, Row]]:
    """Each row (column to cell) with its first line number; the separator (comma or tab) that fits `needed` is used."""
    path = existing_file(path, expected)
    text = _text_lines(path, expected, max_line)
    top, head = next(((number, line) for number, line in enumerate(text, start=1) if line.strip()), (0, ""))
    if not head:
        raise BadInput(path, "nothing but blank lines", expected)
    separator, columns = _header(path, head, top, needed, expected)
    width, empty = len(columns), True
    for line, cells in _cells(text, separator, top + 1):
        if not cells:
            continue
        empty = False
        if isinstance(cells, csv.Error):
            refuse(BadInput(path, *_of_csv_error(cells, expected), line))
        elif len(cells) != width:
            problem = f"{len(cells)} cell{'s' * (len(cells) != 1)}"
            refuse(BadInput(path, problem, f"{width}, one for each column of the header", line))
        else:
            yield line, dict(zip(columns, cells, strict=True))
    if empty:
        raise BadInput(path, "a header and no rows", expected)


def _cells(text: Iterator[str], separator: str, first: int) -> Iterator[tuple[int, list[str] | csv.Error]]:
    """The first line and cells of each row, or the csv error and the line of the faulty cell, where its quote opens.

    After a faulty line, the next line begins a new row, so that an unclosed quote does not swallow other rows.
    In tab-separated tables, a cell may begin with a quote that closes early, such as a quoted name with a suffix
    (`"zorb"-like`), since such tables seldom quote cells.
    """
    again, row = list[str](), list[str]()
    good = re.compile(rf'(?:"[^"]*(?:""[^"]*)*"|[^"\r\n{separator}][^\r\n{separator}]*)?(?:{separator}|\r?\n)')

    def lines() -> Iterator[str]:
        while line := again.pop() if again else next(text, ""):
            row.append(line)
            yield line

    reader = csv.reader(lines(), delimiter=separator, strict=True)
    while True:
        row.clear()
        try:
            result: list[str] | csv.Error = next(reader)
            offset = 0
        except StopIteration:
            return
        except csv.Error as error:
            whole, end, result = "".join(row), 0, error
            while cell := good.match(whole, end):
                end = cell.end()
            offset = min(whole.count("\n", 0, end), len(row) - 1)
            if separator == "\t" and len(row) == 1 and "expected after" in str(error):
                result = row[0].rstrip("\r\n").split(separator)
            again += reversed(row[offset + 1 :])
            del row[offset + 1 :]
            reader = csv.reader(lines(), delimiter=separator, strict=True)
        yield first + offset, result
        first += len(row)


def columns_of(head: bytes) -> set[str]:
    """The column names in the first line of a file, for every possible separator; used to detect a format."""
    line = head.split(b"\n", 1)[0].decode("utf-8", "replace")
    return {name for separator in (*SEPARATORS, *_OTHERS) for name in _split(line, separator)}


def header_in(head: bytes) -> list[str]:
    """The column names of a table: its first line, with the separator that its second line has as often; else empty."""
    first, second, *_ = [*head.decode("utf-8", "replace").splitlines(), "", ""]
    rows = [(_split(first, separator), _split(second, separator)) for separator in (*SEPARATORS, *_OTHERS)]
    return max((names for names, cells in rows if len(names) == len(cells) > 1), key=len, default=[])


def formulas(path: Path) -> int:
    """The number of cells in a CSV file that a spreadsheet would run as formulas; numbers do not count."""
    with path.open(encoding="utf-8", newline="") as text:
        return sum(_is_formula(cell) for cells in csv.reader(text) for cell in cells)


def _is_formula(cell: str) -> bool:
    """Returns whether a cell begins like a formula and is not a number."""
    if not cell.startswith(FORMULA):
        return False
    try:
        float(cell)
    except ValueError:
        return True
    return False


def refuse_empty(row: Row, columns: Iterable[str], path: Path | str, expected: str, line: int) -> None:
    """Raise a BadInput if one of these cells is blank."""
    for name in columns:
        if not row[name].strip():
            raise BadInput(path, f"nothing in the column {name!r}", f"{expected} with every {name!r} filled in", line)


def others(row: Row, known: Iterable[str]) -> Row:
    """The non-empty cells of all columns that are not `known`; these go to `extra`."""
    return {name: cell for name, cell in row.items() if cell and name not in known}


def with_others(row: Row, extra: Mapping[str, Any]) -> Row:
    """A row plus the other fields of `extra`: texts unchanged, other values converted to text."""
    return row | {name: str(value) for name, value in extra.items() if name not in row and value not in ("", None)}


def list_in(row: Row, column: str, path: Path | str, line: int) -> list[Any]:
    """The Python list written in a cell; an empty list if the column is missing or the cell is empty."""
    cell = row.get(column, "")
    try:
        value = ast.literal_eval(cell) if cell else []
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        value = None
    if not isinstance(value, list):
        raise BadInput(path, f"{short(cell)} in the column {column!r}", "a list as Python writes it", line)
    return value


def write(table: Iterable[Mapping[str, str]], path: Path | str, columns: Iterable[str], separator: str = ",") -> int:
    """Write rows with these and all further columns of any row, missing cells empty; returns the number of rows."""
    header = dict.fromkeys(columns)
    width, count = len(header), 0
    with atomic_write(path) as file, _text_in(file) as text:
        writer = csv.writer(_LineFeeds(text), lineterminator="\r\n", delimiter=separator)
        writer.writerow(header)
        for count, row in enumerate(table, start=1):
            if not row.keys() <= header.keys():
                header |= dict.fromkeys(row)
            cells = [row.get(name, "") for name in header]
            for cell in cells:
                if "\0" in cell or len(cell) > MAX_CELL:
                    raise ValueError(f"row {count}: {short(cell)} holds a NUL or is too long for a cell of CSV")
            writer.writerow(cells)
        if not count:
            raise ValueError(f"there is nothing to write to {path}")
        if len(header) > width:
            _widen(text, list(header), separator)
    return count


@contextmanager
def _text_in(file: IO[bytes]) -> Iterator[io.TextIOWrapper]:
    """A binary file as text; the file stays open, and the caller closes it."""
    text = io.TextIOWrapper(file, encoding="utf-8", newline="")
    try:
        yield text
        text.flush()
    finally:
        text.detach()


def _widen(text: io.TextIOWrapper, columns: list[str], separator: str) -> None:
    """Add columns that only later rows have to all rows of a file."""
    text.seek(0)
    with tempfile.TemporaryFile("w+", encoding="utf-8", newline="") as wide:
        writer = csv.writer(_LineFeeds(wide), lineterminator="\r\n", delimiter=separator)
        rows_so_far = csv.reader(text, delimiter=separator)
        next(rows_so_far)
        writer.writerow(columns)
        writer.writerows([*cells, *[""] * (len(columns) - len(cells))] for cells in rows_so_far)
        text.seek(0)
        text.truncate()
        wide.seek(0)
        shutil.copyfileobj(wide, text)


class _LineFeeds:
    """Ends rows with a line feed; the csv module quotes a lone carriage return only if its row ending has one."""

    def __init__(self, text: IO[str]) -> None:
        self._write = text.write

    def write(self, row: str) -> int:
        """Write a row that ends in a carriage return and line feed, without the carriage return."""
        return self._write(f"{row[:-2]}\n")


def _text_lines(path: Path, expected: str, max_line: int) -> Iterator[str]:
    """Each line with its line ending, so that a quoted cell keeps its line breaks."""
    for number, raw in raw_lines(path, expected, "row", max_line):
        if number == 1 and raw.startswith((b"\xff\xfe", b"\xfe\xff")):
            advice = f"{expected} in UTF-8; convert it with 'catsofa convert --encoding utf-16'"
            raise BadInput(path, "text in UTF-16", advice, number)
        if number == 1 and raw.startswith(b"PAR1"):
            raise BadInput(path, "Parquet", f"{expected} as text; write the table as CSV")
        if b"\0" in raw:
            raise BadInput(path, "a NUL byte", f"{expected} as text", number)
        yield decode(raw, path, expected, number)


def _header(path: Path, line: str, number: int, needed: Sequence[str], expected: str) -> tuple[str, list[str]]:
    """The separator and the columns; refuses a repeated column or a missing needed column."""
    separator = max(SEPARATORS, key=lambda sep: len(set(needed) & set(_split(line, sep))))
    columns = _split(line, separator)
    missing = [name for name in needed if name not in columns]
    if missing and line.startswith("{"):
        advice = f"{expected} as CSV or TSV, with the columns {', '.join(needed)}"
        raise BadInput(path, "JSON lines", advice, number)
    if missing:
        for other, name in _OTHERS.items():
            if set(needed) <= set(_split(line, other)):
                raise BadInput(path, f"{name} between the columns", f"{expected}, with commas or tabs", number)
        problem = f"no column {missing[0]!r} among {short(', '.join(columns))}"
        raise BadInput(path, problem, f"{expected}, with the columns {', '.join(needed)}", number)
    if twice := [name for name in columns if columns.count(name) > 1]:
        raise BadInput(path, f"the column {twice[0]!r} twice", f"{expected}, with each column once", number)
    return separator, columns


def _split(line: str, separator: str) -> list[str]:
    """The cells of a header line; empty if the line is not CSV."""
    try:
        return next(csv.reader([line.rstrip("\r\n")], delimiter=separator, strict=True), [])
    except csv.Error:
        return []


def _of_csv_error(error: csv.Error, expected: str) -> tuple[str, str]:
    """Returns what was found and what was expected, for an error of the csv module."""
    message = str(error)
    if "field larger" in message:
        return f"a cell of over {MAX_CELL:,} characters", f"{expected}; perhaps a quote was never closed"
    if "unexpected end of data" in message:
        return "the end of the file inside a quoted cell", f"{expected}, with every quote closed"
    if "new-line character" in message:
        return "a carriage return inside an unquoted cell", f"{expected}, with lines that end in a line feed"
    return f"a cell that is quoted wrongly ({message})", expected
