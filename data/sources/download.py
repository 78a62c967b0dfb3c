"""Downloads one file over HTTP: verified, resumed after interruptions, and moved into place atomically."""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from socket import gaierror
from ssl import SSLError
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from catsofa.data.files import BadInput
from catsofa.data.files.checksums import sha256_of
from catsofa.data.servers.endpoints import retry_after

Progress = Callable[[int, int | None], None]
"""Called with the bytes so far and the total bytes, if known."""

TRIES = 5
"""Consecutive failures before giving up; an attempt that receives data resets the count."""
PATIENCE = 120.0
"""Maximum seconds to wait when a server asks for it."""
TIMEOUT = 30.0
CHUNK = 1 << 20
AGAIN = {408, 425, 429, 500, 502, 503, 504}
"""HTTP statuses that a retry may fix."""
CLOSED = {401, 403, 407, 451}
"""HTTP statuses of a file that is not public."""


class Unreachable(ValueError):
    """The host did not answer: no network, unknown name, or connection refused."""


class _Failed(Exception):
    """A failed attempt that a retry may fix, after the pause that the server asks for, if any."""

    def __init__(self, why: object, pause: float | None = None, answered: bool = True) -> None:
        super().__init__(str(why) or type(why).__name__)
        self.pause, self.answered = pause, answered


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A file to download: address, target, and known checksum and size."""

    url: str
    target: Path
    sha256: str
    size: int | None

    @property
    def partial(self) -> Path:
        """The partially downloaded file."""
        return self.target.with_name(f".{self.target.name}.partial")

    @property
    def version(self) -> Path:
        """The file with the server's version (ETag or date) of the partial file."""
        return self.target.with_name(f".{self.target.name}.version")

    def there(self) -> int:
        """The number of bytes of the partial file that a download can resume from.

        Without an expected checksum or a known version, two parts may come from different files, so the result is 0.
        """
        usable = self.partial.is_file() and (self.sha256 or self.version.is_file())
        return self.partial.stat().st_size if usable else 0

    def forget(self) -> None:
        """Remove the partial file and its version."""
        self.partial.unlink(missing_ok=True)
        self.version.unlink(missing_ok=True)


def download(
    url: str,
    target: Path | str,
    *,
    sha256: str = "",
    size: int | None = None,
    progress: Progress | None = None,
    wait: Callable[[float], None] = time.sleep,
) -> str:
    """Download `url` to `target` and return its SHA-256; a file with a wrong checksum is not kept."""
    if urlsplit(url).scheme not in ("http", "https"):
        raise ValueError(f"{url} is no http or https address")
    wanted = _Wanted(url, Path(target), sha256, size)
    try:
        wanted.target.parent.mkdir(parents=True, exist_ok=True)
        return _download(wanted, progress, wait)
    except OSError as error:
        problem = f"a place that cannot be written ({error.strerror or error})"
        raise BadInput(target, problem, "a folder you may write to, with room for the file") from None


def _download(wanted: _Wanted, progress: Progress | None, wait: Callable[[float], None]) -> str:
    """Fetch the file, verify its checksum, and move it into place."""
    url, sha256, resumed = wanted.url, wanted.sha256, wanted.there() > 0
    digest = _bring(wanted, progress, wait)
    if sha256 and digest != sha256 and resumed:
        wanted.forget()  # the part left by an earlier run may be at fault
        digest = _bring(wanted, progress, wait)
    if sha256 and digest != sha256:
        wanted.forget()
        raise ValueError(f"{url} has SHA-256 {digest} and not {sha256}: it is not the released file and was not kept")
    with wanted.partial.open("rb") as file:
        os.fsync(file.fileno())
    os.replace(wanted.partial, wanted.target)
    wanted.forget()
    return digest


def _bring(wanted: _Wanted, progress: Progress | None, wait: Callable[[float], None]) -> str:
    """Complete the partial file, with retries, and return its SHA-256."""
    failures = 0
    while True:
        before = wanted.there()
        try:
            _attempt(wanted, before, progress)
            return sha256_of(wanted.partial)
        except _Failed as failed:
            failures = 1 if wanted.there() > before else failures + 1
            pause = 0.5 * 2 ** (failures - 1) if failed.pause is None else failed.pause
            if failures == TRIES and not failed.answered:
                raise Unreachable(f"{urlsplit(wanted.url).hostname} cannot be reached ({failed})") from None
            if failures == TRIES or pause > PATIENCE:
                later = f"in {pause:.0f} seconds" if pause > PATIENCE else "later"
                raise ValueError(f"{wanted.url} failed ({failed}); what came is kept, try again {later}") from None
        wait(pause)


