"""The database of a run: its tables, a checksum in every row, and the errors of disks and databases.

The run's identity is the key of the row checksums, so rows of another run fail the check just as edited rows do.
A row and its checksum are written in one transaction, so a kill cannot separate them.
"""

import json
import sqlite3
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import Any

from catsofa.data.files import BadInput
from catsofa.data.records import Score
from catsofa.scoring.run.plausible import LOWEST, Highest, why_impossible

SCORES = "scores.sqlite"
REMEDY = "the file as it was written: copy it back, or score again with another --out"
TABLES = {
    "scores": """(
        item TEXT NOT NULL, task TEXT NOT NULL, score REAL,
        tokens INTEGER NOT NULL, reason TEXT NOT NULL, extra TEXT NOT NULL, checksum BLOB NOT NULL,
        PRIMARY KEY (item, task)
    ) WITHOUT ROWID""",
    "self_checks": "(part TEXT PRIMARY KEY, findings TEXT NOT NULL, checksum BLOB NOT NULL)",
    "chunks": """(
        number INTEGER PRIMARY KEY, records INTEGER NOT NULL, seconds REAL NOT NULL, checksum BLOB NOT NULL
    )""",
    "blocks": """(
        number INTEGER PRIMARY KEY, task TEXT NOT NULL, texts INTEGER NOT NULL, items TEXT NOT NULL,
        numbers BLOB NOT NULL, checksum BLOB NOT NULL
    )""",
    "seals": "(name TEXT PRIMARY KEY, value TEXT NOT NULL)",
}
"""The columns of each table."""
SEALS = {"identity", "records", "finished", "finished records", "history"}
"""The names in the `seals` table: values of the database about itself."""
KEYS = {"scores": "item, task", "blocks": "number", "self_checks": "part", "chunks": "number"}
"""The tables whose rows the report of a finished run depends on, and the order of their rows."""
AT_ONCE = 500
"""The maximum number of ids in one query, and of rows read at once."""
COLUMNS = "item, task, score, tokens, reason, extra"


class Unchecked(UserWarning):
    """The warning category for a run of an earlier version: it has no checksums, so its values are not checked."""


Row = tuple[str, str, float | None, int, str, str]
"""Item, task, score, tokens, reason, extra as JSON."""


def row_of(score: Score) -> Row:
    """A score as a database row; -0.0 becomes 0.0, since SQLite has no negative zero."""
    value = None if score.score is None else float(score.score) + 0.0
    return score.item, score.task, value, score.tokens, score.reason, json.dumps(dict(score.extra))


def every_row(connection: sqlite3.Connection, *, checked: bool) -> sqlite3.Cursor:
    """All rows of scores, by item and task, with their checksums if they have any."""
    return connection.execute(f"SELECT {COLUMNS}{', checksum' * checked} FROM scores ORDER BY item, task")


def scores_of(
    rows: Sequence[tuple[Any, ...]],
    folder: Path | None,
    checksum: Callable[[tuple[Any, ...]], bytes] | None,
    highest: Highest,
) -> Iterator[Score]:
    """The scores of these rows, each after a check; rows of earlier versions have no checksum."""
    for row in rows:
        if checksum is not None and row[6] != checksum(row[:6]):
            raise wrong(folder, f"a score of {row[0]!r} that its checksum does not fit")
        if checksum is None and not is_row(row):
            raise wrong(folder, f"a row that holds no score ({row[0]!r})")
    # parsed together in half of the time
    extras = json.loads(f"[{','.join(row[5] for row in rows)}]")
    for (item, task, score, tokens, reason, *_), extra in zip(rows, extras, strict=True):
        usual = not extra and type(score) is float and LOWEST <= score <= 0
        if not usual and (why := why_impossible(score, extra, highest(task, tokens))):
            raise wrong(folder, f"a score of {item!r} that is {why}")
        yield Score(item=item, task=task, score=score, tokens=tokens, reason=reason, extra=extra)


def count(connection: sqlite3.Connection) -> int:
    """The number of rows with a score, or a reason for a missing one."""
    return int(connection.execute("SELECT count(*) FROM scores").fetchone()[0])


def reasons(connection: sqlite3.Connection) -> dict[str, int]:
    """Reason to the number of texts that are unscored for this reason, most frequent first."""
    query = "SELECT reason, count(*) FROM scores WHERE score IS NULL GROUP BY reason ORDER BY 2 DESC, 1"
    return dict(connection.execute(query).fetchall())


def with_unknown(connection: sqlite3.Connection) -> set[str]:
    """The items of rows with unknown tokens."""
    query = "SELECT DISTINCT item FROM scores WHERE extra LIKE '%\"unknown\"%'"
    return {item for (item,) in connection.execute(query)}


def stored(connection: sqlite3.Connection, items: Sequence[str]) -> set[str]:
    """The items among `items` that have a row."""
    held: set[str] = set()
    if count(connection) <= len(items):
        return {item for (item,) in connection.execute("SELECT item FROM scores")}.intersection(items)
    for low in range(0, len(items), AT_ONCE):
        some = items[low : low + AT_ONCE]
        query = f"SELECT DISTINCT item FROM scores WHERE item IN ({','.join('?' * len(some))})"
        held.update(item for (item,) in connection.execute(query, some))
    return held


