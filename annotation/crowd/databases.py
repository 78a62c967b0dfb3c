"""Where the rows of a store are: a file of SQLite in the study's folder, or a PostgreSQL server.

The statements of the store are those that both share, with `?` for a value. Here is what differs: how a transaction
begins and who waits for whom, what an error means, and how deleted bytes go.
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
"""The file with the rows, or the file that says in which PostgreSQL database they are."""
REMEDY = "the store as it was written: copy it back from a backup, with its -wal file if there is one"
PATIENCE = 30.0
"""Seconds to wait for another process that writes."""
REACHED = 10
"""Seconds to wait for a PostgreSQL server."""
URL = re.compile(r"postgres(ql)?://([^:/?#@\s]+@)?(\[[\da-fA-F:]+\]|[^:/?#@\s]*)(:\d+)?(/[^/?#@\s]*)?(\?[^#@\s]*)?")
EXPECTED = "postgresql://USER@HOST:PORT/DATABASE, with the password in PGPASSWORD or in the file ~/.pgpass"


class Unwritten(ValueError):
    """The store could not be written; nothing of the request is kept."""


class Cursor(Protocol):
    """What a statement found."""

    @property
    def description(self) -> Any:
        """The columns."""

    def __iter__(self) -> Iterator[Any]:
        """The rows."""


class Connection(Protocol):
    """What the store needs of a connection to either database."""

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction has begun and not ended."""

    def execute(self, statement: str, values: Sequence[Any] = (), /) -> Cursor:
        """Run a statement."""

    def close(self) -> None:
        """Let go."""


class Database(Protocol):
    """One of the two databases."""

    name: str
    """What errors call it; a password is never in it."""
    text: str
    """The type of columns with texts."""

    def connected(self) -> Connection:
        """A connection of its own."""

    def usable(self, connection: Connection) -> Connection:
        """This connection, or a new one in place of one that was lost."""

    def write(self, connection: Connection) -> None:
        """Begin a transaction that writes; another writer waits."""

    def read(self, connection: Connection) -> None:
        """Begin a transaction that only reads, and sees one state."""

    def prepare(self, connection: Connection) -> None:
        """Make the place of the tables, before a transaction begins."""

    def is_lost(self, error: Exception) -> bool:
        """Whether no job of this commit can be kept."""

    def sentences(self) -> AbstractContextManager[None]:
        """Turn what goes wrong into a sentence."""

    def erase(self, connection: Connection) -> None:
        """After a commit: leave nothing of deleted rows where that is quick."""

    def scrub(self, tables: Sequence[str]) -> None:
        """Leave no byte of deleted rows in the files of the tables; a server may go on writing."""


class Sqlite:
    """A file, safe against power loss, in which nothing is left of what was deleted."""

    text = "TEXT"

    def __init__(self, path: Path) -> None:
        """Name the file; it need not be there."""
        self.path, self.name = path, str(path)

    def connected(self) -> sqlite3.Connection:
        """A connection; a file that is not there is made, for its owner alone."""
        self.path.touch(0o600)
        connection = sqlite3.connect(self.path, timeout=PATIENCE, isolation_level=None, check_same_thread=False)
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA secure_delete = ON")
        return connection

    def usable(self, connection: Connection) -> Connection:
        """The connection: a file is not lost."""
        return connection

    def write(self, connection: Connection) -> None:
        """Lock the file for this writer."""
        connection.execute("BEGIN IMMEDIATE")

    def read(self, connection: Connection) -> None:
        """Read what is there now."""
        connection.execute("PRAGMA query_only = ON")
        connection.execute("BEGIN")

    def prepare(self, connection: Connection) -> None:
        """Let people read while somebody writes."""
        connection.execute("PRAGMA journal_mode = WAL")

    def is_lost(self, error: Exception) -> bool:
        """The disk or the file itself."""
        return isinstance(error, sqlite3.OperationalError)

    @contextmanager
    def sentences(self) -> Iterator[None]:
        """Turn what goes wrong with a disk or a file into a sentence."""
        try:
            yield
        except sqlite3.Error as error:
            said = str(error)
            if "locked" in said or "busy" in said:
                wait = f"for over {PATIENCE:.0f} seconds; stop it"
                raise Unwritten(f"another process writes to {self.path} {wait}") from None
            if "full" in said or "disk I/O" in said or "unable to open" in said or "readonly" in said:
                raise Unwritten(f"{self.path} cannot be written ({said}); free some space on its disk") from None
            raise BadInput(self.path, f"a damaged database ({said})", REMEDY) from None

    def erase(self, connection: Connection) -> None:
        """Empty the -wal file."""
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def scrub(self, tables: Sequence[str]) -> None:
        """Write the file anew."""
        with self.sentences(), closing(self.connected()) as connection:
            connection.execute("VACUUM")
            until = time.monotonic() + PATIENCE
            while connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
                if time.monotonic() > until:
                    wait = f"for over {PATIENCE:.0f} seconds; stop it, and try again"
                    raise Unwritten(f"another process reads {self.path} {wait}")
                time.sleep(0.1)


