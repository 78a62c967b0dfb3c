"""Store of an open study: its tables, one thread that writes, and a checksum in every row.

All changes of one request are one job. Waiting jobs are committed together, and a job gets its result only after the
commit: an acknowledged answer is on disk. The statements work on both SQLite and PostgreSQL; `databases` holds the
differences.
"""

import queue
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from catsofa.annotation.crowd.databases import REMEDY, Connection, database
from catsofa.data.closing import Closing
from catsofa.data.digests import hex_digest, row_checksum
from catsofa.data.files import BadInput

AT_ONCE = 200
"""Maximum number of jobs in one commit."""
TABLES: Mapping[str, tuple[tuple[str, ...], Mapping[str, str]]] = {
    "person": (
        ("name",),
        {
            "name": "TEXT NOT NULL",
            "number": "INTEGER NOT NULL UNIQUE",
            "state": "TEXT NOT NULL",
            "outcome": "TEXT NOT NULL",
            "submission": "TEXT NOT NULL",
            "consent": "TEXT NOT NULL",
            "arrived": "DOUBLE PRECISION NOT NULL",
            "start": "DOUBLE PRECISION NOT NULL",
            "given": "INTEGER NOT NULL",
            "done": "INTEGER NOT NULL",
            "quota": "INTEGER NOT NULL",
            "gold_right": "INTEGER NOT NULL",
            "gold_asked": "INTEGER NOT NULL",
            "checks_failed": "INTEGER NOT NULL",
        },
    ),
    "task": (
        ("token",),
        {
            "token": "TEXT NOT NULL",
            "kind": "TEXT NOT NULL",
            "writer": "TEXT NOT NULL",
            "active": "INTEGER NOT NULL",
            "rnd": "DOUBLE PRECISION NOT NULL",
            "need": "INTEGER NOT NULL",
            "valid": "INTEGER NOT NULL CHECK (valid >= 0)",
            "held": ("INTEGER NOT NULL CHECK (held >= 0 AND (kind NOT IN ('item', 'write') OR valid + held <= need))"),
        },
    ),
    "plan": (
        ("person", "position"),
        {"person": "TEXT NOT NULL", "position": "INTEGER NOT NULL", "task": "TEXT NOT NULL"},
    ),
    "seat": (
        ("task", "person"),
        {
            "task": "TEXT NOT NULL",
            "person": "TEXT NOT NULL",
            "position": "INTEGER NOT NULL",
            "state": "TEXT NOT NULL",
            "nonce": "TEXT NOT NULL UNIQUE",
            "until": "DOUBLE PRECISION NOT NULL",
            "given": "DOUBLE PRECISION NOT NULL",
        },
    ),
    "answer": (
        ("nonce",),
        {
            "nonce": "TEXT NOT NULL",
            "said": "TEXT NOT NULL",
            "seconds": "DOUBLE PRECISION NOT NULL",
            "at": "TEXT NOT NULL",
            "gold_right": "INTEGER NOT NULL",
            "gold_asked": "INTEGER NOT NULL",
        },
    ),
    "about": (("name",), {"name": "TEXT NOT NULL", "value": "TEXT NOT NULL"}),
}
"""Tables whose rows have a checksum: the primary key, and the columns."""
JUDGEMENTS = ("person", "task", "seat", "answer")
"""Tables from which judgements are made, and which decide whether they count."""
OTHERS = (
    "CREATE TABLE IF NOT EXISTS session (hash TEXT PRIMARY KEY, person TEXT NOT NULL, until DOUBLE PRECISION NOT NULL)",
    "CREATE TABLE IF NOT EXISTS owner (hash TEXT PRIMARY KEY, kind TEXT NOT NULL, until DOUBLE PRECISION NOT NULL)",
    "CREATE TABLE IF NOT EXISTS draft (nonce TEXT PRIMARY KEY, said TEXT NOT NULL)",
    "CREATE INDEX IF NOT EXISTS task_open ON task (open, rnd)",
    "CREATE INDEX IF NOT EXISTS task_wave ON task (kind, active, rnd)",
    "CREATE INDEX IF NOT EXISTS task_writer ON task (writer)",
    "CREATE UNIQUE INDEX IF NOT EXISTS seat_one ON seat (person) WHERE state = 'held'",
    "CREATE INDEX IF NOT EXISTS seat_until ON seat (until) WHERE state = 'held'",
    "CREATE INDEX IF NOT EXISTS seat_person ON seat (person, state)",
)
"""Tables that change with browser sessions, and the indexes. An index also ensures that a person holds one task at
most."""
OPEN = "CASE WHEN active = 1 AND kind IN ('item', 'write') AND valid + held < need THEN 1 ELSE 0 END"
"""SQL for 1 if a task has a free seat, else 0. The index needs it as a stored column."""

