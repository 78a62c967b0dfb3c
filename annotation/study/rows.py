"""The room's own files: a dataclass a line, read a line at a time, appended to a log.

Each appended line holds its checksum; files of earlier versions begin with lines without one.
"""

import json
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from catsofa.data.files import BadInput, jsonl
from catsofa.data.files.append_log import AppendLog, LogReader


def append(rows: Iterable[Any], path: Path) -> int:
    """Add rows with their checksums, synced to disk; a line that a kill cut in two is dropped first."""
    with AppendLog(path, f"{path.name} of a study", chained=True) as log:
        return len(log.append(*(json.loads(jsonl.dumps(row)) for row in rows)))


def rewrite(path: Path, row_type: type[Any], change: Callable[[Any], Any]) -> None:
    """Write the file anew with each row as `change` gives it, and without those it gives None for.

    A file in which that changes nothing is left as it is.
    """
    there = [*read(path, row_type)]
    kept = [row for row in map(change, there) if row is not None]
    fresh = path.with_suffix(".new")
    fresh.unlink(missing_ok=True)
    if kept != there:
        fresh.touch(stat.S_IMODE(path.stat().st_mode))
        append(kept, fresh)
        os.replace(fresh, path)


def read(path: Path, row_type: type[Any]) -> Iterator[Any]:
    """Every row, held against its checksum if it has one; a missing file holds none, half a line is not yet one."""
    from pydantic import ValidationError

    if not path.exists():
        return
    validate, expected = jsonl.adapter(row_type).validate_python, f"a line of {path.name} as catsofa wrote it"
    for number, value in enumerate(LogReader(path, expected, chained=True).read(), 1):
        try:
            yield validate(value)
        except ValidationError as error:
            found, _ = jsonl.explain(error, row_type)
            raise BadInput(path, found, expected, number) from None