class Translated:
    """A connection of psycopg that takes the statements of SQLite."""

    def __init__(self, connection: Any) -> None:
        """Wrap a connection that commits by itself."""
        self._connection = connection

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction has begun and not ended, a failed one too."""
        return bool(self._connection.info.transaction_status in (1, 2, 3))

    @property
    def closed(self) -> bool:
        """Whether the server is gone."""
        return bool(self._connection.closed)

    def execute(self, statement: str, values: Sequence[Any] = (), /) -> Cursor:
        """Run a statement."""
        found: Cursor = self._connection.execute(statement.replace("%", "%%").replace("?", "%s"), values)
        return found

    def close(self) -> None:
        """Let go."""
        self._connection.close()


class Postgres:
    """A schema of a PostgreSQL database, which is that of one study."""

    text = 'TEXT COLLATE "C"'
    """As SQLite compares texts."""

    def __init__(self, url: str, identity: str) -> None:
        """Name the database by a URL that `checked_url` let pass; the schema follows from the study."""
        self.name, self._schema, self._key = url, f"catsofa_{identity[:16]}", int(identity[:15], 16)

    def connected(self) -> Translated:
        """A connection; libpq finds the password in the environment or in ~/.pgpass."""
        import psycopg

        found = psycopg.connect(self.name, autocommit=True, connect_timeout=REACHED, application_name="catsofa")
        for setting in (
            f"search_path = {self._schema}",
            f"lock_timeout = '{PATIENCE:.0f}s'",
            "synchronous_commit = on",
        ):
            found.execute(f"SET {setting}")  # type: ignore[call-overload,unused-ignore]
        return Translated(found)

    def usable(self, connection: Connection) -> Connection:
        """The connection, or a new one where the server was stopped in between."""
        assert isinstance(connection, Translated), "this database made it"
        return self.connected() if connection.closed else connection

    def write(self, connection: Connection) -> None:
        """One writer at a time, as with SQLite: a lock that ends with the transaction."""
        connection.execute("BEGIN")
        connection.execute("SELECT pg_advisory_xact_lock(?)", (self._key,))

    def read(self, connection: Connection) -> None:
        """Read what is there now."""
        connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")

    def prepare(self, connection: Connection) -> None:
        """Make the schema."""
        connection.execute(f"CREATE SCHEMA IF NOT EXISTS {self._schema}")

    def is_lost(self, error: Exception) -> bool:
        """The server, its disk or the way to it."""
        import psycopg

        return isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)

    @contextmanager
    def sentences(self) -> Iterator[None]:
        """Turn what goes wrong with a server into a sentence; its first line names no value of a row."""
        import psycopg
        from psycopg import errors

        try:
            yield
        except psycopg.Error as error:
            said = (str(error).splitlines() or [type(error).__name__])[0].strip()
            if isinstance(error, errors.LockNotAvailable):
                wait = f"for over {PATIENCE:.0f} seconds; stop it"
                raise Unwritten(f"another process writes to {self.name} {wait}") from None
            if isinstance(error, errors.UndefinedTable | errors.InvalidSchemaName):
                expected = f"the one of this study (schema {self._schema}); restore it, or mend {PLACE}"
                raise BadInput(self.name, "a database without the tables of this study", expected) from None
            if self.is_lost(error):
                remedy = "start the server, or look at its log; the same command goes on"
                raise Unwritten(f"the database {self.name} cannot be used ({said}); {remedy}") from None
            raise BadInput(self.name, f"a database that refuses ({said})", "a role that owns its schema") from None

    def erase(self, connection: Connection) -> None:
        """Nothing: the server's own vacuum frees the bytes of deleted rows."""

    def scrub(self, tables: Sequence[str]) -> None:
        """Write the tables anew."""
        with self.sentences(), closing(self.connected()) as connection:
            for table in tables:
                connection.execute(f"VACUUM (FULL, ANALYZE) {table}")


def database(folder: Path, identity: str) -> Database:
    """Where the rows of a study are; `identity` is the digest that binds them to it."""
    if (path := folder / PLACE).is_file():
        return Postgres(checked_url(read_text(path, EXPECTED).strip()), identity)
    return Sqlite(folder / STORE)


def has_store(folder: Path) -> bool:
    """Whether people came to this study by `catsofa annotate open`."""
    return (folder / STORE).is_file() or (folder / PLACE).is_file()


def choose(folder: Path, identity: str, url: str) -> None:
    """Have the rows of a study in a PostgreSQL database from now on; one that has rows elsewhere is refused."""
    checked_url(url)
    if (path := folder / PLACE).is_file():
        if (there := read_text(path, EXPECTED).strip()) != url:
            raise ValueError(f"the answers of {folder} are in {there}; leave out --store, or edit {path} after a move")
        return
    if (folder / STORE).is_file():
        raise ValueError(f"the answers of {folder} are in its {STORE}; leave out --store, or make another study")
    found = Postgres(url, identity)
    with found.sentences(), closing(found.connected()) as connection:
        found.prepare(connection)
    with atomic_write(path) as file:
        file.write(f"{url}\n".encode())


def checked_url(url: str) -> str:
    """The URL of a database; a password in it is refused, and no message repeats one."""
    if "password" in url.casefold() or not URL.fullmatch(url):
        found = "the store is no URL of a PostgreSQL database, or has a password in it, which others could read"
        raise ValueError(f"{found}; give {EXPECTED}")
    return url