Row = dict[str, Any]
T = TypeVar("T")


class Rows:
    """Rows of a store inside one transaction."""

    def __init__(self, connection: Connection, identity: str) -> None:
        """Reads and writes through this connection; `identity` is the digest that keys the checksums."""
        self._connection, self._checksum = connection, row_checksum(identity)
        self.erased = False
        """True if something was deleted that must not remain in any file."""

    def all(self, query: str, *values: Any) -> list[Row]:
        """Returns the rows that match a query."""
        cursor = self._connection.execute(query, values)
        names = [column[0] for column in cursor.description or ()]
        return [dict(zip(names, row, strict=True)) for row in cursor]

    def first(self, query: str, *values: Any) -> Row | None:
        """Returns the first row that matches a query, or None."""
        return next(iter(self.all(query, *values)), None)

    def get(self, table: str, *key: Any) -> Row | None:
        """Returns the row with this key, or None."""
        where = " AND ".join(f"{name} = ?" for name in TABLES[table][0])
        return self.first(f"SELECT * FROM {table} WHERE {where}", *key)

    def put(self, table: str, row: Mapping[str, Any]) -> None:
        """Writes a row with its checksum; replaces the row with the same key."""
        keys, columns = TABLES[table]
        values = tuple(_as_stored(row[name], kind) for name, kind in columns.items())
        names, marks = ", ".join(columns), ", ".join("?" * (len(columns) + 1))
        changed = ", ".join(f"{name} = excluded.{name}" for name in [*columns, "checksum"] if name not in keys)
        self._connection.execute(
            f"INSERT INTO {table} ({names}, checksum) VALUES ({marks}) "
            f"ON CONFLICT ({', '.join(keys)}) DO UPDATE SET {changed}",
            (*values, self._checksum(values).hex()),
        )

    def run(self, statement: str, *values: Any) -> None:
        """Changes rows of a table without checksums, or deletes rows."""
        self._connection.execute(statement, values)

    def changed(self, *tables: str) -> Iterator[tuple[str, Row]]:
        """Yields the rows of these tables, or of all, whose checksum does not match, each with its table."""
        for table in tables or TABLES:
            columns = TABLES[table][1]
            for row in self.all(f"SELECT * FROM {table}"):
                if row["checksum"] != self._checksum(tuple(row[name] for name in columns)).hex():
                    yield table, row

    def refuse_changed(self, folder: Path, *tables: str) -> None:
        """Refuses the store of the study in this folder if a row of these tables does not match its checksum."""
        if counts := Counter(table for table, _ in self.changed(*tables)):
            rows = ", ".join(f"{n:,} of {table}" for table, n in counts.items())
            raise BadInput(folder, f"rows in the store whose checksums do not fit ({rows})", REMEDY)


def _as_stored(value: Any, kind: str) -> Any:
    """Converts a value to the form that the database returns, so that its checksum matches."""
    if kind.startswith("INTEGER"):
        return int(value)
    return float(value) + 0.0 if kind.startswith("DOUBLE") else value


