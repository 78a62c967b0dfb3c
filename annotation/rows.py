"""The room's own files: a dataclass a line, read a line at a time, written whole or appended and synced."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from catsofa.data import jsonl
from catsofa.data.files import BadInput, atomic_write, writing

BLOCK = 65_536


def write(rows: Iterable[Any], path: Path) -> int:
    """Write the file whole or not at all; returns the number of rows."""
    count = 0
    with atomic_write(path) as file:
        for row in rows:
            file.write(line(row))
            count += 1
    return count


def append(rows: Iterable[Any], path: Path) -> int:
    """Add rows at the end, synced to disk; a line that a kill cut in two is dropped first."""
    count = 0
    with writing(path):
        if path.exists():
            os.truncate(path, _whole_lines(path))
        with path.open("ab") as file:
            for row in rows:
                file.write(line(row))
                count += 1
            file.flush()
            os.fsync(file.fileno())
    return count


def read(path: Path, row_type: type[Any]) -> Iterator[Any]:
    """Every row; a file that is not there holds none, and half a line at the end is not yet one."""
    from pydantic import ValidationError

    if not path.exists() or not (end := _whole_lines(path)):
        return
    validate = jsonl.adapter(row_type).validate_json
    with path.open("rb") as file:
        number = 0
        while file.tell() < end:
            number += 1
            try:
                yield validate(file.readline())
            except ValidationError as error:
                found, _ = jsonl.explain(error, row_type)
                raise BadInput(path, found, f"a line of {path.name} as catsofa wrote it", number) from None


def line(row: Any) -> bytes:
    """A row as a line of JSON, without its empty fields."""
    return jsonl.adapter(type(row)).dump_json(row, exclude_defaults=True) + b"\n"


def _whole_lines(path: Path) -> int:
    """How many bytes of a file are lines that end."""
    with path.open("rb") as file:
        end = file.seek(0, os.SEEK_END)
        while end:
            start = max(0, end - BLOCK)
            file.seek(start)
            if (newline := file.read(end - start).rfind(b"\n")) >= 0:
                return start + newline + 1
            end = start
    return 0