def sum_of_checksums(connection: sqlite3.Connection) -> dict[str, Any]:
    """For each table, the number of rows and a hash of the row checksums in order."""
    sums: dict[str, Any] = {}
    for table, order in KEYS.items():
        if table == "blocks" and not _has_blocks(connection):
            continue  # runs of earlier versions have none, and their sums stay as they are
        total, count = blake2b(digest_size=16), 0
        for (checksum,) in connection.execute(f"SELECT checksum FROM {table} ORDER BY {order}"):
            total.update(checksum)
            count += 1
        sums |= {table: count, f"{table}_checksum": total.hexdigest()}
    return sums


def _has_blocks(connection: sqlite3.Connection) -> bool:
    """Returns True if a database has scores in columns; one of an earlier version has no table for them."""
    return bool(columns(connection, "blocks") and connection.execute("SELECT 1 FROM blocks LIMIT 1").fetchone())


def changed_rows(now: Mapping[str, Any], finished: Any) -> str:
    """A phrase about how the rows of a database differ from those of the finished run."""
    held = finished if isinstance(finished, Mapping) else {}
    counts = [
        f"{now.get(table, 0):,} {table.replace('_', ' ')} where the run was finished with {held.get(table, 'others')}"
        for table in KEYS
        if now.get(table) != held.get(table)
    ]
    sums = {table: f"{table}_checksum" for table in KEYS}
    changed = [table.replace("_", " ") for table, name in sums.items() if now.get(name) != held.get(name)]
    return ", ".join(counts) or f"other {' and '.join(changed)} than the run was finished with"


def seal(connection: sqlite3.Connection, name: str) -> str | None:
    """A value of the `seals` table; None if the name is missing."""
    held = connection.execute("SELECT value FROM seals WHERE name = ?", (name,)).fetchone()
    return None if held is None else str(held[0])


def keep_seal(connection: sqlite3.Connection, name: str, value: str) -> None:
    """Store a value in the `seals` table."""
    connection.execute("INSERT OR REPLACE INTO seals VALUES (?, ?)", (name, value))


def is_row(row: tuple[Any, ...]) -> bool:
    """Returns True if the values of a row have the types of its columns."""
    *texts, score, tokens = row[0], row[1], row[4], row[5], row[2], row[3]
    return (
        all(isinstance(text, str) for text in texts)
        and isinstance(score, float | None)
        and isinstance(tokens, int)
        and _is_object(row[5])
    )


def _is_object(text: str) -> bool:
    """Returns True if a text is a JSON object."""
    try:
        return text == "{}" or isinstance(json.loads(text), Mapping)
    except ValueError:
        return False


def make_folder(folder: Path) -> None:
    """Create the folder of a run; a folder with files but no scores is refused."""
    if folder.is_dir() and any(folder.iterdir()) and not (folder / SCORES).exists():
        raise BadInput(folder, "a folder with other files in it", "a new folder, or that of an earlier run")
    with sentences(folder):
        folder.mkdir(parents=True, exist_ok=True)


def connect(folder: Path | None, *, make: bool) -> sqlite3.Connection:
    """Open the database, locked for this process until it is closed; without `make`, a missing file is refused."""
    if folder is not None and not make and not (folder / SCORES).is_file():
        raise BadInput(folder / SCORES, "no such file", f"the scores of the run; {REMEDY}")
    with sentences(folder):
        connection = sqlite3.connect(":memory:" if folder is None else folder / SCORES, timeout=0, isolation_level=None)
        try:
            connection.execute("PRAGMA locking_mode = EXCLUSIVE")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("BEGIN EXCLUSIVE")
            for table, columns_of in TABLES.items() if make else ():
                connection.execute(f"CREATE TABLE IF NOT EXISTS {table} {columns_of}")
            connection.execute("COMMIT")
        except BaseException:
            connection.close()
            raise
    connection.isolation_level = "DEFERRED"
    return connection


def columns(connection: sqlite3.Connection, table: str) -> set[str]:
    """The column names of a table; empty for a missing table."""
    return {str(name) for _, name, *_ in connection.execute(f"PRAGMA table_info({table})")}


def warn_unchecked(folder: Path) -> None:
    """Warn that a run of an earlier version is not checked."""
    warnings.warn(unchecked(folder), Unchecked, stacklevel=4)


def unchecked(folder: Path) -> str:
    """The text of the warning for a run of an earlier version."""
    return f"{folder} was written by an earlier version without checksums: its scores and report are not checked"


def wrong(folder: Path | None, problem: str) -> BadInput:
    """The error for a database that differs from what the run wrote."""
    return BadInput(folder / SCORES if folder else SCORES, problem, REMEDY)


@contextmanager
def sentences(folder: Path | None) -> Iterator[None]:
    """Turn errors of a disk or a database into messages that say what to do."""
    try:
        yield
    except sqlite3.Error as error:
        message = str(error)
        if "locked" in message:
            raise ValueError(f"another process is working on the run in {folder}; wait for it or stop it") from None
        if "full" in message:
            raise ValueError(
                f"no space left for the run in {folder}; free some and run the same command again"
            ) from None
        if "disk I/O" in message or "unable to open" in message or "readonly" in message:
            raise ValueError(
                f"the scores of the run in {folder} cannot be read or written ({message}); "
                "once the disk is well, run the same command again"
            ) from None
        raise wrong(folder, f"a damaged database ({message})") from None
    except OSError as error:
        raise ValueError(f"the run folder {folder} cannot be written ({error.strerror})") from None
