"""The history of a run: a log bound to the run's identity; the run's database stores a checksum of all its lines.

Each line is written before its checksum, so a kill leaves at most one line that the checksum does not cover.
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
"""The name of the checksum of all lines in the database."""


def reader(folder: Path, identity: str) -> LogReader:
    """The log of the run in `folder`; `identity` is the digest of the run's identity."""
    return LogReader(folder / JOURNAL, HISTORY, bound_to=identity, remedy=REMEDY)


def read(connection: sqlite3.Connection, log: LogReader) -> tuple[list[dict[str, Any]], bool]:
    """Every line, and whether the database has their checksum; if so, lost, added or repeated lines are refused."""
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
    """Append a line about an event and update the checksum, first for a line that a kill left uncovered."""
    lines, _ = read(connection, reader(folder, identity))
    with AppendLog(folder / JOURNAL, HISTORY, bound_to=identity, remedy=REMEDY) as log:
        if lines:
            keep_seal(connection, SEAL, json_digest(lines))
            connection.commit()
        lines += log.append({"at": now(), "process": os.getpid(), **event})
    keep_seal(connection, SEAL, json_digest(lines))
    connection.commit()


def begin_anew(connection: sqlite3.Connection, folder: Path) -> None:
    """Delete the history of another identity: first its checksum, then its file."""
    connection.execute("DELETE FROM seals WHERE name != 'identity'")
    connection.commit()
    (folder / JOURNAL).unlink(missing_ok=True)


def now() -> str:
    """The time in UTC to the microsecond, so that a plan and a run in the same second have an order."""
    return datetime.now(UTC).isoformat(timespec="microseconds")