class Store(Closing):
    """Open store; several processes may have it open, and each has one thread that writes."""

    def __init__(self, folder: Path, identity: str) -> None:
        """Opens the store of a study, or creates an empty one."""
        self._database, self._identity = database(folder, identity), identity
        self._jobs: queue.SimpleQueue[tuple[Callable[[Rows], Any], Future[Any]] | None] = queue.SimpleQueue()
        with self._database.sentences():
            self._connection = self._database.connected()
            self._database.prepare(self._connection)
            self._database.write(self._connection)
            create_tables(self._connection, self._database.text)
            self._connection.execute("COMMIT")
        self._thread = threading.Thread(target=self._write, name="store", daemon=True)
        self._thread.start()

    def submit(self, job: Callable[[Rows], T]) -> "Future[T]":
        """Queues a job; its result comes after the commit. A job that fails changes nothing."""
        future: Future[T] = Future()
        self._jobs.put((job, future))
        return future

    def do(self, job: Callable[[Rows], T]) -> T:
        """Queues a job, and waits for its result."""
        return self.submit(job).result()

    def close(self) -> None:
        """Finishes the waiting jobs, and closes the store."""
        self._jobs.put(None)
        self._thread.join()
        self._connection.close()

    def _write(self) -> None:
        """Runs jobs until the store is closed."""
        while (first := self._jobs.get()) is not None:
            batch, last = [first], False
            while len(batch) < AT_ONCE and not self._jobs.empty():
                if (job := self._jobs.get()) is None:
                    last = True
                    break
                batch.append(job)
            self._commit([(job, future) for job, future in batch if future.set_running_or_notify_cancel()])
            if last:
                return

    def _commit(self, batch: list[tuple[Callable[[Rows], Any], "Future[Any]"]]) -> None:
        """Runs these jobs in one transaction, and delivers each result when it is on disk."""
        done = list[Callable[[], None]]()
        try:
            with self._database.sentences():
                self._connection = self._database.usable(self._connection)
                rows = Rows(self._connection, self._identity)
                self._database.write(self._connection)
                for job, future in batch:
                    done.append(self._done(rows, job, future))
                self._connection.execute("COMMIT")
                if rows.erased:
                    self._database.erase(self._connection)
        except ValueError as error:
            with suppress(ValueError), self._database.sentences():
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
            for _, future in batch:
                future.set_exception(error)
        else:
            for say in done:
                say()

    def _done(self, rows: Rows, job: Callable[[Rows], Any], future: "Future[Any]") -> Callable[[], None]:
        """Runs one job; returns the function that delivers its outcome later."""
        self._connection.execute("SAVEPOINT job")
        try:
            result = job(rows)
        except Exception as error:
            if self._database.is_lost(error):
                raise  # the disk or the database failed: no job of this commit can be kept
            failed = error  # the caller gets the error, and the other jobs go on
            self._connection.execute("ROLLBACK TO job")
            self._connection.execute("RELEASE job")
            return lambda: future.set_exception(failed)
        self._connection.execute("RELEASE job")
        return lambda: future.set_result(result)


def create_tables(connection: Connection, text: str = "TEXT") -> None:
    """Creates missing tables and indexes, with this column type for texts."""
    statements = list[str]()
    for table, (key, columns) in TABLES.items():
        kinds = [f"{name} {kind}" for name, kind in columns.items()]
        kinds += [f"open INTEGER GENERATED ALWAYS AS ({OPEN}) STORED"] * (table == "task")
        ends = f"checksum TEXT NOT NULL, PRIMARY KEY ({', '.join(key)})"
        statements.append(f"CREATE TABLE IF NOT EXISTS {table} ({', '.join(kinds)}, {ends})")
    for statement in (*statements, *OTHERS):
        connection.execute(statement.replace("TEXT", text))


def identity(secret: str) -> str:
    """Returns the digest that binds the rows of a store to the study with this secret."""
    return hex_digest(f"{secret}:store", 32)


@contextmanager
def reading(folder: Path, identity: str) -> Iterator[Rows]:
    """Reads the rows of a store in their current state; a server may keep writing."""
    source = database(folder, identity)
    with source.sentences(), closing(source.connected()) as connection:
        source.read(connection)
        yield Rows(connection, identity)


def scrub(folder: Path, identity: str) -> None:
    """Erases every byte of deleted rows from the files of a store; a server may keep writing."""
    database(folder, identity).scrub([*TABLES, "session", "owner", "draft"])
