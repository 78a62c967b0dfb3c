"""A run's folder: what it is a run of, every score that is done, and what happened, safe against any kill.

`manifest.json` says what is scored by what; `scores.sqlite` holds a row for each text, a chunk of them in one
transaction; `journal.jsonl` tells the story, `report.json` its end. The database is locked as long as a process
works on it, and the lock dies with the process.
"""

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from math import isfinite
from pathlib import Path
from types import TracebackType
from typing import Any

from catsofa.data import json_files
from catsofa.data.append_log import drop_half_line
from catsofa.data.files import BadInput, atomic_write
from catsofa.data.manifests import differences
from catsofa.data.records import Score

MANIFEST, SCORES, JOURNAL, REPORT = "manifest.json", "scores.sqlite", "journal.jsonl", "report.json"
EXPECTED = "a run folder of catsofa"
TABLE = """
CREATE TABLE IF NOT EXISTS scores (
    item TEXT NOT NULL, task TEXT NOT NULL, score REAL,
    tokens INTEGER NOT NULL, reason TEXT NOT NULL, extra TEXT NOT NULL,
    PRIMARY KEY (item, task)
) WITHOUT ROWID
"""
KEPT = "CREATE TABLE IF NOT EXISTS self_checks (part TEXT PRIMARY KEY, findings TEXT NOT NULL)"
UNKNOWN = {"unknown_tokens": "counted"}
"""What stands in the manifest of a run that counts unknown tokens; earlier versions did not."""
CHUNKS = """
CREATE TABLE IF NOT EXISTS chunks (number INTEGER PRIMARY KEY, records INTEGER NOT NULL, seconds REAL NOT NULL)
"""
AT_ONCE = 500
"""Ids in one query."""


class Run:
    """The scores of one model on one data set by one protocol, kept in a folder or, without one, in memory."""

    def __init__(self, folder: Path | None, connection: sqlite3.Connection) -> None:
        self.folder = folder
        self._connection = connection

    @classmethod
    def begin(cls, folder: Path | str | None, identity: Mapping[str, Any], about: Mapping[str, Any]) -> "Run":
        """A new run, or the one in this folder if it is of the same; a difference is refused and shown.

        `about` is kept beside the identity and may change: names, versions of libraries, the device.
        """
        if folder is None:
            return cls(None, _connect(None))
        folder = Path(folder)
        _make(folder)
        run = cls(folder, _connect(folder))
        try:
            run._settle(json.loads(json.dumps(identity)), dict(about))
        except BaseException:
            run.close()
            raise
        return run

    def _settle(self, identity: Any, about: dict[str, Any]) -> None:
        """Write the manifest of a new run, or over one that has no score yet; compare with that of an old one."""
        assert self.folder is not None
        path = self.folder / MANIFEST
        held = self.count()
        if path.exists():
            changed = list(differences(read_manifest(self.folder)["identity"], identity))
            if not changed:
                self.note("resumed", done=held, about=about)
                return
            if held:
                raise ValueError(
                    f"{self.folder} holds a run of something else ({'; '.join(changed)}); "
                    "give another folder, or delete this one to begin again"
                )
        elif held:
            raise BadInput(self.folder, f"scores and no {MANIFEST}", EXPECTED)
        with atomic_write(path) as file:
            content = {"identity": identity, "about": about, "begun": _now()}
            file.write(json.dumps(content, ensure_ascii=False, indent=1).encode())
        self.note("begun", about=about)

    def done(self, items: Sequence[str]) -> set[str]:
        """Which of these items have their scores."""
        found: set[str] = set()
        for low in range(0, len(items), AT_ONCE):
            some = items[low : low + AT_ONCE]
            query = f"SELECT DISTINCT item FROM scores WHERE item IN ({','.join('?' * len(some))})"
            found.update(item for (item,) in self._connection.execute(query, some))
        return found

    def add(
        self,
        scores: Iterable[Score],
        self_checks: Mapping[str, Any] | None = None,
        took: tuple[int, float] | None = None,
    ) -> None:
        """Keep scores and the findings behind them, all or, if anything interrupts, none; scores held already stay.

        `took` are the records of a chunk that these scores end, and its seconds.
        """
        rows = [(s.item, s.task, s.score, s.tokens, s.reason, json.dumps(dict(s.extra))) for s in scores]
        with _sentences(self.folder), self._connection:
            self._connection.executemany("INSERT OR IGNORE INTO scores VALUES (?, ?, ?, ?, ?, ?)", rows)
            findings = [(part, json.dumps(found)) for part, found in (self_checks or {}).items()]
            self._connection.executemany("INSERT OR REPLACE INTO self_checks VALUES (?, ?)", findings)
            if took:
                self._connection.execute("INSERT INTO chunks (records, seconds) VALUES (?, ?)", took)

    def self_checks(self) -> dict[str, Any]:
        """The findings of the self-checks, by the part of the model that they are about."""
        return {part: json.loads(found) for part, found in self._connection.execute("SELECT * FROM self_checks")}

    def chunks(self) -> list[tuple[int, float]]:
        """The records of each chunk that was scored, and the seconds it took."""
        return self._connection.execute("SELECT records, seconds FROM chunks ORDER BY number").fetchall()

    def scores(self) -> Iterator[Score]:
        """Every score, in the order of items and tasks."""
        query = "SELECT item, task, score, tokens, reason, extra FROM scores ORDER BY item, task"
        for item, task, score, tokens, reason, extra in self._connection.execute(query):
            # nothing stands beside most scores, and parsing it would take half of the time
            more = {} if extra == "{}" else json.loads(extra)
            yield Score(item=item, task=task, score=score, tokens=tokens, reason=reason, extra=more)

    def numbers(self) -> dict[str, float | None]:
        """Item to score; of an item with several tasks, the score of the last."""
        return dict(self._connection.execute("SELECT item, score FROM scores ORDER BY item, task"))

    def count(self) -> int:
        """How many texts have a score or a reason."""
        found: int = self._connection.execute("SELECT count(*) FROM scores").fetchone()[0]
        return found

    def reasons(self) -> dict[str, int]:
        """Why texts are unscored, and how many for each reason."""
        query = "SELECT reason, count(*) FROM scores WHERE score IS NULL GROUP BY reason ORDER BY 2 DESC, 1"
        return dict(self._connection.execute(query).fetchall())

    @property
    def counts_unknown(self) -> bool:
        """Whether unknown tokens were counted as the texts were scored; earlier versions did not."""
        return self.folder is None or UNKNOWN.keys() <= read_manifest(self.folder).get("about", {}).keys()

    def unknown(self) -> set[str] | None:
        """The items with unknown tokens; None where these were not counted."""
        if not self.counts_unknown:
            return None
        query = "SELECT DISTINCT item FROM scores WHERE extra LIKE '%\"unknown\"%'"
        return {item for (item,) in self._connection.execute(query)}

    def note(self, event: str, **details: Any) -> None:
        """Add a line to the journal."""
        if self.folder is None:
            return
        line = json.dumps({"at": _now(), "event": event, "process": os.getpid(), **details}, ensure_ascii=False)
        with _sentences(self.folder), (self.folder / JOURNAL).open("a+b") as file:
            drop_half_line(file)
            file.write(f"{line}\n".encode("utf-8", "surrogatepass"))

    def finish(self, report: Mapping[str, Any], **details: Any) -> None:
        """Keep what was made of the scores, in `report.json`."""
        if self.folder is not None:
            with _sentences(self.folder):
                json_files.write(_finite(report), self.folder / REPORT)
            self.note("finished", done=self.count(), **details)

    def close(self) -> None:
        """Let another process have the run."""
        self._connection.close()

    def __enter__(self) -> "Run":
        """The run, closed at the end."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the run."""
        self.close()


