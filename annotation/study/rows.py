"""Reads and writes the files of an annotation study: one dataclass per line, appended to a log.

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
    """Appends rows with their checksums, synced to disk; drops a line that a kill cut in two first.

    Returns the number of rows.
    """
    with AppendLog(path, f"{path.name} of a study", chained=True) as log:
        return len(log.append(*(json.loads(jsonl.dumps(row)) for row in rows)))


def rewrite(path: Path, row_type: type[Any], change: Callable[[Any], Any]) -> None:
    """Rewrites a file with each row as `change` returns it, without the rows for which it returns None.

    A file without changes stays as it is.
    """
    before = [*read(path, row_type)]
    after = [row for row in map(change, before) if row is not None]
    fresh = path.with_suffix(".new")
    fresh.unlink(missing_ok=True)
    if after != before:
        fresh.touch(stat.S_IMODE(path.stat().st_mode))
        append(after, fresh)
        os.replace(fresh, path)


def read(path: Path, row_type: type[Any]) -> Iterator[Any]:
    """Yields every row, checked against its checksum if it has one.

    A missing file has no rows, and an incomplete last line is no row yet.
    """
    from pydantic import ValidationError

    if not path.exists():
        return
    validate, expected = jsonl.adapter(row_type).validate_python, f"a line of {path.name} as catsofa wrote it"
    for number, value in enumerate(LogReader(path, expected, chained=True).read(), 1):
        try:
            yield validate(value)
        except ValidationError as error:
            problem, _ = jsonl.explain(error, row_type)
            raise BadInput(path, problem, expected, number) from None
