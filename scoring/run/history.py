"""The history of a run: a log bound to the run's identity, of which the database of the run keeps a checksum.

A line is written first and sealed then, so that a kill leaves at most one line more than the seal covers.
"""

import os
import sqlite3
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from catsofa.data.digests import json_digest
from catsofa.data.files import BadInput
from catsofa.data.files.append_log import AppendLog, LogReader
from catsofa.scoring.run.rows import REMEDY, SEALS, keep_seal, wrong

JOURNAL, HISTORY = "journal.jsonl", "the history of a run"
SEAL = "history"
"""The name under which the database keeps the checksum of all lines."""


def reader(folder: Path, identity: str) -> LogReader:
    """The log of the run in this folder, whose identity has this digest."""
    return LogReader(folder / JOURNAL, HISTORY, bound_to=identity, remedy=REMEDY)


def read(connection: sqlite3.Connection, log: LogReader) -> tuple[list[dict[str, Any]], bool]:
    """Every line, and whether they are sealed; a lost, added or repeated line is refused where they are."""
    seals = dict(connection.execute("SELECT name, value FROM seals"))
    if not seals.keys() <= SEALS:
        raise wrong(log.path.parent, "a seal that no run has")
    if not log.path.is_file():
        if seals.keys() & {SEAL, "records"}:
            raise BadInput(log.path, "no such file", f"{HISTORY}, which catsofa always writes: {REMEDY}")
        return [], False
    lines, held = list(log.read()), seals.get(SEAL)
    if SEAL in seals and held != json_digest(lines) and (held != json_digest(lines[:-1]) or lines[-1] in lines[:-1]):
        raise BadInput(log.path, f"{len(lines):,} lines, not those that the run wrote", f"{HISTORY}; {REMEDY}")
    return lines, SEAL in seals


def add(connection: sqlite3.Connection, folder: Path, identity: str, event: dict[str, Any]) -> None:
    """Write a line about an event and seal it; a line that a kill left without its seal is sealed first."""
    lines, _ = read(connection, reader(folder, identity))
    with AppendLog(folder / JOURNAL, HISTORY, bound_to=identity, remedy=REMEDY) as log:
        if lines:
            keep_seal(connection, SEAL, json_digest(lines))
            connection.commit()
        lines += log.append({"at": now(), "process": os.getpid(), **event})
    keep_seal(connection, SEAL, json_digest(lines))
    connection.commit()


def begin_anew(connection: sqlite3.Connection, folder: Path) -> None:
    """Drop the history of another identity, its seal first."""
    connection.execute("DELETE FROM seals WHERE name != 'identity'")
    connection.commit()
    (folder / JOURNAL).unlink(missing_ok=True)


def now() -> str:
    """The time in UTC, to the microsecond: a plan and a run of one second have an order."""
    return datetime.now(UTC).isoformat(timespec="microseconds")
