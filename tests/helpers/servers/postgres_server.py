"""A PostgreSQL server for tests: a separate cluster in a temporary folder, run by an unprivileged user."""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from helpers.servers.label_studio_server import free_port

from catsofa.annotation.crowd.databases import Connection, Postgres
from catsofa.annotation.crowd.store import create_tables

PASSWORD = "quite-secret-7"
PLACES = [*sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True), Path("/usr/local/bin"), Path("/usr/bin")]
PATIENCE = 60.0
BOTH = pytest.mark.parametrize("store", ["sqlite", pytest.param("postgres", marks=pytest.mark.slow)], indirect=True)
"""Marks a test that runs on both stores: `store` is the URL of the database, empty for SQLite."""


def programs() -> Path | None:
    """Returns the folder with `initdb` and `postgres`, or None."""
    return next((place for place in PLACES if (place / "initdb").exists() and (place / "postgres").exists()), None)


class Cluster:
    """A server that can be killed and started again."""

    def __init__(self, folder: Path) -> None:
        """Creates the cluster, with one role that needs a password."""
        self.folder, self._bin, self.port = folder, programs(), free_port()
        assert self._bin is not None, "PostgreSQL is not installed"
        self.url = f"postgresql://study@127.0.0.1:{self.port}/postgres"
        names = {user.pw_name for user in pwd.getpwall()}
        self._user: dict[str, Any] = {}
        if os.geteuid() == 0:  # PostgreSQL refuses root
            user = pwd.getpwnam("postgres" if "postgres" in names else "nobody")
            self._user = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
            os.chown(folder, user.pw_uid, user.pw_gid)
        (folder / "password").write_text(PASSWORD)
        (folder / "password").chmod(0o644)
        self._about: dict[str, Any] = {
            "cwd": folder,
            "env": {"LC_ALL": "C", "PATH": os.environ["PATH"], "HOME": str(folder)},
        }
        command = [str(self._bin / "initdb"), "--pgdata", "data", "--username", "study", "--pwfile", "password"]
        command += ["--auth", "scram-sha-256", "--encoding", "UTF8"]
        subprocess.run(command, check=True, capture_output=True, **self._about, **self._user)
        self.start()

    def start(self) -> None:
        """Starts the server, and waits until it accepts connections."""
        import psycopg

        command = [str(self._bin / "postgres"), "-D", "data", "-p", str(self.port)]  # type: ignore[operator]
        command += ["-c", "listen_addresses=127.0.0.1", "-c", f"unix_socket_directories={self.folder}"]
        none = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
        self.process = subprocess.Popen(command, **none, **self._about, **self._user)
        began = time.monotonic()
        while True:
            try:
                psycopg.connect(self.url, password=PASSWORD, connect_timeout=5).close()
            except psycopg.OperationalError:
                assert self.process.poll() is None, "PostgreSQL did not start"
                assert time.monotonic() - began < PATIENCE, "PostgreSQL did not start in time"
                time.sleep(0.1)
            else:
                return

    def stop(self, how: int = signal.SIGQUIT) -> None:
        """Stops the server; after SIGQUIT it writes nothing more, like after a crash."""
        self.process.send_signal(how)
        self.process.wait(PATIENCE)


@contextmanager
def running() -> Iterator[Cluster]:
    """Runs a server for the duration of the block."""
    folder = Path(tempfile.mkdtemp(prefix="catsofa-postgres-"))
    try:
        cluster = Cluster(folder)
        try:
            yield cluster
        finally:
            cluster.stop(signal.SIGINT)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def scratch(identity: str) -> Connection:
    """Returns a connection in a transaction with empty tables, to the server that the environment names."""
    database = Postgres("postgresql:///", identity)
    connection = database.connected()
    database.prepare(connection)
    database.write(connection)
    create_tables(connection, database.text)
    return connection
