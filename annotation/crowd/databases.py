"""Databases of a store: an SQLite file in the study's folder, or a PostgreSQL server.

The store uses only statements that both understand, with `?` as placeholder. This module holds the differences:
transactions and locks, the meaning of errors, and the erasure of deleted rows.
"""

import re
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import Any, Protocol

from catsofa.data.files import BadInput, atomic_write, read_text

STORE, PLACE = "study.db", "store.url"
"""SQLite file with the rows, and the file with the URL of the PostgreSQL database that holds them instead."""
REMEDY = "the store as it was written: copy it back from a backup, with its -wal file if there is one"
PATIENCE = 30.0
"""Seconds to wait for another process that writes."""
REACHED = 10
"""Connection timeout of a PostgreSQL server, in seconds."""
URL = re.compile(r"postgres(ql)?://([^:/?#@\s]+@)?(\[[\da-fA-F:]+\]|[^:/?#@\s]*)(:\d+)?(/[^/?#@\s]*)?(\?[^#@\s]*)?")
EXPECTED = "postgresql://USER@HOST:PORT/DATABASE, with the password in PGPASSWORD or in the file ~/.pgpass"


class Unwritten(ValueError):
    """Raised when the store cannot be written; the request then leaves no change."""


class Cursor(Protocol):
    """Result of a statement."""

    @property
    def description(self) -> Any:
        """Columns of the result."""

    def __iter__(self) -> Iterator[Any]:
        """Iterates over the rows."""


class Connection(Protocol):
    """Interface that the store needs of a connection to either database."""

    @property
    def in_transaction(self) -> bool:
        """True if a transaction has begun and not ended."""

    def execute(self, statement: str, values: Sequence[Any] = (), /) -> Cursor:
        """Runs a statement."""

    def close(self) -> None:
        """Closes the connection."""


class Database(Protocol):
    """Common interface of the two databases."""

    name: str
    """Name for error messages; it never contains a password."""
    text: str
    """Column type of texts."""

    def connected(self) -> Connection:
        """Returns a new connection."""

    def usable(self, connection: Connection) -> Connection:
        """Returns this connection, or a new one if it was lost."""

    def write(self, connection: Connection) -> None:
        """Begins a transaction that writes; other writers wait."""

    def read(self, connection: Connection) -> None:
        """Begins a transaction that only reads, and sees one consistent state."""

    def prepare(self, connection: Connection) -> None:
        """Prepares the database for the tables, before a transaction begins."""

    def is_lost(self, error: Exception) -> bool:
        """True if no job of the commit can be kept after this error."""

    def sentences(self) -> AbstractContextManager[None]:
        """Turns database errors into readable errors inside a `with` block."""

    def erase(self, connection: Connection) -> None:
        """Erases deleted rows from the files after a commit, where this is fast."""

    def scrub(self, tables: Sequence[str]) -> None:
        """Erases every byte of deleted rows from the files of the tables; a server may keep writing."""


class Sqlite:
    """SQLite file that survives power loss and keeps nothing of deleted rows."""

    text = "TEXT"

    def __init__(self, path: Path) -> None:
        """Sets the path; the file need not exist."""
        self.path, self.name = path, str(path)

    def connected(self) -> sqlite3.Connection:
        """Returns a connection; creates a missing file with access for its owner only."""
        self.path.touch(0o600)
        connection = sqlite3.connect(self.path, timeout=PATIENCE, isolation_level=None, check_same_thread=False)
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA secure_delete = ON")
        return connection

    def usable(self, connection: Connection) -> Connection:
        """Returns the same connection, because a file is never lost."""
        return connection

    def write(self, connection: Connection) -> None:
        """Locks the file for this writer."""
        connection.execute("BEGIN IMMEDIATE")

    def read(self, connection: Connection) -> None:
        """Begins a transaction that reads the current state."""
        connection.execute("PRAGMA query_only = ON")
        connection.execute("BEGIN")

    def prepare(self, connection: Connection) -> None:
        """Turns on WAL mode, so that people can read while another process writes."""
        connection.execute("PRAGMA journal_mode = WAL")

    def is_lost(self, error: Exception) -> bool:
        """True for errors of the disk or of the file itself."""
        return isinstance(error, sqlite3.OperationalError)

    @contextmanager
    def sentences(self) -> Iterator[None]:
        """Turns errors of the disk or the file into readable errors."""
        try:
            yield
        except sqlite3.Error as error:
            message = str(error)
            if "locked" in message or "busy" in message:
                wait = f"for over {PATIENCE:.0f} seconds; stop it"
                raise Unwritten(f"another process writes to {self.path} {wait}") from None
            if "full" in message or "disk I/O" in message or "unable to open" in message or "readonly" in message:
                raise Unwritten(f"{self.path} cannot be written ({message}); free some space on its disk") from None
            raise BadInput(self.path, f"a damaged database ({message})", REMEDY) from None

    def erase(self, connection: Connection) -> None:
        """Empties the -wal file."""
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def scrub(self, tables: Sequence[str]) -> None:
        """Rewrites the file, and empties the -wal file."""
        with self.sentences(), closing(self.connected()) as connection:
            connection.execute("VACUUM")
            until = time.monotonic() + PATIENCE
            while connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
                if time.monotonic() > until:
                    wait = f"for over {PATIENCE:.0f} seconds; stop it, and try again"
                    raise Unwritten(f"another process reads {self.path} {wait}")
                time.sleep(0.1)


