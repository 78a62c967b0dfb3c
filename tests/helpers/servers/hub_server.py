"""A local server that speaks the part of the Hub's API that a push needs, with faults on demand."""

import base64
import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from helpers.servers.threads import on_a_free_port

TOKEN = "hf_writer_of_zorbs"
READER = "hf_reader_of_zorbs"
XET = "xet_writer_of_zorbs"


@dataclass
class Hub:
    """The repositories of the server, the received requests, and the coming faults."""

    url: str = ""
    private: dict[str, bool] = field(default_factory=dict)
    files: dict[str, dict[str, bytes]] = field(default_factory=dict)
    """Content by repository and path."""
    objects: dict[str, bytes] = field(default_factory=dict)
    """Large files by their SHA-256."""
    xet: bool = False
    """True if large files are received by Xet (its published API, version 1), and not by Git LFS."""
    xorbs: dict[str, bytes] = field(default_factory=dict)
    """Data received by Xet: packed pieces of files by their hash."""
    shards: int = 0
    """Number of messages that map files to pieces."""
    commits: list[str] = field(default_factory=list)
    """The message of each commit."""
    asked: list[str] = field(default_factory=list)
    faults: list[tuple[str, int]] = field(default_factory=list)
    """A part of an address and its status, used once each; 0 does the work and breaks the connection."""

    def fault(self, path: str) -> int | None:
        """Returns the fault of this request, and removes it."""
        match = next((fault for fault in self.faults if fault[0] in path), None)
        if match is None:
            return None
        self.faults.remove(match)
        return match[1]


