"""Our own JSONL as a format: any one kind of record, nothing lost."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from catsofa.data.files import jsonl
from catsofa.data.formats import Format
from catsofa.data.records import RECORDS


def read(path: Path) -> Iterator[Any]:
    """Each record, all of the kind that the first line is of."""
    return jsonl.read(path, jsonl.record_type_of(path))


def matches(path: Path, head: bytes) -> bool:
    """JSONL starts with an object that closes on its line, or is named so."""
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
