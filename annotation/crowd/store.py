"""The store of an open study: its tables, one thread that writes, and a checksum in every row.

All that one request changes is one job. Jobs that wait are committed together, and a job has its result only after the
commit: an answer that was acknowledged is on disk. The statements are those that SQLite and PostgreSQL share;
`databases` has the rest.
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
"""Jobs in one commit."""
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
"""The tables whose rows have a checksum: the primary key, and the columns."""
JUDGEMENTS = ("person", "task", "seat", "answer")
"""The tables of which judgements are made, and by which they count."""
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
"""What comes and goes with a browser, and the indexes: no two tasks in one person's hands is an index too."""
OPEN = "CASE WHEN active = 1 AND kind IN ('item', 'write') AND valid + held < need THEN 1 ELSE 0 END"
"""Whether a task has a seat that nobody has. The index needs it as a stored column."""

Row = dict[str, Any]
T = TypeVar("T")


class Rows:
    """The rows of a store inside one transaction."""

    def __init__(self, connection: Connection, identity: str) -> None:
        """Read and write by this connection; `identity` is the digest that checksums are keyed by."""
        self._connection, self._checksum = connection, row_checksum(identity)
        self.erased = False
        """Whether something was deleted that must not remain in any file."""

    def all(self, query: str, *values: Any) -> list[Row]:
        """The rows that a query finds."""
        cursor = self._connection.execute(query, values)
        names = [column[0] for column in cursor.description or ()]
        return [dict(zip(names, row, strict=True)) for row in cursor]

    def first(self, query: str, *values: Any) -> Row | None:
        """The first row that a query finds."""
        return next(iter(self.all(query, *values)), None)

    def get(self, table: str, *key: Any) -> Row | None:
        """The row with this key."""
        where = " AND ".join(f"{name} = ?" for name in TABLES[table][0])
        return self.first(f"SELECT * FROM {table} WHERE {where}", *key)

    def put(self, table: str, row: Mapping[str, Any]) -> None:
        """Write a row with its checksum, in place of the one with its key."""
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
        """Change rows of a table without checksums, or delete rows."""
        self._connection.execute(statement, values)

    def changed(self, *tables: str) -> Iterator[tuple[str, Row]]:
        """The rows of these tables, or of all, that do not fit their checksum, each with its table."""
        for table in tables or TABLES:
            columns = TABLES[table][1]
            for row in self.all(f"SELECT * FROM {table}"):
                if row["checksum"] != self._checksum(tuple(row[name] for name in columns)).hex():
                    yield table, row

    def refuse_changed(self, folder: Path, *tables: str) -> None:
        """Refuse the store of the study in this folder if a row of these tables does not fit its checksum."""
        if found := Counter(table for table, _ in self.changed(*tables)):
            rows = ", ".join(f"{n:,} of {table}" for table, n in found.items())
            raise BadInput(folder, f"rows in the store whose checksums do not fit ({rows})", REMEDY)


def _as_stored(value: Any, kind: str) -> Any:
    """A value as the database gives it back, so that its checksum fits."""
    if kind.startswith("INTEGER"):
        return int(value)
    return float(value) + 0.0 if kind.startswith("DOUBLE") else value


class Store(Closing):
    """An open store; several processes may have it open, and each has one thread that writes."""

    def __init__(self, folder: Path, identity: str) -> None:
        """Open the store of a study, or make an empty one."""
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
        """Have a job done; its result comes after the commit. A job that fails changes nothing."""
        future: Future[T] = Future()
        self._jobs.put((job, future))
        return future

    def do(self, job: Callable[[Rows], T]) -> T:
        """Have a job done, and wait for it."""
        return self.submit(job).result()

    def close(self) -> None:
        """Do what waits, and end."""
        self._jobs.put(None)
        self._thread.join()
        self._connection.close()

    def _write(self) -> None:
        """Do jobs until the store is closed."""
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
        """Do these jobs in one transaction, and say what came of each when it is on disk."""
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
        """Do one job; what says its outcome, later."""
        self._connection.execute("SAVEPOINT job")
        try:
            result = job(rows)
        except Exception as error:
            if self._database.is_lost(error):
                raise  # the disk or the database: no job of this commit can be kept
            failed = error  # whoever asked for the job is told, and the others go on
            self._connection.execute("ROLLBACK TO job")
            self._connection.execute("RELEASE job")
            return lambda: future.set_exception(failed)
        self._connection.execute("RELEASE job")
        return lambda: future.set_result(result)


def create_tables(connection: Connection, text: str = "TEXT") -> None:
    """Create the tables and indexes that are not there yet, with this type for texts."""
    statements = list[str]()
    for table, (key, columns) in TABLES.items():
        kinds = [f"{name} {kind}" for name, kind in columns.items()]
        kinds += [f"open INTEGER GENERATED ALWAYS AS ({OPEN}) STORED"] * (table == "task")
        ends = f"checksum TEXT NOT NULL, PRIMARY KEY ({', '.join(key)})"
        statements.append(f"CREATE TABLE IF NOT EXISTS {table} ({', '.join(kinds)}, {ends})")
    for statement in (*statements, *OTHERS):
        connection.execute(statement.replace("TEXT", text))


def identity(secret: str) -> str:
    """The digest that binds the rows of a store to the study with this secret."""
    return hex_digest(f"{secret}:store", 32)


@contextmanager
def reading(folder: Path, identity: str) -> Iterator[Rows]:
    """The rows of a store as they are now, for reading alone; a server may go on writing."""
    found = database(folder, identity)
    with found.sentences(), closing(found.connected()) as connection:
        found.read(connection)
        yield Rows(connection, identity)


def scrub(folder: Path, identity: str) -> None:
    """Leave no byte of deleted rows in the files of a store; a server may go on writing."""
    database(folder, identity).scrub([*TABLES, "session", "owner", "draft"])
