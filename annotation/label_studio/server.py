"""Installs, prepares and runs a local Label Studio server, in its own environment and with safe settings.

The server has its own environment, because it pins older versions of libraries that models need. It listens on this
machine only, allows sign-up by invitation only and sends no usage data. It frees an abandoned seat after an hour.
"""

import os
import secrets
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import time
import venv
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO
from urllib.parse import unquote, urlsplit

import httpx

from catsofa.annotation.label_studio import Version
from catsofa.data.closing import Closing
from catsofa.data.files import BadInput

LINGERS = 2.0
"""Seconds for which the child processes of a killed server may still hold its log."""
VERSION = "1.23.2"
"""The release that all measurements used."""
EXECUTABLE = "LABEL_STUDIO_EXE"
"""The variable that names an existing Label Studio program."""
LOOPBACK = "127.0.0.1"
DATABASE = "label_studio.sqlite3"
LOCK_SECONDS = 3600
"""Seconds for which a task is kept for the person who opened it; the server's default is a day."""
PATIENCE = 300.0
"""Maximum number of seconds for the start of a server."""
FOREIGN = ("LABEL_STUDIO_", "DJANGO_", "POSTGRE_")


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    """The first account; shown to its owner once, and never stored by catsofa."""

    email: str = "researcher@example.org"
    password: str = field(default_factory=lambda: secrets.token_urlsafe(12), repr=False)
    token: str = field(default_factory=lambda: secrets.token_hex(20), repr=False)


def home() -> Path:
    """Returns the default folder of the server and its data."""
    import platformdirs

    return Path(platformdirs.user_data_dir("catsofa"))


def executable() -> Path | None:
    """Returns the server's program: the one in LABEL_STUDIO_EXE, or the installed one; None if there is neither."""
    if named := os.environ.get(EXECUTABLE):
        if not Path(named).is_file():
            raise BadInput(named, "no such file", f"the label-studio program, which {EXECUTABLE} should name")
        return Path(named)
    ours = _environment_folder() / "bin" / "label-studio"
    return ours if (_environment_folder() / "READY").exists() else None


def install() -> Path:
    """Installs the server into its own environment (a gigabyte, one or two minutes); returns its program."""
    folder = _environment_folder()
    shutil.rmtree(folder, ignore_errors=True)
    venv.create(folder, with_pip=True)
    pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", f"label-studio=={VERSION}"]
    done = subprocess.run(pip, capture_output=True, text=True, check=False)
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:] or ["no reason given"]
        raise ValueError(f"installing label-studio {VERSION} failed: {last[0]}")
    (folder / "READY").write_text(VERSION, "utf-8")
    return folder / "bin" / "label-studio"


def _environment_folder() -> Path:
    """Returns the folder of the installed server's environment."""
    return home() / f"label-studio-{VERSION}"


def prepare(program: Path, data: Path, database: str = "", first: Credentials | None = None) -> Credentials | None:
    """Creates the database and the first account; returns None if the folder was prepared before.

    Prepares a temporary folder and moves it into place, so that a killed process leaves nothing that looks ready.
    """
    if data.exists() and any(data.iterdir()):
        return None
    first = first or Credentials()
    partial = data.with_name(f".{data.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.parent.mkdir(parents=True, exist_ok=True)
    partial.mkdir(mode=0o700)  # the database holds the tokens of all accounts
    account = {
        "LABEL_STUDIO_USERNAME": first.email,
        "LABEL_STUDIO_PASSWORD": first.password,
        "LABEL_STUDIO_USER_TOKEN": first.token,
    }
    done = subprocess.run(
        [str(program), "init", "-b"],
        env=settings(partial, database) | account,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:] or ["no reason given"]
        raise ValueError(f"Label Studio could not prepare its database: {last[0]}")
    if not database:
        connection = sqlite3.connect(partial / DATABASE)
        connection.execute("PRAGMA journal_mode=wal")  # three times the speed, and half as many seats given twice
        connection.close()
    if data.exists():
        data.rmdir()
    partial.rename(data)
    return first


def settings(data: Path, database: str = "") -> dict[str, str]:
    """Returns the environment variables of the server.

    They are those of this process without settings for Label Studio, plus the safe settings.
    """
    ours = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}
    return (
        ours
        | _database(data, database)
        | {
            "HOME": str(data),
            "LABEL_STUDIO_BASE_DATA_DIR": str(data),
            "LABEL_STUDIO_ENABLE_LEGACY_API_TOKEN": "true",  # read once, when the organisation is created
            "LABEL_STUDIO_DISABLE_SIGNUP_WITHOUT_LINK": "true",
            "LABEL_STUDIO_LATEST_VERSION_CHECK": "false",
            "LABEL_STUDIO_TASK_LOCK_TTL": str(LOCK_SECONDS),
            "LABEL_STUDIO_DEBUG": "false",
            "COLLECT_ANALYTICS": "false",
            "SENTRY_DSN": "",
            "FRONTEND_SENTRY_DSN": "",
            "LOG_LEVEL": "ERROR",
        }
    )


