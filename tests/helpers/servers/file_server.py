"""A real HTTP server of local files, with ranges, versions, and faults on demand."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from http.server import BaseHTTPRequestHandler
from typing import Any

from helpers.servers.threads import on_a_free_port


@dataclass
class Asked:
    """The path and headers of one request."""

    path: str
    range: str | None
    if_range: str | None


@dataclass
class Files:
    """The content and behaviour of the server; each fault is used by one request."""

    content: dict[str, bytes] = field(default_factory=dict)
    url: str = ""
    ranges: bool = True
    etag: str = '"{}"'
    """The format of the version; empty for a server without one."""
    cut_after: list[int] = field(default_factory=list)
    """Bytes of the body after which the connection breaks, one per request."""
    answers: list[tuple[int, dict[str, str]]] = field(default_factory=list)
    """Statuses with headers that replace a file, one per request."""
    slow: float = 0.0
    """Seconds to wait after every 10,000 bytes."""
    asked: list[Asked] = field(default_factory=list)

    def add(self, path: str, content: bytes) -> str:
        """Adds a file, and returns its address."""
        self.content[path] = content
        return f"{self.url}{path}"


class _Handler(BaseHTTPRequestHandler):
    """Answers with a file, a part of one, or the next fault."""

    protocol_version = "HTTP/1.1"
    files: Files

    def do_GET(self) -> None:
        """Handles one request."""
        files = self.files
        files.asked.append(Asked(self.path, self.headers.get("Range"), self.headers.get("If-Range")))
        if files.answers:
            self._end(*files.answers.pop(0))
        elif self.path not in files.content:
            self._end(404, {})
        else:
            self._send(files, files.content[self.path])

    def _end(self, status: int, headers: dict[str, str]) -> None:
        """Sends an answer without a body."""
        self.send_response(status)
        for name, value in (headers | {"Content-Length": "0"}).items():
            self.send_header(name, value)
        self.end_headers()

    def _send(self, files: Files, content: bytes) -> None:
        """Sends the file, or the rest from the requested start if the version is unchanged."""
        etag = files.etag.format(sha256(content).hexdigest()[:16]) if files.etag else ""
        start, wanted = 0, self.headers.get("Range")
        if wanted and files.ranges and self.headers.get("If-Range", etag) == etag:
            start = int(wanted.removeprefix("bytes=").removesuffix("-"))
            if start >= len(content):
                self._end(416, {"Content-Range": f"bytes */{len(content)}"})
                return
        self.send_response(206 if start else 200)
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        if etag:
            self.send_header("ETag", etag)
        self.send_header("Content-Length", str(len(content) - start))
        self.end_headers()
        self._body(content[start:], files.cut_after.pop(0) if files.cut_after else None, files.slow)

    def _body(self, body: bytes, cut_after: int | None, slow: float) -> None:
        """Sends the bytes, up to the cut; a client that disconnects is ignored."""
        try:
            for begin in range(0, len(body), 10_000):
                self.wfile.write(body[begin : min(begin + 10_000, len(body) if cut_after is None else cut_after)])
                if cut_after is not None and begin + 10_000 >= cut_after:
                    self.close_connection = True
                    return
                if slow:
                    time.sleep(slow)
        except ConnectionError:
            self.close_connection = True

    def log_message(self, *arguments: Any) -> None:
        """Logs nothing."""


@contextmanager
def serving() -> Iterator[Files]:
    """Starts a server on a free port."""
    files = Files()
    with on_a_free_port(type("Handler", (_Handler,), {"files": files})) as files.url:
        yield files