class Translated:
    """Connection of psycopg that accepts SQLite's statements."""

    def __init__(self, connection: Any) -> None:
        """Wraps a connection in autocommit mode."""
        self._connection = connection

    @property
    def in_transaction(self) -> bool:
        """True if a transaction has begun and not ended, also if it failed."""
        return bool(self._connection.info.transaction_status in (1, 2, 3))

    @property
    def closed(self) -> bool:
        """True if the connection to the server is closed."""
        return bool(self._connection.closed)

    def execute(self, statement: str, values: Sequence[Any] = (), /) -> Cursor:
        """Runs a statement with `?` as placeholder."""
        cursor: Cursor = self._connection.execute(statement.replace("%", "%%").replace("?", "%s"), values)
        return cursor

    def close(self) -> None:
        """Closes the connection."""
        self._connection.close()


class Postgres:
    """Schema of a PostgreSQL database; each study has its own schema."""

    text = 'TEXT COLLATE "C"'
    """Collation that compares texts as SQLite does."""

    def __init__(self, url: str, identity: str) -> None:
        """Takes a URL that passed `checked_url`; the schema's name follows from the study's digest."""
        self.name, self._schema, self._key = url, f"catsofa_{identity[:16]}", int(identity[:15], 16)

    def connected(self) -> Translated:
        """Returns a connection; libpq reads the password from the environment or ~/.pgpass."""
        import psycopg

        connection = psycopg.connect(self.name, autocommit=True, connect_timeout=REACHED, application_name="catsofa")
        for setting in (
            f"search_path = {self._schema}",
            f"lock_timeout = '{PATIENCE:.0f}s'",
            "synchronous_commit = on",
        ):
            connection.execute(f"SET {setting}")  # type: ignore[call-overload,unused-ignore]
        return Translated(connection)

    def usable(self, connection: Connection) -> Connection:
        """Returns the connection, or a new one if the server was stopped meanwhile."""
        assert isinstance(connection, Translated), "this database made it"
        return self.connected() if connection.closed else connection

    def write(self, connection: Connection) -> None:
        """Begins a transaction with an advisory lock until its end: one writer at a time, as with SQLite."""
        connection.execute("BEGIN")
        connection.execute("SELECT pg_advisory_xact_lock(?)", (self._key,))

    def read(self, connection: Connection) -> None:
        """Begins a read-only transaction that sees one snapshot."""
        connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")

    def prepare(self, connection: Connection) -> None:
        """Creates the schema."""
        connection.execute(f"CREATE SCHEMA IF NOT EXISTS {self._schema}")

    def is_lost(self, error: Exception) -> bool:
        """True for errors of the server, its disk or the network."""
        import psycopg

        return isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)

    @contextmanager
    def sentences(self) -> Iterator[None]:
        """Turns errors of the server into readable errors; quotes only the first line, which has no value of a row."""
        import psycopg
        from psycopg import errors

        try:
            yield
        except psycopg.Error as error:
            message = (str(error).splitlines() or [type(error).__name__])[0].strip()
            if isinstance(error, errors.LockNotAvailable):
                wait = f"for over {PATIENCE:.0f} seconds; stop it"
                raise Unwritten(f"another process writes to {self.name} {wait}") from None
            if isinstance(error, errors.UndefinedTable | errors.InvalidSchemaName):
                expected = f"the one of this study (schema {self._schema}); restore it, or mend {PLACE}"
                raise BadInput(self.name, "a database without the tables of this study", expected) from None
            if self.is_lost(error):
                remedy = "start the server, or look at its log; the same command goes on"
                raise Unwritten(f"the database {self.name} cannot be used ({message}); {remedy}") from None
            raise BadInput(self.name, f"a database that refuses ({message})", "a role that owns its schema") from None

    def erase(self, connection: Connection) -> None:
        """Does nothing, because the server's own vacuum frees the bytes of deleted rows."""

    def scrub(self, tables: Sequence[str]) -> None:
        """Rewrites the tables."""
        with self.sentences(), closing(self.connected()) as connection:
            for table in tables:
                connection.execute(f"VACUUM (FULL, ANALYZE) {table}")


def database(folder: Path, identity: str) -> Database:
    """Returns the database of a study; `identity` is the digest that binds the rows to the study."""
    if (path := folder / PLACE).is_file():
        return Postgres(checked_url(read_text(path, EXPECTED).strip()), identity)
    return Sqlite(folder / STORE)


def has_store(folder: Path) -> bool:
    """True if the study has a store, because it was opened with `catsofa annotate open`."""
    return (folder / STORE).is_file() or (folder / PLACE).is_file()


def choose(folder: Path, identity: str, url: str) -> None:
    """Selects a PostgreSQL database for the rows of a study; refuses a study with rows elsewhere."""
    checked_url(url)
    if (path := folder / PLACE).is_file():
        if (current := read_text(path, EXPECTED).strip()) != url:
            raise ValueError(
                f"the answers of {folder} are in {current}; leave out --store, or edit {path} after a move"
            )
        return
    if (folder / STORE).is_file():
        raise ValueError(f"the answers of {folder} are in its {STORE}; leave out --store, or make another study")
    postgres = Postgres(url, identity)
    with postgres.sentences(), closing(postgres.connected()) as connection:
        postgres.prepare(connection)
    with atomic_write(path) as file:
        file.write(f"{url}\n".encode())


def checked_url(url: str) -> str:
    """Returns the URL of a database if it is valid.

    Refuses a URL with a password, and never repeats a password in a message.
    """
    if "password" in url.casefold() or not URL.fullmatch(url):
        problem = "the store is no URL of a PostgreSQL database, or has a password in it, which others could read"
        raise ValueError(f"{problem}; give {EXPECTED}")
    return url