def read_manifest(folder: Path | str) -> dict[str, Any]:
    """What a run is a run of."""
    path = Path(folder) / MANIFEST
    if not path.is_file():
        raise BadInput(folder, f"no {MANIFEST}", EXPECTED)
    manifest = json_files.read(path, f"the manifest of {EXPECTED}")
    if not isinstance(manifest, dict) or not isinstance(manifest.get("identity"), dict):
        raise BadInput(path, "no identity in it", f"the manifest of {EXPECTED}")
    return manifest


def read_scores(folder: Path | str) -> list[Score]:
    """Every score of a run that no process is working on."""
    read_manifest(folder)
    with Run(Path(folder), _connect(Path(folder))) as run:
        return list(run.scores())


def read_numbers(folder: Path | str) -> dict[str, float | None]:
    """Item to score of a run that no process is working on, without all that stands beside the scores."""
    read_manifest(folder)
    with Run(Path(folder), _connect(Path(folder))) as run:
        return run.numbers()


def read_unknown(folder: Path | str) -> set[str] | None:
    """The items of a run with unknown tokens; None where these were not counted."""
    read_manifest(folder)
    with Run(Path(folder), _connect(Path(folder))) as run:
        return run.unknown()


def _finite(value: Any) -> Any:
    """The value with NaN, which JSON does not know, as None."""
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): _finite(item) for key, item in value.items()}
    return [_finite(item) for item in value] if isinstance(value, list | tuple) else value


def _now() -> str:
    """The time, in UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def _make(folder: Path) -> None:
    """The folder; one that holds other things is not taken for a run."""
    if folder.is_dir() and any(folder.iterdir()) and not (folder / SCORES).exists():
        raise BadInput(folder, "a folder with other files in it", "a new folder, or that of an earlier run")
    with _sentences(folder):
        folder.mkdir(parents=True, exist_ok=True)


def _connect(folder: Path | None) -> sqlite3.Connection:
    """The database, locked for this process until it is closed."""
    with _sentences(folder):
        connection = sqlite3.connect(":memory:" if folder is None else folder / SCORES, timeout=0, isolation_level=None)
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("BEGIN EXCLUSIVE")
        connection.execute(TABLE)
        connection.execute(KEPT)
        connection.execute(CHUNKS)
        connection.execute("COMMIT")
    connection.isolation_level = "DEFERRED"
    return connection


@contextmanager
def _sentences(folder: Path | None) -> Iterator[None]:
    """What goes wrong with a disk or a database, as a sentence that says what to do."""
    try:
        yield
    except sqlite3.Error as error:
        said = str(error)
        if "locked" in said:
            raise ValueError(f"another process is working on the run in {folder}; wait for it or stop it") from None
        if "full" in said:
            raise ValueError(
                f"no space left for the run in {folder}; free some and run the same command again"
            ) from None
        raise ValueError(
            f"the scores of the run in {folder} cannot be read or written ({said}); "
            "once the disk is well, run the same command again"
        ) from None
    except OSError as error:
        raise ValueError(f"the run folder {folder} cannot be written ({error.strerror})") from None