def _database(data: Path, url: str) -> dict[str, str]:
    """Returns the settings for SQLite in the data folder, or for the PostgreSQL at a URL.

    PGPASSWORD may hold the password instead of the URL.
    """
    if not url:
        return {"DJANGO_DB": "sqlite", "DATABASE_NAME": str(data / DATABASE)}
    parts = urlsplit(url)
    if parts.scheme not in ("postgresql", "postgres") or not parts.path.strip("/"):
        raise ValueError("the database should be postgresql://USER@HOST:PORT/NAME, its password in PGPASSWORD")
    return {
        "DJANGO_DB": "default",
        "POSTGRE_NAME": parts.path.strip("/"),
        "POSTGRE_USER": unquote(parts.username or "postgres"),
        "POSTGRE_PASSWORD": unquote(parts.password or os.environ.get("PGPASSWORD", "")),
        "POSTGRE_HOST": parts.hostname or LOOPBACK,
        "POSTGRE_PORT": str(parts.port or 5432),
    }


def _log_of_one(data: Path) -> IO[bytes]:
    """Returns the server's log, emptied and locked while any process writes to it.

    The lock allows only one server per folder.
    """
    log = (data / "server.log").open("ab")
    if sys.platform != "win32":
        end = time.monotonic() + LINGERS
        while not _locked(log):
            if time.monotonic() > end:
                log.close()
                raise ValueError(f"another server works on {data}; use that one, stop it, or name another --data")
            time.sleep(0.1)
    log.truncate(0)
    return log


def _locked(log: IO[bytes]) -> bool:
    """Returns True if this process holds the lock; a file system without locks grants it to everybody."""
    import fcntl

    try:
        fcntl.flock(log, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True


class Running(Closing):
    """A server that runs until it is stopped."""

    def __init__(
        self,
        program: Path,
        data: Path,
        *,
        port: int = 8080,
        database: str = "",
        more: Mapping[str, str] | None = None,
        patience: float = PATIENCE,
    ) -> None:
        """Starts the program and waits until it answers; raises ValueError if the port is in use."""
        # Label Studio would silently use the next port
        refuse_taken(LOOPBACK, port)
        self.url, self._patience = f"http://{LOOPBACK}:{port}", patience
        self._log = _log_of_one(data)
        command = [str(program), "start", "--no-browser", "--internal-host", LOOPBACK, "--port", str(port)]
        self.process = subprocess.Popen(
            command,
            env=settings(data, database) | dict(more or {}),
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=subprocess.STDOUT,
            start_new_session=sys.platform != "win32",
        )
        try:
            self._wait(data / "server.log")
        except BaseException:
            self.stop()
            raise

    def _wait(self, log: Path) -> None:
        """Waits until the server answers.

        Raises ValueError if another program took the port, or, with the last log line, if the server ends or takes too
        long.
        """
        end = time.monotonic() + self._patience
        while self.process.poll() is None and time.monotonic() < end:
            try:
                if httpx.get(f"{self.url}/health", timeout=2, trust_env=False).status_code == httpx.codes.OK:
                    return
            except httpx.TransportError:
                pass
            if b"is in use" in log.read_bytes():
                raise ValueError(f"{self.url} was taken while Label Studio started; name another port")
            time.sleep(0.2)
        last = log.read_text("utf-8", "replace").strip().splitlines()[-1:] or ["nothing"]
        raise ValueError(f"Label Studio did not start; the last line of {log} is: {last[0][:300]}")

    def version(self) -> Version:
        """Returns the edition and release of the server."""
        answer = httpx.get(f"{self.url}/api/version/", timeout=PATIENCE, trust_env=False).raise_for_status().json()
        return Version(edition=str(answer.get("edition", "")), release=str(answer.get("release", "")))

    def wait(self) -> int:
        """Waits until the server ends by itself; returns its exit status."""
        return self.process.wait()

    def stop(self) -> None:
        """Asks the server to end, and kills it after 10 seconds."""
        if self.process.poll() is None:
            self._signal(signal.SIGTERM)
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.kill()
        self._log.close()

    def kill(self) -> None:
        """Kills the server at once."""
        self._signal(signal.SIGKILL if sys.platform != "win32" else signal.SIGTERM)
        self.process.wait()

    def _signal(self, number: signal.Signals) -> None:
        """Sends a signal to the server and its child processes."""
        if sys.platform == "win32":
            self.process.terminate()
        else:
            os.killpg(self.process.pid, number)

    def close(self) -> None:
        """Stops the server."""
        self.stop()


def refuse_taken(host: str, port: int) -> None:
    """Raises ValueError if the port cannot be used, for example because another program listens there."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise ValueError(f"{host}:{port} cannot be used ({error.strerror}); name another port") from None
