"""catsofa's own JSONL as a format: records of one kind, without loss."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from catsofa.data.files import BadInput, json_files, jsonl, lines
from catsofa.data.files.faults import each
from catsofa.data.formats import Format
from catsofa.data.formats.plain.rows import are_rows, is_ours, records_of
from catsofa.data.records import RECORDS

EXPECTED = "records as JSONL"


def read(path: Path) -> Iterator[Any]:
    """Each record, all of the first line's kind; objects with the columns of another format are read as its rows."""
    number, line = next(lines(path, EXPECTED))
    first = json_files.parse(line, path, EXPECTED, number, nan=True)
    if isinstance(first, dict) and not is_ours(first.keys()) and are_rows(first.keys()):

        def row_of(number: int, line: str) -> dict[str, Any]:
            row = json_files.parse(line, path, EXPECTED, number)
            if not isinstance(row, dict):
                raise BadInput(path, f"a JSON {type(row).__name__}", "a JSON object on each line", number)
            return row

        return iter(records_of(list(each(row_of, lines(path, EXPECTED))), path, EXPECTED))
    return jsonl.read(path, jsonl.record_type_of(path))


def matches(path: Path, head: bytes) -> bool:
    """Returns whether the first line is a complete JSON object, or the file's suffix is .jsonl."""
    first = head.split(b"\n", 1)[0].strip()
    return bool(head) and (path.suffix.lower() == ".jsonl" or (first[:1] == b"{" and first[-1:] == b"}"))


FORMAT = Format(
    name="jsonl",
    holds=tuple(RECORDS.values()),
    about="our JSONL",
    matches=matches,
    read=read,
    write=jsonl.write,
    loses=lambda record: (),
    suffix=".jsonl",
    says_language=True,
)