def _attempt(wanted: _Wanted, before: int, progress: Progress | None) -> None:
    """Request the missing part and append it, or start again if the server sends the whole file."""
    answer = _ask(wanted, before)
    if answer is None:
        return
    with answer:
        if answer.status == 200:
            before = 0
            # a weak ETag does not allow to resume
            etag = answer.headers.get("ETag", "")
            version = etag if etag.startswith('"') else answer.headers.get("Last-Modified", "")
            wanted.partial.unlink(missing_ok=True)
            if version:
                wanted.version.write_text(version)
            else:
                wanted.version.unlink(missing_ok=True)
        elif _start(answer) != before:
            wanted.forget()
            raise _Failed("the server sent another part than it was asked for")
        total = None if answer.length is None else before + answer.length
        if wanted.size is not None and total is not None and total != wanted.size:
            wanted.forget()
            raise ValueError(f"{wanted.url} has {total:,} bytes and not {wanted.size:,}: it is not the released file")
        with wanted.partial.open("ab" if before else "wb") as file:
            while chunk := _read(answer):
                file.write(chunk)
                before += len(chunk)
                if progress:
                    progress(before, total or wanted.size)
    if before < (total or wanted.size or 0):
        raise _Failed("the connection ended before the file")


def _ask(wanted: _Wanted, before: int) -> HTTPResponse | None:
    """The server's response, or None if nothing is missing."""
    headers = {"User-Agent": "catsofa", "Accept-Encoding": "identity"}
    if before:
        headers["Range"] = f"bytes={before}-"
        if wanted.version.is_file():
            headers["If-Range"] = wanted.version.read_text()
    host = urlsplit(wanted.url).hostname
    try:
        answer: HTTPResponse = urlopen(Request(wanted.url, headers=headers), timeout=TIMEOUT)
    except HTTPError as error:
        with error:
            _accept_or_refuse(error, wanted, before)
        return None
    except URLError as error:
        if isinstance(error.reason, gaierror | ConnectionRefusedError | PermissionError | TimeoutError):
            raise Unreachable(f"{host} cannot be reached ({error.reason.strerror or error.reason})") from None
        if isinstance(error.reason, SSLError):
            raise ValueError(f"{host} cannot be trusted ({error.reason})") from None
        raise _Failed(error.reason, answered=False) from None
    except (OSError, HTTPException) as error:
        raise _Failed(error, answered=False) from None
    if wanted.url.startswith("https:") and not answer.url.startswith("https:"):
        raise ValueError(f"{wanted.url} leads to {answer.url}, which is not secure")
    return answer


def _accept_or_refuse(error: HTTPError, wanted: _Wanted, before: int) -> None:
    """Raise the error that an HTTP error status means; accepts the status which says that nothing is missing."""
    if error.code == 416:
        if error.headers.get("Content-Range", "").endswith(f"/{before}"):
            return
        wanted.forget()
        raise _Failed("the server has less than what came before")
    if error.code in AGAIN:
        raise _Failed(f"HTTP {error.code} {error.reason}", retry_after(error.headers))
    if error.code in (404, 410):
        raise ValueError(f"{wanted.url} does not exist (HTTP {error.code})")
    if error.code in CLOSED:
        raise ValueError(f"{wanted.url} is not open to everybody (HTTP {error.code}); download it in a browser")
    raise ValueError(f"{wanted.url} answered HTTP {error.code} {error.reason}")


def _start(answer: HTTPResponse) -> int | None:
    """The first byte position of a partial response: `bytes 100-199/200` starts at 100."""
    unit, _, span = answer.headers.get("Content-Range", "").partition(" ")
    first = span.partition("-")[0]
    return int(first) if answer.status == 206 and unit == "bytes" and first.isdecimal() else None


def _read(answer: HTTPResponse) -> bytes:
    """Some bytes of the body; a broken connection is a failure that a retry may fix."""
    try:
        return answer.read1(CHUNK)
    except (OSError, HTTPException) as error:
        raise _Failed(error) from None