class _Handler(BaseHTTPRequestHandler):
    """Answers one request."""

    protocol_version = "HTTP/1.1"
    hub: Hub

    def do_POST(self) -> None:
        """Creates, checks a card, announces, or commits."""
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        parts = self._parts()
        token = self.headers.get("Authorization", "").removeprefix("Bearer ")
        if (fault := self.hub.fault(self.path)) is not None and fault:
            self._send(fault, b"<html>out of order for " + token.encode() + b"</html>")
            return
        if token not in (TOKEN, READER, XET):
            self._say(401, {"error": f"no such token {token}"})
        elif parts[0] in ("v1", "v2"):
            self._store(parts, body)
        elif self.path == "/api/validate-yaml":
            self._say(200, {"errors": [], "warnings": []})
        elif token == READER:
            self._say(403, {"error": f"{token} may only read"})
        elif parts[:3] == ["api", "repos", "create"]:
            self._create(json.loads(body))
        elif parts[-4:] == ["info", "lfs", "objects", "batch"]:
            self._say(200, {"transfer": "basic", "objects": [self._object(o) for o in json.loads(body)["objects"]]})
        elif parts[4] == "preupload":
            repo = "/".join(parts[2:4])
            self._say(200, {"files": [self._announced(repo, file["path"]) for file in json.loads(body)["files"]]})
        elif parts[4] == "commit":
            self._commit("/".join(parts[2:4]), body.splitlines(), lost=fault == 0)

    def do_PUT(self) -> None:
        """Receives a large file."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if fault := self.hub.fault(self.path):
            self._send(fault, b"")
            return
        assert hashlib.sha256(body).hexdigest() == self._parts()[-1]
        self.hub.objects[self._parts()[-1]] = body
        self._send(200, b"")

    def do_GET(self) -> None:
        """Returns the description of a repository."""
        parts = self._parts()
        repo = "/".join(parts[2:4])
        if "xet-write-token" in parts:
            if not self.hub.xet:
                self._say(404, {})
            elif fault := self.hub.fault(self.path):
                self._send(fault, b"")
            else:
                self._say(200, {"casUrl": self.hub.url, "exp": 4_000_000_000, "accessToken": XET})
        elif "resolve" in parts:
            self._give("/".join(parts[1:3]), "/".join(parts[5:]))
        elif repo in self.hub.files and READER not in self.headers.get("Authorization", ""):
            self._say(200, {"id": repo, "sha": f"{len(self.hub.commits):040}", "siblings": self._siblings(repo)})
        else:
            self._say(404, {"error": "Repository not found"}, {"X-Error-Code": "RepoNotFound"})

    def do_HEAD(self) -> None:
        """Returns the headers of a file."""
        self.do_GET()

    def _siblings(self, repo: str) -> list[dict[str, str]]:
        """Returns the files of a repository."""
        return [{"rfilename": path} for path in self.hub.files[repo]]

    def _give(self, repo: str, path: str) -> None:
        """Sends a file, or its headers."""
        content = self.hub.files[repo][path]
        etag = {"ETag": f'"{hashlib.sha1(content).hexdigest()}"', "X-Repo-Commit": f"{len(self.hub.commits):040}"}
        self._send(200, content, etag)

    def _parts(self) -> list[str]:
        """Returns the parts of the address, and records it."""
        self.hub.asked.append(f"{self.command} {self.path}")
        return self.path.partition("?")[0].strip("/").split("/")

    def _create(self, asked: dict[str, Any]) -> None:
        """Creates a repository, or answers with a conflict for an existing name."""
        repo = f"{asked['organization']}/{asked['name']}"
        if repo in self.hub.files:
            self._say(409, {"error": "You already created this dataset repo", "url": f"{self.hub.url}/datasets/{repo}"})
            return
        self.hub.files[repo], self.hub.private[repo] = {}, asked.get("visibility") == "private"
        self._say(200, {"url": f"{self.hub.url}/datasets/{repo}"})

    def _announced(self, repo: str, path: str) -> dict[str, Any]:
        """Returns the upload mode of a file, and the hash of its current content."""
        mode, content = ("lfs" if path.endswith(".parquet") else "regular"), self.hub.files[repo].get(path)
        answer: dict[str, Any] = {"path": path, "uploadMode": mode, "shouldIgnore": False}
        if content is not None:
            blob = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
            answer["oid"] = hashlib.sha256(content).hexdigest() if mode == "lfs" else blob
        return answer

    def _store(self, parts: list[str], body: bytes) -> None:
        """Receives a packed piece, or a map of files to pieces; API versions after 1 are unknown."""
        if parts[:2] == ["v1", "xorbs"]:
            self.hub.xorbs[parts[-1]] = body
            self._say(200, {"was_inserted": True})
        elif parts == ["v1", "shards"]:
            self.hub.shards += 1
            self._say(200, {"result": 1})
        else:
            self._say(404, {})

    def _object(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Returns the upload address of a large file, or none if the file exists."""
        if asked["oid"] in self.hub.objects:
            return asked
        return {**asked, "actions": {"upload": {"href": f"{self.hub.url}/lfs/{asked['oid']}"}}}

    def _commit(self, repo: str, lines: list[bytes], lost: bool) -> None:
        """Stores all files at once."""
        header, *operations = map(json.loads, lines)
        for operation in operations:
            value = operation["value"]
            large = operation["key"] == "lfsFile"
            if large and self.hub.xet:  # the pieces are packed; the hash identifies the file
                content = str(value["oid"]).encode()
            else:
                content = self.hub.objects[value["oid"]] if large else base64.b64decode(value["content"])
            self.hub.files[repo][value["path"]] = content
        self.hub.commits.append(header["value"]["summary"])
        oid = f"{len(self.hub.commits):040}"
        if lost:
            self.close_connection = True
            return
        self._say(200, {"commitUrl": f"{self.hub.url}/datasets/{repo}/commit/{oid}", "commitOid": oid})

    def _say(self, status: int, answer: dict[str, Any], headers: dict[str, str] | None = None) -> None:
        """Sends an answer in JSON."""
        self._send(status, json.dumps(answer).encode(), {"Content-Type": "application/json", **(headers or {})})

    def _send(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        """Sends an answer."""
        self.send_response(status)
        for name, value in {**(headers or {}), "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *arguments: Any) -> None:
        """Logs nothing."""


@contextmanager
def serving() -> Iterator[Hub]:
    """Starts a Hub on a free port."""
    hub = Hub()
    with on_a_free_port(type("Handler", (_Handler,), {"hub": hub})) as hub.url:
        yield hub
